"""The page of a comparison: what it contains, its limits, and hostile text as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.fakes.made_results import HOSTILE, made_results

import ragstone
from ragstone.core import limits
from ragstone.errors import StoreError
from ragstone.evaluation.comparison import Comparison
from ragstone.results.comparison_page import render_comparison, write_comparison
from ragstone.results.results import Results
from ragstone.statistics.breakdown import groups_of
from ragstone.types import Score


def compared(folder: Path, *systems: str, texts: tuple[str, ...] = ()) -> Comparison:
    """Return a comparison of made-up systems, with two metrics and a label."""
    made = made_results(folder, systems=systems or ("old", "new"), texts=texts, queries=40)
    results = Results(made.store, made.record)
    return ragstone.compare(
        {name: results.evaluation(name, "retrieved(3)") for name in results.systems},
        metrics=["Match", "nDCG@10"],
        by=groups_of(results.all_queries.values(), "domain"),
    )


def scores(*values: float | None) -> list[Score]:
    """Return scores of one metric; None is a failed query."""
    return [
        Score(f"q{n}", "EM", value, "failed" if value is None else "scored")
        for n, value in enumerate(values)
    ]


def test_the_page_begins_with_the_verdict_and_has_every_part(tmp_path: Path) -> None:
    """Verdict, population, a drawn interval per metric and label, cost, and both texts."""
    found = compared(tmp_path / "store")
    page = render_comparison(found)

    assert page.index("<h1") < page.index("Match: no difference shown") < page.index("<section")
    assert "Population: 40 queries" in page
    assert page.count('class="dot') == 3 * (1 + 3)
    for part in ("town hall", "Failures, time and cost", "37 of 37 answers report none"):
        assert part in page
    assert page.count("<blockquote") > 20
    assert "It leaves at an hour I do not know" in page
    assert "p0-gold" in page


def test_hostile_text_is_text_and_nothing_is_loaded(tmp_path: Path) -> None:
    """Markup in names, ids, labels and answers makes no element, and no address is loaded."""
    page = render_comparison(compared(tmp_path / "store", *HOSTILE[:3], texts=HOSTILE))

    assert "<img" not in page
    assert not re.search(r"<script>\s*document\.title", page)
    assert page.count("<script>") == page.count("sha256-") - 1 == 2
    assert "style=" not in page
    assert all(
        target.startswith("#") or target == "data:,"
        for target in re.findall(r'(?:href|src)="([^"]*)"', page)
    )


def test_control_characters_are_shown_as_escapes(tmp_path: Path) -> None:
    """An answer cannot contain a character that a page must not have."""
    page = render_comparison(compared(tmp_path / "store", texts=("a\x00b\x1b[2J",)))

    assert "\\x00b\\x1b[2J" in page
    assert "\x1b" not in page


def test_long_texts_and_long_lists_are_cut_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note has the numbers of both."""
    monkeypatch.setattr(limits, "REPORT_TEXT_CHARACTERS", 10)
    monkeypatch.setattr(limits, "REPORT_FLIPPED_QUERIES", 3)
    found = compared(tmp_path / "store")
    page = render_comparison(found)

    assert "cut: 10 of" in page
    assert page.count('<li dir="auto">\n<details') == 3
    assert f"The first 3 of {len(found.flipped())}" in page


def test_scores_without_texts_have_a_page_that_says_so() -> None:
    """Flipped queries are listed by their ids; time, cost and texts are not known."""
    page = render_comparison(ragstone.compare({"a": scores(1, 0, 1, 0), "b": scores(0, 0, 1, 1)}))

    assert "Their texts are not known: its scores carry no answers" in page
    assert "a: seconds, tokens, cost not known" in page
    assert page.count("Answer not known.") == 4


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ((1, 0, 1), (1, 0, 1), "No query has a different value"),
        ((1, 0, 1), (None, None, None), "failure rate"),
        ((1,), (0,), "1 queries that every system"),
    ],
)
def test_odd_comparisons_have_a_page(
    a: tuple[float, ...], b: tuple[float | None, ...], said: str
) -> None:
    """Equal systems, a system that fails on all queries, and a single query."""
    assert said in render_comparison(ragstone.compare({"a": scores(*a), "b": scores(*b)}))


@pytest.mark.parametrize(("b", "is_labelled"), [([0, 1] * 10, True), ([1, 1, 1, 0] * 5, False)])
def test_0_has_a_label_if_there_is_room(b: list[float], is_labelled: bool) -> None:
    """Beside an end of the axis, it would be drawn over the label of the end."""
    page = render_comparison(ragstone.compare({"a": scores(*[1, 0] * 10), "b": scores(*b)}))

    assert ('text-anchor="middle">0</text>' in page) == is_labelled


def test_three_systems_have_ranks_and_pairs(tmp_path: Path) -> None:
    """The verdict is on the best system, and each pair is a row."""
    found = compared(tmp_path / "store", "one", "two", "three")
    page = render_comparison(found)

    assert found.verdict.startswith("Match: one has the best mean")
    assert "Ranks by Match" in page
    assert len(re.findall('<td dir="auto">one, three</td>', page)) >= 2


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The message has the path."""
    (tmp_path / "file").write_text("")
    found = ragstone.compare({"a": scores(1, 0), "b": scores(0, 0)})

    with pytest.raises(StoreError, match="file"):
        write_comparison(found, tmp_path / "file" / "c.html")
