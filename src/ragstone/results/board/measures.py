"""The measure of a table's cell: a metric, or a value that is computed from metrics.

    nDCG@10, Match, ...        a metric of the experiments
    NV, CA, CI, CM             MIRAGE's noise vulnerability, context acceptability, context
                               insensitivity and context misinterpretation, under mixed settings
    gain(none)                 the gain over the same system under another setting
    gain(F1, reranker=-)       by another metric; over the system that differs in a factor
    win, win(F1), win(F1, S)   share of the comparisons won against all others, or against system S
    correlation(Match, judge)  correlation of two metrics over queries; kind=spearman (the
                               default), pearson or kendall
    share                      share of the queries with the value of a label axis
    queries, passages          numbers of queries and passages

Each has a value per query, so that intervals and tests are those of any metric; a correlation and
the last two have one value per cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast, get_args

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.spec import split_specs
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.adaptability import MIXED, without_gold
from ragstone.results.factors import NONE, SYSTEM_AXES
from ragstone.results.joined import JoinedResults, JoinedRow, metric_factors
from ragstone.statistics.adaptability import Outcome, adaptability
from ragstone.statistics.failures import Scale
from ragstone.statistics.metric_correlations import Kind
from ragstone.types import Query, Score

ADAPTABILITY: Final[Mapping[str, Outcome]] = {
    "NV": "noise_vulnerability",
    "CA": "context_acceptability",
    "CI": "context_insensitivity",
    "CM": "context_misinterpretation",
}
SHARE: Final = "share"
COUNTS: Final = ("queries", "passages")
_FUNCTIONS: Final = ("gain", "win", "correlation")
_MADE: Final = re.compile(r"(?P<name>gain|win|correlation)(?:\((?P<arguments>.*)\))?", re.DOTALL)
_KEYED: Final = re.compile(r"(?P<key>[A-Za-z_][\w.]*)\s*=(?P<value>[^=].*)", re.DOTALL)
_UNBOUNDED: Final = Scale(None, "neutral")


@dataclass(frozen=True, eq=False)
class Measured:
    """One value per query of one system under one setting."""

    factors: Mapping[str, str]
    metric: str
    """The measure as it is asked for."""
    scale: Scale
    row: JoinedRow
    """The row that the values are made from."""
    read: Callable[[], Mapping[str, Score]]
    """Reads the scores."""
    identity: tuple[object, ...]
    against: Callable[[], Mapping[str, Score]] | None = None
    """The other column of a correlation."""
    kind: Kind = "spearman"
    """The coefficient of a correlation."""

    @property
    def scores(self) -> Mapping[str, Score]:
        """Query id -> score; few tables stay in memory."""
        return self.row.experiment.held.get(self.identity, self.read)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries by id."""
        return self.row.queries

    @property
    def data(self) -> str:
        """The name of the data set."""
        return self.factors["data"]

    def labelled(self, labels: Mapping[str, Sequence[str]]) -> frozenset[str]:
        """Return the queries with one of the values of each label."""
        ids = set(self.queries)
        for label, values in labels.items():
            groups = self.row.groups(label)
            ids &= {query for value in values for query in groups.get(value, ())}
        return frozenset(ids)


def measured(joined: JoinedResults, written: str, *, among: JoinedResults) -> list[Measured]:
    """Return the rows of one measure.

    Args:
        joined: the rows to be shown.
        written: the measure, see the module.
        among: the rows that others are compared with, such as those under a baseline setting.

    Raises:
        ConfigError: there is no such measure, or no result has it.
    """
    found = list(_measured(joined, written, among))
    if not found:
        raise ConfigError(f"no result that is shown has {written!r}", key="metric", value=written)
    return found


def _measured(joined: JoinedResults, written: str, among: JoinedResults) -> Iterable[Measured]:
    if written in ADAPTABILITY:
        return _adaptability(joined, written, among)
    if written == SHARE or written in COUNTS:
        return _of_queries(joined, written)
    name = _named(among, written)
    if name:
        return [_plain(row, written) for row in joined.rows if name in (row.metric, _measure(row))]
    made = _MADE.fullmatch(written)
    makers = {"gain": _gains, "win": _wins, "correlation": _correlations}
    if made is None:
        known = [*among.metrics, *ADAPTABILITY, *_FUNCTIONS, SHARE, *COUNTS]
        raise ConfigError(
            f"no result has the metric {written!r}{did_you_mean(written, known)}",
            key="metric",
            value=written,
        )
    call = _Call(written, *_arguments(made["arguments"] or ""))
    return makers[made["name"]](joined, call, among)


@dataclass(frozen=True)
class _Call:
    """A measure with arguments."""

    written: str
    words: tuple[str, ...]
    keyed: Mapping[str, str]


def _arguments(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the arguments without and with a key; commas within brackets do not separate.

    >>> _arguments("F1, gold+noise(3, position=first), generator.adapter=-")
    (('F1', 'gold+noise(3, position=first)'), {'generator.adapter': '-'})
    """
    given = split_specs(text, where="metric")
    keyed = {m["key"]: m["value"].strip() for m in map(_KEYED.fullmatch, given) if m}
    return tuple(part for part in given if not _KEYED.fullmatch(part)), keyed


def _measure(row: JoinedRow) -> str:
    return row.factors["measure"]


def _named(joined: JoinedResults, written: str) -> str:
    """Return the name of a metric in the results, or of a measure without cutoff, or ""."""
    known = {name: name for row in joined.rows for name in (row.metric, _measure(row))}
    if written not in known:
        try:
            written = str(parse_metric(written))
        except ConfigError:
            return ""
    return known.get(written, "")


def _plain(row: JoinedRow, written: str) -> Measured:
    return Measured(row.factors, written, row.scale, row, row.scores, row.identity)


def _derived(
    row: JoinedRow,
    written: str,
    scale: Scale,
    read: Callable[[], Mapping[str, Score]],
    *more: object,
) -> Measured:
    factors = {**row.factors, **metric_factors(written)}
    identity = (written, *row.identity, *more)
    return Measured(factors, written, scale, row, read, identity)


def _adaptability(joined: JoinedResults, written: str, among: JoinedResults) -> Iterable[Measured]:
    """Yield a row per system and mixed setting with answers without and with gold context."""
    outcome = ADAPTABILITY[written]
    scale = Scale(direction="higher" if outcome == "context_acceptability" else "lower")
    for row in joined.rows:
        record = row.experiment.record
        if row.metric != record.correctness_metric or not row.factors["setting"].startswith(MIXED):
            continue
        others = {
            other.factors["setting"]: other
            for other in among.rows
            if other.experiment is row.experiment
            and other.metric == row.metric
            and other.factors["system"] == row.factors["system"]
        }
        if record.oracle in others and "none" in others:
            trio = (others["none"], others[record.oracle], row)
            ids = [other.identity for other in trio]

            def read(trio: Sequence[JoinedRow] = trio) -> dict[str, Score]:
                return _outcomes(trio, outcome)

            yield _derived(row, written, scale, read, *ids)


def _outcomes(trio: Sequence[JoinedRow], outcome: Outcome) -> dict[str, Score]:
    """Return query id -> 1 for the queries with an outcome, 0 for those with another one."""
    row = trio[-1]
    results, record = row.experiment.results, row.experiment.record
    rule = record.correctness
    wrong = None if record.failures == "exclude" else 0.0
    labels = [
        {
            query: wrong if score.status == "failed" else rule.label(score.value) if rule else None
            for query, score in one.scores().items()
        }
        for one in trio
    ]
    found = adaptability(*labels, left_out=without_gold(row.queries, results.qrels))
    name = next(short for short, long in ADAPTABILITY.items() if long == outcome)
    scores = {q: Score(q, name, None, "not_applicable", why) for q, why in found.left_out.items()}
    return scores | {
        item.query_id: Score(item.query_id, name, float(item.outcome == outcome))
        for item in found.items
    }


def _of_queries(joined: JoinedResults, written: str) -> Iterable[Measured]:
    """Yield one row per data set: its queries, or the number of its passages."""
    seen = set()
    for row in joined.rows:
        record = row.experiment.record
        place = (row.factors["data"], *row.data_factors.items())
        key = (record.tables.ranked, record.data.corpus_digest, *place)
        if key in seen:
            continue
        seen.add(key)
        passages = float(record.data.passages)
        value = {"queries": 1.0, "passages": passages}.get(written, 1.0)

        def read(row: JoinedRow = row, value: float = value) -> dict[str, Score]:
            return {q: Score(q, written, value) for q in row.experiment.results.ranked}

        scale = Scale(direction="neutral") if written == SHARE else _UNBOUNDED
        yield _derived(row, written, scale, read)


def _headlines(joined: JoinedResults) -> set[tuple[object, str]]:
    return {(one, one.record.headline) for one in joined.experiments}


def _of_metric(joined: JoinedResults, metric: str) -> list[JoinedRow]:
    """Return the rows of a metric, or of the headline of each experiment for ""."""
    if metric:
        return [row for row in joined.rows if row.metric == metric]
    wanted = _headlines(joined)
    return [row for row in joined.rows if (row.experiment, row.metric) in wanted]


def _gains(joined: JoinedResults, call: _Call, among: JoinedResults) -> Iterable[Measured]:
    metric = _named(among, call.words[0]) if call.words else ""
    settings = call.words[1:] if metric else call.words
    bases = [*(("setting", name) for name in settings), *call.keyed.items()]
    if len(bases) != 1:
        raise ConfigError(
            f"{call.written}: a gain has one baseline: gain(none), gain(F1, none) or "
            "gain(reranker=-)"
        )
    axis, value = bases[0]
    places = {_position(row, axis): row for row in among.where({axis: [value]}).rows}
    for row in _of_metric(joined, metric):
        base = places.get(_position(row, axis))
        if base is not None and row.factors.get(axis, NONE) != value:
            low, high = row.scale.range or (None, None)
            span = None if low is None or high is None else (low - high, high - low)
            scale = Scale(span, row.scale.direction, "exclude")

            def read(row: JoinedRow = row, base: JoinedRow = base) -> dict[str, Score]:
                return _differences(row, base, call.written)

            yield _derived(row, call.written, scale, read, base.identity)


def _position(row: JoinedRow, axis: str) -> tuple[object, ...]:
    """Return the shared key of a row and its baseline: data, metric and the other parts."""
    part = axis.partition(".")[0]
    part = "generator" if part == "prompt" else part
    held = [name for name in (*SYSTEM_AXES, "prompt", "release", "setting") if name != axis]
    held = [name for name in held if name != part]
    held += [n for n in row.factors if n.startswith(f"{part}.") and n != axis and "." in axis]
    own = (row.factors["data"], row.metric, row.experiment.record.tables.answered)
    return (*own, *((name, row.factors.get(name, NONE)) for name in sorted(held)))


def _differences(row: JoinedRow, base: JoinedRow, written: str) -> dict[str, Score]:
    found, other = {}, base.scores()
    for query, score in row.scores().items():
        if query in other:
            first, second = base.scale.counted(other[query]), row.scale.counted(score)
            if first is None or second is None:
                found[query] = Score(query, written, None, "not_applicable", "no value to compare")
            else:
                found[query] = Score(query, written, second[0] - first[0])
    return found


def _wins(joined: JoinedResults, call: _Call, among: JoinedResults) -> Iterable[Measured]:
    """Yield the rows of a win rate: 1 for a win, 0.5 for a tie, 0 for a loss; means of these."""
    metric = _named(among, call.words[0]) if call.words else ""
    systems = list(call.words[1:] if metric else call.words)
    rivals = among.where({"system": systems}) if systems else joined
    for row in _of_metric(joined, metric):
        mine = ("data", "setting", "metric")
        # One measurement under several names of systems is one rival, or is the system itself.
        others = {
            other.identity: other
            for other in rivals.rows
            if all(other.factors[name] == row.factors[name] for name in mine)
            and other.identity != row.identity
            and other.experiment.record.tables.answered == row.experiment.record.tables.answered
        }
        if others:

            def read(
                row: JoinedRow = row, others: Sequence[JoinedRow] = list(others.values())
            ) -> dict[str, Score]:
                return _won(row, others, call.written)

            identity = frozenset(others)
            yield _derived(row, call.written, Scale(failures="exclude"), read, identity)


def _won(row: JoinedRow, others: Sequence[JoinedRow], written: str) -> dict[str, Score]:
    sign = -1 if row.scale.direction == "lower" else 1
    rivals = [(other.scale, other.scores()) for other in others]
    found = {}
    for query, score in row.scores().items():
        mine = row.scale.counted(score)
        cases = (scale.counted(held[query]) for scale, held in rivals if query in held)
        theirs = [case[0] for case in cases if case is not None]
        if mine is None or not theirs:
            found[query] = Score(query, written, None, "not_applicable", "no value to compare")
            continue
        points = [
            0.5 + 0.5 * ((sign * (mine[0] - t) > 0) - (sign * (mine[0] - t) < 0)) for t in theirs
        ]
        found[query] = Score(query, written, sum(points) / len(points))
    return found


def _correlations(joined: JoinedResults, call: _Call, among: JoinedResults) -> Iterable[Measured]:
    written, kind = call.written, call.keyed.get("kind", "spearman")
    names = [_named(among, word) for word in call.words]
    if len(names) != 2 or not all(names):  # noqa: PLR2004 - two columns
        raise ConfigError(f"{written}: a correlation is of two metrics: correlation(Match, F1)")
    if kind not in get_args(Kind):
        raise ConfigError(f"{written}: kind is one of {', '.join(get_args(Kind))}")
    first, second = names
    columns = {_trial(row): row for row in among.rows if row.metric == second}
    for row in joined.rows:
        other = columns.get(_trial(row)) if row.metric == first else None
        if other is not None:
            factors = {**row.factors, **metric_factors(written)}
            identity = (written, *row.identity, *other.identity)
            yield Measured(
                factors,
                written,
                Scale((-1, 1)),
                row,
                row.scores,
                identity,
                other.scores,
                cast("Kind", kind),
            )


def _trial(row: JoinedRow) -> tuple[object, ...]:
    return (row.experiment, row.factors["system"], row.factors["setting"])
