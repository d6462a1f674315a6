"""The tables that the terminal shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.errors import ConfigError
from ragstone.results.leaderboards import leaderboard, results_document
from ragstone.results.reader import StoredResults
from ragstone.results.record import Attempt
from ragstone.results.kept_board import leaderboard_parts
from ragstone.results.terminal import query_text


def leaderboard_text(results: StoredResults) -> str:
    """Return the tables of an experiment as text."""
    return "\n\n".join(map(str, leaderboard_parts(results)))


def test_the_leaderboard_contains_every_table(tmp_path: Path) -> None:
    """The text contains answers, adaptability, retrieval and time with their numbers."""
    results = made_results(tmp_path)
    text = leaderboard_text(results)
    summary = leaderboard(results)[0].rows[0].cells["Match"]

    for title in ("Answers (", "Adaptability (", "Retrieval (", "Time and tokens ("):
        assert title in text
    assert f"{summary.mean:.3f} [" in text
    assert "NOT FINISHED" not in text


def test_an_unfinished_experiment_is_marked(tmp_path: Path) -> None:
    """The tables of a stopped run are marked as such."""
    assert "NOT FINISHED" in leaderboard_text(made_results(tmp_path, finished=False))


def test_a_newer_attempt_that_is_incomplete_is_one_line_below_the_head(tmp_path: Path) -> None:
    """It has the complete trials and the command; without retrieval there are no rankings."""
    results = made_results(tmp_path)
    started, after = "2026-03-03T10:00:00+00:00", results.record.finished or ""
    Attempt(started, after, "ragstone run made.yaml", 0, 0, 8, 3).save(results.store, "made")
    results = StoredResults.load(results.store, "made")

    assert leaderboard_text(results).splitlines()[2] == (
        "A newer attempt is incomplete: 3 of 8 trials are complete; "
        "to resume: ragstone run made.yaml"
    )
    assert results_document(results)["attempt"] == {
        "started": started,
        "command": "ragstone run made.yaml",
        "rankings": 0,
        "rankings_complete": 0,
        "trials": 8,
        "trials_complete": 3,
    }


def test_retrieval_alone_shows_retrieval_alone(tmp_path: Path) -> None:
    """Without answers there is no table of answers, and no query is called answered."""
    text = leaderboard_text(made_results(tmp_path, settings=()))

    assert " queries ranked, " in text.splitlines()[1]

    assert "Retrieval (" in text
    assert "Answers (" not in text


def test_a_query_shows_contexts_answers_and_reasons(tmp_path: Path) -> None:
    """A query's page has its history, each context with origins, each answer, each reason."""
    text = query_text(made_results(tmp_path), "q010")

    assert "user: Where does the ferry" in text
    assert "[p10-gold; gold, relevance 2]" in text
    assert "No answer: no reply within 60 s" in text
    assert "Match: failed (there is no answer)" in text


def test_an_unknown_query_names_the_nearest(tmp_path: Path) -> None:
    """The error of a mistyped id contains similar ids."""
    with pytest.raises(ConfigError, match=r"'q0011'.*such as q0.1"):
        query_text(made_results(tmp_path), "q0011")
