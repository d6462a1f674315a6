"""Scan the text weight of hybrid search per label, and print a table a normalisation.

    python benchmarks/weight_scan.py ../shared/data/nq_singlehop kind --store STORE
    python benchmarks/weight_scan.py ../shared/data/mtrag domain question_type --store STORE

BM25 and the bundled MiniLM find the top 100 of each query; mtRAG's rewritten turns are searched for
in the corpus of their own domain. Vectors are kept in the store. A query with several labels counts
for each; conversations, if there are any, are drawn whole.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ragstone.core.registry import create
from ragstone.core.store import Store
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.mtrag import MtragReader
from ragstone.protocols import Services
from ragstone.statistics.score_scaling import Normalisation
from ragstone.statistics.weight_scan import Scan, weight_scan
from ragstone.types import Query, Ranking, Search

DOMAINS: Final = ("clapnq", "cloud", "fiqa", "govt")
NORMALISATIONS: Final[tuple[Normalisation, ...]] = ("min-max", "z-score", "none")
DEPTH: Final = 100


@dataclass
class Runs:
    """What two retrievers found, over all corpora."""

    lexical: dict[str, Ranking] = field(default_factory=dict)
    dense: dict[str, Ranking] = field(default_factory=dict)
    qrels: dict[str, dict[str, int]] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)

    def add(self, dataset: Dataset, former: str, store: Store) -> None:
        """Search one corpus for its judged queries."""
        queries = [query for query in dataset.queries if query.query_id in dataset.qrels]
        formed = create("query_formers", former, where="query").form(queries, Services())
        searches = [Search(q.query_id, o.value) for q, o in zip(queries, formed, strict=True)]
        corpus = replace(dataset.corpus, store=store)
        for name, run in (("bm25", self.lexical), ("dense", self.dense)):
            started = time.perf_counter()
            retriever = create("retrievers", {"name": name, "top_k": DEPTH}, where="retriever")
            found = retriever.retrieve(searches, Services(corpus=corpus))
            run |= {s.query_id: o.value for s, o in zip(searches, found, strict=True)}
            seconds = time.perf_counter() - started
            sys.stderr.write(f"{name}, {len(corpus):,} passages: {seconds:.0f} s\n")
        self.qrels |= {q: dict(grades) for q, grades in dataset.qrels.items()}
        self.queries += queries

    def labels(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return query id -> the values of one label."""
        held = {q.query_id: q.labels[name] for q in self.queries if q.labels.get(name) is not None}
        return {
            i: tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
            for i, value in held.items()
        }

    @property
    def clusters(self) -> dict[str, Hashable] | None:
        """Query id -> conversation; None if there are none."""
        named = self.labels("conversation")
        return {i: value[0] for i, value in named.items()} or None


def searched(source: Path, store: Store) -> Runs:
    """Return the runs of a data set, or of mtRAG's four domains."""
    runs = Runs()
    if (source / "conversations").is_dir():
        for domain in DOMAINS:
            runs.add(MtragReader(source, domains=domain).read(), "rewrite", store)
    else:
        runs.add(load_dataset(str(source)), "as-given", store)
    return runs


def table(scan: Scan) -> Iterator[str]:
    """Yield a Markdown table: one row a label, one column a weight."""
    head = "".join(f" {weight:g} |" for weight in scan.weights)
    yield f"| label | n |{head} best | regret | held out | p (Holm) |"
    yield "| --- |" + " --- |" * (len(scan.weights) + 5)
    for row in scan.labels:
        cells = "".join(f" {point.mean:.3f} |" for point in row.curve)
        low, high = row.regret_interval or (0.0, 0.0)
        yield (
            f"| {row.label} | {row.curve[0].n} |{cells} {row.best:g} | {row.regret:.3f} "
            f"[{low:.3f}, {high:.3f}] | {row.held_out:+.3f} | {row.p_value:.3f} |"
        )


def intervals(scan: Scan) -> Iterator[str]:
    """Yield a Markdown table with the interval of every mean."""
    yield "| label |" + "".join(f" {weight:g} |" for weight in scan.weights)
    yield "| --- |" + " --- |" * len(scan.weights)
    for row in scan.labels:
        held = [point.interval or (0.0, 0.0) for point in row.curve]
        yield f"| {row.label} |" + "".join(f" {low:.3f}-{high:.3f} |" for low, high in held)


def main() -> None:
    """Search, scan and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("labels", nargs="+")
    parser.add_argument("--store", type=Path, required=True)
    asked = parser.parse_args()
    runs = searched(asked.data, Store(asked.store))
    for label in asked.labels:
        for kind in NORMALISATIONS:
            scan = weight_scan(
                runs.lexical,
                runs.dense,
                runs.qrels,
                runs.labels(label),
                clusters=runs.clusters,
                normalisation=kind,
            )
            print(f"\n**{asked.data.name}, {label}, {kind}**\n")
            print("\n".join(table(scan)))
            if kind == NORMALISATIONS[0]:
                print("\nIntervals of 95 %:\n")
                print("\n".join(intervals(scan)))


if __name__ == "__main__":
    main()
