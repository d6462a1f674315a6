"""Causes against people's labels: shares, intervals, and labels that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.faulty_system import FAULTS, faulty

from ragstone.cli.judge import command
from ragstone.errors import DatasetError
from ragstone.results.causes.check import check_causes
from ragstone.results.causes.check_text import cause_check_document, cause_check_text
from ragstone.results.causes.found import causes_of
from ragstone.results.results import Results
from ragstone.statistics.summary import summarise


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of systems that fail on purpose."""
    return faulty(tmp_path_factory.mktemp("faulty"))


def labels(path: Path, causes: dict[str, str], rater: str = "ann", **more: str) -> Path:
    """Add one rater's causes of system `a` to a file."""
    rows = [
        {
            "query_id": query_id,
            "system": "a",
            "setting": "retrieved(3)",
            "rater": rater,
            "property": "cause",
            "value": cause,
            **more,
        }
        for query_id, cause in causes.items()
    ]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return path


def found(results: Results) -> dict[str, str]:
    """Return query id -> cause."""
    return {one.query_id: one.cause for one in causes_of(results).of("a", "retrieved(3)")}


def test_labels_that_agree(results: Results, tmp_path: Path) -> None:
    """All stages and causes are the same, and kappa is 1."""
    check = check_causes(results, labels(tmp_path / "l.jsonl", found(results)))

    assert check.answers == len(FAULTS)
    assert (check.stage.same.mean, check.cause.same.mean) == (1, 1)
    assert check.cause.kappa.value == 1
    assert check.people is None
    assert check.cause.same.interval is not None
    assert check.cause.same.interval[0] < 1
    assert (check.unknown, check.not_wrong, check.set_aside) == (0, 0, 0)


def test_a_wrong_cause_of_the_same_stage(results: Results, tmp_path: Path) -> None:
    """It counts for the stage and not for the cause; the refinement is of its base's stage."""
    given = found(results) | {"miss": "ranking", "distracted": "retrieval_miss"}
    check = check_causes(results, labels(tmp_path / "l.jsonl", given))

    n = len(FAULTS)
    assert check.cause.same.mean == pytest.approx((n - 2) / n)
    assert check.stage.same.mean == pytest.approx((n - 1) / n)
    by_cause = {one.cause: (one.same.n, one.same.mean) for one in check.causes}
    assert by_cause["ranking"] == (2, 0.5)
    assert by_cause["reading"] == (1, 1)


def test_several_raters_and_answers_that_are_left_out(results: Results, tmp_path: Path) -> None:
    """Ties, right answers and unknown queries are counted and named in the text."""
    path = labels(tmp_path / "l.jsonl", {"miss": "ranking", "low": "ranking", "right": "reading"})
    labels(path, {"miss": "retrieval_miss", "low": "ranking", "nowhere": "reading"}, "ben")
    check = check_causes(results, path)

    assert (check.answers, check.set_aside, check.not_wrong, check.unknown) == (1, 1, 1, 1)
    assert check.people is not None
    text = cause_check_text(check)
    assert "against 2 raters: 1 wrong answers" in text
    assert "1 have no majority" in text
    assert "people among themselves: alpha" in text


def test_labels_that_cannot_be_used(results: Results, tmp_path: Path) -> None:
    """File, line and value are named."""
    for name, given, problem in (
        ("a", {"miss": "rankin"}, "line 1: 'rankin' is not a cause; did you mean 'ranking'"),
        ("b", {"nowhere": "ranking"}, "none of the 1 labelled answers is a wrong answer"),
    ):
        with pytest.raises(DatasetError, match=problem):
            check_causes(results, labels(tmp_path / name, given))
    with pytest.raises(DatasetError, match="add system and setting"):
        check_causes(results, labels(tmp_path / "c", {"miss": "ranking"}, system=""))
    with pytest.raises(DatasetError, match="no ratings of the property 'cause'; it has 'fluency'"):
        check_causes(results, labels(tmp_path / "d", {"miss": "ranking"}, property="fluency"))


def test_the_command_prints_text_and_json(results: Results, tmp_path: Path) -> None:
    """One of --data and --causes is needed."""
    experiment = results.store.root.parent / "e.yaml"
    path = labels(tmp_path / "l.jsonl", found(results))
    shown = CliRunner().invoke(command, ["check", str(experiment), "--causes", str(path), "--json"])

    document = json.loads(shown.stdout)
    expected = json.loads(json.dumps(cause_check_document(check_causes(results, path))))
    assert document == expected
    text = CliRunner().invoke(command, ["check", str(experiment), "--causes", str(path)]).stdout
    assert "same stage: 1.000" in text
    neither = CliRunner().invoke(command, ["check", str(experiment)])
    assert "give one of --data" in neither.stderr


def test_answers_to_one_query_are_no_independent_labels(results: Results, tmp_path: Path) -> None:
    """Intervals are over queries if several labelled answers are to the same query."""
    path = tmp_path / "l.jsonl"
    for one in causes_of(results).queries:
        cause = "ranking" if one.query_id == "miss" else one.cause
        labels(path, {one.query_id: cause}, system=one.system, setting=one.setting)
    check = check_causes(results, path)

    queries = [one.query_id for one in causes_of(results).queries]
    assert len(queries) > len(set(queries))
    same = [
        float(one.query_id != "miss" or one.cause == "ranking")
        for one in causes_of(results).queries
    ]
    assert check.cause.same.interval == summarise(same, clusters=queries).interval
    assert check.cause.same.interval != summarise(same).interval
