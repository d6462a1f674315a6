"""`data ratings` on mtRAG's human evaluations: the published figures in one command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command

TABLE_6 = {
    "faithfulness": (3.8, 3.5, 3.5),
    "appropriateness": (3.8, 3.8, 3.9),
    "naturalness": (4.0, 4.0, 3.9),
    "completeness": (3.9, 3.7, 3.7),
    "All": (3.8, 3.6, 3.6),
}
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
    """Alpha of the four properties; All and ten of the twelve medians of Table 6 on its subset.

    The naturalness of gpt-4o is 3.95 and the appropriateness of the reference 3.75, between two
    decimals. The win rates of the released answers are those of the paper within two points.
    """
    found = shown(file, "--by", "answerability")

    alphas = {name: of["alpha"] for name, of in found["properties"].items() if name != "win-rate"}
    assert alphas == pytest.approx(
        {"faithfulness": 0.55, "completeness": 0.39, "naturalness": 0.30, "appropriateness": 0.05},
        abs=0.005,
    )
    subset = found["by"]["values"]["answerable"]
    columns = {name: of["systems"] for name, of in subset["properties"].items()}
    columns["All"] = subset["all"]["systems"]
    differing = {
        (name, system): round(columns[name][system]["mean"], 2)
        for name, published in TABLE_6.items()
        for system, value in zip(SYSTEMS, published, strict=True)
        if round(columns[name][system]["mean"], 1) != value
    }
    assert differing == {("appropriateness", "reference"): 3.75, ("naturalness", "gpt-4o"): 3.95}
    rates = subset["properties"]["win-rate"]["win_rates"]
    assert [rates[name]["mean"] for name in SYSTEMS] == pytest.approx(WIN_RATES, abs=0.02)


def test_the_order_of_table_7(file: Path) -> None:
    """It comes out if the values of RB_llm count the same, without wrongly declined answers."""
    chosen = ("answerability=answerable", "answerability=partial", "not declined wrongly=1")
    where = [part for one in chosen for part in ("--where", one)]
    options = ("--property", "win-rate", "--combine", "mean", "--balance", "RB_llm")

    rows = shown(file, *where, *options)["correlations"]

    weighted = {row["metric"]: row["weighted"] for row in rows}
    order = sorted(("RL_F", "RB_llm", "RB_agg"), key=lambda name: -weighted[name])
    assert order == ["RB_llm", "RB_agg", "RL_F"]
