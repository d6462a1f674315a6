"""`ragstone plot`: charts by name as files, JSON and text, and what is missing for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.cli import root
from ragstone.errors import ConfigError, RagstoneError
from ragstone.experiment.load import load_experiment
from ragstone.results.plots.table import NOT_CHARTS, PLOTS
from ragstone.results.reader import StoredResults

OWN = """
def answer(query, passages=()):
    known = len(passages) == 1 or (len(passages) and hash_of(query) % 10 >= 3 * len(passages))
    return " ".join(passage.text for passage in passages) if known else "no idea"


def hash_of(text):
    return sum(map(ord, text))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


def plot(*arguments: str) -> dict[str, Any]:
    """Return the JSON of the command, or raise its error."""
    result = CliRunner().invoke(root, ["plot", *arguments, "--json"])
    if isinstance(result.exception, RagstoneError):
        raise result.exception
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def made(tmp_path: Path) -> StoredResults:
    """Return made-up results, in the store `store`."""
    return made_results(tmp_path / "store", queries=40)


def test_the_leaderboard_has_the_means_of_the_tables(made: StoredResults) -> None:
    """Every mean, interval, n and number of failures is that of the results."""
    (chart,) = plot("leaderboard", "store", "--metric", "Match")["charts"]

    drawn = {(r["row"], r["setting"]): r for r in chart["rows"]}
    for cell in made.answer_cells:
        if cell.metric == "Match":
            row, found = drawn.pop((f"made · {cell.system}", cell.setting)), cell.summary
            assert found.interval is not None
            assert (row["mean"], row["low"], row["high"]) == (found.mean, *found.interval)
            assert (row["n"], row["failed"]) == (found.n, found.failed)
    assert not drawn


@pytest.mark.parametrize(
    "arguments",
    [
        ["adaptability"],
        ["causes"],
        ["gains"],
        ["gain-by-dataset"],
        ["history"],
        ["mirage-3"],
        ["mirage-4"],
        ["mtrag-2"],
        ["mtrag-3"],
        ["kyr-1", "--label", "domain"],
        ["kyr-4", "--label", "domain", "--label", "answerability"],
    ],
    ids=lambda one: one[0],
)
def test_plots_are_drawn_as_files(made: StoredResults, arguments: list[str]) -> None:
    """The JSON is the specification with its data; the page loads nothing."""
    assert made.finished
    for suffix in ("json", "html"):
        found = plot(arguments[0], "store", *arguments[1:], "-o", f"x.{suffix}")
        assert found["file"] == f"x.{suffix}"
        assert all(chart["rows"] for chart in found["charts"])
    assert "vega-lite" in json.loads(Path("x.json").read_text(encoding="utf-8"))["$schema"]
    page = Path("x.html").read_text(encoding="utf-8")
    assert "Content-Security-Policy" in page
    assert 'src="http' not in page


@pytest.mark.needs("vl_convert")
def test_hostile_texts_are_drawn(tmp_path: Path) -> None:
    """Names and labels from outside do not break a picture or a page."""
    made_results(tmp_path / "store", queries=12, systems=[HOSTILE[0], HOSTILE[5]], texts=HOSTILE)
    for name in ("leaderboard", "adaptability", "causes", "gains", "history", "mtrag-2"):
        for suffix in ("svg", "png", "html"):
            plot(name, "store", "-o", f"x.{suffix}")
            assert Path(f"x.{suffix}").stat().st_size > 1000
        assert "<script>document.title" not in Path("x.html").read_text(encoding="utf-8")


def test_passages_tell_where_more_of_them_harm() -> None:
    """The score falls with the number of passages; the notes name the paired difference."""
    Path("own.py").write_text(OWN, encoding="utf-8")
    document = {
        "data": "sample",
        "store": "store",
        "systems": {"mine": {"retriever": "bm25", "generator": "callable(own.py:answer)"}},
        "settings": ["none", "gold", "retrieved(1)", "retrieved(3)"],
        "metrics": ["Match", "R@5"],
    }
    Path("e.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    load_experiment("e.yaml").run()

    found = plot("passages", "e.yaml")
    titles = [chart["title"] for chart in found["charts"]]
    score, whole, miss, noise, *_ = (chart["rows"] for chart in found["charts"])

    assert [title.partition(":")[0] for title in titles[:4]] == [
        "Match",
        "Noise vulnerability",
        "Noise vulnerability, miss",
        "Noise vulnerability, noise",
    ]
    assert [row["harms"] for row in score] == [False, True]
    assert any("Match with 3 passages is worse than with 1" in note for note in found["notes"])
    for one, first, second in zip(whole, miss, noise, strict=True):
        assert one["count"] == first["count"] + second["count"]
    (points,) = (chart["rows"] for chart in plot("retrieval-vs-answer", "e.yaml")["charts"])
    assert {point["name"] for point in points} == {"retrieved(1)", "retrieved(3)"}
    with pytest.raises(ConfigError, match="--size 'GENERATOR=7B'"):
        plot("gain-by-size", "e.yaml")
    (sized,) = plot("bergen-5", "e.yaml", "--size", "callable(own.py:answer)=7B")["charts"]
    assert [row["x"] for row in sized["rows"]] == [7e9]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mirage-5", "is not a chart of results: it is a screenshot"),
        ("mtrag-9", "no query has the label question_type"),
        ("metric-vs-judge", "no result has a judge; add one to `metrics:`"),
        ("passages", "add several to `settings:`"),
        ("retrieval-vs-answer", "no result has a ranking metric"),
        ("text-weight", "differ only in text_weight"),
        ("risk-coverage", "add idk or refusal to `metrics:`"),
        ("kyr-2", "it needs the labels asked_label and taxonomy"),
        ("kyr-3", "no result has a metric of the judge critiques"),
        ("leaderbord", "there is no plot 'leaderbord'"),
    ],
)
def test_an_error_names_what_is_missing(made: StoredResults, name: str, said: str) -> None:
    """Each error names the plot and the way out."""
    assert made.finished
    with pytest.raises(ConfigError) as caught:
        plot(name, "store", *(["--metric", "Match"] * (name == "retrieval-vs-answer")))
    assert said in str(caught.value)
    assert name in str(caught.value)


def test_the_list_has_every_plot_and_every_figure() -> None:
    """The list names the plots with their needs, and the figures that are not charts."""
    found = {one["name"]: one for one in plot("--list")["plots"]}

    assert set(found) == {*PLOTS, *NOT_CHARTS}
    figures = {"mirage": 5, "mtrag": 10, "bergen": 7, "kyr": 5}
    assert {name for name in found if name[-1].isdigit()} == {
        f"{paper}-{number}" for paper, last in figures.items() for number in range(1, last + 1)
    }
    with pytest.raises(ConfigError, match="unknown suffix"):
        plot("leaderboard", "store", "-o", "x.gif")


def test_metrics_against_people(shared_data: Any) -> None:
    """The figure of mtRAG from its own file: four properties and the win rate, with intervals."""
    (chart,) = plot("mtrag-4", str(shared_data("mtrag")))["charts"]

    cells = {(row["row"], row["column"]): row for row in chart["rows"]}
    assert len(cells) == 35
    assert {row["n"] + row["failed"] for row in cells.values()} == {300}
    assert cells["RB_llm", "win-rate"]["low"] < cells["RB_llm", "win-rate"]["value"]
