"""`ragstone annotate --terminal` as over ssh: in a real terminal, cut off and resumed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

from click.testing import CliRunner

from ragstone.annotation.create import ProjectPlan, make_project
from ragstone.annotation.database import Database
from ragstone.annotation.items import AnnotationItem
from ragstone.cli.annotate import command as annotate
from ragstone.types import Passage, Query

PASSAGE = Passage("p1", "At six \x1b[2J")


class Terminal:
    """A program in a terminal of 80 columns."""

    def __init__(self, *arguments: object) -> None:
        self._outside, inside = pty.openpty()
        code = "import sys, ragstone.cli; sys.exit(ragstone.cli.main())"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
        )
        os.close(inside)
        self.shown = ""

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read until a text was shown `times` times since the last key."""
        until = time.monotonic() + 60
        while self.shown.count(text) < times:
            assert time.monotonic() < until, self.shown
            self.shown += os.read(self._outside, 65_536).decode(errors="replace")

    def type(self, keys: str) -> None:
        """Press keys."""
        self.shown = ""
        os.write(self._outside, keys.encode())

    def end(self) -> int:
        """Wait for the end of the program."""
        try:
            while os.read(self._outside, 65_536):
                pass
        except OSError:
            pass  # The other side is closed.
        os.close(self._outside)
        return self.process.wait(60)


def test_a_cut_connection_loses_nothing(tmp_path: Path) -> None:
    """Single keys, text lines, a kill in the middle of an item, and the next start goes on."""
    items = [AnnotationItem(f"i{n}", Query(f"q{n}", f"Query {n}?"), (PASSAGE,)) for n in range(3)]
    plan = ProjectPlan("support", settings={"order": "file"})
    folder = make_project(tmp_path / "p", plan, items).folder
    start = ("annotate", folder, "--terminal", "--name", "ann")

    first = Terminal(*start)
    first.wait_for("Cannot tell")
    assert r"At six \x1b[2J" in first.shown
    assert "\x1b" not in first.shown
    first.type("1")
    first.wait_for("Query 1?")
    first.type("3")
    first.wait_for("Query 2?")
    first.process.kill()
    first.end()

    second = Terminal(*start)
    second.wait_for("Cannot tell")
    assert "Query 2?" in second.shown
    second.type("u")
    second.wait_for("Query 1?")
    second.wait_for("Cannot tell")
    second.type("s")
    second.wait_for("why is it skipped?")
    second.type("too länglich\n")
    second.wait_for("Query 2?")
    second.wait_for("Cannot tell")
    second.type("2")
    second.wait_for("No item is left for you.")
    assert second.end() == 0

    database = Database.open(f"sqlite:///{folder / 'annotation.db'}", "p")
    found = [(one.item_id, one.field, one.value) for one in database.labels(person="ann")]
    database.close()
    assert found == [
        ("i0", "support", "yes"),
        ("i1", "skipped", "too länglich"),
        ("i2", "support", "partly"),
    ]


def test_only_named_people_label_if_there_are_some(tmp_path: Path) -> None:
    """A person is one of the named people, if there are some."""
    items = [AnnotationItem("i", Query("q", "Query?"), (PASSAGE,))]
    folder = make_project(tmp_path / "p", ProjectPlan("support"), items).folder
    CliRunner().invoke(annotate, ["people", "add", str(folder), "ann", "--role", "annotator"])
    found = CliRunner().invoke(annotate, [str(folder), "--terminal", "--name", "anne"])

    assert "no person 'anne'; did you mean 'ann'" in str(found.exception)
