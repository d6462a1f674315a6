"""Independence of judges: parts that a judge shares with a system whose answers it grades.

A judge may have the weights of the system's model, its provider, or nuggets that the model wrote; a
system's prompt may contain the judge's prompt. Each can raise the grades of that system.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal, TypeAlias

What: TypeAlias = Literal["weights", "provider", "nuggets", "prompt"]
SHARED_WORDS: Final = 12
"""A prompt contains another one if as many successive words are in both."""
_FEWEST_WORDS: Final = 6
"""A shorter prompt is too common to be recognised in another one."""
_VARIABLE: Final = re.compile(r"\{\w*\}")


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model that a judge or a step of a system calls."""

    step: str
    """The step of the system, such as `generator`; "" for a judge."""
    model: str
    weights: frozenset[str] = frozenset()
    """The file by its digest, or the name at each of its addresses; empty if not known."""
    providers: frozenset[str] = frozenset()
    """Hosts; with the port on this machine. Empty for a model file."""


@dataclass(frozen=True, slots=True)
class Party:
    """A judge or a system, as far as independence depends on it."""

    name: str
    models: tuple[ModelUse, ...] = ()
    prompts: tuple[str, ...] = ()
    nugget_makers: tuple[str, ...] = ()
    """The models that wrote the nuggets which a judge reads."""


@dataclass(frozen=True, slots=True)
class SharedPart:
    """One thing that a judge shares with a system."""

    judge: str
    system: str
    what: What
    detail: str
    """The step and the model, the host, or the first shared words."""


def shared_parts(judge: Party, system: Party) -> list[SharedPart]:
    """Return the parts that a judge shares with a system.

    >>> here = frozenset({"gguf:1"})
    >>> judge = Party("idk", (ModelUse("", "small", here),))
    >>> system = Party("bm25", (ModelUse("generator", "small", here),))
    >>> [(one.what, one.detail) for one in shared_parts(judge, system)]
    [('weights', 'generator small')]
    """
    found: dict[What, list[str]] = {"weights": [], "provider": [], "nuggets": [], "prompt": []}
    makers = {_short(name) for name in judge.nugget_makers}
    for use in system.models:
        for own in judge.models:
            if own.weights & use.weights:
                found["weights"].append(f"{use.step} {use.model}")
            found["provider"] += sorted(own.providers & use.providers)
        if _short(use.model) in makers:
            found["nuggets"].append(f"{use.step} {use.model}")
    shared = (shared_words(a, b) for a in judge.prompts for b in system.prompts)
    found["prompt"] += list(filter(None, shared))[:1]
    return [
        SharedPart(judge.name, system.name, what, ", ".join(dict.fromkeys(details)))
        for what, details in found.items()
        if details
    ]


def shared_words(judge: str, system: str) -> str:
    """Return the first words of a judge's prompt that a system's prompt contains, or "".

    Case, white space, punctuation and variables do not count.

    >>> judge = "Give the verdict yes if the answer names the year of the treaty, else no."
    >>> shared_words(judge, "Remember: GIVE the  verdict yes if the answer names the year of the x")
    'give the verdict yes if the answer names the year of the'
    >>> shared_words(judge, "Answer the question in a few words.")
    ''
    """
    own, other = _words(judge), _words(system)
    size = min(SHARED_WORDS, len(own))
    if size < _FEWEST_WORDS:
        return ""
    known = {tuple(other[n : n + size]) for n in range(len(other) - size + 1)}
    places = range(len(own) - size + 1)
    return next((" ".join(g) for n in places if (g := tuple(own[n : n + size])) in known), "")


def shared_sentences(found: Iterable[SharedPart]) -> list[str]:
    """Return a sentence per judge and thing that it shares, with the systems.

    >>> shared_sentences([SharedPart("idk", "a", "weights", "generator m")])
    ['judge idk has the weights of a system that it grades: a (generator m)']
    """
    titles: dict[What, str] = {
        "weights": "has the weights of",
        "provider": "has the provider of",
        "nuggets": "reads nuggets that were written by the model of",
        "prompt": "has words of its prompt in the prompt of",
    }
    ordered = sorted(found, key=lambda one: (one.judge, list(titles).index(one.what)))
    sentences = []
    for (judge, what), members in groupby(ordered, key=lambda one: (one.judge, one.what)):
        shared = list(members)
        noun = "a system that it grades" if len(shared) == 1 else "systems that it grades"
        named = ", ".join(f"{one.system} ({one.detail})" for one in shared)
        sentences.append(f"judge {judge} {titles[what]} {noun}: {named}")
    return sentences


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", _VARIABLE.sub(" ", text)).casefold()
    return re.findall(r"[^\W_]+", plain)


def _short(model: str) -> str:
    return model.rpartition("/")[2].casefold()
