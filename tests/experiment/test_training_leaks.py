"""Systems with trained parts: what they have seen is said before a run, and beside its numbers."""

from __future__ import annotations

import csv
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.compare import command as compare
from ragstone.cli.export import command as export
from ragstone.components.generators.gold import GoldAnswer
from ragstone.components.retrievers.bm25 import BM25
from ragstone.data.load import load_dataset
from ragstone.data.training_marks import FILE, marks_text, training_marks
from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.results.board.table import BoardRequest, make_board
from ragstone.results.html import render_report
from ragstone.results.joined import JoinedResults
from ragstone.results.passport import make_passport

DATA = load_dataset("sample")
IDS = [query.query_id for query in DATA.queries if query.turn is None][:12]
SAID = "‡ the generator of tuned was trained on the questions or documents of "


@dataclass(frozen=True)
class Tuned(GoldAnswer):
    """Answers as if it had been trained."""

    adapter: str = ""

    @property
    def training_folder(self) -> Path | None:
        """The folder of its adapter."""
        return Path(self.adapter)


@dataclass(frozen=True)
class TunedBM25(BM25):
    """Retrieves as if it had been trained."""

    adapter: str = ""

    @property
    def training_folder(self) -> Path | None:
        """The folder of its adapter."""
        return Path(self.adapter)


def trained(folder: Path, query_ids: list[str]) -> str:
    """Write what a training on some queries leaves; return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text(marks_text(training_marks(DATA, query_ids)), encoding="utf-8")
    record = {
        "kind": "generator",
        "base": str(folder / "weights"),
        "base_digest": "b" * 64,
        "method": "lora",
        "digest": "d" * 64,
        "loss": [1.0],
        "data": {"name": "sample", "train": len(query_ids), "test": 3},
    }
    (folder / "training.json").write_text(json.dumps(record), encoding="utf-8")
    return str(folder)


def experiment(tmp_path: Path, *, seen: list[str], asked: list[str], **keys: Any) -> Any:
    """Return an experiment of a trained system and another one."""
    (tmp_path / "ids.txt").write_text("\n".join(asked), encoding="utf-8")
    adapter = trained(tmp_path / "adapter", seen)
    given: dict[str, Any] = {
        "name": "e",
        "data": "sample",
        "store": str(tmp_path / "store"),
        "sample": {"queries": str(tmp_path / "ids.txt")},
        "systems": [
            {"name": "tuned", "generator": Tuned(adapter=adapter)},
            {"name": "plain", "generator": GoldAnswer()},
        ],
        "settings": ["none"],
        "metrics": ["Match"],
    }
    return load_experiment({**given, **keys})


def sentence(seen: int, asked: int) -> str:
    """Return the beginning of what is said of the generator."""
    return f"{SAID}{seen} of {asked} queries ({seen / asked:.1%})"


def touched(seen: list[str], asked: list[str]) -> int:
    """Return how many of the queries share a mark with the training."""
    from ragstone.data.training_marks import overlap

    return len({*overlap(training_marks(DATA, seen), DATA)} & {*asked})


def test_it_is_said_before_anything_is_spent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the plan, and as a warning of the run."""
    found = experiment(tmp_path, seen=IDS[:5], asked=IDS)
    said = sentence(touched(IDS[:5], IDS), 12)
    assert touched(IDS[:5], IDS) >= 5

    assert [note for note in found.plan().notes if note.startswith(said)]
    assert not (tmp_path / "store" / "experiments").exists()
    with caplog.at_level(logging.WARNING):
        found.run()
    assert said in caplog.text


def test_every_output_has_the_mark(tmp_path: Path) -> None:
    """The tables, the report, JSON, the leaderboard, the comparison and the exported scores."""
    results = experiment(tmp_path, seen=IDS[:5], asked=IDS).run()
    said = sentence(touched(IDS[:5], IDS), 12)

    shown = str(results)
    assert "tuned ‡" in shown
    assert "plain ‡" not in shown
    assert f"NOTE: {said}" in shown
    report = render_report(results)
    assert said in report
    assert "tuned ‡" in report
    assert any(one.startswith(said) for one in results.to_dict()["remarks"])
    board = make_board(JoinedResults.of_store(results.store), BoardRequest(("system",)))
    assert {row for (row, _), cell in board.cells.items() if cell.trained} == {("tuned",)}

    (tmp_path / "e.yaml").write_text("data: sample\nsystems: {}\nmetrics: [Match]\n", "utf-8")
    assert results.export(tmp_path / "e.csv", "scores")
    rows = list(csv.DictReader((tmp_path / "e.csv").read_text("utf-8").splitlines()))
    assert all(row["trained"].startswith(said) == (row["system"] == "tuned") for row in rows)
    assert results.export(tmp_path / "e.parquet", "scores")


def test_commands_that_read_results_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`compare` and `export` name the source, also if it is a passport."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts.py").write_text(
        "from dataclasses import dataclass\nfrom pathlib import Path\n"
        "from ragstone.components.generators.gold import GoldAnswer\n\n\n"
        "@dataclass(frozen=True)\nclass Tuned(GoldAnswer):\n    adapter: str = ''\n\n"
        "    @property\n    def training_folder(self):\n        return Path(self.adapter)\n",
        encoding="utf-8",
    )
    adapter = trained(tmp_path / "adapter", IDS)
    (tmp_path / "e.yaml").write_text(
        "data: sample\nsettings: [none]\nmetrics: [Match]\nsystems:\n"
        f"  tuned: {{generator: {{name: 'parts.py:Tuned', adapter: '{adapter}'}}}}\n"
        "  plain: {generator: gold}\n",
        encoding="utf-8",
    )
    load_experiment(tmp_path / "e.yaml").run()

    both = ["e.yaml:tuned", "e.yaml:plain"]
    assert SAID in CliRunner().invoke(compare, both).stdout
    document = json.loads(CliRunner().invoke(compare, [*both, "--json"]).stdout)
    assert [[name, len(lines)] for name, lines in document["trained"].items()] == [["tuned", 1]]
    written = CliRunner().invoke(export, ["e.yaml", "--to", "scores", "-o", "s.jsonl"])
    assert f"note: {SAID}" in written.stderr


def test_the_test_part_of_a_training_is_not_marked(tmp_path: Path) -> None:
    """Queries that a split keeps apart are untouched; the record still names the training."""
    from ragstone.training.splits import split

    parts = split(DATA, 0.1, 0.3, 0)
    found = experiment(tmp_path, seen=[*parts.train, *parts.validation], asked=list(parts.test))

    results = found.run()
    assert "‡" not in str(results)
    assert [one for one in found.plan().notes if "trained" in one] == []
    (part,) = results.record.trained
    assert (part.seen, part.asked) == (0, len(parts.test))


def test_the_passport_names_the_training(tmp_path: Path) -> None:
    """Base, data, digests and numbers of queries, without a path of this machine."""
    results = experiment(tmp_path, seen=IDS[:5], asked=IDS).run()

    passport = make_passport(results)
    (part,) = passport["trained"]
    assert part["data"] == {"name": "sample", "train": 5, "test": 3}
    assert (part["system"], part["step"], part["kind"]) == ("tuned", "generator", "generator")
    assert (part["base_digest"], part["digest"]) == ("b" * 64, "d" * 64)
    assert str(tmp_path) not in json.dumps(passport)


def test_a_part_that_ranks_is_measured_on_the_ranked_queries(tmp_path: Path) -> None:
    """A trained retriever has seen queries of all that measure retrieval."""
    adapter = trained(tmp_path / "adapter", IDS[:2])
    keys = {
        "sample": {"limit": 1, "retrieval": "all"},
        "systems": [{"name": "tuned", "retriever": TunedBM25(adapter=adapter)}],
        "settings": [],
        "metrics": ["R@5"],
    }
    (part,) = experiment(tmp_path, seen=IDS[:2], asked=IDS, **keys).run().record.trained

    assert (part.step, part.asked) == ("retriever", len(DATA.queries))
    assert part.seen == touched(IDS[:2], [query.query_id for query in DATA.queries]) >= 2


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Marks that cannot be read are no reason to say nothing."""
    found = experiment(tmp_path, seen=IDS[:1], asked=IDS)
    (tmp_path / "adapter" / FILE).write_text("x\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="not a file of training marks"):
        found.plan()
    trained(tmp_path / "adapter", IDS[:1])
    (tmp_path / "adapter" / "training.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match="not a record of a training"):
        found.plan()


def test_an_adapter_of_others_is_not_known(tmp_path: Path) -> None:
    """Without the file of marks, nothing can be said."""
    found = experiment(tmp_path, seen=IDS, asked=IDS)
    (tmp_path / "adapter" / FILE).unlink()

    assert found.run().record.trained == ()
