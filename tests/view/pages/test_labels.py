"""The page of labels: the numbers of `show --by`, filters, and a set without labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of, page_of, rows_of
from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.results.by_label import label_document, label_table
from ragstone.results.results import Results
from ragstone.web.errors import PageError


def test_the_numbers_are_those_of_show(tmp_path: Path) -> None:
    """One row per value, system and setting."""
    results = made_results(tmp_path / "s")
    known = label_document(label_table(results, "domain", "F1"))
    found = rows_of(page_of(tmp_path / "s", "/labels", label="domain", metric="F1"), "labels")
    assert [(r["value"], r["system"], r["mean"]["mean"], r["mean"]["n"]) for r in found] == [
        (row["value"], row["system"], row["mean"], row["n"]) for row in known
    ]


def test_filters_and_links(tmp_path: Path) -> None:
    """One system under one setting; a value links to the causes of its wrong answers."""
    made_results(tmp_path / "s")
    values = {"system": "bm25 + small", "setting": "gold", "label": "domain"}
    found = page_of(tmp_path / "s", "/labels", **values)
    rows = rows_of(found, "labels")
    assert [row["value"] for row in rows] == ["ferries", "town hall", "museum"]
    assert "label=domain:ferries" in rows[0]["links"]["value"]
    assert "lowest for" in found["verdict"]
    assert "n/a" in html_of(tmp_path / "s", "/labels", None, **values)
    assert "No test compares the values" in found["basis"]


@pytest.mark.parametrize(
    "values", [{"label": "domian"}, {"metric": "Mach"}, {"setting": "golde"}, {"system": "bm26"}]
)
def test_an_unknown_name_gets_the_nearest(tmp_path: Path, values: dict[str, str]) -> None:
    """The message names the value."""
    made_results(tmp_path / "s", systems=("bm25", "dense"))
    with pytest.raises(PageError, match="did you mean"):
        page_of(tmp_path / "s", "/labels", **values)


def test_a_set_without_labels(faulty: Path, tmp_path: Path) -> None:
    """A store without experiments says what to run; results of retrieval have labels too."""
    (tmp_path / "s").mkdir()
    assert "No experiment of this store" in html_of(tmp_path / "s", "/labels")
    found = page_of(faulty, "/labels", metric="R@3")
    assert {row["setting"] for row in rows_of(found, "labels")} == {"retrieval"}
    assert Results.load(Store(faulty), "e").queries
