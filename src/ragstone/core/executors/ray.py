"""A Ray cluster: that of an address, or one of this machine that listens on loopback alone."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from ragstone.core import limits
from ragstone.core.executors.base import Item, SameVersion
from ragstone.core.executors.cluster import ClusterExecutor
from ragstone.core.executors.in_worker import Secrets, in_worker
from ragstone.core.executors.leftovers import Guard
from ragstone.errors import MissingDependency, RagstoneError

_ALWAYS: Final[Mapping[str, str]] = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # else the working folder is sent to the workers
    "RAY_task_oom_retries": str(limits.MAX_WORKER_DEATHS - 1),  # else without end
}
_ON_LOOPBACK: Final = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray listens on 127.0.0.1 alone, on every system, if this variable is 0; it is read on import."""
_OBJECTS: Final = 200_000_000
"""Shared memory of a cluster of this machine, in bytes; what does not fit goes to its folder."""


@dataclass
class RayExecutor(ClusterExecutor):
    """Computes items on a Ray cluster, or on `workers` processes if no address is given."""

    example: ClassVar[str] = "HOST:PORT of the head, or ray://HOST:PORT"

    _ray: Any = field(default=None, init=False, repr=False)
    _guard: Guard | None = field(default=None, init=False, repr=False)

    def open(self) -> None:
        """Connect; raise `RagstoneError` if the cluster is not reachable."""
        if self._ray is not None:
            return
        _prepare_import(local=not self.address)
        try:
            import ray
        except ImportError as error:
            raise MissingDependency("executor ray", "ray", "ray") from error
        given: Any = ray  # its functions have no types
        if given.is_initialized():
            raise RagstoneError(
                "this process uses a Ray cluster already; call ray.shutdown() first"
            )
        try:
            self._connect(given)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect, and stop the cluster that was started here."""
        if self._ray is not None:
            self._ray.shutdown(wait_for_processes=True)
            if self._guard is not None:
                shutil.rmtree(self._guard.folder, ignore_errors=True)
                self._guard.dismiss()
        elif self._guard is not None:
            self._guard.clean()
        self._ray = self._guard = None

    def _connect(self, ray: Any) -> None:
        where: dict[str, Any] = {"address": self.address}
        if self.address:
            _require_listener(self.address)
        else:
            folder = tempfile.mkdtemp(prefix="ragstone-ray-")
            self._guard = Guard.of(Path(folder))
            where = {
                "num_cpus": self.workers,
                "include_dashboard": False,
                "object_store_memory": _OBJECTS,
                "_node_ip_address": "127.0.0.1",
                "_temp_dir": folder,
            }
        try:
            ray.init(**where, logging_level="ERROR", log_to_driver=False)
        except Exception as error:
            raise RagstoneError(
                f"Ray does not connect to {self.address!r} ({error}); this machine has to be a "
                "node of the cluster, unless the address begins with ray://"
                if self.address
                else f"Ray does not start on this machine ({error}); the usual cause is too "
                "little memory or a machine that is busy"
            ) from error
        self._ray = ray

    def _submitter(self, job: SameVersion) -> Callable[[Item], Any]:
        retries = limits.MAX_WORKER_DEATHS - 1
        remote = self._ray.remote(num_cpus=1, max_retries=retries)(in_worker)
        shared = self._ray.put(job)
        # Small arguments are part of the message; `put` would leave them in shared memory.
        return lambda item: remote.remote(shared, item, Secrets())

    def _count(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def _result(self, future: Any) -> Any:
        try:
            return self._ray.get(future)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            raise RagstoneError(
                f"{limits.MAX_WORKER_DEATHS} workers of Ray died, one after the other, while they "
                "computed the same items; the usual cause is too little memory"
            ) from error


def _prepare_import(*, local: bool) -> None:
    """Set the variables that Ray reads when it is imported, for the rest of the process.

    Raises:
        RagstoneError: Ray was imported without them, so that a local cluster would not be closed
            to others.
    """
    environment = os.environ
    if "ray" not in sys.modules:
        environment.update(_ALWAYS)
        if local:
            # A token of its own: other users of this machine cannot run code in the cluster.
            environment.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
            environment[_ON_LOOPBACK] = "0"
    elif local and environment.get(_ON_LOOPBACK) != "0":
        raise RagstoneError(
            "the package ray was imported before this executor started its cluster, which would "
            "listen on all interfaces; use a new process, or give the executor an address"
        )


def _require_listener(address: str) -> None:
    """Raise `RagstoneError` if nothing listens at the address: Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    try:
        end = (host.strip("[]"), int(port))
        socket.create_connection(end, timeout=limits.CLUSTER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise RagstoneError(
            f"no Ray cluster answers at {address!r} ({error}); start it, or leave out the address "
            "to start one on this machine"
        ) from error
