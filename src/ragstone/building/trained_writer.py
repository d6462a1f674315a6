"""A trained question writer as a strategy: one call per passage and label."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.pairs import check_pair
from ragstone.building.reply_parsing import Rejected, checked_answer, checked_question, plain
from ragstone.building.strategies import Strategy
from ragstone.components.metrics.refusal import refusal
from ragstone.components.question_writer import SEPARATOR, flagged, parted, resolve_writer
from ragstone.core.spec import ComponentSpec


def trained_strategy(model: ComponentSpec, labels: Sequence[str] = ()) -> Strategy:
    """Return the strategy `writer(model=...)`; see `resolve_writer`."""
    trained = resolve_writer(model, labels)
    return Strategy(trained.labels, _write, model=trained.llm)


def _write(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    writer.send("writer", drafts, _prompt, _take)


def _prompt(draft: Draft) -> str:
    return flagged(draft.asked_label, draft.passages[0].full_text)


def _take(draft: Draft, reply: str, _: str) -> None:
    parts = parted(plain(reply))
    if parts is None:
        problem = "the model refused" if refusal(reply) else f"the reply has not one {SEPARATOR}"
        raise Rejected(problem)
    question, answer = parts
    draft.question, draft.answer = checked_question(question, ""), checked_answer(answer, "")
    draft.statement = draft.answer
    check_pair(draft)
