"""The page of judges: their means, failures and agreement, and a store without judges."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of, judged_store, page_of, rows_of

from ragstone.core.store import Store
from ragstone.results.results import Results
from ragstone.web.errors import PageError


def test_the_means_are_those_of_show(judged: Path) -> None:
    """One row per judge, system and setting; what judges say of people is said."""
    results = Results.load(Store(judged), "judged")
    known = {
        (cell.setting, cell.metric): cell.summary
        for cell in results.answer_cells
        if results.record.metric(cell.metric).kind == "judge"
    }
    found = page_of(judged, "/judges")
    rows = rows_of(found, "means")
    assert {(row["setting"], row["judge"]) for row in rows} == set(known)
    for row in rows:
        summary = known[row["setting"], row["judge"]]
        assert (row["mean"]["mean"], row["mean"]["n"]) == (summary.mean, summary.n)
    assert "keeps no ratings of people" in found["notes"][0]
    assert "ragstone judge check" in html_of(judged, "/judges")
    only = page_of(judged, "/judges", judge="idk", setting="gold")
    assert [row["judge"] for row in rows_of(only, "means")] == ["idk"]


def test_failed_verdicts_have_reasons(tmp_path: Path) -> None:
    """They are counted, and are in no mean."""
    store = judged_store(tmp_path, "who knows")
    found = page_of(store, "/judges")
    assert " failed." in found["verdict"]
    assert not found["verdict"].startswith("0 ")
    reasons = rows_of(found, "reasons")
    assert sum(row["count"] for row in reasons) > 0
    assert all(row["mean"]["n"] == 0 for row in rows_of(found, "means") if row["judge"] == "idk")


def test_a_store_without_judges(faulty: Path, judged: Path) -> None:
    """The page says how to have answers judged; an unknown judge gets the nearest."""
    html = html_of(faulty, "/judges")
    assert "No experiment has a judge" in html
    assert "ragstone judge check" in html
    assert "e has no judge" in html_of(faulty, "/judges", experiment="e")
    with pytest.raises(PageError, match="did you mean 'equivalence'"):
        page_of(judged, "/judges", judge="equivalense")
