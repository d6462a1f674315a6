"""An approximate search in an experiment: kept with its recall, found again, measured again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import yaml
from click.testing import CliRunner

from ragstone.cli import root
from ragstone.components.retrievers import dense
from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.experiment.load import load_experiment
from ragstone.results.leaderboards import results_document


@dataclass(frozen=True)
class Drawn:
    """Draws the vector of a text by its last word, a number."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row per text."""
        draws = [np.random.default_rng(int(text.split()[-1])) for text in texts]
        return np.stack([draw.standard_normal(8) for draw in draws])


def _experiment(store: Path, queries: range, **more: Any) -> Any:
    data = Dataset.from_records(
        queries=[{"query_id": f"q{n}", "text": f"query {n}"} for n in queries],
        passages=[{"passage_id": f"p{n}", "text": str(n)} for n in range(900)],
        qrels=[(f"q{n}", f"p{n % 900}", 1) for n in queries],
    )
    embedder = f"{__name__}:Drawn"
    retriever = {"name": "dense", "top_k": 10, "embedder": embedder, "recall": 0.8, **more}
    keys = {"data": data, "store": str(store), "systems": {"s": {"retriever": retriever}}}
    return load_experiment({"name": "near", "metrics": ["hit@5"], **keys})


def test_the_recall_is_in_the_record_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run measures nothing; other queries are measured with the index that is there."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    queries = range(1000, 1200)
    first = results_document(_experiment(tmp_path, queries, ann="ivf").run())
    (ann,) = (step["ann"] for step in first["steps"] if step["step"] == "retrieve")
    assert list(ann) == ["target", "recall", "lower_bound", "n", "nprobe"]
    assert (ann["target"], ann["n"]) == (0.8, 200)
    assert ann["lower_bound"] >= 0.8
    (line,) = (remark for remark in first["remarks"] if "approximately" in remark)
    assert f"recall {ann['recall']:.3f} (at least" in line
    assert f"{ann['nprobe']} lists a query" in line

    with monkeypatch.context() as patched:
        patched.setattr(dense, "measure", None)
        again = results_document(_experiment(tmp_path, queries, ann="ivf").run())
    assert again["steps"] == first["steps"]

    other = results_document(_experiment(tmp_path, range(1000, 1100), ann="ivf").run())
    (ann,) = (step["ann"] for step in other["steps"] if step["step"] == "retrieve")
    assert ann["n"] == 100
    assert len([*tmp_path.glob("arrays/ivf-*")]) == 1


def test_an_exact_search_has_no_measured_recall(tmp_path: Path) -> None:
    """Neither a fact nor a remark."""
    found = results_document(_experiment(tmp_path, range(1000, 1020)).run())
    assert {step["ann"] for step in found["steps"]} == {None}
    assert not any("approximately" in remark for remark in found["remarks"])


def _file(folder: Path, passages: int = 900, **more: Any) -> str:
    """Write a data set and an experiment with a sweep of `ann`; return its path."""
    rows = {
        "queries": [{"query_id": f"q{n}", "text": f"query {1000 + n}"} for n in range(120)],
        "corpus": [{"passage_id": f"p{n}", "text": str(n)} for n in range(passages)],
    }
    (folder / "set").mkdir()
    for name, lines in rows.items():
        text = "\n".join(map(json.dumps, lines))
        (folder / "set" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    qrels = "\n".join(f"q{n} 0 p{n} 1" for n in range(120))
    (folder / "set" / "qrels.txt").write_text(qrels, encoding="utf-8")
    near = {"name": "dense", "top_k": 10, "embedder": f"{__name__}:Drawn", "ann": [None, "ivf"]}
    document = {
        "data": str(folder / "set"),
        "store": str(folder / "store"),
        "systems": {"near": {"retriever": {**near, "recall": 0.8, **more}}},
        "metrics": ["R@10"],
    }
    (folder / "e.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(folder / "e.yaml")


def _said(*arguments: str) -> str:
    done = CliRunner().invoke(root, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_sweep_of_the_search_is_run_shown_reported_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run computes nothing and has the same recall, in the record and as JSON."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    path = _file(tmp_path)
    first = json.loads(_said("run", path, "--json"))
    found = [step["ann"] for step in first["steps"] if step["step"] == "retrieve"]
    assert [bool(one) for one in found].count(True) == 1

    monkeypatch.setattr(dense, "measure", None)
    monkeypatch.setattr(dense, "nearest", None)
    again = json.loads(_said("run", path, "--json"))
    assert [step["ann"] for step in again["steps"] if step["step"] == "retrieve"] == found
    exact, ivf = again["systems"]
    page = tmp_path / "page.html"
    _said("report", path, "-o", str(page))
    for told in (_said("run", path), _said("show", path), page.read_text(encoding="utf-8")):
        assert "searched approximately: recall" in told
    assert "R@10" in _said("compare", f"{path}:{exact}", f"{path}:{ivf}")


def test_a_target_that_is_not_reached_is_told_with_the_best_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """120 queries cannot show a recall of .999."""
    monkeypatch.setattr(limits, "APPROXIMATE_FROM", 800)
    found = _said("run", _file(tmp_path, ann="ivf", recall=0.999))
    assert "lists reach a recall of" in found
    assert "of 120 measured queries, below the target 0.999" in found


def test_a_small_corpus_is_searched_exactly(tmp_path: Path) -> None:
    """It is told, and there is no recall."""
    path = _file(tmp_path, ann="ivf")
    assert "900 passages searched exactly: fewer than 50,000 need no index" in _said("run", path)
    steps = json.loads(_said("run", path, "--json"))["steps"]
    assert {step["ann"] for step in steps} == {None}
