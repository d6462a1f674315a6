"""Comparing two trials: the numbers of `ragstone.compare`, causes of changes, names of trials."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of, links_of, page_of, rows_of
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.core.store import Store
from ragstone.evaluation.compare import compare
from ragstone.results.results import Results
from ragstone.view.chosen import TrialName, read_trial
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError


def test_the_numbers_are_those_of_compare(faulty: Path) -> None:
    """Differences, intervals, p values and causes of changes."""
    results = Results.load(Store(faulty), "e")
    sides = {"A": results.evaluation("a", "none"), "B": results.evaluation("a", "gold")}
    known = compare(sides)
    found = page_of(faulty, "/compare", a="e:a:none", b="e:a:gold")
    assert found["more"]["comparison"] == known["Match"].to_dict()
    for row in rows_of(found, "metrics"):
        pair = known[row["metric"]].pairs[0]
        assert row["difference"]["difference"] == pair.difference.difference
        assert row["difference"]["p"] == pair.adjusted_p
    causes = {
        row["cause"]["name"]: (row["gained"], row["lost"]) for row in rows_of(found, "causes")
    }
    assert causes == {
        one.cause: (len(one.better), len(one.worse)) for one in known.changes("Match")
    }
    listed = rows_of(found, "changes")
    assert len(listed) == sum(map(sum, causes.values()))
    only = page_of(faulty, "/compare", a="e:a:none", b="e:a:gold", change="now_shown")
    assert len(rows_of(only, "changes")) == sum(causes["now_shown"])
    lost = page_of(faulty, "/compare", a="e:a:none", b="e:a:gold", outcome="lost")
    assert {row["outcome"]["name"] for row in rows_of(lost, "changes")} == {"lost"}


def test_the_direction_can_be_swapped(faulty: Path) -> None:
    """B minus A changes its sign."""
    ways = [("e:a:none", "e:a:gold"), ("e:a:gold", "e:a:none")]
    found = [page_of(faulty, "/compare", a=a, b=b) for a, b in ways]
    first, second = (
        next(row["difference"] for row in rows_of(one, "metrics") if row["metric"] == "Match")
        for one in found
    )
    assert first["difference"] == -second["difference"]
    assert {first["outcome"], second["outcome"]} == {"better", "worse"}
    swap = next(one for one in found[0]["follows"] if one.link_text == "Swap A and B")
    assert swap.link == "/compare?a=e:a:gold&b=e:a:none"


def test_a_label_breaks_the_difference_down(faulty: Path) -> None:
    """Each value has its own interval; a label that is not known is an error."""
    found = page_of(faulty, "/compare", a="e:a:none", b="e:a:gold", by="answerability")
    values = [row["value"] for row in rows_of(found, "labels")]
    assert values == ["answerable", "unanswerable"]
    with pytest.raises(PageError, match="'answerabilty'; did you mean 'answerability'"):
        page_of(faulty, "/compare", a="e:a:none", b="e:a:gold", by="answerabilty")


def test_trials_are_chosen_one_after_the_other(faulty: Path) -> None:
    """The links of the lists lead to the comparison."""
    first = page_of(faulty, "/compare")
    assert first["tables"][0].total == 12
    link = rows_of(first, "trials")[0]["links"]["choose"]
    assert link == "/compare?a=e:a:none"
    second = page_of(faulty, "/compare", a="e:a:none", q="gold")
    assert rows_of(second, "trials")[0]["links"]["choose"] == "/compare?a=e:a:none&b=e:a:gold"
    same = html_of(faulty, "/compare", a="e:a:none", b="e:a:none")
    assert "A and B are the same trial" in same


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("f:a:none", "no experiment 'f'"),
        ("e:rewritr:none", "no system 'rewritr'; did you mean 'rewriter'"),
        ("e:a:golde", "no setting 'golde'; did you mean 'gold'"),
        ("e:a", "no setting ''"),
        ("e", "no system ''"),
    ],
)
def test_an_unknown_trial_is_named_with_the_nearest(faulty: Path, written: str, said: str) -> None:
    """The message says how a trial is written."""
    with pytest.raises(PageError, match="There is no") as error:
        page_of(faulty, "/compare", a=written, b="e:a:gold")
    assert said in error.value.state.said
    assert "EXPERIMENT:SYSTEM:SETTING" in error.value.state.then


def test_names_may_contain_colons(tmp_path: Path) -> None:
    """Names of the store decide where a name ends."""
    made_results(tmp_path / "s", systems=("a", "a:b"), settings=("none", "gold"))
    view = StoreView(tmp_path / "s")
    for name in (TrialName("made", "a:b", "gold"), TrialName("made", "a", "none")):
        assert read_trial(view, str(name)) == name


def test_trials_of_different_data_are_refused(tmp_path: Path) -> None:
    """They have no query in common."""
    made_results(tmp_path / "s", name="one")
    made_results(tmp_path / "s", name="two", texts=("other ids",))
    values = {"a": "one:bm25 + small:gold", "b": "two:bm25 + small:gold"}
    with pytest.raises(PageError) as error:
        page_of(tmp_path / "s", "/compare", **values)
    assert error.value.status == 400
    assert "queries" in error.value.state.then


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    """On the list of changed queries too; links lead to the query."""
    made_results(tmp_path / "s", texts=HOSTILE)
    values = {"a": "made:bm25 + small:gold", "b": "made:dense + small:none"}
    html = html_of(tmp_path / "s", "/compare", None, **values)
    assert "<script>document" not in html
    assert "<img" not in html
    assert any(link.startswith("/query/q0") for link in links_of(html))
