"""checks: lines of rows as metrics, with reasons, unknown amounts and malformed lines."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragstone
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.row_checks import KINDS, check_metrics_of, parse_check
from ragstone.components.metrics.score import score_answers
from ragstone.core import limits
from ragstone.core.schemas import rows
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Prediction, Query

SCHEMA = '{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}'


def scored(metric: str, prediction: Prediction, *lines: str) -> tuple[float | None, str, str]:
    """Return value, status and reason of one prediction whose query has some checks."""
    query = Query(prediction.query_id, "?", labels={"checks": lines} if lines else {})
    (row,) = rows(score_answers([metric], [query], [prediction]))
    return row["value"], row["status"], row["reason"]


@pytest.mark.parametrize(
    ("line", "answer", "value"),
    [
        ("contains: Lima ", "It is  LIMA.", 1.0),
        ("contains: the city", "the\n City", 1.0),
        ("contains: Quito", "Lima", 0.0),
        ("not_contains: sorry", "Sorry, no.", 0.0),
        ("not_contains: sorry", "Lima", 1.0),
        (r"regex: ^\d{4}$", "1912", 1.0),
        (r"regex: ^\d{4}$", "in 1912", 0.0),
        (f"json_schema: {SCHEMA}", '{"city": "Lima"}', 1.0),
        (f"json_schema: {SCHEMA}", '{"city": 5}', 0.0),
        (f"json_schema: {SCHEMA}", "Lima", 0.0),
        ("max_latency: 2", "Lima", 1.0),
        ("max_cost: 0.001", "Lima", 0.0),
    ],
)
def test_each_kind_of_check(line: str, answer: str, value: float) -> None:
    """A check holds or not; if not, the reason quotes it."""
    prediction = Prediction("q", answer, seconds=1.5, cost=0.01)

    found = scored("checks", prediction, line)

    assert found[:2] == (value, "scored")
    assert found[2] == ("" if value else f"not passed: {line.strip()}")
    kind = line.partition(":")[0]
    assert scored(f"checks({kind})", prediction, line)[0] == value


def test_all_checks_of_a_query_must_hold_and_a_kind_can_be_taken_alone() -> None:
    """The text form, one check per line, equals the list."""
    query = Query("q", "?", labels={"checks": "contains: Lima\n\nmax_latency: 1"})
    prediction = Prediction("q", "Lima", seconds=3.0)

    assert check_metrics_of([Query("q", "?", labels={"checks": "max_cost: 1"})]) == ["checks"]
    assert check_metrics_of([Query("q", "?")]) == []
    names = ["checks", "checks(contains)", "checks(max_latency)"]
    assert check_metrics_of([query]) == names == [str(parse_metric(name)) for name in names]
    found = rows(score_answers(check_metrics_of([query]), [query], [prediction]))

    assert [row["value"] for row in found] == [0.0, 1.0, 0.0]


def test_an_unknown_amount_is_not_applicable_unless_another_check_fails() -> None:
    """What is not known is never counted as passed."""
    unknown = Prediction("q", "Lima")

    assert scored("checks", unknown, "max_cost: 1", "contains: Lima") == (
        None,
        "not_applicable",
        "max_cost: the answer's cost is not known",
    )
    assert scored("checks", unknown, "max_latency: 1", "contains: Quito")[0] == 0.0
    assert scored("checks", unknown) == (None, "not_applicable", "the query has no check")


def test_a_failed_answer_fails_its_checks() -> None:
    """Even a check that an empty answer would pass."""
    assert scored("checks", Prediction("q", None, "timed out"), "not_contains: x") == (
        None,
        "failed",
        "timed out",
    )


def test_a_regex_that_takes_too_long_leaves_the_answer_unscored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pattern of a data file cannot hang a run."""
    monkeypatch.setattr(limits, "MAX_REGEX_SECONDS", 0.01)

    value, status, reason = scored("checks", Prediction("q", "a" * 40 + "b"), r"regex: ^(a|aa)+$")

    assert (value, status) == (None, "unscored")
    assert "took longer" in reason


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("contain: Lima", "did you mean 'contains'"),
        ("Lima", "write KIND: VALUE"),
        ("contains:", "has no value"),
        ("max_cost: cheap", "a number of 0 or more"),
        ("max_latency: -1", "a number of 0 or more"),
        ("regex: (", "is malformed"),
        ("json_schema: {", "is malformed"),
        ('json_schema: {"type": "objekt"}', "is malformed"),
    ],
)
def test_malformed_checks_are_errors_before_anything_is_asked(line: str, problem: str) -> None:
    """The error names the query, in Python and in an experiment."""
    with pytest.raises(DatasetError, match=problem):
        parse_check(line)
    row = {"query_id": "q7", "query": "Where?", "gold_answers": ["Lima"], "checks": [line]}
    with pytest.raises(DatasetError, match=rf"query 'q7': .*{problem}"):
        ragstone.evaluate(lambda _: pytest.fail("asked"), [row])


def test_an_address_in_a_schema_is_never_fetched() -> None:
    """A reference to another document is an unresolvable one."""
    line = 'json_schema: {"$ref": "http://127.0.0.1:9/schema.json"}'

    value, status, reason = scored("checks", Prediction("q", "{}"), line)

    assert (value, status) == (None, "unscored")
    assert "schema.json" in reason


def test_an_unknown_kind_is_an_error() -> None:
    """The kinds are listed by name."""
    with pytest.raises(ConfigError, match="did you mean 'contains'"):
        score_answers(["checks(contain)"], [], [])
    assert len(KINDS) == 6


def test_an_experiment_scores_the_checks_of_its_data(tmp_path: Path) -> None:
    """`evaluate` adds the metrics; the remark is kept with the score."""
    given = [
        {"query": "Peru?", "gold_answers": ["Lima"], "checks": ["contains: Lima"]},
        {"query": "Oman?", "gold_answers": ["Muscat"], "checks": ["contains: Muscat"]},
        {"query": "Mali?", "gold_answers": ["Bamako"]},
    ]

    results = ragstone.evaluate(lambda _: "Lima", given, ["EM"], store=tmp_path / "store")

    summary = results.evaluation()["checks"]
    assert (summary.mean, summary.n, summary.not_applicable) == (0.5, 2, 1)
