"""The list of queries: its filters, and the files that its buttons make."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
import yaml
from tests.fakes.asked_store import HARD_ID, action, answer, asked_experiment
from tests.fakes.faulty_system import faulty
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError
from ragstone.testing import FakeModelServer
from ragstone.view.pages.queries import QUERIES
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> StoreView:
    """Return the store of systems that fail on purpose."""
    folder = tmp_path_factory.mktemp("faulty")
    faulty(folder)
    return StoreView(folder / "store")


@pytest.fixture
def view(tmp_path: Path) -> StoreView:
    """Return a store with an experiment on hostile texts and conversations."""
    with FakeModelServer(answer) as server:
        asked_experiment(tmp_path, server.url).run()
    return StoreView(tmp_path / "store")


def listed(view: StoreView, **values: str) -> list[str]:
    """Return the ids of a list."""
    return [one["query_id"] for one in page(view, **values)["queries"]]


def page(view: StoreView, **values: str) -> dict[str, Any]:
    """Return the plain data of the list."""
    return QUERIES.make(view, PageQuery("/queries", {}, values))


TRIAL = {"system": "a", "setting": "retrieved(3)"}


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ({**TRIAL, "cause": "ranking"}, ["low"]),
        ({**TRIAL, "cause": "chunk_border"}, ["border"]),
        ({**TRIAL, "cause": "retrieval_miss"}, ["miss", "border"]),
        ({**TRIAL, "right": "yes"}, ["right"]),
        ({"label": "answerability:unanswerable"}, ["answered"]),
        ({"q": "HAPPENED pushed"}, ["pushed"]),
        ({**TRIAL, "q": "server down"}, ["failed"]),
        ({"system": "b", "q": "in spring"}, ["doubtful"]),
        ({"system": "a", "setting": "none", "right": "yes"}, ["known", "right"]),
        ({"right": "unknown"}, []),
    ],
)
def test_filters(failing: StoreView, values: dict[str, str], ids: list[str]) -> None:
    """A query is listed if one of its answers fits all filters at once."""
    assert listed(failing, **values) == ids


def test_a_row_tells_what_fits(failing: StoreView) -> None:
    """The counts are those of the answers that the filters select; the link keeps the list."""
    (row,) = page(failing, q="pushed happened")["queries"]
    assert (row["answers"], row["right"], row["known"]) == (8, 2, 8)
    assert "reranking" in row["causes"]
    (row,) = page(failing, **TRIAL, cause="failure")["queries"]
    assert (row["failed"], row["only"]["reason"]) == (1, "the server is down")
    link = unquote_plus(row["link"])
    assert link.startswith(
        "/query/failed?experiment=e&system=a&setting=retrieved(3)&from=/queries?"
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"system": "aa"}, "no system 'aa'; did you mean"),
        ({"setting": "retrieved(4)"}, "no setting"),
        ({"cause": "rankin"}, "no cause 'rankin'; did you mean"),
        ({"right": "maybe"}, "no right 'maybe'"),
        ({"label": "answerable:x"}, "no label 'answerable:x'"),
    ],
)
def test_a_filter_that_is_not_known(failing: StoreView, values: dict[str, str], said: str) -> None:
    """The message names the value and the nearest one."""
    with pytest.raises(PageError, match=said):
        page(failing, **values)


def test_a_list_has_pages(failing: StoreView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters stay; the place of the list is kept in the links."""
    monkeypatch.setattr(limits, "VIEW_ROWS", 5)
    found = page(failing, **{"from": "10"})
    assert found["queries"][0]["query_id"] == list(failing.results("e").queries)[10]
    assert (len(found["queries"]), found["total"], len(found["labels"])) == (5, 16, 3)
    assert "from=10" in unquote_plus(found["queries"][0]["link"])


def test_a_long_address_of_a_list_is_left_out(
    failing: StoreView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of a query could not read it."""
    monkeypatch.setattr(limits, "VIEW_PARAMETER_CHARACTERS", 30)
    link = page(failing, **TRIAL, cause="ranking")["queries"][0]["link"]
    assert "from=" not in link


def test_a_store_without_experiments(tmp_path: Path) -> None:
    """The page says so."""
    (tmp_path / "store").mkdir()
    assert page(StoreView(tmp_path / "store"))["experiment"] == ""


def test_labels_with_colons_and_hostile_texts(view: StoreView) -> None:
    """A value may contain the mark; texts are found as they are."""
    assert listed(view, label="kind:a:b") == ["q1"]
    assert "kind:a:b" in page(view)["labels"]
    assert listed(view, q=HOSTILE[0]) == [HARD_ID]
    (row,) = page(view, q=HOSTILE[0])["queries"]
    assert row["link"].startswith("/query/a/b%20c.json/?experiment=asked&")


def test_a_list_becomes_a_data_set(view: StoreView) -> None:
    """It has the queries, their judgements and all passages; a second name is needed for more."""
    values = {"experiment": "asked", "q": "story", "name": "mine"}
    made = action("/queries/dataset").run(view, values).document
    assert (made["queries"], made["passages"]) == (3, 6)
    data = load_dataset(made["folder"])
    assert [query.query_id for query in data.queries] == ["q1", "t1", "t3"]
    assert data.qrels == {"q1": {"p1": 1}, "t1": {"p2": 1}, "t3": {"p3": 1}}
    assert data.queries[2].history[0].text == "story two?"
    with pytest.raises(PageError, match="already exists"):
        action("/queries/dataset").run(view, values)
    with pytest.raises(PageError, match="is not possible"):
        action("/queries/dataset").run(view, {**values, "name": "../x"})
    with pytest.raises(PageError, match="select no query"):
        action("/queries/dataset").run(view, {**values, "name": "none", "q": "zzz"})


def test_a_data_set_that_changed_since_is_refused(view: StoreView) -> None:
    """Its passages would not be those that the list is about."""
    corpus = view.root.parent / "set" / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + '{"_id": "new", "text": "New."}\n')
    values = {"experiment": "asked", "name": "mine"}
    with pytest.raises(ConfigError, match="not those of the last run"):
        action("/queries/dataset").run(view, values)
    assert not (view.root / "data" / "mine").exists()


def test_a_list_becomes_a_table(view: StoreView) -> None:
    """A row per answer with its scores; a spreadsheet takes no text for a formula."""
    made = action("/queries/csv").run(view, {"experiment": "asked", "right": "no"})
    rows = list(csv.DictReader(io.StringIO(made.body.decode())))
    assert {row["right"] for row in rows} == {"no"}
    assert [row["Match"] for row in rows] == ["0.0"] * len(rows)
    assert {row["setting"] for row in rows} <= {"none", "gold", "retrieved(2)"}
    results = view.results("asked")
    wrong = sum(list(results.correct_answers(t).values()).count(0.0) for t in results.trials)
    assert len(rows) == wrong


def test_a_list_becomes_an_annotation_project(view: StoreView) -> None:
    """An item per query with the answers and their passages; it says where they are from."""
    values = {"experiment": "asked", "q": "story", "setting": "gold", "name": "mine"}
    made = action("/queries/annotation").run(view, values).document
    folder = Path(made["folder"])
    project = yaml.safe_load((folder / "project.yaml").read_text())
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert (project["task"], project["items"]) == ("ratings", {"file": "items.jsonl", "n": 3})
    source = project["source"]
    assert source["filter"] == {"experiment": "asked", "setting": "gold", "q": "story"}
    answers = [(one["query_id"], answer["answer"]) for one in items for answer in one["answers"]]
    assert answers == [
        ("q1", "in winter"),
        ("t1", "in winter"),
        ("t3", "in autumn"),
    ]
    assert items[0]["passages"][0]["passage_id"] == "p1"
    assert len({one["item_id"] for one in items}) == 3


def test_an_experiment_of_another_time(tmp_path: Path) -> None:
    """A record without the file of its data makes tables, and names what a data set lacks."""
    made_results(tmp_path / "store", texts=HOSTILE)
    view = StoreView(tmp_path / "store")
    assert page(view)["total"] == 12
    assert action("/queries/csv").run(view, {"experiment": "made"}).body.count(b"\n") > 12
    with pytest.raises(ConfigError, match="cannot be read"):
        action("/queries/dataset").run(view, {"experiment": "made", "name": "x"})
