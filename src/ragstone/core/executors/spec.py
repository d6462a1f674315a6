"""An executor as people write it: `processes(4)`, `dask(address=tcp://host:8786)`, `ray`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from ragstone.core.executors.base import IN_PROCESS, Executor
from ragstone.core.registry import build
from ragstone.core.spec import caret, parse_spec
from ragstone.errors import ConfigError, did_you_mean

NAMES: Final[Mapping[str, str]] = {
    "processes": "ragstone.core.executors.processes:ProcessExecutor",
    "dask": "ragstone.core.executors.dask:DaskExecutor",
    "ray": "ragstone.core.executors.ray:RayExecutor",
}
"""Name of an executor -> module and class, which is imported when it is asked for."""


@cache
def executor_of(written: str) -> Executor:
    """Return the executor of a text; "" is this process. No worker is started yet.

    Equal texts have one executor, so that the experiments of a file share its workers.

    >>> executor_of("processes(4)")
    ProcessExecutor(count=4)

    Raises:
        ConfigError: the name or a parameter is unknown, or a value is wrong.
    """
    if not written.strip():
        return IN_PROCESS
    spec = parse_spec(written, where="executor")
    if spec.name not in NAMES or spec.cutoff is not None:
        raise ConfigError(
            f"executor: unknown executor {written!r}{did_you_mean(spec.name, NAMES)}; write "
            "processes(4), dask(address=tcp://host:8786), dask(workers=2) or ray(workers=2)",
            value=written,
        )
    if {"address", "workers"} <= spec.parameters.keys():
        raise ConfigError(
            f"executor: {written!r} has an address and a number of workers; workers are started "
            "on this machine alone, so leave out one of the two",
            key="workers",
        )
    try:
        return _made(spec.name, spec.parameters)
    except ConfigError as error:
        raise error.with_message(f"{error}{caret(spec.text, error.key, error.value)}") from error


def executor_text(written: str) -> str:
    """Return the text of an executor if it can be read; raise as `executor_of` does."""
    executor_of(written)
    return written


def _made(name: str, parameters: Mapping[str, Any]) -> Executor:
    module, _, kind = NAMES[name].partition(":")
    found: Executor = build(
        getattr(importlib.import_module(module), kind), parameters, where=f"executor {name!r}"
    )
    return found
