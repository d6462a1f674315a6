"""An experiment whose parts fail on purpose, one query per fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import ragstone
from ragstone.results.results import Results

FAULTS: Final = {
    "miss": ("retrieval_miss", None),
    "low": ("ranking", None),
    "pushed": ("reranking", None),
    "dropped": ("processing", None),
    "shortened": ("processing", None),
    "distracted": ("distraction", None),
    "misread": ("reading", None),
    "known": ("knowledge_conflict", None),
    "refused": ("false_refusal", None),
    "answered": ("missed_refusal", None),
    "failed": ("failure", None),
    "doubtful": ("label_suspect", None),
    "doctored": ("label_suspect", None),
    "border": ("chunk_border", "retrieval_miss"),
    "rewrite": ("query_rewriting", None),
}
"""The kind of a query -> its cause and the one that it refines."""

PARTS = """
from dataclasses import dataclass
from ragstone import Ranking
from ragstone.types import Prediction


def kind(text):
    return text.split()[0]


@dataclass(frozen=True)
class Finder:
    top_k: int = 8

    def retrieve(self, search, corpus):
        of = kind(search.text)
        rewritten = "rewritten" in search.text
        others = [f"{of}-{n}" for n in range(7)]
        place = {"miss": None, "border": None, "low": 6, "rewrite": None}.get(of, 0)
        place = 0 if rewritten else place
        ids = others if place is None else [*others[:place], f"{of}-gold", *others[place:]]
        return Ranking(ids, list(range(len(ids), 0, -1)))


@dataclass(frozen=True)
class Mover:
    top_k: int = 8

    def rerank(self, search, ranking):
        ids = list(ranking.passage_ids)
        if kind(search.text) == "pushed":
            ids = [*ids[1:], ids[0]]
        return Ranking(ids, list(range(len(ids), 0, -1)))


@dataclass(frozen=True)
class Cutter:
    def process(self, task):
        from dataclasses import replace
        of, context = kind(task.query.text), task.context
        if context.setting.startswith("retrieved") and of == "dropped":
            kept = tuple(p for p in context.passages if not p.passage_id.endswith("gold"))
            return replace(context, passages=kept)
        if context.setting.startswith("retrieved") and of == "shortened":
            kept = tuple(replace(p, text=p.text.split(".")[0]) for p in context.passages)
            return replace(context, passages=kept)
        return context


@dataclass(frozen=True)
class Reader:
    name: str = "a"

    def generate(self, task):
        of, setting, q = kind(task.query.text), task.context.setting, task.query.query_id
        gold = any(p.passage_id.endswith("gold") for p in task.context.passages)
        right = setting == "gold" or of == "right"
        if of == "failed" and setting.startswith("retrieved"):
            return Prediction(q, None, "the server is down")
        if of == "refused":
            return Prediction(q, "I don't know.")
        if of == "doubtful":
            return Prediction(q, "in spring")
        if of in ("misread", "doctored"):
            right = False
        if of == "known":
            right = setting == "none"
        if setting.startswith("neighbours"):
            right = of == "border"
        if setting.startswith("retrieved") and of == "rewrite":
            right = gold
        return Prediction(q, "in winter [1]" if right else f"in autumn {self.name}")
"""

SEARCH: Final = {
    "retriever": "parts.py:Finder",
    "reranker": "parts.py:Mover",
    "processor": "parts.py:Cutter",
}
"""The parts of a system that bring its context."""


def passages(kind: str) -> Iterator[dict[str, Any]]:
    """Yield a gold passage and seven others, all of one document."""
    answer = "in summer" if kind == "doctored" else "in winter"
    text = f"The story of {kind} in spring is long. It happened {answer}."
    yield {"_id": f"{kind}-gold", "text": text, "document": kind}
    for n in range(7):
        yield {"_id": f"{kind}-{n}", "text": f"Note {n} on {kind}: in spring.", "document": kind}


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a file of JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def faulty(folder: Path, code: str = PARTS, **changes: Any) -> Results:
    """Run two systems that fail on purpose, and a third that searches for the gold rewrite."""
    kinds = [*FAULTS, "right"]
    (folder / "set" / "qrels").mkdir(parents=True)
    (folder / "parts.py").write_text(code, encoding="utf-8")
    queries = [
        {
            "_id": kind,
            "text": f"{kind} happened when?",
            "answers": ["in winter"],
            "rewrite": f"{kind} rewritten: when?"
            if kind == "rewrite"
            else f"{kind} happened when?",
            "answerability": "unanswerable" if kind == "answered" else "answerable",
        }
        for kind in kinds
    ]
    lines(folder / "set/queries.jsonl", queries)
    lines(folder / "set/corpus.jsonl", [p for kind in kinds for p in passages(kind)])
    judged = "".join(f"{kind}\t{kind}-gold\t{int(kind != 'answered')}\n" for kind in kinds)
    (folder / "set/qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", "utf-8")
    file = {
        "data": "set",
        "systems": {
            "a": {**SEARCH, "generator": "parts.py:Reader(name=a)"},
            "b": {**SEARCH, "generator": "parts.py:Reader(name=b)"},
            "rewriter": {**SEARCH, "query_former": "rewrite"},
        },
        "settings": ["none", "gold", "retrieved(3)", "neighbours(3)"],
        "metrics": ["Match", "refusal", "R@3"],
        "correct": "Match",
        "store": str(folder / "store"),
        **changes,
    }
    (folder / "e.yaml").write_text(json.dumps(file), encoding="utf-8")
    return ragstone.load_experiment(folder / "e.yaml").run()
