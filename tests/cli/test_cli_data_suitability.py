"""`ragstone data suitability` reads the results of experiments."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner
from tests.fakes.made_results import made_results

from ragstone.cli.data import command

HEAD = "data: sample\nsystems: {a: {retriever: bm25, generator: gold}}\nsettings: [none]\n"


def test_every_system_gets_advice(tmp_path: Path) -> None:
    """The output has a row per system with gains, advice and its reason; so has the JSON."""
    results = made_results(tmp_path / "store")
    file = tmp_path / "made.yaml"
    file.write_text(f"name: {results.name}\nstore: {tmp_path / 'store'}\n{HEAD}metrics: [Match]\n")

    text = CliRunner().invoke(command, ["suitability", str(file)])
    machine = CliRunner().invoke(command, ["suitability", str(file), "--json"])
    wrong = CliRunner().invoke(command, ["suitability", str(file), "--metric", "BLEU"])

    assert text.exit_code == machine.exit_code == 0, text.output + machine.output
    rows = json.loads(machine.output)
    assert [row["system"] for row in rows] == results.systems
    assert all(row["gold_gain"]["n"] > 0 and row["reason"] for row in rows)
    assert rows[0]["advice"] in text.output
    assert "has no metric 'BLEU'" in str(wrong.exception)
