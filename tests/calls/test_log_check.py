"""Checking a call log: damage is named, and what can be read is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.calls.test_log import keep

from ragstone.calls import runs
from ragstone.calls.leases import Leases
from ragstone.calls.log import CallLog
from ragstone.calls.log_check import check_log
from ragstone.calls.log_file import connect
from ragstone.calls.runs import Wish
from ragstone.calls.types import Reply
from ragstone.errors import StoreError


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Store 300 replies of 400 characters."""
    path = tmp_path / "calls.sqlite"
    keep(path, [Reply(f"reply {n} " + "word " * 80, key=f"key-{n}") for n in range(300)])
    connection = connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def kept(path: Path) -> int:
    """Return the number of replies that a log returns."""
    with CallLog(path) as opened:
        return len(opened.replies([f"key-{n}" for n in range(300)]))


def change_a_letter(path: Path) -> None:
    """Change a letter of one reply."""
    path.write_bytes(path.read_bytes().replace(b"reply 7 word", b"reply 7 wXrd"))


def change_a_prompt(path: Path) -> None:
    """Change a letter of one prompt."""
    path.write_bytes(path.read_bytes().replace(b'["user","key-7"]', b'["user","key-8"]'))


def truncate(path: Path) -> None:
    """Remove the second half of the file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite_a_page(path: Path) -> None:
    """Overwrite a page in the middle."""
    data = bytearray(path.read_bytes())
    start = len(data) // 8192 * 4096
    data[start : start + 4096] = b"\xff" * 4096
    path.write_bytes(data)


def overwrite_the_beginning(path: Path) -> None:
    """Overwrite the words that every SQLite file begins with."""
    path.write_bytes(b"Something else\0\0" + path.read_bytes()[16:])


def test_a_sound_log_has_no_findings(log: Path) -> None:
    """All rows are checked, and nothing changes."""
    before = log.read_bytes()
    found = check_log(log, repair=True)
    assert (found.checked, found.findings, found.repaired) == (300, (), False)
    assert log.read_bytes() == before
    assert check_log(log.with_name("none.sqlite")).checked == 0


@pytest.mark.parametrize(
    ("damage", "least"),
    [
        (change_a_letter, 299),
        (change_a_prompt, 299),
        (truncate, 100),
        (overwrite_a_page, 250),
        (overwrite_the_beginning, 300),
    ],
)
def test_damage_is_named_and_the_readable_replies_are_kept(
    log: Path, damage: Callable[[Path], None], least: int
) -> None:
    """The damaged file is set aside, never removed, and the new log works."""
    damage(log)
    before = log.read_bytes()

    found = check_log(log)
    assert found.findings
    assert not found.repaired
    assert log.read_bytes() == before

    repaired = check_log(log, repair=True)
    assert repaired.repaired
    assert repaired.set_aside is not None
    assert repaired.set_aside.read_bytes() == before
    assert least <= kept(log) <= 300
    assert check_log(log).findings == ()


@pytest.mark.parametrize("wishes", [{"mine": "again"}, {}])
def test_a_repair_keeps_the_runs(log: Path, wishes: dict[str, Wish]) -> None:
    """The run that is under way goes on with its replies."""
    begun = runs.begin(log, "trial", wishes)
    runs.finish(log, "none", set())
    change_a_letter(log)
    assert check_log(log, repair=True).repaired
    goes_on = {name: replace(run, continues=True) for name, run in begun.items()}
    assert runs.begin(log, "trial", wishes) == goes_on


def test_a_log_in_use_is_not_repaired(log: Path) -> None:
    """Another process would write into the file that is set aside."""
    change_a_letter(log)
    other = Leases(log)
    other.claim(["k"])
    with pytest.raises(StoreError, match="other processes use it"):
        check_log(log, repair=True)
    other.close()
    assert check_log(log, repair=True).repaired


def test_a_log_of_an_earlier_version_is_checked(log: Path) -> None:
    """Its rows have no checksum, but their prompts have a digest."""
    connection = sqlite3.connect(log)
    for name in ("kind", "checksum", "rejected", "rejected_for"):
        connection.execute(f"ALTER TABLE calls DROP COLUMN {name}")
    connection.execute("PRAGMA user_version=1")
    connection.commit()
    connection.close()
    assert check_log(log).checked == 300
    change_a_prompt(log)
    assert check_log(log).findings == ("the call key-7 is damaged: its checksum is wrong",)
