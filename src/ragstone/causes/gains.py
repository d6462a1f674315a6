"""The gain of a perfect step: the score if one step, or several together, made no mistake.

Each query has labels of counterfactual trials. A perfect step turns the label of a query into the
one of the trial in which that step is replaced:

- `retrieval`, `ranking`, `processing`: gold that was lost at this step is shown, and the other
  passages stay. The trial is `gold+retrieved(n)`; without it the label with gold alone is a bound.
- `noise`: the gold passages alone, if the generator was shown gold.
- `reader`: right if the generator was shown gold.
- `refusal`: no answer is a wrong refusal, and no refusal is missing.

The gains of single steps overlap. Shapley values divide the gain of all steps together among them:
the mean of a step's further gain over all orders in which the steps may become perfect (Shapley
1953).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.causes.order import CauseName

Step: TypeAlias = Literal["retrieval", "ranking", "processing", "noise", "reader", "refusal"]
STEPS: Final[tuple[Step, ...]] = (
    "retrieval",
    "ranking",
    "processing",
    "noise",
    "reader",
    "refusal",
)
"""The steps in the order of the pipeline."""
STEP_OF: Final[Mapping[CauseName, Step]] = {
    "query_rewriting": "retrieval",
    "retrieval_miss": "retrieval",
    "ranking": "ranking",
    "reranking": "ranking",
    "processing": "processing",
}
"""Cause that names a lost gold passage -> the step at which it was lost."""
_ALWAYS_BOUNDS: Final = frozenset({"reader", "refusal"})
"""Steps that no trial can replace."""
_Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QueryLabels:
    """The labels of one query under the trials; 1 is right, 0 is wrong, None was not measured."""

    label: float
    """The label under the setting itself."""
    lost: Step | None = None
    """The step at which gold was lost; None if the generator was shown it."""
    has_gold: bool = True
    """Whether the query has a gold passage; without one only `refusal` can change its label."""
    failed: bool = False
    """Whether there is no answer; no perfect step changes that."""
    with_gold: float | None = None
    """The label with the gold passages alone."""
    gold_first: float | None = None
    """The label with the gold passages before those retrieved."""
    wrong_refusal: bool = False
    """Whether the cause is a false or a missed refusal."""


@dataclass(frozen=True, slots=True)
class StepGain:
    """The gain of a perfect step."""

    step: Step
    after: tuple[float, ...]
    """The label of each query if the step were perfect."""
    is_bound: bool
    """Whether a label is not measured, so that its maximum counts."""
    shapley: float
    """The part of the gain of all steps together that belongs to this one."""
    unmeasured: int
    """Number of queries whose label a trial would measure."""


def step_gains(queries: Sequence[QueryLabels]) -> list[StepGain]:
    """Return the gain of each step, in the order of the pipeline.

    >>> lost = QueryLabels(0.0, lost="retrieval", with_gold=1.0)
    >>> [(g.step, g.after, g.shapley) for g in step_gains([lost]) if sum(g.after)]
    [('retrieval', (1.0,), 1.0)]
    """
    subsets = (map(frozenset, combinations(STEPS, size)) for size in range(len(STEPS) + 1))
    labels = {perfect: labels_after(queries, perfect) for perfect in chain(*subsets)}
    scores = {perfect: float(of.mean()) if of.size else 0.0 for perfect, of in labels.items()}
    found = []
    for step in STEPS:
        assumed = sum(_is_assumed(query, step) for query in queries)
        after = tuple(labels[frozenset({step})].tolist())
        is_bound = bool(assumed) or step in _ALWAYS_BOUNDS
        found.append(StepGain(step, after, is_bound, _shapley(step, scores), assumed))
    return found


def labels_after(queries: Sequence[QueryLabels], perfect: Collection[Step]) -> _Floats:
    """Return the label of each query if some steps were perfect; a bound where none is measured."""
    return np.array([_after(query, perfect) for query in queries], dtype=np.float64)


def _after(query: QueryLabels, perfect: Collection[Step]) -> float:
    if query.wrong_refusal and "refusal" in perfect and not query.failed:
        return 1.0
    is_repaired = query.lost in perfect
    if query.failed or not query.has_gold or (query.lost is not None and not is_repaired):
        return query.label
    with_gold = 1.0 if query.with_gold is None else query.with_gold
    if "reader" in perfect:
        return 1.0
    if "noise" in perfect:
        return with_gold
    if is_repaired:
        return max(query.label, with_gold) if query.gold_first is None else query.gold_first
    return query.label


def _is_assumed(query: QueryLabels, step: Step) -> bool:
    """Return whether a trial would measure the label after a perfect step."""
    if query.failed or not query.has_gold:
        return False
    if step == "noise":
        return query.lost is None and query.with_gold is None
    return query.lost == step and query.gold_first is None


def _shapley(step: Step, scores: Mapping[frozenset[Step], float]) -> float:
    """Return the mean further gain of a step over all orders of the steps."""
    others = [one for one in STEPS if one != step]
    total = 0.0
    for size in range(len(others) + 1):
        weight = math.factorial(size) * math.factorial(len(others) - size)
        for some in map(frozenset, combinations(others, size)):
            total += weight * (scores[some | {step}] - scores[some])
    return total / math.factorial(len(STEPS))
