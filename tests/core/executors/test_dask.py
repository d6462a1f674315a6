"""Dask: results in order after a worker was killed, no listener off loopback, errors."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from ragstone.core.executors.dask import DaskExecutor
from ragstone.errors import RagstoneError

pytest.importorskip("distributed")


def _dies_once(folder: Path, number: int) -> int:
    if number == 2 and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _listeners(_: int) -> set[str]:
    """Return the addresses on which this process listens (IPv4 and IPv6, in hexadecimal)."""
    sockets = {
        str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()
    }
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and f"socket:[{parts[9]}]" in sockets:
                found.add(parts[1].split(":")[0])
    return found


def test_a_killed_worker_is_replaced_and_all_listen_on_loopback(tmp_path: Path) -> None:
    """A killed worker is replaced and all listen on loopback."""
    executor = DaskExecutor(workers=2)
    try:
        assert list(executor.map(partial(_dies_once, tmp_path), range(5))) == [0, 1, 2, 3, 4]
        found = set[str]().union(*executor.map(_listeners, range(4)), _listeners(0))
        assert found == {"0100007F"}
    finally:
        executor.close()


def test_an_address_without_a_scheduler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address without a scheduler is named."""
    monkeypatch.setattr("ragstone.core.limits.CLUSTER_SECONDS", 1)
    with pytest.raises(RagstoneError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        DaskExecutor("tcp://127.0.0.1:9").open()
