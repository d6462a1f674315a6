"""The scores of joined results as rows of crossed factors, for `ragstone.statistics.effects`.

A row is a score of one query. Its factors are the components of its system, the prompt, the context
setting, and the judge or the metric if several are asked for. Queries are nested in data sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.core import limits
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.board.measures import COUNTS, SHARE, Measured, measured
from ragstone.results.factors import NONE
from ragstone.results.joined import JoinedResults, JoinedRow, data_factors_apart, differing
from ragstone.statistics.crossed_design import CrossedDesign, crossed_design
from ragstone.statistics.effects import DATA
from ragstone.types import Score

JUDGE: Final = "judge"
METRIC: Final = "metric"
RANKING_FACTORS: Final = ("query_former", "retriever", "reranker", "datastore")
ANSWER_FACTORS: Final = (
    *RANKING_FACTORS, "processor", "generator", "prompt", "setting", "release",
)  # fmt: skip
_NOT_FACTORS: Final = ("experiment", "campaign", DATA, METRIC, "measure", "k")


@dataclass(frozen=True)
class ScoreSelection:
    """Which scores are analysed."""

    metrics: tuple[str, ...] = ()
    """By default the most frequent headline; several are levels of a factor."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Factor or label -> values that are kept."""
    factors: tuple[str, ...] = ()
    """By default those of a system that vary."""


@dataclass(frozen=True, eq=False)
class CrossedScores:
    """Columns of scores, and their metrics and factors."""

    metrics: tuple[str, ...]
    higher: Mapping[str, bool]
    """Level of the judge or metric -> whether a higher score is better."""
    judged: bool
    generated: bool
    values: Sequence[float | None]
    queries: Sequence[str]
    data: Sequence[str]
    clusters: Sequence[Hashable]
    factors: Mapping[str, Sequence[str]]
    statuses: Mapping[str, int]
    """Status -> number of scores: scored, failed, unscored, not_applicable."""
    failed: Mapping[tuple[str, str], int]
    """(factor, level) -> number of failed scores; the data set is a factor too."""
    notes: tuple[str, ...] = ()
    """Notes on the experiments: secret queries, machine-made qrels."""

    @property
    def metric(self) -> str:
        """The names of the metrics."""
        return ", ".join(self.metrics)

    @property
    def binary(self) -> bool:
        """Whether every score is 0 or 1."""
        return {0.0, 1.0, None}.issuperset(self.values)

    def design(self, *, incomplete: bool = False, pooled: bool = False) -> CrossedDesign:
        """Return the crossed design.

        With `pooled`, equal query ids of several data sets are one query: `data` is a factor.
        """
        factors = {**self.factors, DATA: self.data} if pooled else self.factors
        return crossed_design(
            self.values,
            self.queries,
            factors,
            data=None if pooled else self.data,
            clusters=self.clusters,
            incomplete=incomplete,
        )

    def first(self) -> CrossedScores:
        """Return the scores of the first metric or judge alone."""
        over = next((name for name in (JUDGE, METRIC) if name in self.factors), None)
        if over is None:
            return self
        kept = [i for i, name in enumerate(self.factors[over]) if name == self.metrics[0]]
        columns = {n: [v[i] for i in kept] for n, v in self.factors.items() if n != over}
        return replace(
            self,
            metrics=self.metrics[:1],
            values=[self.values[i] for i in kept],
            queries=[self.queries[i] for i in kept],
            data=[self.data[i] for i in kept],
            clusters=[self.clusters[i] for i in kept],
            factors=columns,
        )

    @property
    def same_queries(self) -> bool:
        """Whether several data sets have the same query ids, such as two corpora of one set."""
        ids: dict[str, set[str]] = {}
        for name, query in zip(self.data, self.queries, strict=True):
            ids.setdefault(name, set()).add(query)
        first, *others = ids.values()
        return bool(others) and all(other == first for other in others)


def crossed_scores(joined: JoinedResults, selection: ScoreSelection) -> CrossedScores:
    """Return the scores of some results as columns.

    Raises:
        ConfigError: a metric, a factor or a value of a filter is unknown, or the factors do not
            distinguish two results.
    """
    shown, labels = joined.filtered(selection.where)
    asked = selection.metrics or (shown.headline,)
    found = [one for metric in asked for one in measured(shown, metric, among=joined)]
    for one in found:
        if one.against is not None or one.metric in (SHARE, *COUNTS):
            raise ConfigError(
                f"{one.metric} has no score per query; ask for a metric, a gain, or a win rate",
                key="metric",
                value=one.metric,
            )
    # A measure without cutoff is every metric of its name.
    metrics = tuple(dict.fromkeys(map(_metric, found)))
    kinds = {one.row.is_ranking for one in found}
    if len(kinds) > 1:
        raise ConfigError(
            f"the metrics {listed(metrics)} are of rankings and of answers, which have other "
            "factors; ask for those of one kind"
        )
    over = _over(metrics, found)
    names = _factors(joined, selection.factors, found, over)
    columns = _Columns(names, over, labels)
    for one in found:
        columns.add(one)
    scores = columns.scores(metrics, found, ranking=kinds == {True})
    return replace(scores, notes=tuple(f"{line}." for line in shown.source_lines))


def _metric(one: Measured) -> str:
    return one.row.metric if one.metric == one.row.factors["measure"] else one.metric


def _over(metrics: Sequence[str], found: Sequence[Measured]) -> str:
    """Return the factor whose levels are several metrics, or ""."""
    if len(metrics) == 1:
        return ""
    judges = all(one.row.entry.kind == "judge" and _metric(one) == one.row.metric for one in found)
    return JUDGE if judges else METRIC


def _factors(
    joined: JoinedResults, asked: Sequence[str], found: Sequence[Measured], over: str
) -> tuple[str, ...]:
    """Return the factors of the columns, without that of several metrics."""
    if not asked:
        every = RANKING_FACTORS if found[0].row.is_ranking else ANSWER_FACTORS
        every = (*every, *data_factors_apart(one.row for one in found))
        return tuple(
            name for name in every if len({one.factors.get(name, NONE) for one in found}) > 1
        )
    known = [name for name in joined.axes if name not in _NOT_FACTORS]
    for name in asked:
        if name not in known and name not in (DATA, over):
            raise ConfigError(
                f"there is no factor {name!r} within queries{did_you_mean(name, known)}; factors: "
                f"{listed([one for one in known if '.' not in one], limits.SHOWN_AXES)}. Data sets "
                "are always a factor",
                key="factors",
                value=name,
            )
    return tuple(name for name in dict.fromkeys(asked) if name not in (DATA, over))


class _Columns:
    """Collects rows, each measurement once."""

    def __init__(
        self, names: Sequence[str], over: str, labels: Mapping[str, Sequence[str]]
    ) -> None:
        self._names = (*names, over) if over else tuple(names)
        self._over = over
        self._labels = labels
        self._seen: set[tuple[object, ...]] = set()
        self._owners: dict[tuple[str, ...], dict[str, Measured]] = {}
        self._rows: list[tuple[float | None, str, str, Hashable, tuple[str, ...]]] = []
        self._statuses: Counter[str] = Counter()
        self._failed: Counter[tuple[str, str]] = Counter()

    def add(self, one: Measured) -> None:
        """Add the scores of a measurement, with its repeats."""
        levels = tuple(
            _metric(one) if name == self._over else one.factors.get(name, NONE)
            for name in self._names
        )
        if (identity := (*one.identity, levels)) in self._seen:
            return
        self._seen.add(identity)
        owners = self._owners.setdefault((one.data, *levels), {})
        chosen = one.labelled(self._labels) if self._labels else None
        for query in one.scores:
            if (other := owners.setdefault(query, one)) is not one:
                raise ConfigError(_not_apart(one, other, self._names))
        for scores in _repeats(one):
            for query, score in scores.items():
                if chosen is None or query in chosen:
                    self._add(one, levels, query, score)

    def _add(self, one: Measured, levels: tuple[str, ...], query: str, score: Score) -> None:
        self._statuses[score.status] += 1
        if score.status == "failed":
            self._failed.update([*zip(self._names, levels, strict=True), (DATA, one.data)])
        counted = one.scale.counted(score)
        value = None if counted is None else counted[0]
        cluster = (one.data, one.row.clusters.get(query, ("", query)))
        self._rows.append((value, query, one.data, cluster, levels))

    def scores(
        self, metrics: tuple[str, ...], found: Sequence[Measured], *, ranking: bool
    ) -> CrossedScores:
        """Return the columns."""
        if not self._rows:
            raise ConfigError("no query is left to analyse; leave out a filter")
        values, queries, data, clusters, levels = zip(*self._rows, strict=True)
        by_factor = zip(*levels, strict=True) if self._names else ()
        return CrossedScores(
            metrics,
            {_metric(one): one.scale.direction != "lower" for one in found},
            judged=any(one.row.entry.kind == "judge" for one in found),
            generated=not ranking,
            values=values,
            queries=queries,
            data=data,
            clusters=clusters,
            factors=dict(zip(self._names, by_factor, strict=True)),
            statuses=dict(self._statuses),
            failed=dict(self._failed),
        )


def _repeats(one: Measured) -> Iterator[Mapping[str, Score]]:
    """Yield the scores of each answer and of each verdict on it; derived values have one."""
    tables = [] if _metric(one) != one.row.metric else list(_repeated(one.row))
    if not tables:
        yield one.scores
        return
    without = {q: score for q, score in one.scores.items() if score.status == "not_applicable"}
    yield without | dict(tables[0])
    yield from tables[1:]


def _repeated(row: JoinedRow) -> Iterator[Mapping[str, Score]]:
    """Yield the scores of each answer and verdict of a trial that has several."""
    if row.repeated and row.repeated.repeats:
        for _, folders in row.repeated.scored():
            if scores := row.experiment.scores(folders).get(row.metric):
                yield scores


def _not_apart(one: Measured, other: Measured, names: Sequence[str]) -> str:
    """Return the message that two results have equal levels, with the factors that differ."""
    unlike = {
        name: values
        for name, values in differing([other.row, one.row]).items()
        if name not in ("campaign", METRIC, "measure", "k")
    }
    # An experiment is not a factor, and a system is named after its parts.
    for name in ("experiment", "system"):
        if len(unlike) > 1:
            unlike.pop(name, None)
    told = [f"{name} ({listed(values)})" for name, values in unlike.items()]
    first = next(iter(unlike), "experiment")
    value = unlike.get(first, ["..."])[0]
    named = (
        ""
        if first == "experiment"
        else (f"name a factor that tells them apart (--factors {','.join([*names, first])}), or ")
    )
    have = f"have the same {listed(list(names))}" if names else "have no factor"
    return (
        f"two results on {one.data} {have}, and differ in {listed(told) or 'their stored tables'}: "
        f"{named}choose one (--where {first}={value})"
    )
