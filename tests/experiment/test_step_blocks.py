"""A step computed in blocks of queries has the result of one that is computed at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.generators.gold import GoldAnswer
from ragstone.components.generators.live_conversation import Live
from ragstone.core import limits, stored_table
from ragstone.core.component import Outcome
from ragstone.core.schemas import PREDICTIONS, predictions_to_table, uniform_predictions
from ragstone.experiment.load import load_experiment
from ragstone.experiment.step_blocks import run_step
from ragstone.protocols import Retriever
from ragstone.results.results import Results
from ragstone.types import Prediction, Ranking, Search

SETTINGS = ["none", "gold", "gold+noise(2)", "retrieved(3)"]


def run(folder: Path, systems: Sequence[dict[str, Any]] = ()) -> Results:
    """Run two systems on the sample."""
    systems = systems or [
        {"retriever": "fusion(retrievers=[bm25, dense])", "generator": "gold"},
        # Each block encodes its passages again, so there are few of them.
        {
            "retriever": "bm25",
            "reranker": "maxsim(depth=5, top_k=5)",
            "generator": "gold",
            "name": "two",
        },
    ]
    made = load_experiment(
        {
            "data": "sample",
            "store": str(folder),
            "systems": list(systems),
            "settings": SETTINGS,
            "metrics": ["Match", "F1", "ROUGE-L", "nDCG@5", "R@3"],
        }
    )
    return made.run()


def digests(results: Results) -> dict[str, str]:
    """Return step and key -> digest."""
    return {folder: one["digest"] for folder, one in results.manifests.items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results without blocks."""
    return run(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("size", [1, 7])
def test_blocks_do_not_change_a_digest(
    size: int, whole: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fusion, reranking, contexts, answers and scores, with blocks of one query too."""
    monkeypatch.setattr(limits, "BLOCK_QUERIES", size)
    monkeypatch.setattr(limits, "MODEL_BLOCK_QUERIES", size)
    parts = run(tmp_path / "parts")

    assert digests(parts) == digests(whole)
    assert str(parts) == str(whole)
    reasons = [one.get("reasons") for one in parts.manifests.values()]
    assert reasons == [one.get("reasons") for one in whole.manifests.values()]


def test_a_resumed_run_reads_rankings_and_contexts_by_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored is found and used without a whole table in memory."""
    monkeypatch.setattr(limits, "BLOCK_QUERIES", 7)
    one: list[dict[str, Any]] = [{"retriever": "bm25", "generator": "gold"}]
    first = digests(run(tmp_path, one))
    for folder in (tmp_path / "steps").iterdir():
        if folder.name.startswith(("generate", "score-answer")):
            shutil.rmtree(folder)
    read, whole = list[str](), stored_table._read

    def noted(folder: Path) -> Any:
        read.append(folder.name)
        return whole(folder)

    monkeypatch.setattr(stored_table, "_read", noted)
    again = run(tmp_path, one)
    assert digests(again) == first
    assert not [name for name in read if name.startswith(("retrieve", "context"))]


@dataclass(frozen=True)
class Counted(Retriever):
    """Finds nothing, and counts its calls."""

    folder: str = ""
    top_k: int = 5

    def retrieve(self, searches: Sequence[Search], services: Any) -> Iterator[Outcome[Ranking]]:
        """Return an empty ranking for each search."""
        with (Path(self.folder) / "calls").open("a") as file:
            file.write(f"{len(searches)}\n")
        return (Outcome(Ranking()) for _ in searches)


def test_an_own_component_gets_all_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may build its index in the call, and only the first failures of a run stop it."""
    monkeypatch.setattr(limits, "BLOCK_QUERIES", 3)
    run(tmp_path, [{"retriever": Counted(str(tmp_path)), "generator": "gold"}])

    (count,) = (tmp_path / "calls").read_text().split()
    assert int(count) > 3


def test_a_live_conversation_gets_all_turns() -> None:
    """A turn continues from answers that may be in another block."""
    assert Live("gold").takes_all_items
    assert not GoldAnswer().takes_all_items


def test_predictions_of_blocks_have_the_same_columns() -> None:
    """A column that one block needs is empty in the others, as in a table made at once."""
    plain = [Prediction("a", "x"), Prediction("b", None, reason="off")]
    told = [Prediction("c", "y", confidence=0.5), Prediction("d", "z", tokens_reasoning=3)]
    blocks = list(uniform_predictions([predictions_to_table(plain), predictions_to_table(told)]))

    assert blocks[0].schema == blocks[1].schema == predictions_to_table(plain + told).schema
    (alone,) = uniform_predictions([predictions_to_table(plain)])
    assert alone.schema == PREDICTIONS


def test_the_blocks_are_of_a_thousand_queries() -> None:
    """Those of models are larger, as the last calls of a block are waited for."""
    assert (limits.BLOCK_QUERIES, limits.MODEL_BLOCK_QUERIES) == (1000, 8000)
    assert limits.ROW_GROUP_ROWS >= 100 * limits.BLOCK_QUERIES
    assert run_step.__doc__
