"""Tables for people: the same rows as text and as HTML that shows every text as text."""

from __future__ import annotations

import sys

import pytest

from ragstone.core.tables import TextTable, to_markdown
from ragstone.errors import MissingDependency
from ragstone.evaluation.score_files import evaluate_answers
from ragstone.statistics.summary import summarise


def test_a_table_is_shown_as_text_and_as_html() -> None:
    """The title is above, lines are below, and numbers are not reformatted."""
    table = TextTable(["name", "value"], [["a", "1.50"]], "Title (note)", ["  a verdict"])

    assert str(table).splitlines()[0] == "Title (note)"
    assert str(table).splitlines()[-2:] == ["a       1.50", "  a verdict"]
    assert '<td dir="auto">1.50   </td>' in table._repr_html_()


def test_texts_in_a_table_are_escaped() -> None:
    """Headers, cells, title and lines are escaped."""
    bad = "<script>alert('&')</script>"

    shown = TextTable([bad], [[bad]], bad, [bad])._repr_html_()

    assert "<script" not in shown
    assert shown.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;") == 4


def test_the_lines_of_a_paragraph_stay_lines_in_markdown() -> None:
    """A backslash at its end breaks a line; a table is apart."""
    text = to_markdown(["Two data sets\nn = 40 | <b>", TextTable(["a"], [["b"]])])
    assert text.startswith("Two data sets\\\nn = 40 \\| &lt;b>\n\n| a")


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is in no extra of Ragstone is installed by its own name."""
    monkeypatch.setitem(sys.modules, "polars", None)
    found = evaluate_answers({"q": "a"}, {"q": ["a"]}, ["EM"])

    with pytest.raises(MissingDependency, match=r"'polars'.*: pip install polars$") as raised:
        found.to_polars()
    assert raised.value.way_out == "pip install polars"


def test_a_summary_is_a_table_of_one_row() -> None:
    """`print` shows every number of a summary, and `to_dict` returns them."""
    summary = summarise([1.0, 0.0, None], not_applicable=2)

    assert " ".join(str(summary).split()[-6:]) == "0.5000 [0.0126, 0.9874] 2 1 2"
    assert "<table>" in summary._repr_html_()
    assert summary.to_dict()["interval"] == pytest.approx((0.0126, 0.9874), abs=1e-4)
