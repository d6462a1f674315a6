"""Evidence of causes: repeats, own systems with several searches, labels of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.results.causes.found import FoundCauses, causes_of
from ragstone.results.causes.paths import needs_all
from ragstone.types import Query

PASSAGES = {
    "a": "The bridge is in Leeds.",
    "b": "The bridge of Leeds opened in 1912.",
    "c": "Fish is sold in Leeds.",
}

SOMETIMES = """
from dataclasses import dataclass
from ragstone.types import Prediction

asked = []


@dataclass(frozen=True)
class Reader:
    temperature: float = 1.0
    samples = True

    def generate(self, task):
        asked.append(task)
        return Prediction(task.query.query_id, "1900" if len(asked) == 1 else "1912")
"""


def causes(
    folder: Path,
    answers: Sequence[Mapping[str, Any]],
    queries: Sequence[Mapping[str, Any]],
    qrels: Mapping[str, Mapping[str, int]],
    **changes: Any,
) -> FoundCauses:
    """Return the causes of recorded answers of an own system, under the setting `system`."""
    (folder / "set" / "qrels").mkdir(parents=True)
    judged = [f"{q}\t{p}\t{grade}" for q, grades in qrels.items() for p, grade in grades.items()]
    files = {
        "set/queries.jsonl": map(json.dumps, queries),
        "set/corpus.jsonl": [json.dumps({"_id": p, "text": t}) for p, t in PASSAGES.items()],
        "set/qrels/test.tsv": ["query-id\tcorpus-id\tscore", *judged],
        "mine.jsonl": map(json.dumps, answers),
    }
    for name, rows in files.items():
        (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    file = {
        "data": "set",
        "systems": {"mine": {"generator": "recorded(mine.jsonl)"}},
        "settings": ["system"],
        "metrics": ["Match"],
        "correct": "Match",
        "store": str(folder / "store"),
        **changes,
    }
    (folder / "e.yaml").write_text(json.dumps(file), encoding="utf-8")
    return causes_of(ragstone.load_experiment(folder / "e.yaml").run())


def hop(*passages: str) -> dict[str, Any]:
    """Return a reported search."""
    return {"query": "bridge", "passages": list(passages)}


def test_the_first_search_at_which_gold_was_lost(tmp_path: Path) -> None:
    """Two passages are needed together: one was never found, or was found and left out."""
    queries: list[dict[str, Any]] = [
        {"_id": q, "text": f"When, {q}?", "answers": ["1912"], "hops": 2}
        for q in ("never", "left", "shown", "unknown", "first")
    ]
    answers: list[dict[str, Any]] = [
        {"query_id": "never", "answer": "1900", "steps": [hop("a", "c"), hop("c")]},
        {
            "query_id": "left",
            "answer": "1900",
            "steps": [hop("a"), hop("b")],
            "contexts": [{"id": "a"}],
        },
        {"query_id": "shown", "answer": "1900", "steps": [hop("a"), hop("b")]},
        {"query_id": "unknown", "answer": "1900"},
        {"query_id": "first", "answer": "1900", "steps": [hop("c"), hop("a")]},
    ]
    gold = {query["_id"]: {"a": 1, "b": 1} for query in queries}

    found = {one.query_id: one for one in causes(tmp_path, answers, queries, gold).queries}

    assert found["never"].cause == "retrieval_miss"
    assert "search 2 was the first that found no further one" in found["never"].evidence
    assert found["left"].cause == "ranking"
    assert found["left"].evidence.startswith("the gold passage b was found in search 2")
    assert (found["shown"].cause, found["shown"].missing_trial) == (
        "undecided",
        "the setting gold",
    )
    assert found["unknown"].missing_trial == "contexts reported by the system"
    assert "search 1 was the first" in found["first"].evidence


def test_one_passage_is_enough_without_a_label(tmp_path: Path) -> None:
    """A context that a system reports without ids is found by its text."""
    queries = [{"_id": "q", "text": "When?", "answers": ["1912"]}]
    answers = [{"query_id": "q", "answer": "1900", "contexts": [PASSAGES["b"].upper()]}]

    (one,) = causes(tmp_path, answers, queries, {"q": {"a": 1, "b": 1}}).queries

    assert one.evidence == "wrong although the gold passage b was shown"


def test_repeats_that_differ_are_chance(tmp_path: Path) -> None:
    """A wrong first answer, of which a later repeat is right, is undecided."""
    (tmp_path / "parts.py").write_text(SOMETIMES, encoding="utf-8")
    queries = [{"_id": "q", "text": "When?", "answers": ["1912"]}]
    found = causes(
        tmp_path,
        [],
        queries,
        {"q": {"b": 1}},
        systems={"sampled": {"generator": "parts.py:Reader"}},
        settings=["gold+noise(1)"],
        repeats=3,
    )

    (one,) = found.queries
    assert (one.cause, one.evidence) == ("undecided", "2 of 3 repeats are right")
    assert one.missing_trial == "repeats"


def test_a_right_refusal_is_not_wrong(tmp_path: Path) -> None:
    """Unanswerable queries: refused is right, answered is wrong, whatever the gold answer is."""
    queries: list[dict[str, Any]] = [
        {"_id": "declined", "text": "When?", "answers": ["no answer"], "answerable": False},
        {"_id": "given", "text": "Who?", "answers": [], "answerability": "UNANSWERABLE"},
        {"_id": "bare", "text": "Where?", "answers": []},
    ]
    answers: list[dict[str, Any]] = [
        {"query_id": "declined", "answer": "I don't know.", "contexts": []},
        {"query_id": "given", "answer": "Ada Brown", "contexts": []},
        {"query_id": "bare", "answer": "Leeds", "contexts": []},
    ]
    gold = {query["_id"]: {"c": 0} for query in queries}
    found = causes(tmp_path, answers, queries, gold, metrics=["Match", "refusal"])

    assert [(one.query_id, one.cause) for one in found.queries] == [("given", "missed_refusal")]
    (count,) = found.counts
    assert (count.right, count.wrong, sum(count.left_out.values())) == (1, 1, 1)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"hops": 2}, True),
        ({"hops": 1}, False),
        ({"taxonomy": "multi_hop"}, True),
        ({"taxonomy": "summary"}, False),
        ({"n_hops": "2"}, False),
        ({}, False),
    ],
)
def test_labels_of_several_hops(labels: Mapping[str, Any], *, expected: bool) -> None:
    """A number above 1, or the taxonomy of generated sets."""
    assert needs_all(Query("q", "?", labels=labels)) is expected
