"""Notes on the numbers of crossed scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.data.readers.rows import listed
from ragstone.results.crossed.scores import METRIC, CrossedScores
from ragstone.statistics.crossed_design import CrossedDesign
from ragstone.statistics.effects import Effects, Method
from ragstone.statistics.summary import few_clusters

_FEW: Final = 15
_STATUSES: Final = (("failed", "failed"), ("unscored", "got no verdict"))


def effect_notes(
    scores: CrossedScores, design: CrossedDesign, found: Effects, method: Method
) -> Iterator[str]:
    """Yield the notes on effects."""
    if scores.binary:
        yield (
            "The scores are 0 or 1: effects are differences of shares, and intervals come from "
            "resampled queries."
        )
    yield from _left_out(design)
    yield from status_notes(scores)
    yield from _aliased(design, found)
    if METRIC in scores.factors:
        yield "The metrics have different scales: the effects of the factor metric mean little."
    if design.repeat_variance is None and scores.generated:
        yield (
            "Answers have no repeats: their noise is part of the residual. `repeats: 2` in the "
            "experiment file tells it apart."
        )
    if method == "reml":
        yield "Intervals are those of a normal distribution; components by query have none."
    if min(design.clusters) == 1:
        yield (
            "Some data set has a single query or cluster: nothing is known about the variance by "
            "query, and there are no intervals."
        )
    elif sum(design.clusters) < _FEW:
        yield f"With fewer than {_FEW} queries or clusters, intervals are approximate."
    for stratum in design.strata:
        if warning := few_clusters(stratum.clusters.tolist()):
            yield f"{stratum.name}: {warning}" if len(design.strata) > 1 else warning


def status_notes(scores: CrossedScores) -> Iterator[str]:
    """Yield the numbers of scores without a value."""
    for status, words in _STATUSES:
        if count := scores.statuses.get(status, 0):
            yield f"{count:,} scores {words}."


def cluster_note(scores: CrossedScores) -> str:
    """Return a warning if the queries are in few clusters, or ""."""
    ids = zip(scores.data, scores.queries, strict=True)
    return few_clusters(dict(zip(ids, scores.clusters, strict=True)).values())


def _left_out(design: CrossedDesign) -> Iterator[str]:
    if design.left_out:
        yield (
            f"{design.left_out:,} queries are left out, because some cell has no score of them; "
            "--method reml uses them."
        )
    if design.cells_left_out:
        yield f"{design.cells_left_out:,} cells are left out, because some data set has none."


def _aliased(design: CrossedDesign, found: Effects) -> Iterator[str]:
    for names in found.aliased:
        if len(names) == 1:
            yield f"{names[0]} changes only together with other factors: its share is theirs."
    if crossed := [" x ".join(names) for names in found.aliased if len(names) > 1]:
        yield f"Some combinations have no cell: there is no share for {listed(crossed)}."
    if not design.factors and len(design.strata) == 1:
        fixed = listed([f"{name} {level}" for name, level in design.constant.items()])
        yield f"No factor has two levels{f' ({fixed})' if fixed else ''}: only queries vary."
