"""Queries that a language model translates, for a corpus in another language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, cast

from ragstone.components.translation_checks import SourceText
from ragstone.components.translator import Translator, Untranslated
from ragstone.core.component import (
    IN_CACHE_KEY_IF_SET,
    KEY_BY_CONTENT,
    NOT_IN_CACHE_KEY,
    Outcome,
    run_component,
)
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.spec import ComponentSpec
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError
from ragstone.protocols import QueryFormer, Services
from ragstone.text.language_names import (
    LANGUAGE_NAMES,
    base_code,
    checked_code,
    stated_language,
)
from ragstone.types import Query

SYSTEM: Final = (
    "You translate search queries into {language}. Write the translation alone, on one line, "
    "names as they are written in {language}. Do not answer the query. A query that is in "
    "{language} already stays as it is."
)
USER: Final = "{query}"


@dataclass(frozen=True)
class Translation(Translator, QueryFormer):
    """Searches for a model's translation of the search text of another query former.

    A query with the label `language` of the target language needs no call. If a translation fails,
    nothing is searched for, so that the query has an empty ranking, with the reason.

    Args:
        to: language of the corpus: a code or an English name, such as `en` or `German`.
        of: the query former whose text is translated; it may not call a model itself.
        model: the generator to call, such as `local` or `{name: chat, model: ...}`.
        max_tokens: maximum length of a reply.
        system: your own system template; {language} is in this one or in the other.
        user: your own user template, with {query}; {source} is the language of the query.
        untranslated: `drop` searches for nothing if a translation fails; `keep` searches for the
            query as it is.
        language: wording of the target language in the prompt, such as `Brazilian Portuguese`;
            with it, labels are not read.
    """

    to: str = field(default="en", metadata=KEY_BY_CONTENT)
    of: str = "as-given"
    model: ComponentSpec = field(default="local", metadata=NOT_IN_CACHE_KEY)
    max_tokens: int = 200
    system: str = SYSTEM
    user: str = USER
    untranslated: Untranslated = field(default="drop", metadata=IN_CACHE_KEY_IF_SET)
    language: str = field(default="", metadata=KEY_BY_CONTENT)
    variables = frozenset({"query", "language"})
    text_variable: ClassVar[str] = "query"
    one_line: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.language and not self.language.strip():
            raise ConfigError("language is empty; give the corpus's language, such as English")
        _ = checked_code(self.to)
        super().__post_init__()
        if self._query_former.needs_model:
            raise ConfigError(f"of: {self.of!r} calls a model itself; use as-given, for example")

    @property
    def uses(self) -> frozenset[str]:
        """The inputs of the query former whose text is translated, and labels."""
        inner = self._query_former.uses | self._query_former.fields_read
        return inner if self.language else inner | {"labels"}

    @property
    def key_values(self) -> Mapping[str, Any]:
        """The name of the language in the prompt."""
        return {"language": self.language_name(self.target)}

    @property
    def content_revision(self) -> Mapping[str, Any]:
        """The model, its sampling, and the query former."""
        return {**super().content_revision, "of": cache_key_parts(self._query_former)}

    @cached_property
    def target(self) -> str:
        """The code of the target language; "" if `language` is not a known one."""
        if not self.language:
            return checked_code(self.to)
        code = base_code(self.language)
        return code if code in LANGUAGE_NAMES else ""

    def language_name(self, target: str) -> str:
        """Return the name of the language in the prompt."""
        return self.language or super().language_name(target)

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the translation of each query; an empty text needs no call."""
        formed = run_component(self._query_former, services, queries)
        pairs = zip(formed, queries, strict=True)
        texts = [query.text if one.value is None else one.value for one, query in pairs]
        wanted = [
            SourceText(text, self.target, self._source(query))
            for text, query in zip(texts, queries, strict=True)
        ]
        found = self.translations(wanted, services, title="translating queries")
        for text, outcome in zip(texts, found, strict=True):
            yield self._searched(text, outcome) if outcome.reason else outcome

    def _source(self, query: Query) -> str:
        return "" if self.language else stated_language(query.labels)

    def _searched(self, text: str, failed: Outcome[str]) -> Outcome[str]:
        """Return the search text of a query whose translation failed."""
        is_kept = self.untranslated == "keep"
        done = "searched for as they are" if is_kept else "not searched for"
        add_note(f"queries whose translation failed, {done}")
        return Outcome(text if is_kept else "", failed.reason, retry=failed.retry)

    @cached_property
    def _query_former(self) -> QueryFormer:
        return cast("QueryFormer", create("query_formers", self.of, where="translate, of"))
