"""Files that do not belong together: an error without a common id, a warning with few."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.matching_ids import check_ids
from ragstone.data.readers.scores import read_clusters
from ragstone.errors import DatasetError
from ragstone.evaluation.compare import compare
from ragstone.evaluation.score_files import evaluate_answers, evaluate_run
from ragstone.types import Ranking, Score


def test_answers_and_gold_without_a_common_id_are_an_error() -> None:
    """The error has an id of each side, and the change by which they would match."""
    with pytest.raises(DatasetError, match=r"no query id in common: .*'Q1'.*'q1'.*in lower case"):
        evaluate_answers({"Q1": "Bo"}, {"q1": ["Bo"]}, ["EM"])


def test_a_run_and_qrels_without_a_common_id_are_an_error() -> None:
    """As for answers."""
    with pytest.raises(DatasetError, match=r"the run have '7', and the qrels have '8'"):
        evaluate_run({"8": {"p": 1}}, {"7": Ranking(["p"])}, ["R@5"])


def test_systems_without_a_common_query_are_an_error() -> None:
    """The systems are named."""
    with pytest.raises(DatasetError, match=r"the scores of a and the scores of b have no query id"):
        compare({"a": [Score("1", "EM", 1.0)], "b": [Score("2", "EM", 1.0)]})


def test_less_than_half_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The share is of the smaller side, so answers of a part of the gold file are no reason."""
    gold = {str(i): ["Bo"] for i in range(10)}
    assert evaluate_answers({"1": "Bo", "2": "Bo", "x": "Bo", "y": "Bo"}, gold, ["EM"])["EM"].n
    assert not caplog.messages

    assert evaluate_answers({"1": "Bo", "x": "Bo", "y": "Bo"}, gold, ["EM"])["EM"].n
    (message,) = caplog.messages
    assert "only 1 of 3 query ids in common: the answers have 'x', 'y'" in message


def test_an_empty_side_has_no_ids_to_compare() -> None:
    """A system that answered nothing is scored as one that failed."""
    check_ids([], ["a"], ("a", "b"))
    assert evaluate_answers({}, {"q": ["Bo"]}, ["EM"])["EM"].failed == 1


def test_a_run_without_a_judged_passage_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Qrels of documents beside a run of passages give 0 everywhere."""
    run = {"q": Ranking(["d1_4", "d2_1"])}
    assert evaluate_run({"q": {"d1": 1}}, run, ["R@5"])["R@5"].mean == 0

    assert "no ranking contains a judged passage" in caplog.text
    assert "1 of them would exist without the part after the last '_'" in caplog.text


def test_clusters_of_other_queries_are_an_error() -> None:
    """Each query would be a cluster on its own, and the interval too narrow."""
    with pytest.raises(DatasetError, match="the clusters and the queries have no query id"):
        evaluate_answers({"q": "Bo"}, {"q": ["Bo"]}, ["EM"], clusters={"x": "1"})
    with pytest.raises(DatasetError, match="the clusters and the judged queries have no query id"):
        evaluate_run({"q": {"p": 1}}, {"q": Ranking(["p"])}, ["R@5"], clusters={"x": "1"})


def test_an_empty_file_of_clusters_is_an_error(tmp_path: Path) -> None:
    """Each query would be a cluster on its own."""
    empty = tmp_path / "empty"
    empty.write_text("")
    with pytest.raises(DatasetError, match="empty contains no cluster"):
        read_clusters(empty)
