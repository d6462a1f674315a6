"""Passages that a language model translates before the generator sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.components.translation_checks import SourceText, source_language
from ragstone.components.translator import SYSTEM, USER, Translator, Untranslated
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.spec import ComponentSpec
from ragstone.core.step_notes import add_note
from ragstone.protocols import Processor, Services
from ragstone.text.language import query_language
from ragstone.text.language_names import LANGUAGE_NAMES, checked_code
from ragstone.types import Context, ContextPassage, Query, Task

QUERY: Final = "query"
UNKNOWN: Final = "not translated: the language of the query is unknown; give it the label language"


@dataclass(frozen=True)
class TranslatedContext(Translator, Processor):
    """Translates each passage of a context into the language of its query, or into one language.

    A passage that is certainly in that language stays as it is, without a call. A passage whose
    translation failed is dropped, so that no answer is given from an untranslated passage.

    Args:
        to: `query`, the language of each query, or a code or an English name, such as `en`.
        model: the generator to call, such as `local` or `{name: chat, model: ...}`.
        max_tokens: maximum length of a translated passage; a truncated one does not count.
        untranslated: `drop` drops a passage whose translation failed; `keep` shows it as it is.
        system: your own system template; {language} is in this one or in the other.
        user: your own user template, with {text}; {source} is the language of the passage.
    """

    to: str = QUERY
    model: ComponentSpec = field(default="local", metadata=NOT_IN_CACHE_KEY)
    max_tokens: int = 1000
    untranslated: Untranslated = "drop"
    system: str = SYSTEM
    user: str = USER

    def __post_init__(self) -> None:
        """Check the language."""
        if self.to != QUERY:
            _ = checked_code(self.to)
        super().__post_init__()

    @property
    def uses(self) -> frozenset[str]:
        """Labels, if the language is that of the query."""
        return frozenset({"labels"} if self.to == QUERY else ())

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return one call per passage; equal passages of one language have one."""
        return n_passages

    def process(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Context]]:
        """Yield the translated context of each task."""
        targets = [self._target(task.query) for task in tasks]
        wanted = [
            SourceText(passage.text, target, source_language(passage.text))
            for task, target in zip(tasks, targets, strict=True)
            for passage in task.context.passages
            if target
        ]
        found = self.translations(wanted, services, title="translating passages")
        for task, target in zip(tasks, targets, strict=True):
            passages = task.context.passages
            unknown = Outcome("", UNKNOWN if passages else "")
            yield self._context(
                task.context, [next(found) if target else unknown for _ in passages]
            )

    def _target(self, query: Query) -> str:
        if self.to != QUERY:
            return checked_code(self.to)
        code = query_language(query.text, query.labels)
        return code if code in LANGUAGE_NAMES else ""

    def _context(self, context: Context, found: Sequence[Outcome[str]]) -> Outcome[Context]:
        """Return a context with translated passages; there is one outcome per passage."""
        pairs = list(zip(context.passages, found, strict=True))
        passages = tuple(filter(None, (self._passage(*pair) for pair in pairs)))
        failed = [outcome for outcome in found if outcome.reason]
        done = "dropped" if self.untranslated == "drop" else "shown as they are"
        add_note(f"passages whose translation failed, {done}", len(failed))
        reasons = dict.fromkeys(outcome.reason for outcome in failed)
        retry = any(outcome.retry for outcome in failed)
        return Outcome(replace(context, passages=passages), "; ".join(reasons), retry=retry)

    def _passage(self, passage: ContextPassage, found: Outcome[str]) -> ContextPassage | None:
        if not found.reason:
            return replace(passage, text=found.value)
        return passage if self.untranslated == "keep" else None
