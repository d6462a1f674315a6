"""The kept answers of experiments as columns: the scores, systems, queries and groups of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError, did_you_mean
from ragstone.statistics.breakdown import UNLABELLED, groups_of
from ragstone.statistics.joined_clusters import joined_clusters

if TYPE_CHECKING:
    from ragstone.results.record import MetricEntry
    from ragstone.results.results import Results
    from ragstone.results.scored_rows import TrialResults

_SYSTEM: Final = "system"
_DATA: Final = "data"
_LANGUAGE: Final = "language"


@dataclass(frozen=True, eq=False)
class KeptAnswers:
    """The answers of an experiment, or of the data sets of a campaign, one after the other."""

    results: Sequence[Results]
    settings: Sequence[str] = ()
    """Context settings that are read; all if empty."""

    @cached_property
    def trials(self) -> list[tuple[Results, TrialResults]]:
        """The trials under the settings, each with its results."""
        every = [(one, trial) for one in self.results for trial in one.trials]
        return [pair for pair in every if not self.settings or pair[1].setting in self.settings]

    @cached_property
    def entries(self) -> dict[str, MetricEntry]:
        """Metric of the answers -> its entry in the record."""
        found: dict[str, MetricEntry] = {}
        for one, trial in self.trials:
            for name in trial.scores:
                found.setdefault(name, one.record.metric(name))
        return found

    @property
    def ids(self) -> list[str]:
        """The query of each answer."""
        return [
            self._named(one, query) for one, trial in self.trials for query in trial.predictions
        ]

    @property
    def systems(self) -> list[str]:
        """The system and the setting of each answer."""
        return [f"{t.system}, {t.setting}" for _, t in self.trials for _ in t.predictions]

    @property
    def clusters(self) -> list[str]:
        """The cluster of each answer's query.

        Data sets of a campaign that are translations have clusters in common.
        """
        names = [
            (one, query, self._named(one, one.clusters[query]))
            for one, trial in self.trials
            for query in trial.predictions
        ]
        parts = _translated(self.results)
        same = joined_clusters(((parts[one.name], query), cluster) for one, query, cluster in names)
        return [same[cluster] for *_, cluster in names]

    def column(self, metric: str) -> list[float | None]:
        """Return the value of a metric for each answer; None without one."""
        return [v for _, trial in self.trials for v in trial.values_of(metric, trial.predictions)]

    def groups(self, label: str) -> list[str]:
        """Return the value of a label of the queries, a factor of the data or `system` per answer.

        Raises:
            ConfigError: no answer has it.
        """
        named = {one.name: _labelled(one, label) for one in self.results}
        values = [
            trial.system if label == _SYSTEM else named[one.name].get(query)
            for one, trial in self.trials
            for query in trial.predictions
        ]
        if all(value is None for value in values):
            queries = [q for one in self.results for q in one.queries.values()]
            factors = [name for one in self.results for name in one.record.data.factors]
            names = [*factors, *(name for query in queries for name in query.labels)]
            known = list(dict.fromkeys([_SYSTEM, _DATA, *names]))
            raise ConfigError(
                f"--by: no answer has the label {label!r}{did_you_mean(label, known)}",
                key="by",
                value=label,
            )
        return [UNLABELLED if value is None else value for value in values]

    def _named(self, results: Results, query: str) -> str:
        """Return an id that is unique among the data sets of a campaign."""
        return query if len(self.results) == 1 else f"{results.name}/{query}"


def _translated(results: Sequence[Results]) -> dict[str, str]:
    """Return name of each data set -> the first one of which it is a translation.

    Translations are in different languages and have most ids of queries in common.
    """
    found: dict[str, str] = {}
    for one in results:
        own = set(one.queries)
        first = (
            found[other.name]
            for other in results
            if other.name in found
            and _language(one) != _language(other)
            and 2 * len(own & other.queries.keys()) > min(len(own), len(other.queries))
        )
        found[one.name] = next(first, one.name)
    return found


def _language(results: Results) -> str:
    """Return the languages of the queries of a data set: its factor, or else those found."""
    facts = results.record.data
    named = facts.factors.get(_LANGUAGE)
    return named or ", ".join(sorted(facts.languages.queries if facts.languages else ()))


def _labelled(results: Results, label: str) -> dict[str, str]:
    """Return query id -> its values of a label, or else the factor of its data set."""
    facts = results.record.data
    shared = facts.name if label == _DATA else facts.factors.get(label)
    found = {} if shared is None else dict.fromkeys(results.queries, str(shared))
    try:
        groups = groups_of(results.queries.values(), label)
    except ConfigError:
        return found
    values: dict[str, list[str]] = {}
    for value, ids in groups.items():
        for query in ids if value != UNLABELLED else ():
            values.setdefault(query, []).append(value)
    return found | {query: ", ".join(held) for query, held in values.items()}
