"""The test of a training: rankings before and after, the passages searched, and one record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_encoder import save_encoder, towns

from ragstone.training.embedder import EmbedderRecipe
from ragstone.training.ranking_gains import RankingTest, embedder_gains, reranker_gains, with_test
from ragstone.training.record import TrainingRecord, read_record
from ragstone.training.reranker import RerankerRecipe
from ragstone.training.retrieval import searches_of
from ragstone.types import Ranking


def made(count: int = 12) -> RankingTest:
    """Return the test of some queries, whose candidates have the relevant passage third."""
    data = towns()
    searches = searches_of(data, [query.query_id for query in data.queries[:count]])
    ids = data.corpus.passage_ids
    candidates = {
        s.query_id: Ranking([ids[n + 2], ids[n + 1], ids[n]], [3.0, 2.0, 1.0])
        for n, s in enumerate(searches)
    }
    return RankingTest(data, searches, candidates)


def recipe(**given: Any) -> EmbedderRecipe:
    """Return a recipe."""
    keys: dict[str, Any] = {"base": "b", "data": "d", "output": "o", "depth": 3, **given}
    return EmbedderRecipe(**keys)


def test_each_metric_has_a_paired_interval() -> None:
    """From the third to the first rank: the reciprocal rank rises by two thirds."""
    test = made()
    first = {s.query_id: Ranking([s.query_id.replace("?", "-")], [1.0]) for s in test.searches}

    rows = {row["metric"]: row for row in test.gains(test.candidates, first)}

    assert list(rows) == ["nDCG@10", "R@5", "MRR@10"]
    assert rows["MRR@10"]["before"] == pytest.approx(1 / 3)
    assert rows["MRR@10"]["difference"] == pytest.approx(2 / 3)
    assert rows["R@5"]["difference"] == 0.0
    assert rows["MRR@10"]["p"] <= rows["MRR@10"]["p_holm"] < 0.05
    assert rows["MRR@10"]["n"] == rows["MRR@10"]["clusters"] == 12


def test_fewer_passages_have_all_relevant_ones_and_the_first_candidates() -> None:
    """They are in the order of the corpus; without a limit all are searched."""
    test = made(3)

    assert test.corpus(recipe()) is test.dataset.corpus
    few = test.corpus(recipe(test_passages=8)).passage_ids
    assert len(few) == 8
    assert set(few) >= set(test.dataset.corpus.passage_ids[:5])
    assert few == [i for i in test.dataset.corpus.passage_ids if i in few]
    assert test.corpus(recipe(test_passages=1)).passage_ids == few[:3]


def test_the_test_is_measured_once(tmp_path: Path) -> None:
    """A second run of the command reads it from the record."""
    (tmp_path / "out").mkdir()
    record = TrainingRecord("embedder", "b", "1", "full", {}, {}, {}, digest="2")

    class Done:
        """A finished training."""

        folder = tmp_path / "out"

        def run(self) -> TrainingRecord:
            """Return the record that was kept."""
            return read_record(self.folder) or record

    measured: list[Path] = []

    def measure(folder: Path) -> dict[str, Any]:
        measured.append(folder)
        return {"rows": []}

    training: Any = Done()
    for _ in range(2):
        assert with_test(training, measure).facts["test"] == {"rows": []}
    assert measured == [tmp_path / "out"]


@pytest.mark.needs("torch", "sentence_transformers")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_base_and_trained_model_are_searched_in_the_same_way(tmp_path: Path) -> None:
    """A folder against itself changes nothing; a base without a head has the candidates' order."""
    bare = save_encoder(tmp_path / "bare")
    head = save_encoder(tmp_path / "head", "BertForSequenceClassification")
    test = made(4)
    shared: dict[str, Any] = {"data": "d", "output": "o", "depth": 3}

    embedder = embedder_gains(recipe(base=str(bare), test_passages=9), test, bare)
    reranker = reranker_gains(RerankerRecipe(base=str(head), **shared), test, head)
    other = reranker_gains(RerankerRecipe(base=str(bare), **shared), test, head)

    assert (embedder["before"], embedder["passages"]) == ("the base", 9)
    assert {row["difference"] for row in [*embedder["rows"], *reranker["rows"]]} == {0.0}
    assert other["before"] == "the candidates as retrieved"
    assert other["rows"][2]["before"] == pytest.approx(1 / 3)
    assert replace(test, searches=test.searches[:2]).embedder(recipe(base="b"), str(bare)).keys()
