"""The secret queries of an experiment that has not run: their number, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ragstone.core.schemas import columns
from ragstone.errors import ConfigError
from ragstone.experiment.clusters import cluster_of
from ragstone.results.secret import Secret

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.members import Member
    from ragstone.experiment.system import SharedInputs

_LEAST: Final = 10
"""Queries of a data set that are enough to compare two shares of it."""


class _Shared(Protocol):
    """The parts of an `Experiment` on which its secret queries depend."""

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


def secret_counts(experiment: _Shared) -> tuple[int, int]:
    """Return the number of secret queries, and that of all that are answered or ranked.

    A part of an experiment's queries, or a counterfactual, has none of its own. Raises
    `ConfigError` if the share leaves no query on one side, or if there are too few queries.
    """
    written, shared = experiment.file.secret, experiment.shared
    if written is None or experiment.batch is not None or experiment.member.counterfactual:
        return 0, shared.answered.table.num_rows
    ids = dict.fromkeys(
        query_id
        for table in (shared.answered, shared.ranked)
        for query_id in columns(table.table)["query_id"]
    )
    dataset = experiment.dataset
    clusters = {q.query_id: cluster_of(dataset, q) for q in dataset.queries if q.query_id in ids}
    groups, secret = len(set(clusters.values())), Secret.parse(written)
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
