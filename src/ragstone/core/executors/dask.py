"""A Dask cluster: that of an address, or one of this machine that listens on loopback alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ragstone.core import limits
from ragstone.core.executors.base import Item, SameVersion
from ragstone.core.executors.cluster import ClusterExecutor
from ragstone.core.executors.in_worker import Secrets, in_worker
from ragstone.errors import MissingDependency, RagstoneError

_QUIET: Final = (
    'import logging\nlogging.getLogger("distributed.worker.state_machine").setLevel("ERROR")\n'
)
"""Read by each worker of ours: it else warns of the item that an interruption ends."""


@dataclass
class DaskExecutor(ClusterExecutor):
    """Computes items on a Dask cluster, or on `workers` processes if no address is given."""

    example: ClassVar[str] = "tcp://host:8786"

    _client: Any = field(default=None, init=False, repr=False)
    _cluster: Any = field(default=None, init=False, repr=False)

    def open(self) -> None:
        """Connect; raise `RagstoneError` if the cluster is not reachable."""
        if self._client is not None:
            return
        try:
            import distributed
        except ImportError as error:
            raise MissingDependency("executor dask", "distributed", "dask") from error
        given: Any = distributed  # its classes have no types
        if not self.address:
            self._cluster = given.LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                # Else its server takes port 8787, and warns if another run has it.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                preload=[_QUIET],
            )
        try:
            self._client = given.Client(
                self._cluster or self.address, timeout=limits.CLUSTER_SECONDS
            )
        except OSError as error:
            raise RagstoneError(
                f"no Dask scheduler answers at {self.address!r} ({error}); start it, or leave out "
                "the address to start one on this machine"
            ) from error

    def _submitter(self, job: SameVersion) -> Callable[[Item], Any]:
        def submit(item: Item) -> Any:
            with warnings.catch_warnings():
                # A block is sent with its job, so that it is not lost with a worker.
                warnings.filterwarnings("ignore", "Sending large graph")
                return self._client.submit(in_worker, job, item, Secrets(), pure=False)

        return submit

    def _count(self) -> int:
        return len(self._client.scheduler_info()["workers"])

    def _result(self, future: Any) -> Any:
        import distributed

        given: Any = distributed  # its classes have no types
        try:
            return future.result()
        except given.KilledWorker as error:
            raise RagstoneError(
                "the workers died, one after the other, while they computed one block; the usual "
                "cause is too little memory"
            ) from error
        except (given.CancelledError, given.comm.CommClosedError) as error:
            raise RagstoneError(
                f"the Dask scheduler {self.address or 'of this machine'} does not answer any more "
                f"({error}); start it, and run the same command again: finished blocks are kept"
            ) from error

    def close(self) -> None:
        """Disconnect, and stop the cluster that was started here."""
        for one in (self._client, self._cluster):
            if one is not None:
                one.close()
        self._client = self._cluster = None
