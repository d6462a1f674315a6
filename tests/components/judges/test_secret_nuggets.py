"""Which nuggets are secret, and what the judge gives for both shares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.components.judges.nuggets import Nuggets
from ragstone.components.judges.secret_nuggets import (
    nuggets_of,
    open_part,
    secret_nuggets,
    without_nuggets,
)
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.core.component import Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.testing import FakeModelServer
from ragstone.types import Query

VITAL = tuple(f"fact {n}" for n in range(6))
QUERY = Query("q", "Who?", labels={"vital_nuggets": VITAL, "okay_nuggets": ("more", "most")})


def judge(share: float, url: str = "http://localhost:1") -> Nuggets:
    """Return the judge with a secret share."""
    model = {"name": "chat", "model": "fake", "base_url": url}
    return Nuggets(model=model, secret_share=share)


def test_the_share_is_about_that_share_of_the_nuggets() -> None:
    """A larger share contains a smaller one; another seed or query has other nuggets."""
    many = [replace(QUERY, query_id=f"q{n}") for n in range(200)]
    fifth, half = ([secret_nuggets(one, share) for one in many] for share in (0.2, 0.5))
    assert 0.15 < sum(map(len, fifth)) / 1600 < 0.25
    assert all(a <= b for a, b in zip(fifth, half, strict=True))
    assert fifth != [secret_nuggets(one, 0.2, 1) for one in many]
    assert len(set(half)) > 100


def test_each_query_has_an_open_nugget() -> None:
    """A share of nearly all leaves one; a single nugget is never secret."""
    for n in range(50):
        query = replace(QUERY, query_id=f"q{n}")
        assert len(secret_nuggets(query, 0.99999)) == 7
    single = Query("q", "Who?", labels={"okay_nuggets": ("one",)})
    assert secret_nuggets(single, 0.99999) == frozenset()
    assert secret_nuggets(Query("q", "Who?"), 0.5) == frozenset()


def test_labels_lose_the_secret_nuggets_alone() -> None:
    """Other labels and the order stay."""
    hidden = secret_nuggets(QUERY, 0.5)
    vital, okay = nuggets_of(without_nuggets(QUERY, hidden))
    assert hidden
    assert [*vital, *okay] == [text for text in (*VITAL, "more", "most") if text not in hidden]


def test_the_name_of_the_open_part() -> None:
    """That of all nuggets with equal weight; other metrics have none."""
    assert open_part("nuggets:secret") == "nuggets:all"
    assert [open_part(name) for name in ("nuggets", "nuggets:secrets", "nuggets:all")] == [""] * 3


def test_values_are_of_the_open_nuggets() -> None:
    """The secret ones have a part of their own; together they are the grades of all."""
    hidden = secret_nuggets(QUERY, 0.5)
    item, texts = Item(QUERY, "An answer."), (*VITAL, "more", "most")
    of_secret = judge(0.5).verdict(item, [["support" if t in hidden else "none" for t in texts]])
    of_open = judge(0.5).verdict(item, [["none" if t in hidden else "support" for t in texts]])
    assert (of_secret.value, of_secret.parts["nuggets:secret"]) == (0.0, 1.0)
    assert (of_open.value, of_open.parts["nuggets:secret"]) == (1.0, 0.0)
    assert "nuggets:secret" not in judge(0.0).verdict(item, [["support"] * 8]).parts


def test_prompts_do_not_change() -> None:
    """The model sees all nuggets, so that kept replies are used again; the step's key differs."""
    with FakeModelServer() as server:
        plain, secret = judge(0.0, server.url), judge(0.5, server.url)
        item = Item(QUERY, "An answer.")
        assert plain.calls_for(item) == secret.calls_for(item)
        assert plain.metrics == secret.metrics
        assert cache_key_parts(plain) != cache_key_parts(secret)


@pytest.mark.parametrize(
    ("verdict", "status", "reason"),
    [
        (Verdict("q", 0.5, parts={"nuggets:secret": 0.25}), "scored", ""),
        (Verdict("q", 0.5), "not_applicable", "no nugget of the query is secret"),
        (Verdict("q", status="failed", reason="down"), "failed", "down"),
    ],
)
def test_the_secret_score_follows_the_others(verdict: Verdict, status: str, reason: str) -> None:
    """It is the last one, and accepted beside the judge's metrics."""
    made = judge(0.5)
    scores = made.scores_of("q", Outcome(made.scored(verdict)))
    assert [score.metric for score in scores] == [*made.metrics, "nuggets:secret"]
    assert (scores[-1].status, scores[-1].reason) == (status, reason)
    assert len(judge(0.0).scored(verdict)) == 6
