"""The table of faults, and what every finding has."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from tests.data_quality.test_doctor import clean, write

from ragstone.cli.data import command
from ragstone.data_quality.text_faults import TEXT_FAULTS, dropped, mended


def test_every_fault_has_one_way_to_be_found() -> None:
    """A repair finds what it changes; `--fix` drops only what is found as a whole."""
    for fault in TEXT_FAULTS.values():
        assert (fault.mend is None) != (fault.find is None)
        assert fault.find or not fault.drops


def test_a_mended_text_has_no_fault_left() -> None:
    """The repairs do not make faults for each other."""
    text = "\ufeff<p>caf\u00c3\u00a9 R&amp;D\x07 p\u0430ypal ann@example.org</p>"
    after, names = mended(text)

    assert after == "caf\u00e9 R&D paypal [email]"
    assert len(names) == 7
    assert mended(after) == (after, [])


def test_placeholders_are_dropped_from_passages_alone() -> None:
    """A query "TODO" is junk."""
    assert dropped("passage", "TODO") == "texts/placeholder"
    assert dropped("stand-alone query", "TODO") == "queries/junk"
    assert dropped("answer", "TODO") == ""


def test_the_json_has_all_rows_beside_five_examples(tmp_path: Path) -> None:
    """Every passage id, and whether `--fix` or a person removes the fault."""
    rows = clean()
    for number in range(8):
        rows["corpus"][number]["text"] += f" Bells\x07 ring {number} times."
    folder = write(rows, tmp_path / "set")
    shown = CliRunner().invoke(command, ["check", str(folder)]).output
    found = json.loads(CliRunner().invoke(command, ["check", str(folder), "--json"]).stdout)

    (finding,) = (f for f in found["findings"] if f["check"] == "encoding/controls")
    assert finding["rows"] == [row["_id"] for row in rows["corpus"][:8]]
    assert (len(finding["examples"]), finding["kind"], finding["remedy"]) == (5, "passage", "fix")
    assert "and 3 more; the ids of all are under `rows` in --json" in shown
