"""Rounds that an active server draws by a judge's scores, and what exports have of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.active import ROUND_QUERIES, check_active
from ragstone.annotation.assignment import next_items, standing
from ragstone.annotation.rating_export import rating_lines
from ragstone.annotation.site import Site
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError


def judged(queries: int, systems: int = 2) -> list[dict[str, Any]]:
    """Return an item per query and system; the judge's scores differ on every fifth query."""
    return [
        {
            "item_id": f"q{number} s{system}",
            "query_id": f"q{number}",
            "query": f"When does ferry {number} sail?",
            "system": f"s{system}",
            "answer": "At six.",
            "suggested": {"faithfulness": 1 if number % 5 == 0 and system else 4},
        }
        for number in range(queries)
        for system in range(systems)
    ]


def rate(site: Site, give: Any, item_id: str) -> None:
    """Rate the answer of an item on all scales."""
    (answer,) = site.project.items[item_id].answers
    for question in site.project.scheme.questions:
        give("ann", item_id, 3, question.name, answer.part)


def test_a_round_has_whole_queries_and_those_that_differ_more_often(tmp_path: Path) -> None:
    """Each drawn item has its probability and its round, also after a restart."""
    with made_site(tmp_path, judged(200), task="ratings", active=True) as (site, give):
        first = next_items(site, "ann", 1000)
        assert len(first) == 2 * ROUND_QUERIES
        queries = [site.project.items[one].query.query_id for one in first]
        assert queries[::2] == queries[1::2]
        drawn = dict(site.work.drawn)
        assert set(drawn) == set(first)
        assert {one.round for one in drawn.values()} == {1}
        chances = {q: drawn[f"{q} s0"].probability for q in dict.fromkeys(queries)}
        often = [p for q, p in chances.items() if int(q[1:]) % 5 == 0]
        seldom = [p for q, p in chances.items() if int(q[1:]) % 5]
        assert min(often) > 1.5 * max(seldom)
        rate(site, give, first[0])
        again = Site(site.project, site.database, active=True)
        assert next_items(again, "ann", 1000) == first[1:]
        assert again.work.drawn == drawn
        line = orjson.loads(next(iter(rating_lines(site))))
        assert line["inclusion_probability"] == drawn[first[0]].probability
        assert line["round"] == 1


def test_rounds_follow_until_no_query_is_left(tmp_path: Path) -> None:
    """No query is drawn twice; a probability of the last round is 1."""
    with made_site(tmp_path, judged(50), task="ratings", active=True) as (site, give):
        seen: list[str] = []
        while given := next_items(site, "ann", 1):
            rate(site, give, given[0])
            seen += given
        assert sorted(seen) == sorted(site.project.items)
        assert standing(site, "ann").state == "finished"
        rounds = [site.work.drawn[one].round for one in seen]
        assert rounds == sorted(rounds) == 40 * [1] + 40 * [2] + 20 * [3]
        assert site.work.drawn[seen[-1]] == Inclusion(1.0, 3)


def test_items_of_judge_next_keep_their_probabilities(tmp_path: Path) -> None:
    """They are served round by round, and nothing else is drawn."""
    items = plain_items(6)
    for number, one in enumerate(items[:4]):
        one |= {"inclusion_probability": 0.25, "round": 2 - number % 2}
    with made_site(tmp_path, items, active=True) as (site, _):
        check_active(site.project)
        found = next_items(site, "ann", 9)
    assert [site.project.items[one].inclusion for one in found] == [
        Inclusion(0.25, 1), Inclusion(0.25, 1), Inclusion(0.25, 2), Inclusion(0.25, 2)
    ]  # fmt: skip


def test_words_are_scores_and_people_who_labelled_before_are_left_out(tmp_path: Path) -> None:
    """A word counts as the place of its option."""
    items = plain_items(30)
    for number, one in enumerate(items):
        one["suggested"] = {"support": "no" if number % 7 == 0 else "yes"}
    with made_site(tmp_path, items, active=True) as (site, give):
        give("ann", "q0", "yes")
        found = next_items(site, "ann", 99)
        assert len(found) == ROUND_QUERIES
        assert "q0" not in found


def test_items_without_scores_are_an_error_with_a_way_out(tmp_path: Path) -> None:
    """The message names both commands."""
    with made_site(tmp_path, 2, active=True) as (site, _):
        with pytest.raises(
            ConfigError, match=r"ragstone judge next .* --from next\.jsonl --experiment EXP"
        ):
            check_active(site.project)
        assert next_items(site, "ann", 1) == []
