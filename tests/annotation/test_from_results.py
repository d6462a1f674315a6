"""Items of a made-up experiment."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

from ragstone.annotation.from_results import AnswerChoice, result_items
from ragstone.annotation.items import item_line, read_items
from ragstone.annotation.schemes import TaskName
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError
from ragstone.results.causes.found import causes_of
from ragstone.results.reader import StoredResults

GOLD = AnswerChoice(settings=("gold",))
A, B = "bm25 + small", "dense + small"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return an experiment of three systems."""
    folder = tmp_path_factory.mktemp("store")
    return made_results(folder, queries=24, systems=(A, B, "third"))


def answered(results: StoredResults, setting: str) -> Counter[str]:
    """Return query id -> answers that exist."""
    trials = [one for one in results.trials if one.setting == setting]
    held = [p for one in trials for p in one.predictions.values()]
    return Counter(p.query_id for p in held if p.answer is not None)


def test_all_systems_are_rated_in_one_item(results: StoredResults) -> None:
    """A failed call has nothing to be rated; each answer names the passages it was shown."""
    items = result_items(results, "ratings", GOLD)

    assert {one.item_id: len(one.answers) for one in items} == answered(results, "gold")
    for item in items:
        known = {one.passage_id for one in item.passages}
        assert all(set(one.passage_ids) <= known and one.passage_ids for one in item.answers)
        assert item.query == results.queries[item.item_id]


def test_pairs_are_drawn_equally_often(results: StoredResults) -> None:
    """Every query has one pair; which answer is `a` is drawn; a larger limit draws more."""
    items = result_items(results, "pairwise", GOLD)
    pairs = Counter(frozenset(a.system for a in one.answers) for one in items)

    assert len({one.query.query_id for one in items}) == len(items)
    assert len(pairs) == 3
    assert max(pairs.values()) - min(pairs.values()) <= 4
    assert {one.answers[0].system for one in items} == {A, B, "third"}
    assert result_items(results, "pairwise", GOLD) == items
    more = AnswerChoice(settings=("gold",), limit=len(items) + 10)
    assert len(result_items(results, "pairwise", more)) == len(items) + 10
    assert all(one.answers[0].setting == one.answers[1].setting for one in items)


def test_wrong_answers_come_with_the_measured_cause(results: StoredResults) -> None:
    """One item per wrong answer, failed calls too."""
    found = {(c.query_id, c.system, c.setting): c.cause for c in causes_of(results).queries}
    items = result_items(results, "causes", AnswerChoice())
    suggested = {
        (one.query.query_id, one.answers[0].system, one.answers[0].setting): one.suggested["cause"]
        for one in items
    }

    assert suggested == found


def test_drawn_answers_keep_their_probability(results: StoredResults) -> None:
    """Only the named answers are in the items."""
    drawn = {("q000", A, "gold"): Inclusion(0.5, 1), ("q000", B, "gold"): Inclusion(0.5, 1)}
    (item,) = result_items(results, "ratings", AnswerChoice(answers=drawn))

    assert {one.system: one.inclusion for one in item.answers} == {
        A: Inclusion(0.5, 1),
        B: Inclusion(0.5, 1),
    }


@pytest.mark.parametrize(
    ("task", "each"), [("nuggets", "answer"), ("support", "passage"), ("conversation", "query")]
)
def test_other_tasks_have_items_too(
    results: StoredResults, task: TaskName, each: str, tmp_path: Path
) -> None:
    """Each answer, each shown passage, or each query; a file of them reads back equal."""
    items = result_items(results, task, AnswerChoice(limit=5, settings=("gold",)))
    counts = {"answer": 1, "passage": 0, "query": 0}

    assert {len(one.answers) for one in items} == {counts[each]}
    assert len({one.query.query_id for one in items}) <= 5
    assert len({one.item_id for one in items}) == len(items)
    (tmp_path / "items.jsonl").write_bytes(b"".join(map(item_line, items)))
    assert list(read_items(tmp_path / "items.jsonl")) == items


def test_secret_queries_stay_out(tmp_path: Path) -> None:
    """The reader of results leaves them out, and so does every item."""
    results = made_results(tmp_path / "store", queries=24)
    file = {**results.record.file, "secret": {"queries": "40%"}}
    record = replace(results.record, file=file)
    results = StoredResults(results.store, record)
    secret = results.secret_queries

    assert secret
    tasks: list[TaskName] = ["ratings", "pairwise", "support", "nuggets", "conversation", "causes"]
    for task in tasks:
        items = result_items(results, task, AnswerChoice())
        assert items
        assert not secret & {one.query.query_id for one in items}


def test_unknown_names_and_tasks(results: StoredResults) -> None:
    """The nearest name is in the error."""
    with pytest.raises(ConfigError, match=r"no system 'bm25'.*bm25 \+ small"):
        result_items(results, "ratings", AnswerChoice(systems=("bm25",)))
    with pytest.raises(ConfigError, match="no setting 'golden'"):
        result_items(results, "ratings", AnswerChoice(settings=("golden",)))
    with pytest.raises(ConfigError, match="--data"):
        result_items(results, "validation", AnswerChoice())
