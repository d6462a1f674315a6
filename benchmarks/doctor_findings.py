"""Run the data doctor on every data set of a folder of real data, and print a table of findings.

    python benchmarks/doctor_findings.py ../shared/data > findings.md

Sets that have a layout of their own (RGB, CLAPnq, QED, PubMedQA, ...) are brought into Ragstone's
records here; the doctor then sees them as a user would.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import qrels
from ragstone.data_quality import check
from ragstone.data_quality.finding import Finding
from ragstone.data_quality.lenient_reader import read_leniently, subject_of
from ragstone.types import Passage, Query


def text_of(path: Path) -> str:
    """Return the text of a plain or gzipped file."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def rows_of(path: Path) -> Iterator[Any]:
    """Yield the objects of a JSON lines file."""
    return (json.loads(line) for line in text_of(path).splitlines() if line.strip())


def made(
    name: str,
    queries: Sequence[Query],
    texts: Mapping[str, Sequence[str]],
    more: Sequence[str] = (),
) -> Dataset:
    """Return a data set from queries and the texts relevant to each; `more` are distractors."""
    ids: dict[str, str] = {}
    builder = qrels()
    for query_id, held in texts.items():
        for text in dict.fromkeys(held):
            builder.add((query_id, ids.setdefault(text, f"p{len(ids)}"), 1))
    for text in more:
        ids.setdefault(text, f"p{len(ids)}")
    corpus = Corpus.from_passages([Passage(i, text) for text, i in ids.items()])
    return Dataset(name, queries_to_table(queries), corpus, builder.finish())


def rgb(path: Path) -> Dataset:
    """RGB: answers may be nested lists of alternatives."""
    rows = list(rows_of(path))
    queries = [Query(str(r["id"]), r["query"], tuple(_flat(r["answer"]))) for r in rows]
    texts = {str(r["id"]): _flat(r["positive"]) for r in rows}
    return made(path.name, queries, texts, [t for r in rows for t in _flat(r["negative"])])


def _flat(value: object) -> list[str]:
    return [text for v in value for text in _flat(v)] if isinstance(value, list) else [str(value)]


def clapnq(folder: Path) -> Dataset:
    """CLAPnq dev, both halves."""
    queries, texts, more = [], {}, []
    for name in ("answerable", "unanswerable"):
        for row in rows_of(folder / f"clapnq_dev_{name}.jsonl.gz"):
            answers = [o["answer"] for o in row["output"] if o["answer"]]
            labels = {"answerability": name}
            queries.append(Query(row["id"], row["input"], tuple(answers), labels=labels))
            held = [f"{p['title']}\n{p['text']}" for p in row["passages"]]
            more += held
            if name == "answerable":
                texts[row["id"]] = held
    return made("clapnq", queries, texts, more)


def qed(path: Path) -> Dataset:
    """QED dev."""
    queries, texts = [], {}
    for row in rows_of(path):
        answers = [
            part if isinstance(part, str) else part["string"]
            for answer in row["original_nq_answers"]
            for part in ([answer[-1]] if isinstance(answer[-1], str) else answer)
        ]
        query_id = str(row["example_id"])
        queries.append(Query(query_id, row["question_text"], tuple(answers)))
        texts[query_id] = [row["paragraph_text"]]
    return made("qed", queries, texts)


def pubmedqa(path: Path) -> Dataset:
    """PubMedQA: the abstract is the passage, the long answer the gold answer."""
    rows = json.loads(text_of(path))
    queries = [
        Query(i, r["QUESTION"], (r["LONG_ANSWER"],), labels={"decision": r["final_decision"]})
        for i, r in rows.items()
    ]
    return made("pubmedqa", queries, {i: [" ".join(r["CONTEXTS"])] for i, r in rows.items()})


def nq_open(path: Path) -> Dataset:
    """NQ-open: no passages."""
    return made(
        path.name,
        [Query(str(i), r["question"], tuple(r["answer"])) for i, r in enumerate(rows_of(path))],
        {},
    )


def truthfulqa(path: Path) -> Dataset:
    """TruthfulQA: correct answers as gold answers."""
    rows = json.loads(text_of(path))
    queries = []
    for i, row in enumerate(rows):
        held = row["correct_answers"]
        listed = held if isinstance(held, list) else held.split(";")
        answers = [answer.strip() for answer in listed if answer.strip()]
        queries.append(Query(str(i), row["question"], tuple(answers)))
    return made(path.name, queries, {})


def cacm(folder: Path) -> Dataset:
    """CACM, with its TREC qrels."""
    queries = [Query(r["_id"], r["text"]) for r in rows_of(folder / "queries.jsonl")]
    corpus = Corpus.from_passages(
        [Passage(r["_id"], r["text"]) for r in rows_of(folder / "docs.jsonl.gz")]
    )
    builder = qrels()
    for line in (folder / "qrels.txt").read_text().splitlines():
        query_id, _, passage_id, grade = line.split()
        builder.add((query_id, passage_id, int(grade)))
    return Dataset("cacm", queries_to_table(queries), corpus, builder.finish())


def clapnq_splits(folder: Path) -> Dataset:
    """CLAPnq's questions of all splits, for leakage alone."""
    csv.field_size_limit(1 << 30)
    queries = []
    for split in ("dev", "train"):
        for name in ("answerable", "unanswerable"):
            text = (folder / f"question_{split}_{name}.tsv").read_text()
            for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
                labels = {"split": split, "answerability": name}
                queries.append(Query(f"{split}-{row['id']}", row["question"], labels=labels))
    return made("clapnq questions", queries, {})


def sets(data: Path) -> Iterator[tuple[str, Callable[[], list[Finding]]]]:
    """Yield name and check of every set."""
    for name in ("nq_singlehop", "mirage", "jsquad", "squad_it"):
        yield name, lambda name=name: check(read_leniently(str(data / name)))  # type: ignore[misc]
    for domain in ("clapnq", "cloud", "fiqa", "govt"):
        source = f"mtrag({data / 'mtrag'}, domains={domain})"
        yield f"mtrag {domain}", lambda s=source: check(read_leniently(s))  # type: ignore[misc]
    for path in sorted((data / "xquad").glob("*.json.gz")):
        yield path.name, lambda path=path: check(read_leniently(str(path)))  # type: ignore[misc]
    own: list[tuple[Callable[[Path], Dataset], list[Path]]] = [
        (rgb, sorted((data / "rgb").glob("*.gz"))),
        (clapnq, [data / "clapnq"]),
        (clapnq_splits, [data / "clapnq"]),
        (qed, [data / "qed" / "qed-dev.jsonl.gz"]),
        (pubmedqa, [data / "pubmedqa" / "pqal_non_test.json.gz"]),
        (nq_open, sorted((data / "nq_open").glob("*.gz"))),
        (truthfulqa, sorted((data / "truthfulqa").glob("*.json.gz"))),
        (cacm, [data / "cacm"]),
    ]
    for reader, paths in own:
        for path in paths:
            name = path.name if path.is_file() else reader.__name__.replace("_", " ")
            yield name, lambda r=reader, p=path: check(subject_of(r(p)))  # type: ignore[misc]


def main() -> None:
    """Print one table a set."""
    for name, run in sets(Path(sys.argv[1])):
        start = time.perf_counter()
        findings = run()
        print(f"\n### {name}  ({time.perf_counter() - start:.1f} s)\n")
        print("| severity | check | finding | example |\n| --- | --- | --- | --- |")
        for f in findings:
            example = (f.examples or ("",))[0].replace("|", "\\|")
            print(f"| {f.severity} | {f.check} | {f.what} | {example} |".replace("\n", " "))


if __name__ == "__main__":
    main()
