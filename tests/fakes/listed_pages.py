"""Stores of small experiments that were really run, and the pages of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.fakes.faulty_system import faulty

from ragstone.experiment.load import load_experiment
from ragstone.testing import FakeModelServer
from ragstone.view.page_templates import TEMPLATES
from ragstone.view.pages import PAGES
from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery


def faulty_store(folder: Path) -> Path:
    """Run two systems that fail on purpose, and return the store."""
    folder.mkdir(parents=True, exist_ok=True)
    return faulty(folder).store.root


def judged_store(folder: Path, answer: str = "yes", name: str = "judged") -> Path:
    """Run a system whose answers two judges grade, and return the store with its call log."""
    folder.mkdir(parents=True, exist_ok=True)
    with FakeModelServer(answer=lambda _: answer) as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        document = {
            "data": "sample",
            "store": str(folder / "store"),
            "sample": {"limit": 8, "seed": 3, "where": {"turn": None}},
            "systems": {"upper": {"retriever": "bm25", "generator": "gold"}},
            "settings": ["none", "gold"],
            "metrics": ["Match", "F1"],
            "judges": [
                {"model": model, "name": judge, "least_parse_rate": 0}
                for judge in ("equivalence", "idk")
            ],
        }
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(document))
        load_experiment(path).run()
    return folder / "store"


def page_of(store: Path | StoreView, path: str, **values: str) -> Any:
    """Return the plain data of a page."""
    view = store if isinstance(store, StoreView) else StoreView(store)
    return _page(path).make(view, PageQuery(path, {}, values))


def html_of(store: Path, path: str, parts: Mapping[str, str] | None = None, **values: str) -> str:
    """Return a page as a browser gets it; `parts` are those of its address."""
    view, query = StoreView(store), PageQuery(path, dict(parts or {}), values)
    return TEMPLATES.render(
        _page(path).template,
        page=_page(path).make(view, query),
        query=query,
        title=path,
        tabs=PAGES,
        current=path,
        made="10:00",
        store=str(store),
        token="",
        twin=query.twin,
    )


def rows_of(document: Any, table: str) -> list[Any]:
    """Return the rows of one of the tables of a page."""
    return list(next(one for one in document["tables"] if one.id == table).rows)


def links_of(html: str) -> list[str]:
    """Return the addresses of other pages in a page."""
    return [one.replace("&amp;", "&") for one in re.findall(r'href="(/[^"]*)"', html)]


def _page(path: str) -> Any:
    return next(page for page in PAGES if page.path == path)
