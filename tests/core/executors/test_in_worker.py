"""Jobs in workers know the secrets of the process that started them, and leave them nowhere."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.planted_workers import planted

from ragstone.core.executors.in_worker import Secrets, in_worker
from ragstone.core.redaction import forget, remember

SECRET = "sk-proj-tYx9Qm2Lr8Vb4Wn6"  # noqa: S105 - of no service


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")
@pytest.mark.parametrize("executor", ["processes(1)", "dask(workers=1)", "ray(workers=1)"])
def test_a_workers_exceptions_files_and_output_have_no_secret(
    executor: str, tmp_path: Path
) -> None:
    """What workers raise, print, log and write has no secret, nor has any command line."""
    name = executor.partition("(")[0]
    if name != "processes" and find_spec({"dask": "distributed"}.get(name, name)) is None:
        pytest.skip(f"{name} is not installed")
    ends, found, searched = planted(executor, [SECRET], tmp_path)
    assert (ends, found) == ("3 exceptions", [])
    assert searched > 6
    raised = (tmp_path / "raised.txt").read_text()
    assert "ValueError: ('cannot use ***', {'more': ['***']})" in raised
    assert "FileNotFoundError: [Errno 2] no file: '/***'" in raised
    assert "KeyError: '***" in (tmp_path / "errors.log").read_text()


def test_an_exception_with_a_text_of_its_own_is_replaced() -> None:
    """An exception that makes its text of pieces is replaced by one without the secret."""

    class Pieces(Exception):
        def __str__(self) -> str:
            return SECRET[:10] + SECRET[10:]

    def job(_: int) -> None:
        raise Pieces

    try:
        with pytest.raises(RuntimeError, match=r"Pieces: \*\*\*"):
            in_worker(job, 1, Secrets((SECRET,)))
    finally:
        forget()


def test_values_are_not_shown_where_a_task_is() -> None:
    """A cluster that shows a task does not show the values that go with it."""
    remember([SECRET])
    try:
        assert Secrets().values == (SECRET,)
        assert SECRET not in repr(Secrets())
    finally:
        forget()
