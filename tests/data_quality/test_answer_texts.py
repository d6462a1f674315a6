"""Rows with answers of a system: personal data are found and masked."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from ragstone.cli.data import command


def test_rows_of_traces_are_checked_and_masked(tmp_path: Path) -> None:
    """In the answer, the contexts and the steps; a second run over the copy finds nothing."""
    rows = [
        {
            "query_id": "a",
            "query": "Who keeps the bridge?",
            "answer": "Ask ann@example.org.",
            "contexts": ["Call (212) 555-0123."],
            "steps": [{"query": "card 4111 1111 1111 1111", "passages": []}],
            "system": "v1",
        },
        {"query_id": "b", "query": "When was the bridge built?", "answer": "1912", "contexts": []},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    asked = ["check", str(path), "--json", "--fix", str(tmp_path / "copy")]
    first = json.loads(CliRunner().invoke(command, asked).stdout)
    copy = tmp_path / "copy" / "rows.jsonl"
    second = json.loads(CliRunner().invoke(command, ["check", str(copy), "--json"]).stdout)

    found = {f["check"]: f["rows"] for f in first["findings"] if "personal" in f["check"]}
    assert found == {f"personal-data/{kind}": ["a"] for kind in ("email", "phone", "card")}
    assert not [f for f in second["findings"] if "personal" in f["check"]]
    assert "[email]" in copy.read_text("utf-8")
    assert "ann@example.org" in path.read_text("utf-8")
