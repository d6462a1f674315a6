"""The pages of `ragstone view` over a large store: time of each page, memory, equal numbers.

A generated store has real step folders, written by the store itself: by default 3,000 experiments
and about 100,000 predictions. Each page is asked for over HTTP, one request at a time, and its
numbers are compared with `ragstone show --json` of the experiment.

    python benchmarks/explorer.py --experiments 300 --store /tmp/explorer
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import (
    CLUSTERS,
    QRELS,
    TEXTS,
    contexts_to_table,
    predictions_to_table,
    queries_to_table,
    rankings_to_table,
    scores_to_table,
    to_table,
)
from ragstone.core.store import Store
from ragstone.results.data_facts import DataFacts, Tables
from ragstone.results.reader import StoredResults
from ragstone.results.record import (
    MetricEntry,
    RankingEntry,
    Record,
    SystemEntry,
    TrialEntry,
)
from ragstone.results.results import Results
from ragstone.types import Context, ContextPassage, Prediction, Query, Ranking, Score

RAGSTONE: Final = (sys.executable, "-c", "from ragstone.cli import main; main()")
QUERIES: Final = 8
"""Queries of an experiment: with two systems and two settings, about 33 answers each."""
SYSTEMS: Final = ("bm25 + small", "dense + small")
SETTINGS: Final = ("gold", "retrieved(3)")
DOMAINS: Final = ("ferries", "town hall", "museum")


def make_store(root: Path, experiments: int, data_sets: int) -> int:
    """Write a store with generated experiments and return the number of predictions."""
    store, count = Store(root), 0
    for number in range(experiments):
        data = number % data_sets
        # Each tenth data set is larger, so that some lists have several pages.
        size = QUERIES + (3 * QUERIES if number % 50 == 0 else 0)
        count += _experiment(store, number, f"set-{data}", size)
    return count


def _experiment(store: Store, number: int, data: str, size: int) -> int:
    draw = Random(number)
    asked = [_query(data, place) for place in range(size)]
    ids = [query.query_id for query in asked]
    queries = _kept(store, "queries", queries_to_table(asked))
    gold = [f"{query_id}-gold" for query_id in ids]
    judged: dict[str, list[Any]] = {"query_id": ids, "passage_id": gold, "relevance": [1] * size}
    texts = {"passage_id": gold, "text": [f"The ferry {i} leaves at noon." for i in ids]}
    skill = {name: 0.4 + 0.3 * draw.random() for name in SYSTEMS}
    ranks = {name: [draw.randrange(1, 6) for _ in ids] for name in SYSTEMS}
    trials = [
        _trial(store, draw, asked, (name, setting, skill[name]), ranks[name])
        for setting in SETTINGS
        for name in SYSTEMS
    ]
    names = ("Match", "F1")
    metrics = [MetricEntry(n, "answer", description=parse_metric(n).described()) for n in names]
    Record(
        name=f"experiment-{number:05d}",
        started=f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}T10:00:00+00:00",
        finished=f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}T10:04:31+00:00",
        file={"name": f"experiment-{number:05d}", "data": data, "correct": "Match"},
        data=DataFacts(data, 5 * size, size, size, size, "0" * 64),
        tables=Tables(
            answered=queries,
            ranked=queries,
            qrels=_kept(store, "qrels", to_table(QRELS, judged)),
            clusters=_kept(
                store, "clusters", to_table(CLUSTERS, {"query_id": ids, "cluster": ids})
            ),
            texts=_kept(store, "texts", to_table(TEXTS, texts)),
        ),
        systems=tuple(SystemEntry(name, _components(name)) for name in SYSTEMS),
        metrics=(MetricEntry("nDCG@10", "ranking"), *metrics),
        environment={"python": sys.version.split()[0]},
        ragstone="0",
        rankings=tuple(_ranking(store, asked, name, ranks[name]) for name in SYSTEMS),
        trials=tuple(trials),
    ).save(store)
    return len(trials) * size


def _components(name: str) -> dict[str, Any]:
    retriever, _, generator = name.partition(" + ")
    return {
        "retriever": {"component": f"retrievers/{retriever}", "version": 1, "parameters": {}},
        "generator": {
            "component": "generators/http",
            "version": 1,
            "parameters": {"model": generator},
        },
    }


def _kept(store: Store, step: str, table: Any) -> str:
    folder = store.keep(step, table).folder
    return "" if folder is None else folder.name


def _query(data: str, place: int) -> Query:
    return Query(
        f"{data}-q{place:03d}",
        f"When does ferry {place} of {data} leave in winter?",
        ("at noon",),
        labels={"domain": DOMAINS[place % 3]},
    )


def _trial(
    store: Store, draw: Random, asked: list[Query], trial: tuple[str, str, float], ranks: list[int]
) -> TrialEntry:
    system, setting, skill = trial
    contexts, predictions, scores = [], [], []
    for query, rank in zip(asked, ranks, strict=True):
        gold = ContextPassage(f"{query.query_id}-gold", "The ferry leaves at noon. " * 20, "gold")
        noise = [
            ContextPassage(f"{query.query_id}-{n}", f"Note {n} on bicycles. " * 20, "noise")
            for n in range(3)
        ]
        found = [*noise[: rank - 1], gold, *noise[rank - 1 :]][:3]
        passages = (gold,) if setting == "gold" else tuple(found)
        contexts.append(Context(query.query_id, setting, passages))
        right = draw.random() < skill * (1.2 if gold in passages else 0.3)
        failed = draw.random() < 0.01
        answer = "It leaves at noon." if right else f"It leaves at {draw.randrange(1, 11)}."
        predictions.append(
            Prediction(query.query_id, None, reason="no reply within 60 s")
            if failed
            else Prediction(query.query_id, answer, tokens_in=300, tokens_out=12, seconds=0.5)
        )
        for metric in ("Match", "F1"):
            value = float(right) if metric == "Match" else 0.5 + 0.4 * right
            scores.append(
                Score(query.query_id, metric, None, status="failed", reason="no answer")
                if failed
                else Score(query.query_id, metric, value)
            )
    built = _kept(store, "context", contexts_to_table(contexts))
    return TrialEntry(
        system,
        setting,
        built=built,
        contexts=built,
        predictions=_kept(store, "generate", predictions_to_table(predictions)),
        scores=_kept(store, "score-answer", scores_to_table(scores)),
    )


def _ranking(store: Store, asked: list[Query], system: str, ranks: list[int]) -> RankingEntry:
    rankings, scores = [], []
    for query, rank in zip(asked, ranks, strict=True):
        ids = [f"{query.query_id}-{n}" for n in range(4)]
        ids.insert(rank - 1, f"{query.query_id}-gold")
        rankings.append(Ranking(ids, [5.0 - place for place in range(5)]))
        scores.append(Score(query.query_id, "nDCG@10", 1 / float(np.log2(1 + rank))))
    ids = [query.query_id for query in asked]
    return RankingEntry(
        system,
        _kept(store, "retrieve", rankings_to_table(ids, rankings)),
        _kept(store, "score-ranking", scores_to_table(scores)),
    )


def addresses(experiments: int, times: int, data_sets: int) -> dict[str, list[str]]:
    """Return page -> its addresses, of different experiments, settings and filters."""
    draw = Random(7)
    names = [f"experiment-{draw.randrange(experiments):05d}" for _ in range(times)]
    found: dict[str, list[str]] = {}
    for number, name in enumerate(names):
        other = names[number - 1]
        of = int(name[-5:])
        pair = next(n for n in range(of % data_sets, experiments, data_sets) if n != of)
        system, setting = SYSTEMS[number % 2], SETTINGS[number % 2]
        trial = f":{system}:{setting}"
        asked: dict[str, dict[str, Any]] = {
            "/experiments": {"q": f"set-{number % data_sets}", "from": 50 * (number % 2)},
            "/leaderboard": {
                "data": f"set-{number % data_sets}",
                "setting": SETTINGS[number // data_sets % 2],
                "q": "dense" if number % 3 else "",
            },
            "/compare": {"a": name + trial, "b": f"experiment-{pair:05d}{trial}"},
            "/compare (choose)": {"q": other[-3:]},
            "/causes": {"experiment": name, "system": system, "setting": setting},
            "/labels": {"experiment": name, "label": "domain", "metric": "F1"},
            "/judges": {},
            "/calls": {"experiment": name},
            "/history": {"experiment": name},
            "/queries": {"experiment": name, "right": "no", "q": "" if number % 2 else "winter"},
            "/query/ID": {"experiment": name, "system": system, "setting": setting},
            "/experiment/NAME": {},
        }
        ids = {"ID": f"set-{of % data_sets}-q{number % 4:03d}", "NAME": name}
        for page, values in asked.items():
            path = page.partition(" ")[0]
            for word, value in ids.items():
                path = path.replace(word, value)
            query = urllib.parse.urlencode({k: v for k, v in values.items() if v})
            found.setdefault(page, []).append(f"{path}?{query}")
    return found


def _get(address: str, path: str) -> tuple[float, bytes]:
    began = time.perf_counter()
    with urllib.request.urlopen(address.rstrip("/") + path) as reply:  # noqa: S310 - loopback
        body = reply.read()
    return time.perf_counter() - began, body


def measure(address: str, experiments: int, times: int, data_sets: int) -> Iterator[dict[str, Any]]:
    """Yield the time of the first request and the 95th percentile of the others, and the size."""
    for page, paths in addresses(experiments, times, data_sets).items():
        held = [_get(address, path) for path in paths]
        seconds, sizes = [one for one, _ in held], [len(body) for _, body in held]
        yield {
            "page": page,
            "first": round(seconds[0], 3),
            "p50": round(float(np.percentile(seconds[1:], 50)), 3),
            "p95": round(float(np.percentile(seconds[1:], 95)), 3),
            "slowest": round(max(seconds[1:]), 3),
            "kB": round(max(sizes) / 1000, 1),
        }


def check_numbers(address: str, store: Path, experiments: int) -> int:
    """Return the number of means that equal those of `show`; exit if one does not."""
    compared = 0
    for number in range(0, experiments, max(1, experiments // 40)):
        name = f"experiment-{number:05d}"
        shown = json.loads(json.dumps(Results.load(Store(store), name).to_dict()))
        known = {
            (row["system"], row["setting"]): row
            for row in shown["leaderboard"]
            if row["metric"] == "Match"
        }
        for setting in SETTINGS:
            query = {"data": shown["data"]["name"], "setting": setting, "q": name}
            path = f"/leaderboard.json?{urllib.parse.urlencode(query)}"
            page = json.loads(_get(address, path)[1])
            rows = page["tables"][0]["rows"]
            assert len(rows) == len(SYSTEMS), (name, setting, len(rows))
            for row in rows:
                own, mean = known[row["system"], setting], row["mean"]
                assert (mean["mean"], mean["interval"], mean["n"], mean["failed"]) == (
                    *(own["mean"], own["interval"], own["n"], own["failed"]),
                ), (name, row, own)
                compared += 1
    return compared


def read_scores(store: Path, experiments: int, data_sets: int) -> dict[str, Any]:
    """Return the time to read the score tables of one leaderboard, here and by DuckDB.

    Ragstone verifies the digest of each table and makes its records; DuckDB reads the means alone.
    Without the package duckdb its time is None.
    """
    opened = Store(store)
    names = (f"experiment-{number:05d}" for number in range(0, experiments, data_sets))
    found = [StoredResults(opened, Record.load(opened, name)) for name in names]
    folders = {t.scores: one for one in found for t in one.record.trials if t.setting == "gold"}
    own = min(_timed(lambda: [one.scores(f) for f, one in folders.items()]) for _ in range(5))
    duckdb = importlib.import_module("duckdb") if importlib.util.find_spec("duckdb") else None
    if duckdb is None:
        return {"tables": len(folders), "ragstone": round(own, 3), "duckdb": None}
    paths = [str(store / "steps" / folder / "table.parquet") for folder in folders]
    query = "SELECT filename, avg(value) FROM read_parquet(?, filename=true) GROUP BY 1, metric"
    connection = duckdb.connect()
    other = min(_timed(lambda: connection.execute(query, [paths]).fetchall()) for _ in range(5))
    return {"tables": len(folders), "ragstone": round(own, 3), "duckdb": round(other, 3)}


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def print_table(pages: list[dict[str, Any]]) -> None:
    """Print the times of the pages as in docs/view.md."""
    print("| page | first request | median | 95th percentile | kB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for one in pages:
        times = " | ".join(f"{one[name]:.3f} s" for name in ("first", "p50", "p95"))
        print(f"| {one['page']} | {times} | {one['kB']:.0f} |")


def main() -> None:
    """Measure, check, and print or write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=3000)
    parser.add_argument("--data-sets", type=int, default=10, help="A leaderboard is of one.")
    parser.add_argument("--times", type=int, default=40, help="Requests per page.")
    parser.add_argument("--store", type=Path, required=True, help="A new folder, or a made store.")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if not given.store.exists():
        began = time.perf_counter()
        predictions = make_store(given.store, given.experiments, given.data_sets)
        print(f"made {predictions:,} predictions in {time.perf_counter() - began:.0f} s")
    command = [*RAGSTONE, "view", str(given.store), "--port", "0", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        pages = list(measure(address, given.experiments, given.times, given.data_sets))
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1e6
        compared = check_numbers(address, given.store, given.experiments)
    finally:
        server.terminate()
        server.wait()
    found = {
        "experiments": given.experiments,
        "pages": pages,
        "memory_gb": round(peak, 2),
        "equal_means": compared,
        "cores": os.cpu_count(),
        "score_tables": read_scores(given.store, given.experiments, given.data_sets),
    }
    print_table(pages)
    print(f"\nmemory {peak:.2f} GB, {compared} means equal to show, {found['score_tables']}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
