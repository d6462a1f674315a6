"""The leaderboard: numbers of `show`, ranks that filters do not change, damaged experiments."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of, page_of, rows_of
from tests.fakes.made_results import made_results

from ragstone.core.store import Store
from ragstone.results.results import Results
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.errors import PageError


def test_the_numbers_are_those_of_show(faulty: Path) -> None:
    """Mean, interval, n and failures, for answers and for retrieval."""
    shown = Results.load(Store(faulty), "e").to_dict()
    for setting, metric, name in (
        ("retrieved(3)", "Match", "leaderboard"),
        ("gold", "refusal", "leaderboard"),
        ("retrieval", "R@3", "retrieval"),
    ):
        found = rows_of(page_of(faulty, "/leaderboard", setting=setting, metric=metric), "board")
        under = "" if setting == "retrieval" else setting
        known = {
            row["system"]: row
            for row in shown[name]
            if (row["setting"], row["metric"]) == (under, metric)
        }
        assert {row["system"] for row in found} == set(known)
        for row in found:
            own, mean = known[row["system"]], row["mean"]
            assert (mean["mean"], mean["n"], mean["failed"]) == (
                *(own["mean"], own["n"], own["failed"]),
            )
            assert list(mean["interval"]) == own["interval"]


def test_filters_hide_rows_and_change_no_rank(tmp_path: Path) -> None:
    """Experiments on one data set are ranked together; others are another choice."""
    for name in ("one", "two"):
        made_results(tmp_path / "s", name=name)
    every = page_of(tmp_path / "s", "/leaderboard")
    some = page_of(tmp_path / "s", "/leaderboard", q="two bm25")
    ranks = {(row["experiment"], row["system"]): row["rank"] for row in rows_of(every, "board")}
    assert len(ranks) == 4
    (row,) = rows_of(some, "board")
    assert ranks[row["experiment"], row["system"]] == row["rank"]
    assert (some["verdict"], some["basis"]) == (every["verdict"], every["basis"])
    assert (some["tables"][0].total, some["tables"][0].found) == (4, 1)
    none = html_of(tmp_path / "s", "/leaderboard", q="nothing has this name")
    assert "No row matches the filters" in none


def test_the_verdict_says_what_the_tests_show(faulty: Path, tmp_path: Path) -> None:
    """A best system that is not shown to differ from others is not called better."""
    assert "but 1 other system is not shown to differ" in page_of(faulty, "/leaderboard")["verdict"]
    made_results(tmp_path / "s", queries=150, systems=("a", "b", "c", "d", "e", "f", "g"))
    found = page_of(tmp_path / "s", "/leaderboard", setting="gold", metric="Match")
    rows = rows_of(found, "board")
    assert [row["system"] for row in rows] == list("abcdefg")
    assert not rows[-1]["band"]
    assert rows[-1]["rank"][0] > 1
    assert {row["group"] for row in rows} == {
        *("No system is shown to be better", "Shown to be worse than another", ""),
    }
    made_results(tmp_path / "one", systems=("a",))
    alone = page_of(tmp_path / "one", "/leaderboard")["verdict"]
    assert "no other system was measured" in alone
    undecided = rows[0]["rank"][1] - 1
    assert 0 < undecided < len(rows) - 1
    assert f"but {undecided} other" in found["verdict"]


def test_a_damaged_step_leaves_out_its_experiment_and_names_it(tmp_path: Path) -> None:
    """So does a record that is half written; the others are shown."""
    for name in ("good", "bad", "half"):
        made_results(tmp_path / "s", name=name, queries=12 if name != "bad" else 13)
    record = StoreView(tmp_path / "s").record("bad")
    folder = next(t.scores for t in record.trials if t.setting == "retrieved(3)")
    table = tmp_path / "s" / "steps" / folder / "table.parquet"
    table.write_bytes(table.read_bytes()[:-9])
    half = tmp_path / "s" / "experiments" / "half.json"
    half.write_bytes(half.read_bytes()[:500])
    found = page_of(tmp_path / "s", "/leaderboard")
    assert {row["experiment"] for row in rows_of(found, "board")} == {"good"}
    assert any(note.startswith("bad is left out: ") and folder in note for note in found["notes"])
    shutil.rmtree(tmp_path / "s" / "steps")
    with pytest.raises(PageError, match="is left out"):
        page_of(tmp_path / "s", "/leaderboard", setting="gold")


@pytest.mark.parametrize(
    ("values", "nearest"),
    [
        ({"data": "sett"}, "set"),
        ({"setting": "retreived(3)"}, "retrieved(3)"),
        ({"metric": "Mach"}, "Match"),
        ({"generator": "c"}, ""),
    ],
)
def test_an_unknown_name_gets_the_nearest(
    faulty: Path, values: dict[str, str], nearest: str
) -> None:
    """The error has the name and the one that was perhaps meant."""
    with pytest.raises(PageError, match=next(iter(values.values()))[:3]) as error:
        page_of(faulty, "/leaderboard", **values)
    assert error.value.status == 404
    assert nearest in error.value.state.said


def test_a_long_board_has_pages_of_limited_size(tmp_path: Path) -> None:
    """50 rows are a page; the next page begins where the first ends."""
    systems = [f"system number {number:02}" for number in range(60)]
    made_results(tmp_path / "s", systems=systems, settings=("gold",), queries=5)
    first = page_of(tmp_path / "s", "/leaderboard")
    second = page_of(tmp_path / "s", "/leaderboard", **{"from": "50"})
    shown = [row["system"] for one in (first, second) for row in rows_of(one, "board")]
    assert sorted(shown) == systems
    assert len(rows_of(first, "board")) == limits.VIEW_ROWS
    html = html_of(tmp_path / "s", "/leaderboard")
    assert len(html.encode()) <= 42_000
    assert "from=50" in html


def test_a_long_text_is_cut_in_the_list_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plain data have the whole text."""
    monkeypatch.setattr(limits, "VIEW_CELL_CHARACTERS", 9)
    made_results(tmp_path / "s", systems=("a system with a name",), settings=("gold",))
    (row,) = rows_of(page_of(tmp_path / "s", "/leaderboard"), "board")
    assert row["system"] == "a system with a name"
    assert ">a system\N{HORIZONTAL ELLIPSIS}<" in html_of(tmp_path / "s", "/leaderboard")


def test_a_store_without_finished_experiments(tmp_path: Path) -> None:
    """The page says what to run."""
    made_results(tmp_path / "s", finished=False)
    assert "No experiment of this store has finished" in html_of(tmp_path / "s", "/leaderboard")
