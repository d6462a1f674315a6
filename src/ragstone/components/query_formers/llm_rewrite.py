"""Turns rewritten by a language model so that they can be understood without their history.

The idea and the two classes are those of mtRAG's query rewriting (Katsis et al., 2025, appendix
C.1); the prompt is Ragstone's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.calls.client import Calls
from ragstone.calls.types import Failure, Outcome, Request, Sampling
from ragstone.components.llm import (
    AskedModel,
    WrittenModel,
    asked_model,
    check_model,
    model_revision,
    sampling_of,
)
from ragstone.components.query_formers.mtrag_tags import last_turn, said
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import Prompt, show_history
from ragstone.core.spec import parse_spec
from ragstone.types import Formed, Query

SYSTEM: Final = (
    "You prepare questions for a search engine that knows nothing of the conversation they come "
    "from. Write the user's last message so that it can be understood alone: put names in place "
    "of pronouns and add what is left out, from the conversation only. Change as little as "
    "possible, add no fact, and do not answer. A message that can be understood alone stays word "
    "for word as it is."
)
USER: Final = (
    "Conversation so far:\n{history}\n\nThe user's last message: {query}\n\n"
    'Reply with JSON alone, of the form {{"class": ..., "query": ...}}: the class is "standalone" '
    'or "non-standalone", the query is the message as it should be searched for.'
)
_NAMES: Final = ("query", "rewrite", "rewritten_query", "rewritten", "reworded_version")
_TEXT: Final = re.compile(
    r"""["'](?:query|rewrite|rewritten[ _]query|rewritten|reworded[ _]version)["']\s*:\s*"""
    r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""",
    re.IGNORECASE,
)
_THOUGHT: Final = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "class": {"type": "string", "enum": ["standalone", "non-standalone"]},
        "query": {"type": "string"},
    },
    "required": ["class", "query"],
}


@dataclass(frozen=True)
class LlmRewrite:
    """Searches for a model's stand-alone form of a turn; a first turn is searched for as it is.

    A turn for which there is no reply, none that can be read, or the prompt's own words given back,
    is searched for as it is, and the manifest of the step says how many and why.

    Args:
        model: as a generator is written: `local`, or `{name: chat, model: ...}`.
        max_tokens: length of a reply at most.
        structured: whether the server is to enforce the form of the reply (a JSON schema).
        system: your own system template.
        user: your own user template, with {history} and {query}.
    """

    model: WrittenModel = field(default="local", metadata=NOT_IN_CACHE_KEY)
    max_tokens: int = 200
    structured: bool = False
    system: str = SYSTEM
    user: str = USER
    version: ClassVar[int] = 2
    calls_per_query: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what is written before anything is run."""
        parse_spec(self.model, where="llm-rewrite, model")
        _ = self.prompt

    @cached_property
    def prompt(self) -> Prompt:
        """The templates with their variables checked."""
        return Prompt("llm-rewrite", self.system, self.user, frozenset({"query", "history"}))

    @cached_property
    def _model(self) -> AskedModel:
        return asked_model(self.model, where="llm-rewrite")

    @property
    def revision(self) -> Mapping[str, str]:
        """Which model is asked, and how."""
        return model_revision(self._model, self._sampling)

    @property
    def _sampling(self) -> Sampling:
        schema = _SCHEMA if self.structured else None
        return sampling_of(self._model, self.max_tokens, json_schema=schema)

    def check(self, calls: Calls) -> None:
        """Raise where the model cannot be had."""
        check_model(self._model, calls)

    def ask(self, queries: Sequence[Query], calls: Calls) -> Iterator[Formed]:
        """Yield one search text per query, in order."""
        later = [query for query in queries if query.history]
        requests = [Request(self.prompt.render(_values(q)), self._sampling) for q in later]
        outcomes = calls.ask(self._model.endpoint, requests, title="rewriting queries")
        for query in queries:
            given = said(last_turn(query), "corrected")
            yield self._formed(given, next(outcomes)) if query.history else Formed(given)

    def _formed(self, given: str, outcome: Outcome) -> Formed:
        if isinstance(outcome, Failure):
            return Formed(given, outcome.reason, failed=True)
        found = read_rewrite(outcome.text, given)
        if not found:
            return Formed(given, f"no rewrite in {outcome.text[:80]!r}")
        if found != given and self._copied(found):
            return Formed(given, f"the prompt's own words given back: {found[:80]!r}")
        return Formed(found)

    def _copied(self, found: str) -> bool:
        """Say whether a rewrite is a piece of the template, or holds no letter and no digit."""
        words = found.strip(" .").casefold()
        templates = " ".join(f"{self.system} {self.user}".split()).casefold()
        return words in templates or not any(map(str.isalnum, words))


def _values(query: Query) -> dict[str, str]:
    return {"history": show_history(query.history), "query": query.text}


def read_rewrite(reply: str, given: str) -> str:
    """Return the query of a reply, on one line; empty where there is none.

    JSON is looked for anywhere in the reply, then a quoted value after the name alone. A reply that
    calls the turn standalone and holds no query stands for the turn as given.

    >>> read_rewrite('Sure: {"class": "non-standalone", "query": "Where is Apple?"}', "Where?")
    'Where is Apple?'
    >>> read_rewrite('{"class": "standalone"}', "Who is it?")
    'Who is it?'
    """
    text = _THOUGHT.sub("", reply)
    for held in _objects(text):
        named = {str(key).strip().lower().replace(" ", "_"): value for key, value in held.items()}
        for name in _NAMES:
            if isinstance(named.get(name), str) and named[name].strip():
                return " ".join(named[name].split())
        if named.get("class") == "standalone":
            return given
    match = _TEXT.search(text)
    return " ".join((match[1] or match[2] or "").split()) if match else ""


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, wherever they begin."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            held, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if isinstance(held, dict):
            yield held
