"""What the system refuses is told in one message, without a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone.cli.system_errors import end_of, system_message

_MAIN = "from ragstone.cli import main; main()"


def _refused(code: int, place: str | None = None) -> OSError:
    return OSError(code, os.strerror(code), place)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_refused(errno.ENOSPC), ("No space left on device", "make room")),
        (_refused(errno.EFBIG, "store/x"), ("store/x: File too large", "ulimit -f")),
        (_refused(errno.EROFS, "s"), ("s: Read-only file system", "choose a folder")),
        (_refused(errno.EMFILE), ("Too many open files", "ulimit -n")),
        (MemoryError(), ("too little memory", "sample")),
        (RuntimeError("can't start new thread"), ("no thread", "ulimit -u")),
        (RuntimeError("Could not determine home directory."), ("home folder", "HOME")),
        (OSError("16 requested and 4 written"), ("only a part", "disk is full")),
        (OSError(), ("OSError",)),
    ],
)
def test_a_message_has_the_reason_and_the_way_out(error: Exception, words: tuple[str, ...]) -> None:
    """And the file, if the system names it."""
    message = system_message(error)
    assert all(word in message for word in words)
    assert len(message) <= 1_000


def test_another_error_is_raised() -> None:
    """A mistake of the program keeps its traceback."""
    with pytest.raises(RuntimeError, match="mistake"):
        end_of(RuntimeError("mistake"))


def _run(tmp_path: Path, shell: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", shell, "bash", sys.executable, "-c", _MAIN, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)


def test_a_full_standard_output_is_told(tmp_path: Path) -> None:
    """As when results are written into a file on a full disk."""
    done = _run(tmp_path, 'exec "$@" >/dev/full', "components", "metrics", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: No space left on device; make room")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("shell", ['exec "$@" >&-', 'exec "$@" <&- 2>&-', 'exec "$@" 2>/dev/full'])
def test_closed_streams_are_no_error(tmp_path: Path, shell: str) -> None:
    """As for a program that a service starts."""
    assert _run(tmp_path, shell, "components", "metrics").returncode == 0


def test_files_do_not_become_streams(tmp_path: Path) -> None:
    """With a closed standard error, the next file that is opened would get its number."""
    code = (
        "from ragstone.cli.streams import open_streams; open_streams();"
        "print(open('kept', 'w').fileno())"
    )
    command = ["bash", "-c", 'exec "$@" <&- 2>&-', "bash", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert int(done.stdout) > 2


def test_a_full_standard_error_loses_notices_alone(tmp_path: Path) -> None:
    """Results are still printed."""
    code = (
        "import sys; from ragstone.cli.streams import open_streams; open_streams();"
        "print('lost', file=sys.stderr, flush=True); print('kept')"
    )
    command = ["bash", "-c", 'exec "$@" 2>/dev/full', "bash", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "kept\n")


def test_few_file_handles_are_told(tmp_path: Path) -> None:
    """The commands cannot be imported, so the message comes from the program's start."""
    done = _run(tmp_path, 'ulimit -n 6; exec "$@"', "components", "metrics")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "ulimit -n" in done.stderr
