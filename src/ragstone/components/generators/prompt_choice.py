"""The prompt of each query: one for all, or the one in the query's language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ragstone.components.prompt_languages import note_on_languages, reason_of_default
from ragstone.core.prompt_files import sent_texts
from ragstone.core.prompt_translations import LANGUAGES, languages
from ragstone.core.prompts import RagPrompts
from ragstone.core.step_notes import add_note
from ragstone.text.language import query_language
from ragstone.text.language_names import LANGUAGE_NAMES
from ragstone.types import ChatMessage, Query, Task


@dataclass(frozen=True)
class PromptChoice:
    """The texts of a generator's prompt in one language or several.

    Args:
        name: name of the prompt.
        language: code of the language of `default`.
        default: the texts for queries in this language, and for those without a translation.
        translated: language -> texts.
    """

    name: str
    language: str
    default: RagPrompts
    translated: Mapping[str, RagPrompts]

    def check(self) -> None:
        """Raise `ConfigError` if a template has a missing, unused or malformed variable."""
        for prompts in (self.default, *self.translated.values()):
            prompts.check()

    @cached_property
    def reads_language(self) -> bool:
        """Whether the language of a query decides about its messages."""
        return bool(self.translated) or self.default.names_language

    def language_of(self, query: Query) -> str:
        """Return the code of a query's language; "" if it is unknown, or does not matter."""
        if not self.reads_language:
            return ""
        expected = self.known if self.translated else ("en", *languages(LANGUAGES))
        return query_language(query.text, query.labels, expected)

    def prompts_for(self, query: Query) -> RagPrompts:
        """Return the texts for a query."""
        if not self.translated:
            return self.default
        return self.translated.get(self.language_of(query), self.default)

    def messages(self, task: Task) -> tuple[ChatMessage, ...]:
        """Return the messages that ask for an answer to a task."""
        name = LANGUAGE_NAMES.get(self.language_of(task.query), "")
        return self.prompts_for(task.query).render(task, name)

    @property
    def templates(self) -> dict[str, str]:
        """Key -> text that is sent, `de.KEY` for those of a translation."""
        found = sent_texts(self.default)
        for language, prompts in self.translated.items():
            found |= {f"{language}.{key}": text for key, text in sent_texts(prompts).items()}
        return found

    @property
    def key_values(self) -> dict[str, Any]:
        """The texts in cache keys."""
        found = asdict(self.default)
        texts = {key: found.pop(key) for key in RagPrompts.TEMPLATES}
        if self.translated:
            found["translations"] = {code: asdict(one) for code, one in self.translated.items()}
        return texts | ({"prompt": found} if any(found.values()) else {})

    def note(self, queries: Iterable[Query]) -> None:
        """Note the queries that are not asked in their language, or without its name."""
        if not self.reads_language:
            return
        for language, count in Counter(map(self.language_of, queries)).items():
            if self.translated and (why := reason_of_default(language, self.known)):
                add_note(f"queries asked {why}", count)
            elif not language:
                add_note(
                    "queries asked without the name of their language, which is unknown", count
                )

    def data_notes(self, stated: Iterable[str]) -> Iterator[str]:
        """Yield a note on stated languages of queries without a translation."""
        if self.translated:
            yield from note_on_languages(self.name, self.known, stated)

    @property
    def known(self) -> tuple[str, ...]:
        """The languages of the prompt, that of the default first."""
        return (self.language, *self.translated)
