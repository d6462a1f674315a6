"""`data ratings` on mtRAG's human evaluations: the published figures in one command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command

SYSTEMS = ("reference", "gpt-4o", "llama-3.1-405b-instruct")


@pytest.fixture(scope="module")
def shown(shared_data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the JSON of one command on mtRAG's file under another name."""
    (file,) = (shared_data("mtrag") / "human_evaluations").glob("*.json.gz")
    other = tmp_path_factory.mktemp("mtrag") / "people.json.gz"
    other.write_bytes(file.read_bytes())
    given = ["ratings", f"mtrag:{other}", "--by", "answerability", "--balance", "RB_llm", "--json"]
    found = CliRunner().invoke(command, given)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_the_published_alphas(shown: Any) -> None:
    """Krippendorff's alpha of the four properties."""
    alphas = {name: of["alpha"] for name, of in shown["properties"].items() if name != "win-rate"}

    assert alphas == pytest.approx(
        {"faithfulness": 0.55, "completeness": 0.39, "naturalness": 0.30, "appropriateness": 0.05},
        abs=0.005,
    )


def test_table_6(shown: Any) -> None:
    """All, on the answerable subset, to the decimal that the paper prints."""
    subset = shown["by"]["values"]["answerable"]

    means = [subset["all"]["systems"][system]["mean"] for system in SYSTEMS]

    assert [round(mean, 1) for mean in means] == [3.8, 3.7, 3.7]


def test_table_7(shown: Any) -> None:
    """The order of the paper comes out if the values of RB_llm count the same."""
    rows = [row for row in shown["correlations"] if row["property"] == "win-rate"]

    weighted = {row["metric"]: row["weighted"] for row in rows}

    order = sorted(("RL_F", "RB_llm", "RB_agg"), key=lambda name: -weighted[name])
    assert order == ["RB_llm", "RB_agg", "RL_F"]
    assert {row["n"] for row in rows} == {477}
