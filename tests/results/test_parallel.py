"""The same query in several languages: agreement of answers and of passages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.parallel_set import records, run

from ragstone.results.parallel import parallel_agreement, parallel_queries, parallel_tables
from ragstone.statistics.agreement import krippendorff_alpha


def test_answers_agree_in_pairs_of_languages(tmp_path: Path) -> None:
    """Alba is right in one of three languages, Bora in two, the others in all."""
    results = run(tmp_path)
    rows = {(row.of, row.system, row.language): row for row in parallel_agreement(results)}
    every = rows["answers", "mine", "all"]

    assert parallel_queries(results)["Alba"] == {c: f"{c}/Alba" for c in ("en", "de", "ru")}
    assert every.agreement.mean == pytest.approx((1 / 3 + 1 / 3 + 1 + 1) / 4)
    assert every.agreement.n == 4
    assert rows["answers", "mine", "ru"].agreement.mean == pytest.approx((1 / 2 + 0 + 1 + 1) / 4)
    assert every.above_chance
    assert every.above_chance.value == pytest.approx(
        krippendorff_alpha([[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]]).value
    )
    assert rows["answers", "mine", "ru"].above_chance is None
    answers, passages = map(str, parallel_tables(list(rows.values())))
    assert "0.667" in answers
    assert "bm25" in passages


def test_passages_are_equal_if_they_are_translations(tmp_path: Path) -> None:
    """The overlap is that of the labels `parallel`; without one, that of the ids."""
    rows = records(("en", "de"))
    shown = {"en/Alba": ["en/p-Alba", "en/p-Bora"], "de/Alba": ["de/p-Alba", "de/p-Cora"]}
    for row in rows["mine"]:
        ids = shown.get(row["query_id"], ["en/p-Dana"])
        row["contexts"] = [{"id": passage_id} for passage_id in ids]
    found = parallel_agreement(run(tmp_path, rows))
    (row,) = [r for r in found if (r.of, r.system, r.language) == ("passages", "mine", "all")]

    assert row.agreement.mean == pytest.approx((1 / 3 + 3) / 4)


def test_translations_are_one_cluster(tmp_path: Path) -> None:
    """Intervals of all metrics draw a query with its translations."""
    clusters = run(tmp_path).clusters

    assert clusters["de/Alba"] == clusters["en/Alba"]
    assert len(set(clusters.values())) == 4


def test_without_translations_there_are_no_rows(tmp_path: Path) -> None:
    """One language alone, and a failed answer in all others, compare nothing."""
    assert parallel_agreement(run(tmp_path, records(("en",)))) == []


def test_a_search_that_finds_nothing_has_no_passage_in_common(tmp_path: Path) -> None:
    """An empty ranking is compared as one without passages, and not left out."""
    rows = records(("en", "de"))
    rows["queries"][0]["text"] = "Hvornår?"
    found = parallel_agreement(run(tmp_path, rows))
    (row,) = [r for r in found if (r.of, r.system, r.language) == ("passages", "bm25", "all")]

    assert row.agreement.n == 4
    assert row.agreement.not_applicable == 0


def test_searches_that_all_find_nothing_agree_on_nothing(tmp_path: Path) -> None:
    """A retriever that finds nothing in any language is not consistent."""
    rows = records(("en", "de"))
    for row in rows["queries"]:
        if row["parallel"] == "Alba":
            row["text"] = "Hvornår?"
    found = parallel_agreement(run(tmp_path, rows))
    (row,) = [r for r in found if (r.of, r.system, r.language) == ("passages", "bm25", "all")]

    assert (row.agreement.n, row.agreement.not_applicable) == (3, 1)
