"""Screening of written queries: support by their sources, leaks, further passages, difficulty.

Each check gets drafts that are not rejected yet; it rejects some, with a reason, and labels others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ragstone.building.draft import Draft
from ragstone.building.nuggets import nugget_labels
from ragstone.building.pooling import PassagePool
from ragstone.building.right_answers import reading_task, right_answers
from ragstone.components.judges.verdict import Item, VerdictJudge
from ragstone.components.metrics.refusal import refusal
from ragstone.data_quality.leakage import covering_passage
from ragstone.protocols import Generator, Services
from ragstone.types import Query

UNSUPPORTED: Final = "support: the sources do not support the answer"
NO_VERDICT: Final = "support: the judge gave no verdict"
ONE_IS_ENOUGH: Final = "support: one of the two passages is enough"
LEAK: Final = "leak: a passage has all words of the unanswerable question"
LEAST_DEPTH: Final = 10
"""Lowest rank of the best relevant passage of a query of medium difficulty."""
_SHORT_ANSWER: Final = 8
"""Words of a gold answer that a right answer repeats; a longer one is compared by the judge."""


@dataclass(frozen=True)
class Screen:
    """The checks, and the models that they ask.

    Args:
        judge: labels whether a passage supports an answer.
        reader: answers without context; None if it is not asked.
        pool: finds the passages that the judge labels.
        services: the services that make the model calls.
    """

    judge: VerdictJudge
    reader: Generator | None
    pool: PassagePool
    services: Services

    @property
    def checks(self) -> tuple[Callable[[Sequence[Draft]], None], ...]:
        """The checks in their order."""
        return (self.reject_leaks, self.reject_unsupported, self.mark_known, self.label)

    def reject_leaks(self, drafts: Sequence[Draft]) -> None:
        """Reject unanswerable questions of which a pooled passage has all content words.

        The source is not one of them: it is about the same subject, without the detail.
        """
        without = [draft for draft in drafts if draft.asked_label == "unanswerable"]
        for draft, rankings in self._ranked(without):
            own = {passage.passage_id for passage in draft.passages}
            pooled = [p for p in self.pool.passages(rankings) if p.passage_id not in own]
            if found := covering_passage(draft.text, {p.passage_id: p.full_text for p in pooled}):
                draft.reason = f"{LEAK}: {found}"

    def reject_unsupported(self, drafts: Sequence[Draft]) -> None:
        """Reject answers that the sources do not support, or one alone of two does."""
        answered = _with_answer(drafts)
        texts = [[passage.full_text for passage in draft.passages] for draft in answered]
        self._reject(answered, ["\n\n".join(one) for one in texts], {False: UNSUPPORTED})
        for place in (0, 1):
            pairs = [draft for draft in _with_answer(answered) if len(draft.passages) > 1]
            alone = [draft.passages[place].full_text for draft in pairs]
            self._reject(pairs, alone, {True: ONE_IS_ENOUGH})

    def mark_known(self, drafts: Sequence[Draft]) -> None:
        """Give the label `known`, yes or no: whether the reader is right without context."""
        answered = _with_answer(drafts)
        if self.reader is None or not answered:
            return
        tasks = [reading_task(_alone(draft)) for draft in answered]
        right = right_answers(tasks, self.reader, self.services)
        said = [outcome.value for outcome in self.reader.generate(tasks, self.services)]
        long = [
            (draft, prediction.answer or "")
            for draft, is_right, prediction in zip(answered, right, said, strict=True)
            if is_right is False
            and prediction
            and len(draft.answer.split()) > _SHORT_ANSWER
            and not refusal(prediction.answer or "")
        ]
        held = dict(zip((id(draft) for draft, _ in long), self._supports(long), strict=True))
        for draft, is_right in zip(answered, right, strict=True):
            if is_right is None:
                draft.notes.append("known: the reader's call without context failed")
                continue
            draft.labels["known"] = "yes" if is_right or held.get(id(draft)) else "no"

    def label(self, drafts: Sequence[Draft]) -> None:
        """Add further passages with the answer, nuggets and the difficulty.

        The pool is searched with the query and its answer; the difficulty is that of the query.
        """
        answered = _with_answer(drafts)
        with_answers = [replace(_alone(d), text=f"{d.text} {d.answer}") for d in answered]
        pairs = [
            (draft, passage)
            for draft, rankings in zip(answered, self.pool.rankings(with_answers), strict=True)
            for passage in self.pool.passages(rankings)
            if passage not in draft.passages
        ]
        verdicts = self._supports([(draft, passage.full_text) for draft, passage in pairs])
        for (draft, passage), verdict in zip(pairs, verdicts, strict=True):
            if verdict:
                draft.further = (*draft.further, passage)
            elif verdict is None:
                draft.notes.append(f"pool: no verdict on {passage.passage_id}")
        for draft, rankings in self._ranked(answered):
            relevant = {passage.passage_id for passage in draft.relevant}
            draft.labels |= {
                **nugget_labels(draft),
                "difficulty": difficulty(rankings[0], relevant),
            }

    def _ranked(self, drafts: Sequence[Draft]) -> list[tuple[Draft, list[list[str]]]]:
        rankings = self.pool.rankings([_alone(draft) for draft in drafts])
        return list(zip(drafts, rankings, strict=True))

    def _supports(self, pairs: Sequence[tuple[Draft, str]]) -> list[bool | None]:
        """Return whether each text supports its draft's answer; None without a verdict."""
        items = [Item(_alone(draft), draft.answer, (text,)) for draft, text in pairs]
        found: list[bool | None] = []
        for (draft, _), verdict in zip(
            pairs, self.judge.verdicts(items, self.services), strict=True
        ):
            draft.judging += verdict.cost
            found.append(None if verdict.value is None else verdict.value > 0)
        return found

    def _reject(
        self, drafts: Sequence[Draft], texts: Sequence[str], reasons: dict[bool | None, str]
    ) -> None:
        """Reject drafts by the judge's verdict on their texts."""
        verdicts = self._supports(list(zip(drafts, texts, strict=True)))
        for draft, verdict in zip(drafts, verdicts, strict=True):
            draft.reason = {None: NO_VERDICT, **reasons}.get(verdict, "")


def difficulty(ranking: Sequence[str], relevant: set[str]) -> str:
    """Return `easy` if the first passage is relevant, `medium` if one of the first ten is.

    >>> difficulty(["a", "b"], {"a"}), difficulty(["a", "b"], {"b"}), difficulty(["a"], {"c"})
    ('easy', 'medium', 'hard')
    """
    rank = next((n for n, i in enumerate(ranking, start=1) if i in relevant), LEAST_DEPTH + 1)
    return "easy" if rank == 1 else "medium" if rank <= LEAST_DEPTH else "hard"


def _with_answer(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if draft.answer and not draft.reason]


def _alone(draft: Draft) -> Query:
    """Return a draft's query in its self-contained form."""
    return replace(draft.query(), text=draft.text, history=(), rewrite="")
