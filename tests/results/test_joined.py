"""Rows of many experiments with named factors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_campaign import made_experiment

from ragstone.core import limits
from ragstone.core.store import Store
from ragstone.errors import ConfigError, StoreError
from ragstone.results.joined import JoinedResults, differing

BM25 = {"retriever": {"name": "bm25", "k1": 0.9}, "generator": "small"}
DENSE = {
    "retriever": "dense",
    "reranker": "minilm",
    "generator": {"name": "llm", "user": "{query}"},
}


def value(entry: Mapping[str, Any], setting: str, _metric: str, place: int) -> float | None:
    """Return 1 for every second query; the dense system fails on the first one."""
    if entry["retriever"] == "dense" and setting and place == 0:
        return None
    return float(place % 2)


@pytest.fixture
def joined(tmp_path: Path) -> JoinedResults:
    """Two data sets of a campaign."""
    for data, language in (("nq", "en"), ("jp", "ja")):
        made_experiment(
            tmp_path,
            f"c.{data}",
            [BM25, DENSE],
            value,
            data=data,
            campaign="c",
            factors={"language": language, "setting": "odd"},
            labels=lambda n: {"kind": ("fact", "summary")[n % 2]},
        )
    return JoinedResults.of_store(Store(tmp_path))


def test_a_row_has_the_factors_of_experiment_system_and_metric(joined: JoinedResults) -> None:
    """Components without the prompt, parameters, prompt, setting, cutoff, factors of the data."""
    row = next(r for r in joined.rows if r.metric == "Match" and r.factors["reranker"] != "-")
    assert row.factors["campaign"] == "c"
    assert row.factors["experiment"] == "c.jp"
    assert row.factors["data"] == "jp"
    assert row.factors["language"] == "ja"
    assert row.factors["data.setting"] == "odd"
    assert row.factors["generator"] == "llm"
    assert row.factors["prompt"].startswith("texts~")
    assert row.factors["setting"] == "none"
    assert joined.axes["retriever"] == ["bm25(k1=0.9)", "dense"]
    assert joined.axes["retriever.k1"] == ["0.9"]
    ranked = next(r for r in joined.rows if r.is_ranking)
    assert (ranked.factors["measure"], ranked.factors["k"]) == ("nDCG", "10")


def test_scores_are_read_with_failures(joined: JoinedResults) -> None:
    """A failed query is a score; the failure rate is a metric of its own."""
    mine = joined.where({"retriever": ["dense"], "data": ["nq"], "setting": ["gold"]})
    match, rate = (next(r for r in mine.rows if r.metric == m) for m in ("Match", "failure rate"))
    assert match.scores()["nq-0"].status == "failed"
    assert rate.scores()["nq-0"].value == 1.0
    assert sum(score.value or 0 for score in rate.scores().values()) == 1.0
    assert {v: len(ids) for v, ids in match.groups("kind").items()} == {"fact": 20, "summary": 20}
    assert list(match.groups("no such label")) == ["(none)"]


def test_a_filter_keeps_rankings_and_refuses_unknown_values(joined: JoinedResults) -> None:
    """No setting changes a ranking metric."""
    assert "nDCG@10" in joined.where({"setting": ["gold"]}).metrics
    with pytest.raises(ConfigError, match=r"no result has setting 'golf'; did you mean 'gold'\?"):
        joined.where({"setting": ["golf"]})
    with pytest.raises(ConfigError, match="there is no axis 'retriver'"):
        joined.where({"retriver": ["bm25"]})
    with pytest.raises(ConfigError, match="there is no axis 'x'"):
        joined.is_label("x")
    assert joined.is_label("kind")
    assert not joined.is_label("data")


def test_equal_tables_are_one_measurement(joined: JoinedResults, tmp_path: Path) -> None:
    """An experiment that shares its steps with another one has rows of the same identity."""
    again = made_experiment(
        tmp_path, "again", [BM25], value, data="nq", labels=lambda _: {"kind": "fact"}
    )
    mine = next(r for r in JoinedResults.of([again]).rows if r.metric == "Match")
    other = next(
        r
        for r in joined.rows
        if r.metric == "Match" and r.factors["data"] == "nq" and r.factors["reranker"] == "-"
    )
    assert mine.identity == other.identity
    assert "experiment" in differing([mine, other])
    assert "setting" not in differing([mine, other])


def test_a_store_without_experiments_is_refused(tmp_path: Path) -> None:
    """The message says how to run one; so does that of a folder that is not there."""
    with pytest.raises(StoreError, match="has no experiment; run one first"):
        JoinedResults.of_store(Store(tmp_path))
    with pytest.raises(StoreError, match="there is no store"):
        JoinedResults.of_store(Store(tmp_path / "none"))


def test_few_scores_stay_in_memory(joined: JoinedResults, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest one is dropped."""
    first = joined.rows[0]
    size = sum(map(len, first.experiment.scores(first.folders).values()))
    monkeypatch.setattr(limits, "HELD_SCORES", 2 * size)
    for row in joined.rows:
        row.scores()
    assert {len(one.held) for one in joined.experiments} <= {1, 2}


def test_an_error_lists_so_many_axes(
    joined: JoinedResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are counted."""
    monkeypatch.setattr(limits, "SHOWN_AXES", 2)
    with pytest.raises(ConfigError, match=r"Known: experiment, campaign and \d+ more"):
        joined.is_label("x")
