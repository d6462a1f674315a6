"""The page of all experiments of a store, with a search in their names."""

from __future__ import annotations

from typing import Final

from ragstone.core import limits
from ragstone.view.page import Document, ViewPage
from ragstone.view.page_query import PageQuery
from ragstone.view.store_view import ListedExperiment, StoreView

STATES: Final = ("finished", "running", "damaged")


def experiments_document(view: StoreView, query: PageQuery) -> Document:
    """Return the experiments that match the search, a page of them."""
    every = view.experiments()
    words = query.text("q").lower().split()
    state = query.choice("state", STATES)
    found = [
        one
        for one in every
        if (not state or state_of(one) == state) and all(word in _searched(one) for word in words)
    ]
    start = query.number("from", 0, most=max(0, len(found)))
    return {
        "total": len(every),
        "found": len(found),
        "from": start,
        "experiments": [_row(one) for one in found[start : start + limits.VIEW_ROWS]],
    }


def state_of(one: ListedExperiment) -> str:
    """Return whether an experiment is finished, running or damaged."""
    return "damaged" if one.problem else "finished" if one.finished else "running"


def _searched(one: ListedExperiment) -> str:
    names = (one.name, one.data, one.campaign, *one.systems, *one.settings)
    return "\n".join(names).lower()


def _row(one: ListedExperiment) -> Document:
    return {
        "name": one.name,
        "state": state_of(one),
        "problem": one.problem,
        "started": one.started,
        "finished": one.finished,
        "data": one.data,
        "queries": one.answered or one.queries,
        "systems": len(one.systems),
        "settings": len(one.settings),
        "newer_run": one.running and bool(one.finished),
    }


EXPERIMENTS: Final = ViewPage(
    "/experiments", "Experiments", "experiments.html", experiments_document, tab="Experiments"
)
