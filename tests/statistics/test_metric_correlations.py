"""Correlations of metrics with a judge or people: a table, a heat map, plain data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli.judge import command
from ragstone.errors import ConfigError, DatasetError
from ragstone.experiment.load import load_experiment
from ragstone.results.charts.heat_map import correlation_chart
from ragstone.statistics.metric_correlations import correlations, inverse_frequency
from ragstone.testing import FakeModelServer

SharedData: TypeAlias = Callable[[str], Path]


def test_a_row_for_all_and_one_for_each_group() -> None:
    """Groups can have opposite correlations."""
    rows = correlations(
        {"F1": [*range(10), *reversed(range(10))]},
        {"judge": [*range(10), *range(10)]},
        groups=["a"] * 10 + ["b"] * 10,
        resamples=50,
    )

    assert [(row.group, round(row.correlation.value or 0, 6)) for row in rows] == [
        ("all", 0.0), ("a", 1.0), ("b", -1.0),
    ]  # fmt: skip


def test_the_seed_is_zero_unless_it_is_given() -> None:
    """Equal columns have equal intervals."""
    columns = {"F1": [1.0, 2, 4, 3, 7, 5, 6]}, {"judge": [1.0, 3, 2, 4, 6, 5, 7]}
    plain = correlations(*columns, resamples=50)
    assert plain == correlations(*columns, resamples=50, seed=0)
    assert plain != correlations(*columns, resamples=50, seed=1)


def test_balancing_makes_a_rare_value_count() -> None:
    """The weights of each distinct value sum to 1."""
    weights = inverse_frequency([1, 1, 1, 2])

    assert sum(weights[:3]) == pytest.approx(weights[3])


def test_columns_of_different_items_are_refused() -> None:
    """Columns of different lengths and weights for Kendall's tau are errors."""
    with pytest.raises(DatasetError, match="same items"):
        correlations({"F1": [1.0]}, {"judge": [1.0, 2.0]})
    with pytest.raises(ConfigError, match="kendall takes no weights"):
        correlations({"F1": [1.0]}, {"judge": [1.0]}, kind="kendall", weights=[1.0])


def test_every_cell_of_the_heat_map_shows_its_number() -> None:
    """Every cell has its number; an undefined value is a dash."""
    rows = correlations({"F1": [1, 2, 4], "EM": [1, 1, 1]}, {"judge": [1, 2, 3]}, resamples=20)

    spec = correlation_chart(rows)

    json.dumps(spec)
    assert [value["shown"] for value in spec["data"]["values"]] == ["1.00", "-"]
    assert spec["layer"][2]["encoding"]["text"] == {"field": "shown", "type": "nominal"}


def test_stored_metrics_are_correlated_with_people(shared_data: SharedData, tmp_path: Path) -> None:
    """The win rate of mtRAG: balanced, by system, with the ceiling and a chart."""
    chart = tmp_path / "heat.json"
    given = ["correlate", "--data", str(shared_data("mtrag")), "--property", "win-rate"]

    plain = CliRunner().invoke(command, [*given, "--by", "system", "--chart", str(chart)])
    balanced = CliRunner().invoke(command, [*given, "--balance", "RB_llm", "--json"])

    assert plain.exit_code == 0, plain.output
    assert "one rater with the others" in plain.output
    assert {"all", "gpt-4o"} <= {
        v["column"] for v in json.loads(chart.read_text())["data"]["values"]
    }
    rows = {row["metric"]: row["correlation"] for row in json.loads(balanced.output)["rows"]}
    assert rows["RB_llm"]["n"] == 477


def test_the_metrics_of_a_run_are_correlated_with_its_judge(tmp_path: Path) -> None:
    """A judge that accepts answers with the gold word correlates with Match."""
    with FakeModelServer(answer=lambda m: "yes" if len(str(m)) % 2 else "no") as server:
        file = tmp_path / "run.yaml"
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        document = {
            "data": "sample",
            "store": str(tmp_path / "store"),
            "sample": {"limit": 30, "seed": 1, "where": {"turn": None}},
            "systems": {"fake": {"generator": model}},
            "settings": ["gold"],
            "metrics": ["Match", "F1"],
            "judges": [{"name": "equivalence", "model": model, "refusals": "judge"}],
        }
        file.write_text(yaml.safe_dump(document))
        load_experiment(file).run()

    shown = CliRunner().invoke(command, ["correlate", str(file), "--against", "equivalence"])
    wrong = CliRunner().invoke(command, ["correlate", str(file), "--against", "equivalenc"])

    assert shown.exit_code == 0, shown.output
    assert "Match" in shown.output
    assert isinstance(wrong.exception, ConfigError)
    assert "did you mean 'equivalence'" in str(wrong.exception)
