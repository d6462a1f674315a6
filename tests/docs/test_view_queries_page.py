"""The page on the pages of queries: it names every key of their plain data and of their files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.fakes.asked_store import action, answer, asked_experiment

from ragstone.testing import FakeModelServer
from ragstone.view.pages.conversation import CONVERSATION
from ragstone.view.pages.experiment import EXPERIMENT
from ragstone.view.pages.queries import QUERIES
from ragstone.view.pages.query import QUERY
from ragstone.view.query_filter import QueryFilter
from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "view-queries.md").read_text("utf-8")


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> StoreView:
    """Return a store with an experiment that ran."""
    folder = tmp_path_factory.mktemp("asked")
    with FakeModelServer(answer) as server:
        asked_experiment(folder, server.url).run()
    return StoreView(folder / "store")


def test_every_key_of_the_plain_data_is_described(view: StoreView) -> None:
    """Each page has a table of its keys."""
    for page, path, parts in (
        (QUERIES, "/queries", {}),
        (QUERY, "/query/ID", {"query_id": "q1"}),
        (EXPERIMENT, "/experiment/NAME", {"name": "asked"}),
        (CONVERSATION, "/conversation/ID", {"conversation_id": "k"}),
    ):
        document = page.make(view, PageQuery(path, parts))
        described = PAGE.split(f"`GET {path}.json`:")[1].split("`GET ")[0]
        assert [key for key in document if f"`{key}`" not in described] == []


def test_the_filters_and_the_project_are_described(view: StoreView) -> None:
    """Each filter has a row; each key of a project and of an item is named."""
    assert [one for one in QueryFilter().__dict__ if f"`{one}`" not in PAGE] == []
    values = {"experiment": "asked", "name": "mine"}
    folder = Path(action("/queries/annotation").run(view, values).document["folder"])
    project = yaml.safe_load((folder / "project.yaml").read_text())
    item = yaml.safe_load((folder / "items.jsonl").read_text().splitlines()[0])
    described = PAGE.split("An annotation project is")[1].split("## One query")[0]
    assert [key for key in (*project, *item) if f"`{key}`" not in described] == []


def test_the_pictures_are_small() -> None:
    """A page of the documentation loads quickly."""
    for path in DOCS.glob("pictures/view-*.png"):
        assert path.stat().st_size < 120_000
