"""Ray: results in order after a worker was killed, listeners and errors."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragstone.core.executors.ray import RayExecutor
from ragstone.errors import MissingDependency, RagstoneError

# Not `importorskip`: the executor sets what Ray reads when it is imported.
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")


@pytest.fixture(scope="module")
def executor() -> Iterator[RayExecutor]:
    """Return an open executor with two workers on this machine."""
    found = RayExecutor(workers=2)
    found.open()
    yield found
    found.close()


def _dies_once(folder: Path, number: int) -> int:
    if number == 2 and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _always_dies(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def _fails(number: int) -> int:
    raise MissingDependency("a part", f"package{number}", "dask")


def _listeners() -> set[str]:
    """Return the addresses on which this process and its children listen."""
    psutil = pytest.importorskip("psutil")
    process = psutil.Process()
    return {
        connection.laddr.ip.removeprefix("::ffff:")
        for one in [process, *process.children(recursive=True)]
        for connection in one.net_connections("inet")
        if connection.status == "LISTEN"
    }


def test_a_killed_worker_is_replaced(tmp_path: Path, executor: RayExecutor) -> None:
    """A killed worker is replaced, and the results are in order."""
    assert list(executor.map(partial(_dies_once, tmp_path), range(6))) == [0, 1, 2, 3, 4, 5]


def test_every_process_listens_on_loopback_alone(executor: RayExecutor) -> None:
    """Head, node and workers listen on 127.0.0.1."""
    list(executor.map(abs, range(4)))
    assert _listeners() == {"127.0.0.1"}


def test_an_error_of_a_job_arrives_as_it_is(executor: RayExecutor) -> None:
    """An error of a job arrives with its facts."""
    with pytest.raises(MissingDependency, match="package1") as error:
        list(executor.map(_fails, [1]))
    assert error.value.extra == "dask"


def test_an_item_that_kills_every_worker_is_an_error(executor: RayExecutor) -> None:
    """An item that kills every worker is an error; the cluster goes on."""
    with pytest.raises(RagstoneError, match="3 workers of Ray died"):
        list(executor.map(_always_dies, [1]))
    assert list(executor.map(abs, [-1])) == [1]


def test_a_second_cluster_in_a_process_is_refused(executor: RayExecutor) -> None:
    """A process has one cluster, which goes on."""
    with pytest.raises(RagstoneError, match="uses a Ray cluster already"):
        RayExecutor().open()
    assert list(executor.map(abs, [-1])) == [1]


def test_an_early_import_of_ray_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If Ray was imported before, no cluster starts that listens on all interfaces."""
    monkeypatch.setitem(sys.modules, "ray", sys)
    monkeypatch.delenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", raising=False)
    with pytest.raises(RagstoneError, match="imported before"):
        RayExecutor().open()


_DRIVER = """
import time
from ragstone.core.executors.ray import RayExecutor
used = RayExecutor(workers=1)
list(used.map(abs, [1]))
print(used._guard.folder, flush=True)
time.sleep(600)
"""


def test_a_cluster_that_does_not_start_is_an_error_and_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An exception of Ray becomes an error with its reason, and the folder is removed."""
    folders = []

    def init(**given: str) -> None:
        folders.append(Path(given["_temp_dir"]))
        raise TimeoutError("timed out during startup")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=bool, init=init))
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    with pytest.raises(RagstoneError, match=r"does not start .*timed out during startup"):
        RayExecutor().open()
    assert not folders[0].exists()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_killed_driver_leaves_no_folder_and_no_process() -> None:
    """After SIGKILL of the driver, the cluster's folder, agents and workers are removed."""
    psutil = pytest.importorskip("psutil")
    with subprocess.Popen([sys.executable, "-c", _DRIVER], stdout=subprocess.PIPE) as driver:
        assert driver.stdout
        folder = Path(driver.stdout.readline().decode().strip())
        assert folder.is_dir()
        processes = psutil.Process(driver.pid).children(recursive=True)
        assert processes
        driver.kill()
    assert psutil.wait_procs(processes, timeout=120)[1] == []
    assert not folder.exists()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "127.0.0.1:99999"])
def test_an_address_without_a_cluster_is_named(address: str) -> None:
    """An address without a cluster is named."""
    with pytest.raises(RagstoneError, match=address):
        RayExecutor(address)._connect(None)
