"""Controls: passages with known labels, which a support judge must distinguish before it labels.

A judge that calls every passage supporting, or none, gives a benchmark of noise. Half of the
controls state the gold answer; the others are passages of another article without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.components.judges.verdict import Item, Verdict, VerdictJudge
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.statistics.judge_quality import Accuracy
from ragstone.statistics.proportions import proportion
from ragstone.text.normalise import contains, words
from ragstone.types import Passage, Query

COUNT: Final = 20
"""Controls of each kind."""
LEAST_INFORMED: Final = 0.5
"""Smallest share of right labels of both kinds together, less 1 (Youden's J)."""

SUPPORTING: Final = 0.5
"""A passage supports the answer if the judge's value is above this: 0 or 1, or a probability."""


@dataclass(frozen=True)
class Control:
    """A query, a passage, and whether the passage supports the gold answer."""

    query: Query
    text: str
    supports: bool


def controls(queries: Sequence[Query], others: Sequence[Sequence[Passage]]) -> list[Control]:
    """Return controls of both kinds for the first queries.

    Args:
        queries: queries with gold answers.
        others: for each query, passages of other articles.
    """
    found = []
    for query, passages in zip(queries[:COUNT], others, strict=False):
        gold = query.gold_answers[0]
        stated = f"{query.text.rstrip('?')}? The answer is: {gold}."
        found.append(Control(query, stated, supports=True))
        foreign = (p.full_text for p in passages if not _has_answer(p.full_text, query))
        if text := next(foreign, ""):
            found.append(Control(query, text, supports=False))
    return found


def _has_answer(text: str, query: Query) -> bool:
    held = words(text)
    return any(contains(held, words(answer)) for answer in query.gold_answers)


def called(
    judge: VerdictJudge, found: Sequence[Control], services: Services
) -> list[tuple[bool, bool]]:
    """Return (supports, called supporting) of each control with a verdict."""
    return _pairs(found, _verdicts(judge, found, services))


def _verdicts(
    judge: VerdictJudge, found: Sequence[Control], services: Services
) -> Sequence[Verdict]:
    items = [Item(one.query, one.query.gold_answers[0], (one.text,)) for one in found]
    return judge.verdicts(items, services)


def _pairs(found: Sequence[Control], verdicts: Sequence[Verdict]) -> list[tuple[bool, bool]]:
    return [
        (one.supports, verdict.value > SUPPORTING)
        for one, verdict in zip(found, verdicts, strict=True)
        if verdict.value is not None
    ]


def accuracy_of(pairs: Sequence[tuple[bool, bool]]) -> Accuracy:
    """Return the judge's accuracy from the pairs of `called`.

    >>> accuracy_of([(True, True), (False, True)]).informed
    0.0
    """
    return Accuracy(
        proportion(sum(a and b for a, b in pairs), sum(a for a, _ in pairs)),
        proportion(sum(not (a or b) for a, b in pairs), sum(not a for a, _ in pairs)),
    )


def check_judge(
    judge: VerdictJudge, found: Sequence[Control], services: Services, *, least: float
) -> Accuracy:
    """Return the judge's accuracy on controls; raise `ConfigError` if it is below `least`."""
    verdicts = _verdicts(judge, found, services)
    pairs = _pairs(found, verdicts)
    accuracy = accuracy_of(pairs)
    if accuracy.informed is None or accuracy.informed < least:
        yes, no = accuracy.true_yes, accuracy.true_no
        reason = next((f": {one.reason}" for one in verdicts if one.value is None), "")
        raise ConfigError(
            f"the judge {judge!s} cannot label support: of {len(found)} passages with known labels "
            f"it calls {yes.count} of {yes.n} supporting ones supporting and {no.count} of {no.n} "
            f"foreign ones not supporting ({len(found) - len(pairs)} without a verdict{reason}); "
            "use another judge, or lower --least-informed to go on with this one"
        )
    return accuracy
