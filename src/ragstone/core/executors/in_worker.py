"""A job in a worker, which knows the secrets of the process that started it.

The values travel with each item, through a pipe or the connection to a cluster: never in a file, a
command line or an environment variable. What a worker writes, prints or raises is without them.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ragstone.core.executors.base import Item, Made
from ragstone.core.redacted_stream import redact_streams
from ragstone.core.redaction import known, redacted, redacted_data, remember


@dataclass(frozen=True)
class Secrets:
    """Values on their way to a worker; a cluster that logs a task does not show them."""

    values: tuple[str, ...] = field(default_factory=known, repr=False)


def in_worker(job: Callable[[Item], Made], item: Item, secrets: Secrets) -> Made:
    """Return a job's result; its exceptions, and what it writes and prints, have no secret."""
    remember(secrets.values)
    redact_streams()
    try:
        return job(item)
    except Exception as error:
        told = "".join(_cleaned(error))
        if (clean := redacted(told)) != told:
            # An exception that makes its text of something else than its arguments.
            raise RuntimeError(f"an exception in a worker:\n{clean}") from None
        raise


def _cleaned(error: BaseException) -> list[str]:
    """Remove secrets from an exception and those behind it; return the lines of its traceback."""
    for one in _chain(error, set()):
        one.args = redacted_data(one.args)
        facts: dict[str, Any] = vars(one)
        facts.update(redacted_data(facts))
        if isinstance(one, OSError):
            one.strerror = redacted_data(one.strerror)
            one.filename, one.filename2 = redacted_data((one.filename, one.filename2))
    return traceback.format_exception(error)


def _chain(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the exceptions of a group."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for one in (error.__cause__, error.__context__, *members):
        yield from _chain(one, seen)
