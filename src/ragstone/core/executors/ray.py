"""A Ray cluster: that of an address, or one of this machine that listens on loopback alone."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from ragstone.core import limits
from ragstone.core.executors.base import Item, Made, SameVersion, in_order, package_identity
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
class RayExecutor:
    """Computes items on a Ray cluster, or on `workers` processes if no address is given."""

    address: str = ""
    workers: int = 2
    _ray: Any = field(default=None, repr=False)
    _folder: str = field(default="", repr=False)
    _environment: dict[str, str | None] = field(default_factory=dict, repr=False)

    def open(self) -> None:
        """Connect; raise `RagstoneError` if the cluster is not there."""
        if self._ray is not None:
            return
        self._set(_ALWAYS)
        if not self.address:
            # A token of its own: another user of this machine cannot run code either.
            token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
            self._set({_ON_LOOPBACK: "0", **token})
        try:
            import ray
        except ImportError as error:
            self.close()
            raise MissingDependency("executor ray", "ray", "ray") from error
        given: Any = ray  # its functions have no types
        if given.is_initialized():
            self.close()
            raise RagstoneError(
                "this process uses a Ray cluster already; call ray.shutdown() first"
            )
        try:
            self._connect(given)
        except BaseException:
            self.close()
            raise

    def map(self, job: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield the results in the order of the items; Ray moves those of a dead worker."""
        self.open()
        checked: Any = SameVersion(job, package_identity())  # type: ignore[arg-type]
        remote = self._ray.remote(num_cpus=1, max_retries=limits.MAX_WORKER_DEATHS - 1)(_call)
        shared = self._ray.put(checked)
        workers = int(self._ray.cluster_resources().get("CPU", 1))
        yield from in_order(
            lambda item: remote.remote(shared, item), self._result, items, 2 * max(1, workers)
        )

    def close(self) -> None:
        """Disconnect, and stop the cluster that was started here."""
        if self._ray is not None:
            self._ray.shutdown()
            self._ray = None
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._environment.clear()

    def _connect(self, ray: Any) -> None:
        quiet = {"logging_level": "ERROR", "log_to_driver": False}
        if self.address:
            _require_listener(self.address)
            ray.init(self.address, **quiet)
            self._ray = ray
            return
        self._folder = tempfile.mkdtemp(prefix="ragstone-ray-")
        ray.init(
            num_cpus=self.workers,
            include_dashboard=False,
            object_store_memory=_OBJECTS,
            _node_ip_address="127.0.0.1",
            _temp_dir=self._folder,
            **quiet,
        )
        self._ray = ray
        if ray.util.get_node_ip_address() != "127.0.0.1":
            raise RagstoneError(
                "the package ray was imported before this executor was opened, so that its cluster "
                f"would listen on all interfaces; set {_ON_LOOPBACK}=0 before it is imported"
            )

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

    def _set(self, values: Mapping[str, str]) -> None:
        """Set environment variables until `close`."""
        for name, value in values.items():
            self._environment.setdefault(name, os.environ.get(name))
            os.environ[name] = value


def _call(job: Callable[[Item], Made], item: Item) -> Made:
    return job(item)


def _require_listener(address: str) -> None:
    """Raise `RagstoneError` if nothing listens at the address: Ray would try for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        host, port = parts.hostname, parts.port
        if not (host and port):
            raise RagstoneError(
                f"{address!r} is not the address of a Ray cluster; expected HOST:PORT of its head, "
                "or ray://HOST:PORT of its client server"
            )
        socket.create_connection((host, port), timeout=limits.CLUSTER_SECONDS).close()
    except (OSError, ValueError) as error:
        raise RagstoneError(
            f"no Ray cluster answers at {address!r} ({error}); start it, or leave out the address "
            "to start one on this machine"
        ) from error
