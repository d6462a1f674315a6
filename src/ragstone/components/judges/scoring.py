"""The scores that a judge gives to predictions, whatever its verdicts look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone.core.component import Outcome, run_component
from ragstone.types import Score, tasks_of

if TYPE_CHECKING:
    from ragstone.protocols import Judge, Services
    from ragstone.types import Context, Prediction, Query, Status


def judge_predictions(
    judge: Judge,
    services: Services,
    queries: Sequence[Query],
    contexts: Mapping[str, Context],
    predictions: Sequence[Prediction],
) -> Iterator[Outcome[list[Score]]]:
    """Yield the scores of each prediction, one per metric of the judge, in order.

    A missing verdict is `failed` if the system gave no answer, else `unscored`: then the judge
    failed, and not the system. The outcome's reason is that of a missing verdict.
    """
    found = run_component(judge, services, tasks_of(queries, contexts), predictions)
    for prediction, outcome in zip(predictions, found, strict=True):
        missing: Status = "failed" if prediction.answer is None else "unscored"
        given = judge.scores_of(prediction.query_id, outcome)
        scores = [replace(s, status=missing) if s.status == "failed" else s for s in given]
        unscored = next((score.reason for score in scores if score.status == "unscored"), "")
        yield replace(outcome, value=scores, reason=outcome.reason or unscored)
