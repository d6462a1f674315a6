"""Queries that a language model translates, for a corpus in another language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

from ragstone.calls.types import Failure, Reply
from ragstone.components.llm import LlmComponent, read_text
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome, run_component
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Query

SYSTEM: Final = (
    "You translate search queries into {language}. Write the translation alone, on one line, "
    "names as they are written in {language}. Do not answer the query. A query that is in "
    "{language} already stays as it is."
)
USER: Final = "{query}"
_QUOTES: Final = "\"'“”„«»「」*` "


@dataclass(frozen=True)
class Translation(LlmComponent, QueryFormer):
    """Searches for a model's translation of the search text of another query former.

    If the call fails, or the reply cannot be a translation, the text is searched for as it is, with
    the reason.

    Args:
        language: name of the corpus's language: `English`, `German`.
        of: the query former whose text is translated; it may not call a model itself.
        model: the generator to call, such as `local` or `{name: chat, model: ...}`.
        max_tokens: maximum length of a reply.
        system: your own system template; {language} is in this one or in the other.
        user: your own user template, with {query}.
    """

    language: str = "English"
    of: str = "as-given"
    model: ComponentSpec = field(default="local", metadata=NOT_IN_CACHE_KEY)
    max_tokens: int = 200
    system: str = SYSTEM
    user: str = USER
    variables = frozenset({"query", "language"})

    def __post_init__(self) -> None:
        """Check the fields."""
        if not self.language.strip():
            raise ConfigError("language is empty; give the corpus's language, such as English")
        super().__post_init__()
        if self._query_former.needs_model:
            raise ConfigError(f"of: {self.of!r} calls a model itself; use as-given, for example")

    @property
    def uses(self) -> frozenset[str]:
        """The inputs of the query former whose text is translated."""
        return self._query_former.uses | self._query_former.fields_read

    @property
    def content_revision(self) -> Mapping[str, Any]:
        """The model, its sampling, and the query former."""
        return {**super().content_revision, "of": cache_key_parts(self._query_former)}

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the translation of each query; an empty text needs no call."""
        formed = run_component(self._query_former, services, queries)
        pairs = zip(formed, queries, strict=True)
        texts = [query.text if one.value is None else one.value for one, query in pairs]
        prompts = [
            self.prompt.render({"query": text, "language": self.language})
            for text in texts
            if text.strip()
        ]
        replies = self.ask(prompts, services, title="translating queries")
        for text in texts:
            yield _formed(text, next(replies)) if text.strip() else Outcome(text)

    @cached_property
    def _query_former(self) -> QueryFormer:
        return cast("QueryFormer", create("query_formers", self.of, where="translation, of"))


def _formed(given: str, reply: Reply | Failure) -> Outcome[str]:
    translation, problem = read_text(reply, read_translation)
    if problem:
        return Outcome(given, problem, retry=isinstance(reply, Failure))
    if len(translation) > limits.MAX_TRANSLATION_RATIO * len(given) + limits.TRANSLATION_MARGIN:
        return Outcome(given, f"no translation in {translation[: limits.MAX_REASON_CHARACTERS]!r}")
    return Outcome(translation)


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
