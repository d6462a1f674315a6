"""`data ratings` on mtRAG's human evaluations: the published figures in one command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command

ALL = [3.8, 3.7, 3.7]
WIN_RATES = [0.593, 0.478, 0.474]
SYSTEMS = ("reference", "gpt-4o", "llama-3.1-405b-instruct")


@pytest.fixture(scope="module")
def file(shared_data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return mtRAG's file under another name."""
    (found,) = (shared_data("mtrag") / "human_evaluations").glob("*.json.gz")
    other = tmp_path_factory.mktemp("mtrag") / "people.json.gz"
    other.write_bytes(found.read_bytes())
    return other


def shown(file: Path, *options: str) -> Any:
    """Return the JSON of the command."""
    found = CliRunner().invoke(command, ["ratings", f"mtrag:{file}", *options, "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_the_tables_of_one_command(file: Path) -> None:
    """Alpha of the four properties, and All and the win rates of Table 6 on its subset.

    The released answers are not quite those of Table 6: All is 3.8, 3.6, 3.6 there, and the win
    rates are 59.3, 47.8, 47.4.
    """
    found = shown(file, "--by", "answerability")

    alphas = {name: of["alpha"] for name, of in found["properties"].items() if name != "win-rate"}
    assert alphas == pytest.approx(
        {"faithfulness": 0.55, "completeness": 0.39, "naturalness": 0.30, "appropriateness": 0.05},
        abs=0.005,
    )
    subset = found["by"]["values"]["answerable"]
    rates = subset["properties"]["win-rate"]["win_rates"]
    assert [round(subset["all"]["systems"][name]["mean"], 1) for name in SYSTEMS] == ALL
    assert [rates[name]["mean"] for name in SYSTEMS] == pytest.approx(WIN_RATES, abs=0.02)


def test_all_on_answerable_and_partial_tasks(file: Path) -> None:
    """All is 3.8, 3.6 and 3.6 as in Table 6, over 150 tasks."""
    chosen = ("--where", "answerability=answerable", "--where", "answerability=partial")
    found = shown(file, *chosen)["all"]["systems"]

    assert [round(found[name]["mean"], 1) for name in SYSTEMS] == [3.8, 3.6, 3.6]
    assert found["reference"]["n"] == 150


def test_the_order_of_table_7(file: Path) -> None:
    """It comes out if the values of RB_llm count the same, without wrongly declined answers."""
    chosen = ("answerability=answerable", "answerability=partial", "not declined wrongly=1")
    where = [part for one in chosen for part in ("--where", one)]
    options = ("--property", "win-rate", "--combine", "mean", "--balance", "RB_llm")

    rows = shown(file, *where, *options)["correlations"]

    weighted = {row["metric"]: row["weighted"] for row in rows}
    order = sorted(("RL_F", "RB_llm", "RB_agg"), key=lambda name: -weighted[name])
    assert order == ["RB_llm", "RB_agg", "RL_F"]
