"""Scores of rankings in which translations count as one passage."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import (
    QRELS,
    TRANSLATIONS,
    columns,
    queries_to_table,
    rankings_to_table,
    to_table,
)
from ragstone.data.corpus import Corpus
from ragstone.experiment.metric_set import MetricSet
from ragstone.experiment.ranking_scores import OUT_OF_REACH, ScoredRankings
from ragstone.protocols import Services
from ragstone.types import Passage, Query, Ranking

TWICE = {"de/1": "en/1", "en/1": "en/1"}


def scores(
    ranked: list[str],
    *metrics: str,
    counts_as: dict[str, str] | None,
    corpus: Corpus | None = None,
) -> dict[str, object]:
    """Return metric -> value, or the reason of a blank, for one query with two judgements."""
    judged: dict[str, list[Any]] = {
        "query_id": ["q"] * 2,
        "passage_id": ["en/1", "de/1"],
        "relevance": [1, 1],
    }
    run = Ranking(ranked, [1.0 / n for n in range(1, len(ranked) + 1)])
    pairs = counts_as or {}
    scored = ScoredRankings(
        MetricSet(tuple(parse_metric(metric) for metric in metrics)),
        Services(corpus=corpus),
        qrels=to_table(QRELS, judged),
        corpus=None if corpus is None else corpus.table,
        translations=None
        if counts_as is None
        else to_table(TRANSLATIONS, {"passage_id": list(pairs), "counts_as": list(pairs.values())}),
    )
    asked = queries_to_table([Query("q", "?"), Query("other", "?")])
    scored.add_tables(queries=asked, run=rankings_to_table(["q"], [run]))
    rows = columns(scored.table())
    assert rows["status"][1::2] == ["not_applicable"] * len(metrics)
    return {"other": rows["reason"][1]} | dict(
        zip(rows["metric"][::2], rows["value"][::2], strict=True)
    )


@pytest.mark.parametrize(
    ("ranked", "recall", "precision", "reciprocal"),
    [
        (["x", "de/1", "en/1"], 1.0, 1 / 3, 1 / 2),
        (["x", "en/1", "y"], 1.0, 1 / 3, 1 / 2),
        (["x", "y", "z", "de/1"], 0.0, 0.0, 0.0),
    ],
)
def test_translations_count_as_one_and_keep_their_ranks(
    ranked: list[str], recall: float, precision: float, reciprocal: float
) -> None:
    """The rank of the first translation counts, and the second one is at its own rank."""
    found = scores(ranked, "R@3", "P@3", "MRR@3", counts_as=TWICE)

    assert found.pop("other") == OUT_OF_REACH
    assert found == pytest.approx({"R@3": recall, "P@3": precision, "MRR@3": reciprocal})


def test_without_translations_both_passages_are_needed() -> None:
    """The judgements of a data set are scored as they are."""
    found = scores(["x", "de/1"], "R@3", counts_as=None)

    assert found["R@3"] == 0.5
    assert "the qrels contain no relevant passage" in str(found["other"])


def test_documents_with_translations_of_a_relevant_passage_are_one() -> None:
    """Another passage of the translated article is in the relevant document."""
    texts = [Passage(f"{c}/{n}", "?", document_id=f"{c}/d") for c in ("en", "de") for n in (1, 2)]
    found = scores(
        ["de/2", "en/2"],
        "R(level=document)@1",
        counts_as=TWICE,
        corpus=Corpus.from_passages(texts),
    )

    assert found["R(level=document)@1"] == 1
