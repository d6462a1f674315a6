"""The page of causes: those of `show --causes`, filters, and pages instead of causes."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.fakes.listed_pages import html_of, links_of, page_of, rows_of
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.core.store import Store
from ragstone.errors import ConfigError, DamagedFile
from ragstone.results.causes.document import causes_document
from ragstone.results.results import Results
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError, page_error


def test_the_causes_are_those_of_show(faulty: Path) -> None:
    """Shares with intervals, gains, and one row per wrong answer."""
    known = causes_document(Results.load(Store(faulty), "e"))
    found = page_of(faulty, "/causes", system="a", setting="retrieved(3)")
    of = [q for q in known["queries"] if (q["system"], q["setting"]) == ("a", "retrieved(3)")]
    listed = rows_of(found, "wrong")
    assert [row["query_id"] for row in listed] == [q["query_id"] for q in of]
    assert [row["cause"]["name"] for row in listed] == [q["cause"] for q in of]
    assert [row["evidence"] for row in listed] == [q["evidence"] for q in of]
    shares = [c for c in known["causes"] if (c["system"], c["setting"]) == ("a", "retrieved(3)")]
    assert [(row["n"], row["share"]["mean"]) for row in rows_of(found, "shares")] == [
        (one["n"], one["share"]) for one in shares
    ]
    gains = [g for g in known["gains"] if (g["system"], g["setting"]) == ("a", "retrieved(3)")]
    assert [row["gain"]["difference"] for row in rows_of(found, "gains")] == [
        one["gain"] for one in gains
    ]
    assert "would gain at most" in found["verdict"]


def test_filters_select_wrong_answers(faulty: Path) -> None:
    """By cause, refined cause, label and text; an experiment without a system lists all trials."""
    every = page_of(faulty, "/causes")
    assert {row["system"] for row in rows_of(every, "trials")} == {"a", "b"}
    assert every["more"]["experiment"] == "e"
    for values, ids in (
        ({"cause": "reranking"}, {"pushed"}),
        ({"cause": "retrieval_miss"}, {"miss", "border"}),
        ({"label": "answerability:unanswerable"}, {"answered"}),
        ({"q": "Doctor"}, {"doctored"}),
        ({"cause": "ranking", "q": "nothing"}, set()),
    ):
        found = page_of(faulty, "/causes", system="a", setting="retrieved(3)", **values)
        assert {row["query_id"] for row in rows_of(found, "wrong")} == ids
        assert (
            found["verdict"]
            == page_of(faulty, "/causes", system="a", setting="retrieved(3)")["verdict"]
        )


def test_links_lead_to_queries(faulty: Path) -> None:
    """With the experiment, the system, the setting and the filter of the list."""
    html = html_of(faulty, "/causes", system="a", setting="retrieved(3)")
    pushed = "/query/pushed?experiment=e&system=a&setting=retrieved(3)&cause=any"
    assert pushed in map(unquote, links_of(html))
    as_queries = "/queries?experiment=e&system=a&setting=retrieved(3)&cause=any"
    assert as_queries in map(unquote, links_of(html))
    assert len(html.encode()) < 40_000


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"experiment": "f"}, "'f'"),
        ({"system": "rewritter"}, "did you mean 'rewriter'"),
        ({"setting": "retrieved(4)"}, "did you mean 'retrieved\\(3\\)'"),
        ({"cause": "reeding"}, "did you mean 'reading'"),
        ({"label": "answerability:answerabel"}, "did you mean 'answerability:answerable'"),
    ],
)
def test_an_unknown_name_gets_the_nearest(faulty: Path, values: dict[str, str], said: str) -> None:
    """The message names the value."""
    with pytest.raises((PageError, ConfigError), match=said):
        page_of(faulty, "/causes", **values)


def test_pages_instead_of_causes(faulty: Path, tmp_path: Path) -> None:
    """A setting without causes, and a store without answers, say what to do."""
    assert "No causes are decided for this" in html_of(faulty, "/causes", setting="gold")
    (tmp_path / "s").mkdir()
    assert "No experiment of this store has answers" in html_of(tmp_path / "s", "/causes")


def test_a_damaged_store_gets_a_page_that_names_the_file(tmp_path: Path) -> None:
    """A damaged table, and a record that is half written; other experiments are shown."""
    for name, queries in (("good", 12), ("table", 13), ("half", 12)):
        made_results(tmp_path / "s", name=name, queries=queries)
    view = StoreView(tmp_path / "s")
    folder = view.record("table").trials[-1].predictions
    table = tmp_path / "s" / "steps" / folder / "table.parquet"
    table.write_bytes(table.read_bytes()[:-9])
    half = tmp_path / "s" / "experiments" / "half.json"
    half.write_bytes(half.read_bytes()[:500])
    read = ("/causes", "/calls")
    for name, file, paths in (("table", str(table), read), ("half", str(half), (*read, "/labels"))):
        for path in paths:
            with pytest.raises(DamagedFile) as error:
                page_of(view, path, experiment=name)
            state = page_error(error.value).state
            assert file in state.said
            assert "ragstone store check --repair" in state.command
    assert page_of(view, "/causes")["more"]["experiment"] == "good"
    listed = {one.name: one.problem for one in StoreView(tmp_path / "s").experiments()}
    assert listed["half"]


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    """In queries, answers, evidence, labels and ids."""
    made_results(tmp_path / "s", texts=HOSTILE)
    html = html_of(tmp_path / "s", "/causes", system="bm25 + small")
    assert "<script>document" not in html
    assert "<img" not in html
