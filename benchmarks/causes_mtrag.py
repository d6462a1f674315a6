"""Causes on mtRAG's released material: python benchmarks/causes_mtrag.py ../shared/data.

First the released answers, all given with the gold passages alone: which wrong ones are refusals,
and which need a trial without context. Then the released rankings: at which step the gold passages
of a query are lost before a context of 5 passages, with the last turn as the search text.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.causes.evidence import Evidence, GoldPath
from ragstone.causes.rules import decide, deciding_path
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.statistics.summary import summarise

RIGHT = 0.5
"""Minimum rb_llm of an answer that counts as right."""
SHOWN, DEPTH = 5, 10
DOMAINS = ("clapnq", "cloud", "fiqa")
RETRIEVERS = ("bm25", "bge", "elser")
FILES = {
    "human": "human_evaluations/reference_subset_with_human_evaluations.json.gz",
    "synthetic": "synthetic/evaluations.json.gz",
}


def conversation(query_id: str) -> str:
    """Return the conversation of a turn."""
    return query_id.partition("<::>")[0]


def answers(folder: Path, part: str) -> Iterator[tuple[str, str, Evidence | None]]:
    """Yield model, turn and evidence of each released answer; no evidence for a right one."""
    with gzip.open(folder / FILES[part]) as file:
        found = json.load(file)
    tasks = {task["task_id"]: task for task in found["tasks"]}
    for one in found["evaluations"]:
        if one["model_id"] == "reference":
            continue
        task, scores = tasks[one["task_id"]], one["annotations"]
        unanswerable = task["Answerability"] == ["UNANSWERABLE"]
        as_labelled = _composite(scores, "conditional_idk") == 1
        evidence = Evidence(
            unanswerable=unanswerable,
            refused=as_labelled == unanswerable,
            gold=tuple(
                GoldPath(context["document_id"], built=True, shown=True)
                for context in task["contexts"]
            ),
            right_with_gold=False,
        )
        right = as_labelled and _composite(scores, "rb_llm") >= RIGHT
        yield one["model_id"], one["task_id"], None if right else evidence


def _composite(scores: Any, metric: str) -> float:
    return float(scores[metric]["composite"]["value"])


def lost(folder: Path, retriever: str) -> Iterator[tuple[str, str]]:
    """Yield each turn with gold passages, and the step at which its gold is lost."""
    for domain in DOMAINS:
        qrels = read_qrels(folder / "qrels" / f"human_{domain}.tsv")
        runs = {
            form: read_run(folder / "runs" / f"{retriever}.{domain}.{form}.trec.gz")
            for form in ("lastturn", "rewrite")
        }
        for query_id, grades in qrels.items():
            ranks = {
                form: {
                    passage: rank
                    for rank, passage in enumerate(_best(run.get(query_id, {})), start=1)
                }
                for form, run in runs.items()
            }
            own, rewritten = ranks["lastturn"], ranks["rewrite"]
            gold = tuple(
                GoldPath(
                    passage,
                    retrieved=own.get(passage),
                    ranked=own.get(passage),
                    built=own.get(passage, DEPTH) <= SHOWN,
                    shown=own.get(passage, DEPTH) <= SHOWN,
                    with_rewrite=rewritten.get(passage),
                )
                for passage, grade in grades.items()
                if grade > 0
            )
            if gold:
                step = deciding_path(Evidence(gold=gold, cut=SHOWN, depth=DEPTH))[0]
                yield query_id, step or "gold shown"


def _best(scores: Any) -> list[str]:
    if hasattr(scores, "passage_ids"):
        return list(scores.passage_ids)[:DEPTH]
    return sorted(scores, key=lambda passage: -scores[passage])[:DEPTH]


def table(title: str, rows: dict[str, list[tuple[str, str]]]) -> None:
    """Print a row per system and cause: number, share and interval, clusters are conversations."""
    print(f"\n| {title} | of | cause | n | share |\n| --- | ---: | --- | ---: | --- |")
    for system, found in rows.items():
        clusters = [conversation(query_id) for query_id, _ in found]
        for cause in dict.fromkeys(sorted(cause for _, cause in found)):
            hits = [float(one == cause) for _, one in found]
            summary = summarise(hits, clusters=clusters)
            low, high = summary.interval or (0.0, 1.0)
            print(
                f"| {system} | {len(found):,} | {cause} | {int(sum(hits)):,} "
                f"| {summary.mean:.3f} [{low:.3f}, {high:.3f}] |"
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    folder = parser.parse_args(arguments).data / "mtrag"
    rows: dict[str, list[tuple[str, str]]] = {}
    for part in FILES:
        for model, query_id, evidence in answers(folder, part):
            if evidence is not None:
                decision = decide(evidence)
                missing = f", needs {decision.missing_trial}" if decision.missing_trial else ""
                found = rows.setdefault(f"{model} ({part})", [])
                found.append((query_id, f"{decision.cause}{missing}"))
    table("model, wrong answers", rows)
    table("retriever, turns with gold", {name: list(lost(folder, name)) for name in RETRIEVERS})


if __name__ == "__main__":
    main()
