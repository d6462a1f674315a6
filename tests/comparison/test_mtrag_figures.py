"""mtRAG's released figures: retrieval scores of 27 runs, ROUGE-L and RB_agg of every response."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from ragstone.components.judges.conditioned import KEEP, cell
from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.rb_agg import rb_agg
from ragstone.components.metrics.refusal import refusal
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.evaluation.score_files import average, evaluate_run

SharedData: TypeAlias = Callable[[str], Path]
COLUMNS = [f"{name}@{k}" for name in ("nDCG", "R") for k in (1, 3, 5, 10)]
RUNS = [
    (retriever, domain, form)
    for retriever in ("bm25", "bge", "elser")
    for domain in ("clapnq", "cloud", "fiqa")
    for form in ("lastturn", "questions", "rewrite")
]
RESPONSES = {
    "human_evaluations/reference_subset_with_human_evaluations.json.gz": 477,
    "synthetic/evaluations.json.gz": 7086,
}


@pytest.mark.parametrize(("retriever", "domain", "form"), RUNS, ids="-".join)
def test_a_run_gets_its_authors_scores(
    shared_data: SharedData, retriever: str, domain: str, form: str
) -> None:
    """Its nDCG and recall at 1, 3, 5 and 10 agree to the fifth decimal, ties and gaps included."""
    folder = shared_data("mtrag")
    with (folder / "runs/aggregate_scores.tsv").open(encoding="utf-8") as file:
        stored = next(
            row
            for row in csv.DictReader(file, delimiter="\t")
            if (row["retriever"], row["domain"], row["queries"]) == (retriever, domain, form)
        )

    found = evaluate_run(
        read_qrels(folder / f"qrels/human_{domain}.tsv"),
        read_run(folder / f"runs/{retriever}.{domain}.{form}.trec.gz"),
        COLUMNS,
    )

    for name in COLUMNS:
        assert found[name].mean == pytest.approx(float(stored[name]), abs=5.1e-6)


def test_queries_missing_from_a_run_are_named_and_lower_the_mean(shared_data: SharedData) -> None:
    """BM25 has no ranking for one last turn of ClapNQ; it counts as 0, as in mtRAG's script."""
    folder = shared_data("mtrag")

    found = evaluate_run(
        read_qrels(folder / "qrels/human_clapnq.tsv"),
        read_run(folder / "runs/bm25.clapnq.lastturn.trec.gz"),
        ["nDCG@10"],
    )

    assert (found["nDCG@10"].n, found["nDCG@10"].missing) == (208, 1)
    assert found.missing == ("29e3ec96a6e8916a0326ebcdab78abae<::>2",)


def test_the_average_over_collections_is_weighted_or_macro(shared_data: SharedData) -> None:
    """The script of mtRAG weights collections by their queries, MTRAG-UN counts each alike."""
    folder = shared_data("mtrag")
    found = [
        evaluate_run(
            read_qrels(folder / f"qrels/human_{domain}.tsv"),
            read_run(folder / f"runs/elser.{domain}.rewrite.trec.gz"),
            ["R@5"],
        )
        for domain in ("clapnq", "cloud", "fiqa")
    ]
    means = [one["R@5"].mean or 0.0 for one in found]

    assert average(found, "macro")["R@5"] == pytest.approx(sum(means) / 3)
    assert average(found, "weighted")["R@5"] == pytest.approx(
        (208 * means[0] + 188 * means[1] + 180 * means[2]) / 576
    )


def responses(path: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the evaluations of a file, and its tasks by id."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        held = json.load(file)
    return held["evaluations"], {task["task_id"]: task for task in held["tasks"]}


def stored(row: dict[str, Any], name: str) -> float:
    """Return a stored automatic score."""
    (found,) = row["annotations"][name].values()
    return float(found["value"])


def pairs(rows: list[dict[str, Any]], tasks: dict[str, dict[str, Any]]) -> AnswerBatch:
    """Return responses against their targets."""
    gold = [tuple(t["text"] for t in tasks[row["task_id"]]["targets"]) for row in rows]
    blank = [""] * len(rows)
    return AnswerBatch(
        [row["model_response"] for row in rows], gold, blank, [None] * len(rows), blank
    )


@pytest.mark.parametrize(("name", "size"), RESPONSES.items())
def test_rouge_l_equals_the_stored_value_of_every_response(
    shared_data: SharedData, name: str, size: int
) -> None:
    """Google's tokens against the first target, without stemming: equal to the last places."""
    rows, tasks = responses(shared_data("mtrag") / name)

    found = parse_metric("ROUGE-L(variant=mtrag)").values(pairs(rows, tasks))  # type: ignore[arg-type]

    assert len(rows) == size
    assert np.abs(found - [stored(row, "RougeL") for row in rows]).max() < 1e-9


def test_words_and_numbers_change_rouge_l_of_65_of_the_models_responses(
    shared_data: SharedData,
) -> None:
    """The default keeps letters with accents (4 responses) and numbers, which ASCII tokens cut."""
    (name, *_) = RESPONSES
    rows, tasks = responses(shared_data("mtrag") / name)
    held = pairs(rows, tasks)

    ours = parse_metric("ROUGE-L").values(held)  # type: ignore[arg-type]
    google = parse_metric("ROUGE-L(variant=mtrag)").values(held)  # type: ignore[arg-type]

    assert (np.abs(ours - google) > 1e-9).sum() == 65


@pytest.mark.parametrize(("name", "size"), RESPONSES.items())
def test_rb_agg_equals_the_stored_value_of_every_response(
    shared_data: SharedData, name: str, size: int
) -> None:
    """From its stored parts, refusals settled by whether the query can be answered."""
    rows, tasks = responses(shared_data("mtrag") / name)
    differing = 0
    for row in rows:
        label = tasks[row["task_id"]]["Answerability"][0]
        fitting = stored(row, "conditional_idk")
        parts = [stored(row, part) for part in ("RougeL", "Bert-Rec", "Bert-KPrec")]
        refused = 1.0 - fitting if label in {"ANSWERABLE", "PARTIAL"} else fitting
        adjusted = cell(label, "yes" if refused >= 1.0 else "no", "script")
        found = rb_agg(*parts) if adjusted == KEEP else float(adjusted)
        differing += abs(found - stored(row, "rb_agg")) > 1e-9

    assert (len(rows), differing) == (size, 0)


@pytest.mark.parametrize(
    ("name", "expected"), list(zip(RESPONSES, [(15, 15, 3, 471), (84, 102, 21, 7086)], strict=True))
)
def test_refusals_are_found_as_the_released_classifier_finds_them(
    shared_data: SharedData, name: str, expected: tuple[int, int, int, int]
) -> None:
    """Refusals found, refusals, false alarms and responses, without conversational turns."""
    rows, tasks = responses(shared_data("mtrag") / name)
    verdicts = []
    for row in rows:
        label = tasks[row["task_id"]]["Answerability"][0]
        fitting = stored(row, "conditional_idk") >= 1.0
        refused = fitting != (label in {"ANSWERABLE", "PARTIAL"})
        if label != "CONVERSATIONAL":
            verdicts.append((refused, refusal(row["model_response"]) == 1.0))

    found = verdicts.count((True, True))
    refusals = found + verdicts.count((True, False))
    alarms = verdicts.count((False, True))
    assert (found, refusals, alarms, len(verdicts)) == expected
