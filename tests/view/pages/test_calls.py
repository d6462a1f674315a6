"""The page of calls: the call log by model, failures by reason, and an experiment's answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of, page_of, rows_of

from ragstone.calls import log_queries
from ragstone.core.store import Store
from ragstone.results.results import Results
from ragstone.results.usage import usage_rows
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError


def test_the_numbers_are_those_of_the_log(judged: Path) -> None:
    """Replies, failures, tokens, and the latency of replies."""
    known = log_queries.summary(judged / "calls.sqlite")
    found = page_of(judged, "/calls")
    (row,) = rows_of(found, "models")
    assert (row["model"], row["replies"], row["failures"]) == ("fake", known[0].replies, 0)
    assert 0 < row["p50"] <= row["p95"]
    assert "0 of " in found["verdict"]
    assert log_queries.last_call(judged / "calls.sqlite") == known[0].last
    with pytest.raises(PageError, match="did you mean 'fake'"):
        page_of(judged, "/calls", model="fakes")


def test_failures_have_reasons(faulty: Path, judged: Path, tmp_path: Path) -> None:
    """They are counted by model; a store without a log says so."""
    import sqlite3
    from contextlib import closing
    from shutil import copytree

    store = copytree(judged, tmp_path / "s")
    with closing(sqlite3.connect(store / "calls.sqlite")) as connection, connection:
        connection.execute("UPDATE calls SET replied = 0, reason = 'no reply <b>' WHERE rowid < 4")
    found = page_of(store, "/calls")
    (row,) = rows_of(found, "failures")
    assert (row["reason"], row["count"]) == ("no reply <b>", 3)
    assert "no reply &lt;b&gt;" in html_of(store, "/calls")
    assert "This store has no call log" in html_of(faulty, "/calls")


def test_an_experiment_has_the_usage_of_show(faulty: Path) -> None:
    """Failures of each trial; a failed answer links to its cause."""
    known = usage_rows(Results.load(Store(faulty), "e"))
    found = page_of(StoreView(faulty), "/calls", experiment="e")
    rows = rows_of(found, "trials")
    assert [(row["system"], row["failed"], row["answered"]) for row in rows] == [
        (one.system, one.failed, one.answered) for one in known
    ]
    assert any("cause=failure" in row["links"]["failed"] for row in rows)
    assert found["verdict"] == "e: 2 of 128 answers failed."
