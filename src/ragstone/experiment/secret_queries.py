"""The secret shares of an experiment that has not run: their numbers and problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ragstone.components.judges.criterion import Criterion
from ragstone.components.judges.nuggets import Nuggets
from ragstone.components.judges.secret_nuggets import nuggets_of, secret_nuggets
from ragstone.components.metrics.assigned_nuggets import AssignedNuggets
from ragstone.core.schemas import columns, table_to_queries
from ragstone.data.readers.nuggets import LABELS
from ragstone.errors import ConfigError
from ragstone.experiment.clusters import query_clusters
from ragstone.experiment.independence import parts_of
from ragstone.results.secret import Secret, SecretCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.members import Member
    from ragstone.experiment.metric_set import MetricSet
    from ragstone.experiment.system import SharedInputs
    from ragstone.protocols import Judge

_LEAST: Final = 10
"""Queries of a data set that are enough to compare two shares of it."""


class _Shared(Protocol):
    """The parts of an `Experiment` on which its secrets depend."""

    @property
    def file(self) -> ExperimentFile: ...

    @property
    def dataset(self) -> Dataset: ...

    @property
    def shared(self) -> SharedInputs: ...

    @property
    def batch(self) -> frozenset[str] | None: ...

    @property
    def member(self) -> Member: ...

    @property
    def judges(self) -> tuple[Judge, ...]: ...

    @property
    def metrics(self) -> tuple[MetricSet, MetricSet, MetricSet]: ...


def secret_counts(experiment: _Shared) -> SecretCounts:
    """Return the numbers of secret queries and nuggets, and of all of them.

    A part of an experiment's queries, or a counterfactual, has none of its own. Raises
    `ConfigError` if a share leaves nothing on one side, if there are too few queries, or if a
    metric cannot keep the secret nuggets apart.
    """
    written, shared = experiment.file.secret, experiment.shared
    if written is None or experiment.batch is not None or experiment.member.counterfactual:
        return SecretCounts(0, shared.answered.table.num_rows)
    secret = Secret.parse(written)
    queries = (
        _queries(experiment, secret) if secret.queries else (0, shared.answered.table.num_rows)
    )
    return SecretCounts(*queries, *(_nuggets(experiment, secret) if secret.nuggets else ()))


def _queries(experiment: _Shared, secret: Secret) -> tuple[int, int]:
    """Return the number of secret queries, and of all that are answered or ranked."""
    shared = experiment.shared
    ids = dict.fromkeys(
        query_id
        for table in (shared.answered, shared.ranked)
        for query_id in columns(table.table)["query_id"]
    )
    dataset = experiment.dataset
    clusters = {q: cluster for q, cluster in query_clusters(dataset).items() if q in ids}
    groups = len(set(clusters.values()))
    count = len(secret.chosen(ids, clusters))
    found = f"{count} of {len(ids)} queries, in {groups} conversations or documents, are secret"
    if len(ids) < _LEAST:
        raise ConfigError(
            f"'secret': {len(ids)} queries are too few for two shares; use at least {_LEAST}, "
            "or leave the key out",
            key="secret",
            value=secret.queries,
        )
    if count in (0, len(ids)):
        raise ConfigError(
            f"'secret': {100 * secret.queries:g}% with seed {secret.seed}: {found}; choose another "
            "share or another seed: {queries: 50%, seed: 1}",
            key="secret",
            value=secret.queries,
        )
    return count, len(ids)


def _nuggets(experiment: _Shared, secret: Secret) -> tuple[int, int]:
    """Return the number of secret nuggets, and of all of answered queries."""
    share = secret.nuggets
    for what in _reading_all(experiment):
        raise _wrong(f"{what} and cannot keep secret ones apart; leave it out", share)
    queries = table_to_queries(experiment.shared.answered.table)
    total = sum(len({*vital, *okay}) for vital, okay in map(nuggets_of, queries))
    if not total:
        named = " and ".join(map(repr, LABELS.values()))
        raise _wrong(f"no answered query has nuggets (the labels {named})", share)
    count = sum(len(secret_nuggets(query, share, secret.seed)) for query in queries)
    if not count:
        raise _wrong(
            f"0 of {total:,} nuggets are secret by {100 * share:g}% with seed {secret.seed}, and "
            "one nugget of each query is always open; choose another share or another seed: "
            "{nuggets: 50%, seed: 1}",
            share,
        )
    return count, total


def _reading_all(experiment: _Shared) -> Iterator[str]:
    """Yield the metrics and judges that read all nuggets of a query."""
    for metric in experiment.metrics[1].metrics:
        if isinstance(metric, AssignedNuggets):
            yield f"metric {str(metric)!r} is of all assigned nuggets"
    for judge in experiment.judges:
        inner = [part for part in parts_of(judge) if part is not judge]
        if any(isinstance(part, Nuggets) for part in inner):
            yield f"judge {str(judge)!r} contains the judge 'nuggets'"
        if isinstance(judge, Criterion) and judge.label in LABELS.values():
            yield f"judge {str(judge)!r} reads the label {judge.label!r}"


def _wrong(problem: str, share: float) -> ConfigError:
    way_out = ", or leave nuggets out of 'secret'"
    return ConfigError(f"'secret': {problem}{way_out}", key="secret", value=share)
