"""The prompts with which test sets are written, and a YAML file in their place.

Each is a template with named variables (`ragstone.prompts`). What the prompts ask for is from Know
Your RAG (2024), appendices E and G; the wording is not.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import yaml

from ragstone.errors import ConfigError, did_you_mean
from ragstone.prompts import Template

_PAIR: Final = 'Reply with one JSON object and nothing else: {{"question": "...", "answer": "..."}}'
_ASKED: Final = (
    "Word the question as a person would who searches a large collection and has not seen the "
    "passage: name what it is about, and do not mention the passage."
)
_LIST: Final = 'Put each on a line of its own that begins with "- ", and write nothing else.'


@dataclass(frozen=True)
class Prompts:
    """The templates, and the language they are written in (and passages must be in)."""

    language: str = "English"
    single: str = (
        "Passage:\n{passage}\n\nWrite one question that this passage answers, and the answer. "
        f"The answer must be {{kind}}. {_ASKED} {_PAIR}"
    )
    theme: str = (
        "Passage:\n{passage}\n\nWhat is this passage about? Reply with a few words, nothing else."
    )
    facts: str = (
        "Passage about {theme}:\n{passage}\n\nWrite down up to five facts that the passage states, "
        "one fact a sentence. Each sentence must say who or what it is about, so that it can be "
        "understood alone. Add nothing that the passage does not say, and state no fact twice. "
        f"{_LIST}"
    )
    summaries: str = (
        "Facts about {theme}:\n{facts}\n\nWrite three sentences that each bring several of these "
        "facts together. No two of them may tell the same, and each must be understood alone. "
        f"{_LIST}"
    )
    conclusions: str = (
        "Facts about {theme}:\n{facts}\n\nWrite three conclusions that follow from several of "
        "these facts taken together and that none of them states. Each is a full sentence that "
        f"can be understood alone. {_LIST}"
    )
    question: str = (
        "Topic: {theme}\nStatement: {statement}\n\nWhich question does this statement, and nothing "
        "else, answer? Write that one question as a person would type it into a search engine: "
        'short, and naming what it is about. Begin the line with "- " and write nothing else.'
    )
    reasoning: str = (
        "Passage:\n{passage}\n\nSimple question: {question}\nIts answer: {answer}\n\nMake a harder "
        "question of it, whose answer is not stated in the passage but follows from what it "
        f"states. {_ASKED} {_PAIR}"
    )
    constraint: str = (
        "Passage:\n{passage}\n\nSimple question: {question}\nIts answer: {answer}\n\nMake the "
        "question more specific by one condition (a time, a place, a quantity, an exception) that "
        f"the passage states, and give the answer to the new question. {_ASKED} {_PAIR}"
    )
    near_miss: str = (
        "Passage:\n{passage}\n\nWrite one question about the same topic that the passage seems to "
        "answer and does not: the detail that is asked for must be missing from it. "
        f'{_ASKED} Begin the line with "- " and write nothing else.'
    )
    counterfactual: str = (
        "Question: {question}\nRight answer: {answer}\n\nName another answer of the same kind that "
        "is wrong, though a reader could believe it. Reply with that answer and nothing else."
    )
    multi_hop: str = (
        "First passage:\n{first}\n\nSecond passage:\n{second}\n\nBoth passages speak of {link}. "
        "Write one question that can only be answered by reading both, and its short answer. "
        f"{_ASKED} {_PAIR}"
    )

    def __post_init__(self) -> None:
        """Check the variables of every template."""
        for name, needed in _VARIABLES.items():
            found = Template(getattr(self, name), f"prompt {name!r}").variables
            if found != needed:
                wrong = min(found ^ needed)
                told = "is missing" if wrong in needed else "is unknown"
                raise ConfigError(
                    f"prompt {name!r}: the variable {{{wrong}}} {told}; it has exactly "
                    f"{', '.join(f'{{{v}}}' for v in sorted(needed))}"
                )

    def render(self, name: str, **values: str) -> str:
        """Return a prompt with its variables filled in."""
        return Template(getattr(self, name), f"prompt {name!r}").render(values)


_VARIABLES: Final = {
    "single": {"passage", "kind"},
    "theme": {"passage"},
    "facts": {"theme", "passage"},
    "summaries": {"theme", "facts"},
    "conclusions": {"theme", "facts"},
    "question": {"theme", "statement"},
    "reasoning": {"passage", "question", "answer"},
    "constraint": {"passage", "question", "answer"},
    "near_miss": {"passage"},
    "counterfactual": {"question", "answer"},
    "multi_hop": {"first", "second", "link"},
}

KINDS: Final = {
    "fact_single": "a single fact that the passage states, in a few words",
    "summary": "made of several things that the passage states in different places",
    "reasoning": "something that the passage does not state but that follows from it",
}
"""Label -> how the single prompt asks for it."""


def load_prompts(path: Path | None) -> Prompts:
    """Return the prompts of a YAML file, those it lacks being the built-in ones.

    Raises:
        ConfigError: the file cannot be read, or a key or a variable is unknown or missing.
    """
    if path is None:
        return Prompts()
    try:
        held: Any = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML ({error})") from error
    known = [f.name for f in fields(Prompts)]
    if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
        raise ConfigError(f"{path}: expected names of prompts with their texts: {', '.join(known)}")
    for key in sorted(set(held) - set(known)):
        raise ConfigError(f"{path}: unknown prompt {key!r}{did_you_mean(key, known)}")
    return Prompts(**held)
