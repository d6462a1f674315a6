"""The scores that a judge returned for one prediction: a number, a bool, a score or several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from ragstone.errors import ComponentError
from ragstone.types import Score

if TYPE_CHECKING:
    from ragstone.core.component import Outcome


def returned_scores(
    judge: str, metric: str, metrics: Sequence[str], query_id: str, outcome: Outcome[Any]
) -> Sequence[Score]:
    """Return the scores of one outcome: failed ones, with the reason, without a finite value.

    Args:
        judge: the name of the judge's class, as errors name it.
        metric: the metric of a plain number.
        metrics: all metrics of the judge.
        query_id: the query of the prediction.
        outcome: what the judge returned.

    Raises:
        ComponentError: the value is neither a number nor scores of the judge's metrics.
    """
    import numpy as np

    value = outcome.value.item() if isinstance(outcome.value, np.generic) else outcome.value
    if value is None or (isinstance(value, Real) and not math.isfinite(value)):
        reason = outcome.reason or f"the judge returned {value}"
        return [Score(query_id, one, None, "failed", reason) for one in metrics]
    if isinstance(value, Real):
        return [Score(query_id, metric, float(value), reason=outcome.reason)]
    scores = [value] if isinstance(value, Score) else value
    scored = scores if isinstance(scores, list | tuple) and scores else [None]
    own = {(query_id, one) for one in metrics}
    if any(not isinstance(s, Score) or (s.query_id, s.metric) not in own for s in scored):
        raise ComponentError(
            f"{judge} returned {value!r} for query {query_id!r}; a judge returns "
            f"a number, a bool, or scores of that query and of {', '.join(metrics)}",
            component=judge,
            query_id=query_id,
            value=value,
        )
    return list(scores)
