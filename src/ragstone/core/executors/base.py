"""What an executor is: it maps a job over items, in order, with few of them at a time."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Protocol, TypeVar

import ragstone
from ragstone.errors import ConfigError, RagstoneError
from ragstone.version import __version__

Item = TypeVar("Item")
Made = TypeVar("Made")
Future = TypeVar("Future")


class Executor(Protocol):
    """Computes a job for items; results do not depend on which executor it is."""

    def open(self) -> None:
        """Connect; raise `RagstoneError` if a package or the cluster is missing."""

    def map(self, job: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield the results in the order of the items; a worker that dies is replaced."""

    def close(self) -> None:
        """Stop the workers that the executor started."""


@dataclass(frozen=True)
class InProcess:
    """Computes everything in this process."""

    def open(self) -> None:
        """Do nothing: there are no workers."""

    def map(self, job: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield the results in the order of the items."""
        return map(job, items)

    def close(self) -> None:
        """Do nothing: there are no workers."""


IN_PROCESS: Final = InProcess()


def check_count(name: str, count: int) -> None:
    """Raise `ConfigError` if a number of workers is below 1."""
    if count < 1:
        raise ConfigError(f"{name} must be 1 or more, found {count}", key=name, value=count)


@cache
def package_identity() -> str:
    """Return the version of this package and a digest of its source."""
    root = Path(ragstone.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{__version__} ({found.hexdigest()[:12]})"


@dataclass(frozen=True)
class SameVersion:
    """A job that refuses to run in a worker of another version."""

    job: Callable[[object], object] = field(repr=False)
    """It is not shown: a cluster logs a task that fails, and a component may have a secret."""
    expected: str

    def __call__(self, item: object) -> object:
        """Return the job's result."""
        found = package_identity()
        if found != self.expected:
            raise RagstoneError(
                f"the worker has ragstone {found}, and this process has {self.expected}; install "
                "the same version on every worker"
            )
        return self.job(item)


def in_order(
    submit: Callable[[Item], Future],
    result: Callable[[Future], Made],
    items: Iterable[Item],
    lookahead: int,
) -> Iterator[Made]:
    """Yield the results in order; at most `lookahead` items are with the workers."""
    waiting: deque[Future] = deque()
    for item in items:
        waiting.append(submit(item))
        if len(waiting) >= lookahead:
            yield result(waiting.popleft())
    while waiting:
        yield result(waiting.popleft())
