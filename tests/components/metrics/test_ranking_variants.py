"""Published and corrected forms of ranking metrics, documents, and ceilings."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.support import ranking_value

from ragstone.components.metrics.document_level import rank_documents
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_rankings
from ragstone.core.schemas import columns
from ragstone.data.document_level import before
from ragstone.errors import ConfigError
from ragstone.evaluation.score_files import evaluate_run
from ragstone.types import Ranking


def mirage_ndcg(hits: set[int], depth: int, k: int) -> float:
    """Return MIRAGE's nDCG of a list of `depth` passages with relevant ones at some ranks."""
    ids = [f"p{rank}" for rank in range(1, depth + 1)]
    relevance = {f"p{rank}": 1 for rank in hits}
    return ranking_value(f"nDCG(variant=mirage)@{k}", ids, relevance)


def test_mirages_ideal_depends_on_the_length_of_the_list() -> None:
    """Hits at 2, 6 and 7 give 0.631 for a list of five and 0.296 for a list of ten."""
    assert mirage_ndcg({2, 6, 7}, depth=5, k=3) == pytest.approx(0.631, abs=5e-4)
    assert mirage_ndcg({2, 6, 7}, depth=10, k=3) == pytest.approx(0.296, abs=5e-4)


def test_mirage_ignores_relevant_passages_that_were_not_retrieved() -> None:
    """One of three positives at rank 1: 1.0 as released, 0.47 corrected."""
    found = ["a", "b", "c"], {"a": 1, "x": 1, "y": 1}

    assert ranking_value("nDCG(variant=mirage)@3", *found) == 1.0
    assert ranking_value("nDCG@3", *found) == pytest.approx(0.47, abs=5e-3)


def test_exponential_gains_favour_high_grades() -> None:
    """Grade 3 at rank 2 behind grade 1: the gain is 2^grade - 1."""
    linear = ranking_value("nDCG@2", ["a", "b"], {"a": 1, "b": 3})
    exponential = ranking_value("nDCG(gains=exponential)@2", ["a", "b"], {"a": 1, "b": 3})

    assert linear == pytest.approx((1 + 3 / 1.5849625) / (3 + 1 / 1.5849625))
    assert exponential == pytest.approx((1 + 7 / 1.5849625) / (7 + 1 / 1.5849625))


def test_only_bergens_form_counts_pages_below_the_passages_shown() -> None:
    """Pages A x20, B x10, C x8, D x6, G x6 with gold G: recall@5 is 1 in pages, 0 in passages."""
    counts = {"A": 20, "B": 10, "C": 8, "D": 6, "G": 6}
    ids = [f"{page}_{i}" for page, count in counts.items() for i in range(count)]
    run, qrels = {"q": Ranking(ids)}, {"q": {"G": 1}}

    def recall(variant: str) -> float | None:
        found = evaluate_run(qrels, run, ["R@5"], document_of=before("_"), variant=variant)  # type: ignore[arg-type]
        return found["R@5"].mean

    assert recall("paper") == 1.0
    assert recall("corrected") == 0.0


def test_a_document_has_the_rank_of_its_best_passage() -> None:
    """Later passages of a document keep their ranks but do not count again."""
    run = rank_documents({"q": Ranking(["A_1", "A_2", "B_1"])}, before("_"))
    found = evaluate_run({"q": {"A": 1, "B": 1}}, run, ["R@2", "R@3", "MRR", "P@3"])

    assert [found[n].mean for n in ("R@2", "R@3", "MRR")] == [0.5, 1.0, 1.0]
    assert found["P@3"].mean == pytest.approx(2 / 3)


def test_ceilings_are_reported_if_a_perfect_ranking_is_below_1() -> None:
    """With one relevant passage P@5 is at most 0.2 and F1@5 1/3; nDCG and MRR reach 1."""
    found = evaluate_run({"q": {"a": 1}}, {"q": {"b": 1.0}}, ["P@5", "F1@5", "nDCG@5", "MRR"])

    assert found.ceilings == pytest.approx({"P@5": 0.2, "F1@5": 1 / 3})
    assert "ceiling" in str(found)


@dataclass(frozen=True)
class Share:
    """The share of the relevant passages that is in the ranking."""

    direction = "higher"

    def score(self, ranking: Ranking, qrels: dict[str, int]) -> float:
        """Return the share."""
        return len(set(ranking.passage_ids) & set(qrels)) / 4


@dataclass(frozen=True)
class BoundedShare:
    """The same with a declared range."""

    direction = "higher"
    range = (0.0, 1.0)
    score = Share.score


def test_your_own_ranking_metric_has_a_ceiling_if_it_has_a_range() -> None:
    """The ceiling is the value of the ranking by grades."""
    metrics = [parse_metric(kind()) for kind in (Share, BoundedShare)]

    found = evaluate_run({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}, metrics)  # type: ignore[arg-type]

    assert [found[name].mean for name in ("Share", "BoundedShare")] == [0.25, 0.25]
    assert found.ceilings == {"BoundedShare": 0.5}


@dataclass(frozen=True)
class First:
    """Whether the first passage is relevant."""

    direction = "higher"

    def score(self, ranking: Ranking, qrels: dict[str, int]) -> bool:
        """Return whether it is."""
        return ranking.passage_ids[0] in qrels


def test_your_own_ranking_metric_gets_the_order_of_the_scores() -> None:
    """A run may have its passages in any order."""
    run = {"q": {"b": 0.2, "a": 1.0, "c": 0.5}}

    assert evaluate_run({"q": {"a": 1}}, run, [parse_metric(First())])["First"].mean == 1  # type: ignore[list-item]
    assert evaluate_run({"q": {"b": 1}}, run, [parse_metric(First())])["First"].mean == 0  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("R@2", 0.5), ("P@2", 0.5), ("F1@2", 0.5), ("hit@1", 0.0), ("MRR", 0.5), ("judged@2", 1.0)],
)
def test_values_by_hand(name: str, expected: float) -> None:
    """A ranking of z (judged 0), a (1) and b (1): two of the three are relevant."""
    assert ranking_value(name, ["z", "a", "b"], {"z": 0, "a": 1, "b": 1}) == expected


def test_a_metric_without_a_cutoff_reads_the_whole_ranking() -> None:
    """The relevant passage is the hundredth."""
    ids = [f"p{n}" for n in range(100)]
    for name in ("MRR", "MAP"):
        assert ranking_value(name, ids, {"p99": 1}) == pytest.approx(0.01)


def test_rel_sets_the_lowest_relevant_grade() -> None:
    """With rel=2 the passage of grade 1 is not relevant."""
    assert ranking_value("MRR(rel=2)@10", ["a", "b"], {"a": 1, "b": 2}) == 0.5
    assert ranking_value("R(rel=2)@1", ["a", "b"], {"a": 1, "b": 2}) == 0.0


def test_levels_of_documents() -> None:
    """A document has the rank of its best passage, and the highest grade of its passages."""
    run = {"q": Ranking(["A_1", "A_2", "B_1", "C_1"]), "r": Ranking(["C_1"])}
    qrels = {"q": {"A_1": 0, "A_2": 1, "B_1": 2}, "r": {"B_1": 1}}
    names = ["R(level=document)@2", "R(level=document-bergen)@2", "P(level=document)@3", "R@2"]
    documents = {passage: passage[0] for passage in ("A_1", "A_2", "B_1")}

    found = columns(score_rankings(names, qrels, run, documents=documents))
    places = zip(found["query_id"], found["metric"], strict=True)
    values = dict(zip(places, found["value"], strict=True))

    assert [values["q", name] for name in names] == [0.5, 1.0, pytest.approx(2 / 3), 0.5]
    assert values["r", "R(level=document)@2"] == 0.0


def test_levels_that_cannot_be_measured() -> None:
    """Without documents, and of a metric of subtopics."""
    with pytest.raises(ConfigError, match=r"level=document needs the documents .* --documents"):
        score_rankings(["R(level=document)@2"], {"q": {"a": 1}}, {"q": {"a": 1.0}})
    with pytest.raises(ConfigError, match="alpha-nDCG ranks passages; remove level=document"):
        score_rankings(["alpha-nDCG(level=document)@5"], {}, {})
    with pytest.raises(ConfigError, match="level"):
        score_rankings(["R(level=page)@2"], {}, {})
