"""Machine-made qrels: which pairs are graded, the grades, and the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.building.qrels import (
    check_new_file,
    grade_pairs,
    pairs_to_grade,
    write_machine_qrels,
)
from ragstone.calls.types import Failure, Outcome, Request
from ragstone.components.judges.umbrela import Umbrela
from ragstone.core.registry import create
from ragstone.data.dataset import Dataset
from ragstone.data.machine_qrels import machine_made
from ragstone.errors import DatasetError
from ragstone.testing import ScriptedCalls
from ragstone.types import Ranking

MODEL: dict[str, Any] = {"name": "chat", "model": "grader", "base_url": "http://localhost:1/v1"}
DATA = Dataset.from_records(
    queries=[{"query_id": "q1", "text": "Which river?"}, {"query_id": "q2", "text": "Who?"}],
    passages=[{"passage_id": f"p{n}", "text": f"Passage of grade {n}."} for n in range(4)],
    qrels=[("q1", "p3", 1), ("q1", "p0", 0)],
    name="made",
)
RUNS = [
    {"q1": Ranking(["p2", "p1", "p0"], [3.0, 2.0, 1.0])},
    {"q1": Ranking(["p1"], [1.0]), "q2": Ranking(["p3"], [1.0]), "q9": Ranking(["p0"], [1.0])},
]


def judge(**options: Any) -> Umbrela:
    """Return the judge."""
    made = create("judges", {"name": "umbrela", "model": MODEL, **options}, where="test")
    assert isinstance(made, Umbrela)
    return made


def reply(request: Request) -> str | Outcome:
    """Return the grade that a passage names, and none for the last one."""
    grade = request.messages[-1][1].partition("Passage of grade ")[2][:1]
    return Failure("no reply") if grade == "3" else f"Rating: [[{grade}]]"


def test_the_first_ranks_of_runs_are_one_pool() -> None:
    """Each pair once; queries that the data lack are left out; without a run, the judged pairs."""
    pooled = [("q1", "p2"), ("q1", "p1"), ("q2", "p3")]
    assert pairs_to_grade(DATA, RUNS, 2) == pooled
    assert pairs_to_grade(DATA, [], 2) == [("q1", "p3"), ("q1", "p0")]
    with pytest.raises(DatasetError, match=r"1 passages to grade are not in .*'p9' \(query 'q1'\)"):
        pairs_to_grade(DATA, [{"q1": Ranking(["p9"], [1.0])}], 2)
    with pytest.raises(DatasetError, match="there is nothing to grade"):
        pairs_to_grade(DATA, [{"q9": Ranking(["p0"], [1.0])}], 2)


def test_grades_are_written_with_a_mark(tmp_path: Path) -> None:
    """A pair without a grade is counted, and is not in the file."""
    calls = ScriptedCalls(reply)
    pairs = pairs_to_grade(DATA, RUNS, 2)
    made = grade_pairs(DATA, pairs, judge(), calls.services())
    assert len(calls.asked) == judge().cost(0, len(pairs)) == 3
    assert made.grades == {("q1", "p2"): 2, ("q1", "p1"): 1}
    assert (made.counts, list(made.failed.values())) == ({"1": 1, "2": 1}, [1])

    path, mark = write_machine_qrels(made, judge(), tmp_path / "qrels.tsv")

    assert path.read_text() == "query-id\tcorpus-id\tscore\nq1\tp2\t2\nq1\tp1\t1\n"
    found = json.loads(mark.read_text())
    assert {name: found[name] for name in ("made_by", "judge", "models", "pairs", "failed")} == {
        "made_by": "model",
        "judge": "umbrela",
        "models": ["grader"],
        "pairs": 2,
        "failed": 1,
    }
    assert machine_made(path).startswith(
        "qrels.tsv is machine-made, by umbrela with grader (prompt"
    )
    with pytest.raises(DatasetError, match="already exists"):
        check_new_file(path)
    with pytest.raises(DatasetError, match=r"end the name of the qrels with .tsv or .txt"):
        check_new_file(tmp_path / "qrels.json")


def test_another_prompt_has_another_digest(tmp_path: Path) -> None:
    """The mark names the texts that the model read."""
    made = grade_pairs(DATA, [("q1", "p1")], judge(), ScriptedCalls(reply).services())
    own = judge(user="{query} {passages}")
    marks = [
        json.loads(write_machine_qrels(made, one, tmp_path / name)[1].read_text())["prompt"]
        for one, name in ((judge(), "a.tsv"), (own, "b.tsv"))
    ]
    assert marks[0] != marks[1]


def test_grades_of_several_replies_are_rounded() -> None:
    """Halves up: 1 and 2 give 2."""
    replies = iter(["1", "2"])
    several = judge(repeats=2, model={**MODEL, "temperature": 1.0})
    calls = ScriptedCalls(lambda _: f"Rating: [[{next(replies)}]]")
    made = grade_pairs(DATA, [("q1", "p1")], several, calls.services())
    assert made.grades == {("q1", "p1"): 2}


def test_no_grade_at_all_writes_nothing(tmp_path: Path) -> None:
    """The reason is that of the calls."""
    made = grade_pairs(DATA, [("q1", "p3")], judge(), ScriptedCalls(reply).services())
    with pytest.raises(DatasetError, match=r"no pair has a grade: .*no reply"):
        write_machine_qrels(made, judge(), tmp_path / "qrels.tsv")
    assert not list(tmp_path.iterdir())
