"""A passport with scores is a baseline without its store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragstone
from ragstone.errors import ConfigError
from ragstone.experiment.score_sources import ScorePlace, read_place
from ragstone.results.passport_file import read_passport, sealed, write_passport

QUESTIONS = [
    {"query_id": f"q{n}", "query": f"{n}?", "gold_answers": [str(n)], "conversation": f"c{n // 2}"}
    for n in range(12)
]

PART = {"system": "a", "setting": "s", "queries": ["q"], "clusters": {}, "metrics": {}}


def evaluated(tmp_path: Path, name: str, wrong: int) -> ragstone.Results:
    """Return the results of a system that answers the first queries wrongly, and one with null."""

    def answer(query: str) -> dict[str, str | None]:
        number = int(query.strip("?"))
        return {"answer": None if number == 11 else "no" if number < wrong else str(number)}

    return ragstone.evaluate(answer, QUESTIONS, ["EM", "F1"], name=name, store=tmp_path / name)


def test_the_scores_of_a_passport_are_those_of_its_results(tmp_path: Path) -> None:
    """Means, intervals, clusters and failures are equal, and the store is not needed."""
    results = evaluated(tmp_path, "old", wrong=4)
    path = write_passport(results.passport(scores=True), tmp_path / "old.json")

    found = read_place(ScorePlace.parse(str(path)), tmp_path / "no-store").scores

    own = results.evaluation()
    assert isinstance(found, ragstone.Evaluation)
    assert found.scores == own.scores
    assert found.clusters == own.clusters
    assert found.summaries["EM"] == own.summaries["EM"]
    assert found.summaries["EM"].failed == 1


def test_a_gate_and_a_comparison_are_those_of_the_results(tmp_path: Path) -> None:
    """As OLD and as NEW; the report of the gate is the same to the digit."""
    old, new = evaluated(tmp_path, "old", wrong=1), evaluated(tmp_path, "new", wrong=6)
    path = write_passport(old.passport(scores=True), tmp_path / "old.json")
    kept = read_place(ScorePlace.parse(str(path))).scores

    by_passport = ragstone.gate(new, baseline=kept, metrics="EM", margin=0.02)
    by_results = ragstone.gate(new, baseline=old, metrics="EM", margin=0.02)

    assert by_passport.to_dict() == by_results.to_dict()
    with_passport = ragstone.compare({"old": kept, "new": new}).to_dict()["metrics"]["EM"]
    assert with_passport == ragstone.compare({"old": old, "new": new}).to_dict()["metrics"]["EM"]


def test_without_scores_the_passport_is_as_before(tmp_path: Path) -> None:
    """The key is there only on request, and `read_passport` takes both."""
    results = evaluated(tmp_path, "old", wrong=1)
    plain, scored = results.passport(), results.passport(scores=True)

    assert {*scored} - {*plain} == {"scores"}
    assert {k: v for k, v in scored.items() if k not in ("scores", "checksum")} == {
        k: v for k, v in plain.items() if k != "checksum"
    }
    assert read_passport(write_passport(scored, tmp_path / "s.json")) == scored


@pytest.mark.parametrize(
    "scores",
    [
        [],
        {},
        ["x"],
        [{"system": "evaluation"}],
        [PART | {"clusters": []}],
        [PART | {"metrics": {"F1": ["high"]}}],
        [PART | {"metrics": {"F1": [["bad", ""]]}}],
        [PART | {"metrics": {"F1": [1.0, 0.0]}}],
    ],
)
def test_malformed_scores_are_one_sentence(tmp_path: Path, scores: object) -> None:
    """Whoever sealed them."""
    passport = evaluated(tmp_path, "old", wrong=1).passport()
    del passport["checksum"]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(sealed({**passport, "scores": scores}), indent=1))

    with pytest.raises(ConfigError, match="no readable scores"):
        read_place(ScorePlace.parse(str(path)))
