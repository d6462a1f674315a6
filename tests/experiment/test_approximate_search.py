"""An approximate search in an experiment: kept with its recall, found again, measured again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

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
