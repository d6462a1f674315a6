"""Questions on four ferries in three languages, each with its translations, and their results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import ragstone
from ragstone.results.results import Results

FERRIES: Final = {"Alba": "1802", "Bora": "1911", "Cora": "1954", "Dana": "1987"}
PASSAGE: Final = {
    "en": "The ferry {name} was built in the year {year} and goes to the island every day.",
    "de": "Die Fähre {name} wurde im Jahr {year} gebaut und fährt jeden Tag zur Insel.",
    "ru": "Паром {name} был построен в {year} году и каждый день ходит на остров.",
}
QUESTION: Final = {
    "en": "When was the ferry {name} built?",
    "de": "Wann wurde die Fähre {name} gebaut?",
    "ru": "Когда был построен паром {name}?",
}
WRONG: Final = {("de", "Alba"), ("ru", "Alba"), ("ru", "Bora")}
"""Language and ferry of the wrong answers."""


def records(languages: tuple[str, ...] = tuple(PASSAGE)) -> dict[str, list[Any]]:
    """Return the rows of the data set by the name of their file."""
    rows = [(code, name) for code in languages for name in FERRIES]
    labels = {(code, name): {"language": code, "parallel": name} for code, name in rows}
    return {
        "queries": [
            {
                "_id": f"{code}/{name}",
                "text": QUESTION[code].format(name=name),
                "answers": [FERRIES[name]],
                **labels[code, name],
            }
            for code, name in rows
        ],
        "corpus": [
            {
                "_id": f"{code}/p-{name}",
                "title": "",
                "text": PASSAGE[code].format(name=name, year=FERRIES[name]),
                "metadata": labels[code, name],
            }
            for code, name in rows
        ],
        "mine": [
            {
                "query_id": f"{code}/{name}",
                "answer": "1700" if (code, name) in WRONG else f"{FERRIES[name]}",
                "contexts": [{"id": f"{code}/p-{name}"}],
            }
            for code, name in rows
        ],
    }


def run(folder: Path, rows: Mapping[str, list[Any]] | None = None, **more: Any) -> Results:
    """Return the results of BM25 over all passages and of recorded answers."""
    found = records() if rows is None else rows
    (folder / "set" / "qrels").mkdir(parents=True, exist_ok=True)
    judged = [f"{q['_id']}\t{q['_id'].replace('/', '/p-')}\t1" for q in found["queries"]]
    files = {
        "set/queries.jsonl": [json.dumps(row) for row in found["queries"]],
        "set/corpus.jsonl": [json.dumps(row) for row in found["corpus"]],
        "set/qrels/test.tsv": ["query-id\tcorpus-id\tscore", *judged],
        "mine.jsonl": [json.dumps(row) for row in found["mine"]],
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    file = {
        "data": "set",
        "systems": {"bm25": {"retriever": "bm25"}, "mine": {"generator": "recorded(mine.jsonl)"}},
        "metrics": ["Match", "R@5", "same-language@3"],
        "store": str(folder / "store"),
        **more,
    }
    (folder / "e.yaml").write_text(json.dumps(file), encoding="utf-8")
    return ragstone.load_experiment(folder / "e.yaml").run()
