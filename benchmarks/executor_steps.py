"""What scoring and cutting cost on the workers of an executor, and in one process.

    python benchmarks/executor_steps.py [--only WORD] [--json FILE]

Each job is one step: word metrics of 20,000 answers, three metrics of 10,000 rankings with 100
passages each, BERTScore of 1,200 answers with the bundled encoder, and two chunkers on 13,752
documents. Questions, gold answers and documents are those of nq_singlehop, the questions repeated
under new ids; an answer is the first 60 words of a passage (12 for BERTScore), and rankings are
those of BM25. Each job runs in one process and on `processes(2)`, each in a process of its own.
Figures are processor seconds of the step: of the process that started it, and of the workers with
their start. The digests have to be equal.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    need_data,
    rows_of,
    write_measured,
)

JOBS = {
    "answers": (20_000, 60, ("EM", "F1", "Match", "ROUGE-1", "ROUGE-L")),
    "rankings": (10_000, 0, ("nDCG@10", "R@5", "MRR")),
    "BERTScore": (1_200, 12, ("BERTScore-F1(model=all-minilm-l6-v2)",)),
}
"""Job -> number of queries, words of an answer, and metrics."""
CHUNKERS = {"cutting by words": "words(50)", "cutting by sentences": "sentences"}
"""Job -> chunker."""
DOCUMENTS = 13_752
WORKERS = "processes(2)"


def queries_of(count: int) -> list[Any]:
    """Return questions with their gold answers, those after the first round under new ids."""
    from ragstone.types import Query

    found = list(rows_of(DATA / "nq_singlehop" / "queries.jsonl.gz"))
    return [
        Query(f"{row['_id']}~{place}", row["text"], gold_answers=tuple(row["answers"]))
        for place, row in enumerate(islice(cycle(found), count))
    ]


def passages() -> list[Any]:
    """Return the passages."""
    from ragstone.types import Passage

    found = rows_of(DATA / "nq_singlehop" / "corpus.jsonl.gz")
    return [Passage(row["_id"], row["text"], row.get("title") or "") for row in found]


def rankings(queries: list[Any]) -> dict[str, Any]:
    """Return BM25's 100 passages of each query, searched once per question."""
    from ragstone.components.retrievers.bm25 import BM25
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Services
    from ragstone.types import Search

    services = Services(corpus=Corpus.from_passages(passages()))
    texts = list(dict.fromkeys(query.text for query in queries))
    searches = [Search(str(place), text) for place, text in enumerate(texts)]
    outcomes = BM25(top_k=100).retrieve(searches, services)
    found = dict(zip(texts, (outcome.value for outcome in outcomes), strict=True))
    return {query.query_id: found[query.text] for query in queries}


def inputs_of(job: str) -> tuple[str, dict[str, Any]]:
    """Return the name of the step and its input tables."""
    from ragstone.core.schemas import (
        predictions_to_table,
        queries_to_table,
        rankings_to_table,
    )
    from ragstone.data.table_builder import judgements
    from ragstone.types import Prediction

    count, words, _ = JOBS[job]
    queries = queries_of(count)
    given = {"queries": queries_to_table(queries)}
    if not words:
        found = rankings(queries)
        qrels = {(name, one.passage_ids[0]): 1 for name, one in found.items() if one.passage_ids}
        given["run"] = rankings_to_table(list(found), list(found.values()))
        return "score-ranking", given | {"qrels": judgements(qrels)}
    texts = cycle(" ".join(one.text.split()[:words]) for one in passages())
    answers = zip(queries, texts, strict=False)
    predictions = [
        Prediction(query.query_id, f"{text} {n}") for n, (query, text) in enumerate(answers)
    ]
    return "score-answer", given | {"predictions": predictions_to_table(predictions)}


def cut(chunker: str, executor: Any) -> tuple[Any, float]:
    """Return the passages that a chunker cuts, and the processor seconds of this process."""
    from ragstone.core.registry import create
    from ragstone.core.schemas import queries_to_table
    from ragstone.data.corpus import Corpus
    from ragstone.data.cut_passages import cut_by
    from ragstone.data.dataset import Dataset
    from ragstone.data.rechunk.rechunk import rechunk
    from ragstone.data.table_builder import judgements

    given = Dataset("nq", queries_to_table([]), Corpus.from_passages(passages()), judgements({}))
    chosen, before = create("chunkers", chunker, where="benchmark"), seconds()
    with cut_by(executor):
        found = rechunk(given, chosen).dataset.corpus.table
    return found, seconds() - before


def scored(job: str, executor: Any) -> tuple[Any, float]:
    """Return the scores of a job, and the processor seconds of this process."""
    from ragstone.components.metrics.parse import parse_metric
    from ragstone.core.schemas import SCORES, joined
    from ragstone.core.store import Store
    from ragstone.core.stored_table import StoredTable
    from ragstone.experiment.block_work import Tally
    from ragstone.experiment.metric_set import MetricSet
    from ragstone.experiment.sent_blocks import SentBlocks
    from ragstone.experiment.step_blocks import result_blocks
    from ragstone.experiment.steps import Step
    from ragstone.protocols import Services

    name, tables = inputs_of(job)
    inputs = {role: StoredTable.in_memory(table) for role, table in tables.items()}
    step = Step(name, MetricSet(tuple(map(parse_metric, JOBS[job][2]))), inputs)
    with tempfile.TemporaryDirectory() as folder:
        store, before = Store(Path(folder)), seconds()
        services = Services(store=store, executor=executor)
        sent = SentBlocks.of(step, inputs, store, services)
        found = joined(list(result_blocks(step, inputs, services, Tally(), sent)), SCORES)
        executor.close()
        return found, seconds() - before


def measure(job: str, executor: str) -> None:
    """Do a job; print its digest and the processor seconds here and in the workers."""
    from ragstone.core.executors.spec import executor_of
    from ragstone.core.fingerprint import digest_table

    used = executor_of(executor)
    found, spent = (cut if job in CHUNKERS else scored)(CHUNKERS.get(job, job), used)
    print(json.dumps([digest_table(found), spent, seconds(resource.RUSAGE_CHILDREN)]))


def seconds(whose: int = resource.RUSAGE_SELF) -> float:
    """Return processor seconds so far."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def case(job: str, executor: str) -> tuple[str, float, float]:
    """Return what `measure` prints in a process of its own."""
    command = [sys.executable, __file__, "--job", job, "--executor", executor]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    digest, here, workers = json.loads(said.splitlines()[-1])
    return digest, here, workers


def main() -> None:
    """Measure every job."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="a word in the names of the jobs to measure")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--executor", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    need_data("nq_singlehop")
    if given.job:
        measure(given.job, given.executor)
        return
    figures = []
    for job in (*JOBS, *CHUNKERS):
        if given.only not in job:
            continue
        count = JOBS[job][0] if job in JOBS else DOCUMENTS
        digest, alone, _ = case(job, "")
        found, here, workers = case(job, WORKERS)
        if found != digest:
            raise SystemExit(f"{job}: the digest differs from that of one process")
        print(
            f"{job}, {count:,}: {alone:.2f} CPU s in one process; with {WORKERS} {here:.2f} in the "
            f"process that started it, {workers:.2f} in workers",
            flush=True,
        )
        figures += [
            Measured(
                job=f"{job} on two processes, {name}",
                n=count,
                unit="CPU s",
                ours=ours,
                peer=alone,
                against="in one process",
            )
            for name, ours in (("here", here), ("here and in workers", here + workers))
        ]
    if given.json:
        write_measured(given.json, figures)


if __name__ == "__main__":
    main()
