"""The joined results of many experiments: one row per experiment, system, setting and metric.

A row has named factors, by which tables over experiments are made, and its scores per query, which
are read from the store when they are needed.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from ragstone.core import limits
from ragstone.core.store import Store
from ragstone.core.store_contents import documents, require_store
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, StoreError, nearest_name
from ragstone.results.factors import NONE, system_factors, trained_on
from ragstone.results.judge_notes import metric_notes
from ragstone.results.reader import StoredResults
from ragstone.results.record import KIND, MetricEntry, Record, TrialEntry
from ragstone.statistics.breakdown import groups_of
from ragstone.statistics.failures import FAILURE_RATE, Scale, failure_scores
from ragstone.types import Query, Score, brief

_LOG: Final = logging.getLogger(__name__)
_Scores = TypeVar("_Scores")
RETRIEVAL: Final = "retrieval"
"""The value of the factor `setting` for ranking metrics, which no setting changes."""
DATA_PREFIX: Final = "data."
"""Before the name of a factor of the data set that is the name of another factor."""


class HeldScores:
    """The scores that many experiments keep in memory: those that were used last."""

    def __init__(self) -> None:
        self._held: OrderedDict[object, Any] = OrderedDict()
        self._scores = 0

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._held)

    def get(self, key: object, read: Callable[[], _Scores]) -> _Scores:
        """Return scores that were read before, or read them."""
        if key not in self._held:
            found = read()
            self._scores += _size(found)
            while self._held and self._scores > limits.HELD_SCORES:
                self._scores -= _size(self._held.popitem(last=False)[1])
            self._held[key] = found
        self._held.move_to_end(key)
        held: _Scores = self._held[key]
        return held


def _size(held: Any) -> int:
    """Return the number of scores by query, or by metric and query."""
    return sum(len(one) if isinstance(one, Mapping) else 1 for one in held.values())


@dataclass(frozen=True, eq=False)
class JoinedExperiment:
    """One experiment of a table over many."""

    results: StoredResults
    held: HeldScores
    """The scores in memory, of all experiments together."""

    @property
    def record(self) -> Record:
        """The record of the experiment."""
        return self.results.record

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """Query id -> its conversation or document."""
        return self.results.clusters

    @cached_property
    def judge_notes(self) -> Mapping[str, str]:
        """Metric -> the gains of its judge by flagged probes."""
        return metric_notes(self.results)

    def scores(self, folders: tuple[str, ...]) -> Mapping[str, Mapping[str, Score]]:
        """Return metric -> query id -> score of some stored tables."""
        key = self.results.store.root, folders, self.results.held_back
        return self.held.get(key, lambda: self.results.scores(*folders))

    def repeated_scores(self, trial: TrialEntry) -> Mapping[str, Mapping[str, Score]]:
        """Return metric -> query id -> score over the repeats of a trial."""
        results, place = self.results, (trial.predictions, trial.scores, "repeats")
        key = results.store.root, *place, results.held_back
        return self.held.get(key, lambda: self.results.trial(trial).scores)


@dataclass(frozen=True, eq=False)
class JoinedRow:
    """One metric of one system under one setting of one experiment."""

    experiment: JoinedExperiment
    factors: Mapping[str, str]
    """Name of a factor -> value: experiment, campaign, data, system, retriever, setting, ..."""
    entry: MetricEntry
    folders: tuple[str, ...]
    """The stored tables with the scores: rows with equal ones are one measurement."""
    trained_on: tuple[str, ...] = ()
    """The data sets that the system declares to be trained on."""
    not_applicable: str = ""
    """The stored reasons of queries that the setting does not apply to; "" without one."""
    repeated: TrialEntry | None = None
    """The trial, if its scores are those of several answers or verdicts."""

    @property
    def metric(self) -> str:
        """The name of the metric, with its cutoff."""
        return self.entry.name

    @property
    def is_ranking(self) -> bool:
        """Whether the metric is of retrieval, which no setting changes."""
        return self.factors["setting"] == RETRIEVAL

    @property
    def scale(self) -> Scale:
        """The range and direction of the metric, and the failure policy."""
        return self.entry.scale(self.experiment.record.failures)

    @property
    def data_factors(self) -> dict[str, str]:
        """The factors of the data set, such as its language, by the names of their axes."""
        names = self.experiment.record.data.factors
        full = {n: f"{DATA_PREFIX}{n}" for n in names}
        axes = [full[n] if full[n] in self.factors else n for n in names]
        return {name: self.factors[name] for name in axes}

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries by id, with their labels."""
        results = self.experiment.results
        return results.ranked if self.is_ranking else results.queries

    @property
    def clusters(self) -> Mapping[str, str]:
        """Query id -> its conversation or document."""
        return self.experiment.clusters

    @property
    def identity(self) -> tuple[object, ...]:
        """The identity of a measurement: rows with an equal one are the same measurement."""
        held_back = self.experiment.results.held_back
        return (*self.folders, self.not_applicable, self.metric, self.scale, held_back)

    def scores(self) -> dict[str, Score]:
        """Return query id -> score, from the store."""
        held = (
            self.experiment.repeated_scores(self.repeated)
            if self.repeated
            else self.experiment.scores(self.folders)
        )
        if self.metric == FAILURE_RATE:
            return failure_scores({"": held}).get("") or {
                q: Score(q, FAILURE_RATE, 0.0) for scores in held.values() for q in scores
            }
        found = dict(held.get(self.metric, {}))
        reasons = self.experiment.results.mapping(self.not_applicable)
        for query_id, reason in reasons.items():
            found[query_id] = Score(query_id, self.metric, None, "not_applicable", reason)
        return found

    def groups(self, label: str) -> dict[str, list[str]]:
        """Return value of a label -> query ids; a query with several values is in each group.

        Queries without the label have the value `(none)`; all do if no query has it.
        """
        try:
            return groups_of(self.queries.values(), label)
        except ConfigError:
            return {"(none)": list(self.queries)}


@dataclass(frozen=True)
class JoinedResults:
    """The rows of many experiments."""

    experiments: tuple[JoinedExperiment, ...]
    rows: tuple[JoinedRow, ...]

    def __repr__(self) -> str:
        """Return the numbers of experiments and rows."""
        return brief(self, f"{len(self.experiments)} experiments", f"{len(self.rows)} rows")

    @classmethod
    def of(cls, results: Iterable[StoredResults]) -> JoinedResults:
        """Return the rows of the complete trials and rankings of some results."""
        held = HeldScores()
        found = tuple(JoinedExperiment(one, held) for one in results)
        return cls(found, tuple(row for one in found for row in _rows(one)))

    @classmethod
    def of_store(cls, store: Store) -> JoinedResults:
        """Return the rows of the last run of every experiment of a store.

        A record that cannot be read is left out with a notice. Raises `StoreError` if there is no
        such folder, or if it has no readable experiment.
        """
        require_store(store.root)
        found = list(_records(store))
        if not found:
            raise StoreError(
                f"the store {store.root} has no experiment; run one first: ragstone run e.yaml"
            )
        return cls.of(StoredResults(store, record) for record in found)

    @property
    def source_lines(self) -> list[str]:
        """A line per experiment of the rows with secret queries, and per machine-made qrels."""
        used = dict.fromkeys(row.experiment for row in self.rows)
        found = ((one.record.name, one.results.secret_sentence) for one in used)
        secret = [f"{name}: {sentence}" for name, sentence in found if sentence]
        return [*secret, *dict.fromkeys(filter(None, (u.results.qrels_sentence for u in used)))]

    @cached_property
    def axes(self) -> dict[str, list[str]]:
        """Name of a factor -> its values, in order of first appearance."""
        found: dict[str, dict[str, None]] = {}
        for row in self.rows:
            for name, value in row.factors.items():
                found.setdefault(name, {})[value] = None
        return {name: list(values) for name, values in found.items()}

    @cached_property
    def labels(self) -> list[str]:
        """Names of the labels that a query has."""
        names: dict[str, None] = {}
        for one in self.experiments:
            for query in one.results.all_queries.values():
                names.update(dict.fromkeys(query.labels))
        return list(names) + (["first_turn"] if "turn" in names else [])

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return list(dict.fromkeys(row.metric for row in self.rows))

    @property
    def headline(self) -> str:
        """The most frequent headline of the experiments, or the first metric."""
        present = set(self.metrics)
        counts = Counter(one.record.headline for one in self.experiments)
        found = (name for name, _ in counts.most_common() if name in present)
        return next(found, self.rows[0].metric)

    def label_values(self, label: str) -> list[str]:
        """Return the values of a label of the queries, in order of first appearance."""
        rows = {id(row.experiment): row for row in self.rows}.values()
        return list(dict.fromkeys(value for row in rows for value in row.groups(label)))

    def is_label(self, axis: str) -> bool:
        """Return whether an axis is a label of the queries, not a factor.

        Raises `ConfigError` if it is neither.
        """
        if axis in self.axes:
            return False
        if axis in self.labels:
            return True
        known = list(dict.fromkeys([*self.axes, *self.labels]))
        raise ConfigError(
            f"there is no axis {axis!r}{nearest_name(axis, known) or '.'} Known: "
            f"{listed([n for n in known if '.' not in n], limits.SHOWN_AXES)}",
            key="axis",
            value=axis,
        )

    def filtered(
        self, wanted: Mapping[str, Sequence[str]]
    ) -> tuple[JoinedResults, dict[str, Sequence[str]]]:
        """Return the rows with wanted values of factors, and the wanted values of labels.

        Raises `ConfigError` if a name or a value is unknown, or no row has all wanted values.
        """
        labels = {axis: values for axis, values in wanted.items() if self.is_label(axis)}
        shown = self.where({axis: v for axis, v in wanted.items() if axis not in labels})
        if not shown.rows:
            raise ConfigError("no result has all the values of --where; leave one out")
        return shown, labels

    def where(self, wanted: Mapping[str, Collection[str]]) -> JoinedResults:
        """Return the rows whose factors have one of the wanted values.

        Ranking metrics have no setting: a wanted setting keeps them. Raises `ConfigError` for an
        unknown factor, or if no row has a wanted value.
        """
        for name, values in wanted.items():
            if name not in self.axes:
                raise ConfigError(
                    f"there is no axis {name!r}{nearest_name(name, self.axes) or '.'}"
                )
            known = list(dict.fromkeys(row.factors.get(name, NONE) for row in self.rows))
            absent = [value for value in values if value not in known]
            if absent:
                raise ConfigError(
                    f"no result has {name} {absent[0]!r}{nearest_name(absent[0], known) or '.'} "
                    f"Known: {listed(known, limits.SHOWN_AXES)}",
                    key=name,
                    value=absent[0],
                )
        kept = [row for row in self.rows if all(_has(row, *one) for one in wanted.items())]
        return JoinedResults(self.experiments, tuple(kept))


def _has(row: JoinedRow, name: str, values: Collection[str]) -> bool:
    of_retrieval = name == "setting" and row.is_ranking
    return of_retrieval or row.factors.get(name, NONE) in values


def _records(store: Store) -> Iterator[Record]:
    for path in documents(store.root, KIND):
        try:
            yield Record.load(store, path.stem)
        except StoreError as error:
            _LOG.warning("note: an experiment is left out: %s", error)


def _rows(experiment: JoinedExperiment) -> Iterator[JoinedRow]:
    record = experiment.record
    shared, systems = _shared_factors(record), system_factors(record)
    trained = trained_on(record)
    ranking = [entry for entry in record.metrics if entry.kind == "ranking"]
    answer = [entry for entry in record.metrics if entry.kind != "ranking"]
    of_repeats = any(entry.kind == "repeats" for entry in record.metrics)
    for one in record.rankings:
        factors = {**shared, **systems[one.system], "setting": RETRIEVAL}
        for entry in ranking:
            named = factors | metric_factors(entry.name)
            folders: tuple[str, ...] = (one.scores,)
            named = _with_data(named, record)
            yield JoinedRow(experiment, named, entry, folders, trained.get(one.system, ()))
    for trial in record.trials:
        factors = {**shared, **systems[trial.system], "setting": trial.setting}
        every = (folder for one in trial.every for folder in (one.scores, *one.verdicts))
        folders = tuple(dict.fromkeys(every))
        repeated = trial if trial.repeats or of_repeats else None
        for entry in (*answer, record.metric(FAILURE_RATE)):
            named = _with_data(factors | metric_factors(entry.name), record)
            own = trained.get(trial.system, ())
            why = trial.not_applicable
            yield JoinedRow(experiment, named, entry, folders, own, why, repeated)


def _shared_factors(record: Record) -> dict[str, str]:
    campaign = record.campaign or record.name
    return {"experiment": record.name, "campaign": campaign, "data": record.data.name}


def _with_data(factors: dict[str, str], record: Record) -> dict[str, str]:
    """Return factors and those of the data set, under other names if these are taken."""
    return factors | {
        (f"{DATA_PREFIX}{name}" if name in factors else name): str(value)
        for name, value in record.data.factors.items()
    }


def metric_factors(metric: str) -> dict[str, str]:
    """Return the factors of a metric: its name, its name without the cutoff, and the cutoff.

    >>> metric_factors("nDCG(gains=linear)@10")
    {'metric': 'nDCG(gains=linear)@10', 'measure': 'nDCG(gains=linear)', 'k': '10'}
    """
    measure, mark, cutoff = metric.rpartition("@")
    found = (measure, cutoff) if mark and cutoff.isdigit() else (metric, NONE)
    return {"metric": metric, "measure": found[0], "k": found[1]}


def differing(rows: Sequence[JoinedRow]) -> dict[str, list[str]]:
    """Return the factors in which some rows differ -> their values."""
    names = dict.fromkeys(name for row in rows for name in row.factors)
    values = {n: list(dict.fromkeys(row.factors.get(n, NONE) for row in rows)) for n in names}
    return {name: found for name, found in values.items() if len(found) > 1}


def data_factors_apart(rows: Iterable[JoinedRow]) -> list[str]:
    """Return the factors in which data sets of one name differ, such as their chunkers."""
    first: dict[str, Mapping[str, str]] = {}
    found: dict[str, None] = {}
    for row in rows:
        own = row.data_factors
        other = first.setdefault(row.factors["data"], own)
        found.update(dict.fromkeys(n for n in {**own, **other} if own.get(n) != other.get(n)))
    return list(found)
