"""Executors as people write them."""

import re

import pytest

from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.dask import DaskExecutor
from ragstone.core.executors.processes import ProcessExecutor
from ragstone.core.executors.spec import executor_of
from ragstone.errors import ConfigError


def test_executors_are_written_like_components() -> None:
    """Executors are written like components."""
    assert executor_of(" ") is IN_PROCESS
    assert executor_of("processes(4)") == ProcessExecutor(4)
    assert executor_of("dask") == DaskExecutor(workers=2)
    assert executor_of("dask(workers=3)") == DaskExecutor(workers=3)
    assert executor_of('dask(address="tcp://[::1]:8786")') == DaskExecutor("tcp://[::1]:8786")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("proceses(4)", "unknown executor 'proceses(4)'; did you mean 'processes'?"),
        ("dask@2", "write processes(4)"),
        ("processes(0)", "count must be 1 or more, found 0"),
        ("processes(two)", "executor 'processes': key 'count'"),
        ("processes", "executor 'processes': key 'count'"),
        ("processes(4, workers=2)", "unknown key 'workers'"),
        ("dask(workers=-1)", "workers must be 1 or more, found -1"),
        ("dask(adress=tcp://a:1)", "unknown key 'adress'; did you mean 'address'?"),
        ("dask(_client=1)", "unknown key '_client'"),
        ("dask(address=host)", "address must be like tcp://host:8786, found 'host'"),
        ("dask(address=tcp://a:1, workers=2)", "leave out one of the two"),
    ],
)
def test_bad_executors_are_named(written: str, message: str) -> None:
    """Bad executors are named."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        executor_of(written)
