"""An experiment whose queries, gold answers, nuggets, answers and failures are their own words.

A word that appears in an output shows which query the output is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from ragstone.experiment.load import load_experiment
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer

COUNT: Final = 40
PARTS: Final = """
from dataclasses import dataclass
from ragstone.types import Hop, Passage, Prediction


@dataclass(frozen=True)
class Reader:
    name: str = "own"

    def generate(self, task):
        word = task.query.query_id.removeprefix("id")
        number = int(word[-3:-1])
        if number % 8 == 1:
            return Prediction(task.query.query_id, None, f"why{word} is down")
        right = f"gold{word}" if number % 3 else "none"
        return Prediction(task.query.query_id, f"{right} own{word}")
"""


def word(number: int) -> str:
    """Return the word of a query, which ends its id, its text and all that is said about it."""
    return f"canary{number:02}x"


def nugget(number: int, place: int) -> str:
    """Return the text of a nugget of a query, which is a word of its own."""
    return f"nugget{number:02}{place}x"


def _answer(messages: Any, *_: Any) -> str:
    """Return the answer of the fake model, or the verdict of a judge."""
    said = messages[-1]["content"]
    if facts := re.findall(r"^(\d+)\. nugget", said, re.MULTILINE):
        # The second fact of each query is never in an answer.
        return json.dumps({n: "none" if n == "2" else "support" for n in facts})
    found = next((word(n) for n in range(COUNT) if f"query{word(n)}" in said), "")
    return "yes" if f"gold{found}" in said else f"gold{found} model{found}"


def canary_experiment(
    folder: Path,
    name: str = "e",
    *,
    share: object = None,
    judges: Sequence[str] = ("equivalence",),
    again: Sequence[object] = (),
    **changes: Any,
) -> Results:
    """Run a model and an own system on 40 queries, and return the results of `folder/NAME.yaml`.

    `share` is the secret share, `judges` are names, and `again` are shares of further runs, in
    which no call is made. `changes` are other keys of the experiment file.
    """
    _write(folder)
    with FakeModelServer(answer=_answer) as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        document = {
            "name": name,
            "data": str(folder / "set"),
            "store": str(folder / "store"),
            "systems": {
                "model": {"retriever": "bm25", "generator": model},
                "own": {"retriever": "bm25", "generator": f"{folder / 'parts.py'}:Reader"},
            },
            "settings": ["none", "gold", "retrieved(2)"],
            "metrics": ["Match", "F1", "BLEU", "R@2"],
            "judges": [{"model": model, "name": one, "least_parse_rate": 0} for one in judges],
            "oracle": "gold",
            "secret": share,
            **changes,
        }
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump({k: v for k, v in document.items() if v is not None}))
        results = load_experiment(path).run()
        for other in again:
            asked = server.asked.total()
            results = load_experiment(path, [f"secret={json.dumps(other)}"]).run()
            assert server.asked.total() == asked, "a call was made for a share"
        return results


def _write(folder: Path) -> None:
    (folder / "set" / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "parts.py").write_text(PARTS)
    queries, passages, grades = [], [], ["query-id\tcorpus-id\tscore"]
    for number in range(COUNT):
        own, kind = word(number), "odd" if number % 2 else "even"
        row = {"_id": f"id{own}", "text": f"where is query{own}", "answers": [f"gold{own}"]}
        row |= {"vital_nuggets": [nugget(number, n) for n in range(4)]}
        row |= {"okay_nuggets": [nugget(number, n) for n in range(4, 6)]}
        queries.append(json.dumps({**row, "kind": kind}))
        text = f"Town {number} has it; number {number} is the one."
        passages.append(json.dumps({"_id": f"p{number}", "title": "", "text": text}))
        grades.append(f"id{own}\tp{number}\t1")
    (folder / "set" / "queries.jsonl").write_text("\n".join(queries))
    (folder / "set" / "corpus.jsonl").write_text("\n".join(passages))
    (folder / "set" / "qrels" / "test.tsv").write_text("\n".join(grades))
