"""Causes of changes in comparisons and gates: of results, of files of scores, of bare scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ragstone
from ragstone.evaluation.comparison import Comparison
from ragstone.types import Score


def scores(*values: float) -> list[Score]:
    """Return scores of one metric without any text."""
    return [Score(f"q{n}", "EM", value) for n, value in enumerate(values)]


def written(path: Path, *rows: dict[str, Any]) -> Path:
    """Return a file of scores with texts."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(query_id: str, value: float, answer: str, *passages: str, gold: str = "Ann") -> Any:
    """Return one line of a file of scores."""
    texts = {"query": "Who?", "answer": answer, "gold_answers": [gold]}
    return {"query_id": query_id, "metric": "EM", "value": value, **texts, "passage_ids": passages}


def compared(folder: Path) -> Comparison:
    """Return a comparison of two files with texts."""
    a = written(
        folder / "a.jsonl",
        row("label", 1, "Ann", "p"),
        row("equal", 1, "Ann", "p"),
        row("other", 0, "Bob", "p"),
        row("same", 1, "Ann", "p"),
        row("only-a", 1, "Ann", "p"),
    )
    b = written(
        folder / "b.jsonl",
        row("label", 0, "Ann", "p", gold="Eve"),
        row("equal", 0, "Ann", "p"),
        row("other", 1, "Ann", "x"),
        row("same", 1, "Ann", "p"),
        row("only-b", 1, "Ann", "p"),
    )
    return ragstone.compare({"a": a, "b": b})


def test_files_with_texts_decide_what_they_can(tmp_path: Path) -> None:
    """Labels and equal answers are known; without gold passages a changed context explains none."""
    found = compared(tmp_path)

    causes = {one.cause: (one.better, one.worse) for one in found.changes("EM")}
    assert causes == {
        "label": ((), ("label",)),
        "scoring": ((), ("equal",)),
        "undecided": (("other",), ()),
    }
    assert "no gold passage is known" in found.flipped()["other"].changes[0].evidence
    document = found.to_dict()
    assert [one["cause"] for one in document["changes"]] == ["label", "scoring", "undecided"]
    assert document["flipped"]["label"]["changes"][0]["evidence"] == "the gold answers differ"
    assert "Causes of changes: EM, b against a" in str(found)
    assert "cause of the change: scoring" in str(found)
    assert "Causes of changes" in found.to_markdown()


def test_bare_scores_say_that_nothing_is_known() -> None:
    """Every change is undecided, and a line says why."""
    found = ragstone.compare({"a": scores(1, 0, 1), "b": scores(0, 0, 0)})

    assert [(one.cause, len(one.worse)) for one in found.changes()] == [("undecided", 2)]
    assert "a: its scores do not say what was shown" in str(found)


def test_equal_systems_have_no_changes() -> None:
    """No table is shown without a change."""
    found = ragstone.compare({"a": scores(1, 0, 1), "b": scores(1, 0, 1)})

    assert found.changes() == []
    assert found.to_dict()["changes"] == []
    assert "Causes of changes" not in str(found)


def test_a_gate_counts_the_causes_of_its_metrics(tmp_path: Path) -> None:
    """The text, the JSON and the Markdown have them; bare scores of a baseline are named."""
    compared(tmp_path)
    new, old = tmp_path / "b.jsonl", tmp_path / "a.jsonl"
    found = ragstone.gate(new, baseline=old, metrics="EM", margin=0.1, common=True)

    assert [one["cause"] for one in found.to_dict()["changes"]] == ["label", "scoring", "undecided"]
    assert "Causes of changes: EM, new against baseline" in str(found)
    assert "Causes of changes" in found.to_markdown()

    bare = ragstone.gate(
        new,
        baseline=[Score(q, "EM", 0.5) for q in ("label", "equal", "other", "same")],
        metrics="EM",
        margin=0.1,
        common=True,
    )
    assert {one.cause for one in bare.changes} == {"undecided"}
    assert "baseline: its scores do not say what was shown" in str(bare)
    assert "new: its scores" not in str(bare)


def test_a_gate_of_several_looks_counts_the_queries_of_the_last_look() -> None:
    """Queries after the last look were not analysed."""
    new, old = scores(*[0.0] * 300), scores(*[1.0] * 300)
    found = ragstone.gate(new, baseline=old, metrics="EM", margin=0.1, looks=5)

    assert sum(len(one.worse) for one in found.changes) == found.used < found.queries
