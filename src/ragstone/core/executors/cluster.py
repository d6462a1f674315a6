"""What Dask and Ray have in common: an address or workers of this machine, and checked jobs."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.core.executors.base import (
    Item,
    Made,
    SameVersion,
    check_count,
    in_order,
    package_identity,
)
from ragstone.errors import ConfigError


@dataclass
class ClusterExecutor(ABC):
    """Computes items on the cluster of an address, or on `workers` processes of this machine."""

    example: ClassVar[str]
    """What an address looks like."""

    address: str = ""
    workers: int = 2

    def __post_init__(self) -> None:
        """Check the address and the number of workers."""
        check_count("workers", self.workers)
        ends = r"(\w+://)?(\[[\da-fA-F:]+\]|[^\s/:\[\]]+):\d+"
        if self.address and not re.fullmatch(ends, self.address):
            raise ConfigError(
                f"address must be like {self.example}, found {self.address!r}",
                key="address",
                value=self.address,
            )

    @abstractmethod
    def open(self) -> None:
        """Connect; raise `RagstoneError` if a package or the cluster is missing."""

    def map(self, job: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield the results in the order of the items; those of a dead worker are moved."""
        self.open()
        submit = self._submitter(SameVersion(job, package_identity()))  # type: ignore[arg-type]
        yield from in_order(submit, self._result, items, 2 * max(1, self._count()))

    @abstractmethod
    def _submitter(self, job: SameVersion) -> Callable[[Any], Any]:
        """Return a function that sends an item to the workers and returns its future."""

    @abstractmethod
    def _result(self, future: Any) -> Any:
        """Wait for a result; raise `RagstoneError` if the workers died."""

    @abstractmethod
    def _count(self) -> int:
        """Return the number of workers that the cluster has now."""
