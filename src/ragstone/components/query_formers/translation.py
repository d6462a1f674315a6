"""Queries translated by a language model, for a corpus in another language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

from ragstone.calls.client import Calls
from ragstone.calls.types import Failure, Outcome, Request, Sampling
from ragstone.components.judges.reply_parsing import Unreadable, spoken
from ragstone.components.llm import (
    AskedModel,
    WrittenModel,
    asked_model,
    check_model,
    model_revision,
    sampling_of,
)
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.prompts import Prompt
from ragstone.core.registry import beside, create
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError
from ragstone.protocols import QueryFormer
from ragstone.types import Formed, Query

SYSTEM: Final = (
    "You translate search queries into {language}. Write the translation alone, on one line, "
    "names as they are written in {language}. Do not answer the query. A query that is in "
    "{language} already stays as it is."
)
USER: Final = "{query}"
_QUOTES: Final = "\"'“”„«»「」*` "
_LONGEST: Final = 4
"""A translation so many times as long as the query, and more, is none."""
_SPARE: Final = 60
"""Characters on top of that: a short query in one script may be a long one in another."""


@dataclass(frozen=True)
class Translation:
    """Searches for a model's translation of what another former gives.

    A query for which there is no reply, or none that can be a translation, is searched for as it
    is, and the manifest of the step says how many and why.

    Args:
        language: the language of the corpus, in words: `English`, `German`.
        of: the former whose text is translated; any that asks no model itself.
        model: as a generator is written: `local`, or `{name: chat, model: ...}`.
        max_tokens: length of a reply at most.
        system: your own system template, with {language} in this or the other.
        user: your own user template, with {query}.
    """

    language: str = "English"
    of: str = "as-given"
    model: WrittenModel = field(default="local", metadata=NOT_IN_CACHE_KEY)
    max_tokens: int = 200
    system: str = SYSTEM
    user: str = USER
    version: ClassVar[int] = 1
    calls_per_query: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what is written before anything is run."""
        if not self.language.strip():
            raise ConfigError("language is empty; name the language of the corpus, as English")
        parse_spec(self.model, where="translation, model")
        _ = self.prompt, self._former

    @cached_property
    def prompt(self) -> Prompt:
        """The templates with their variables checked."""
        return Prompt("translation", self.system, self.user, frozenset({"query", "language"}))

    @property
    def revision(self) -> Mapping[str, Any]:
        """Which model is asked, and how, and the recipe of the former."""
        return {**model_revision(self._model, self._sampling), "of": cache_key_parts(self._former)}

    def check(self, calls: Calls) -> None:
        """Raise where the model cannot be had."""
        check_model(self._model, calls)

    def ask(self, queries: Sequence[Query], calls: Calls) -> Iterator[Formed]:
        """Yield one search text per query, in order; an empty one is not asked about."""
        given = self._former.form(queries)
        requests = [self._request(text) for text in given if text.strip()]
        outcomes = calls.ask(self._model.endpoint, requests, title="translating queries")
        for text in given:
            yield _formed(text, next(outcomes)) if text.strip() else Formed(text)

    def _request(self, text: str) -> Request:
        values = {"query": text, "language": self.language}
        return Request(self.prompt.render(values), self._sampling)

    @cached_property
    def _former(self) -> QueryFormer:
        made = create("query_formers", self.of, where="translation, of", folder=beside())
        if not isinstance(made, QueryFormer):
            raise ConfigError(f"of: {self.of!r} asks a model itself; take one such as as-given")
        return made

    @cached_property
    def _model(self) -> AskedModel:
        return asked_model(self.model, where="translation")

    @property
    def _sampling(self) -> Sampling:
        return sampling_of(self._model, self.max_tokens)


def _formed(given: str, outcome: Outcome) -> Formed:
    if isinstance(outcome, Failure):
        return Formed(given, outcome.reason, failed=True)
    try:
        found = read_translation(spoken(outcome.text))
    except Unreadable as error:
        return Formed(given, str(error))
    if not found:
        return Formed(given, "the model wrote nothing")
    if len(found) > _LONGEST * len(given) + _SPARE:
        return Formed(given, f"no translation in {found[:80]!r}")
    return Formed(found)


def read_translation(reply: str) -> str:
    r"""Return the translation of a reply: its last line, without quotes or a title before it.

    >>> read_translation('Translation: "Where is the tower?"\n')
    'Where is the tower?'
    """
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    title, colon, rest = last.partition(":")
    if colon and title.strip(_QUOTES).lower() in {"translation", "query", "translated query"}:
        last = rest
    return " ".join(last.strip(_QUOTES).split())
