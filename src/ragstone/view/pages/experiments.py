"""The page of all experiments of a store, with a search in their names and live progress."""

from __future__ import annotations

import time
from typing import Final

from ragstone.calls.log_queries import last_call
from ragstone.core.times import utc_text
from ragstone.errors import StoreError
from ragstone.results.record import ATTEMPTS, KIND
from ragstone.view.page import Document, ViewPage
from ragstone.view.store_view import ListedExperiment, StoreView
from ragstone.web import limits
from ragstone.web.page_query import PageQuery

STATES: Final = ("finished", "running", "damaged")
_EACH: Final = 3000
"""Milliseconds between two looks at a run under way."""
_SILENT: Final = 3600.0
"""Seconds without a sign of a run after which the page does not look at it by itself."""


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
    rows = [_row(view, one) for one in found[start : start + limits.VIEW_ROWS]]
    signs = [row["progress"]["silent"] for row in rows if row["progress"]]
    return {
        "total": len(every),
        "found": len(found),
        "from": start,
        "experiments": rows,
        "live": _EACH if any(silent < _SILENT for silent in signs) else "",
        "last_call": last_call(view.root / "calls.sqlite") if signs else None,
    }


def state_of(one: ListedExperiment) -> str:
    """Return whether an experiment is finished, running or damaged."""
    return "damaged" if one.problem else "finished" if one.finished else "running"


def _searched(one: ListedExperiment) -> str:
    names = (one.name, one.data, one.campaign, *one.systems, *one.settings)
    return "\n".join(names).lower()


def progress_of(view: StoreView, one: ListedExperiment) -> Document | None:
    """Return the progress of a run under way, from its files; None if there is none.

    A run writes a document if another ranking or trial is complete. `planned` is None if the
    number of trials is not known.
    """
    if not one.running or one.problem:
        return None
    place = view.root / (ATTEMPTS if one.finished else KIND) / f"{one.name}.json"
    try:
        record = view.record(one.name)
        attempt = view.attempt(one.name) if one.finished else None
        written = place.stat().st_mtime
    except (OSError, StoreError):  # the run ends at this moment
        return None
    if one.finished and attempt is None:
        return None
    return {
        "began": attempt.started if attempt else record.started,
        "written": utc_text(written),
        "silent": max(0.0, time.time() - written),
        "rankings": attempt.rankings_complete if attempt else len(record.rankings),
        "trials": attempt.trials_complete if attempt else len(record.trials),
        "planned": attempt.trials if attempt else None,
        "command": attempt.command if attempt else "",
    }


def _row(view: StoreView, one: ListedExperiment) -> Document:
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
        "progress": progress_of(view, one),
    }


EXPERIMENTS: Final = ViewPage(
    "/experiments", "Experiments", "experiments.html", experiments_document, tab="Experiments"
)
