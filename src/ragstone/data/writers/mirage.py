"""Writing a data set in MIRAGE's form, which `ragstone.data.readers.mirage` reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ragstone.data.dataset import Dataset
from ragstone.data.writers.folder import write_lines
from ragstone.errors import DatasetError


def write_mirage(dataset: Dataset, folder: Path) -> list[Path]:
    """Write `dataset.json`, `doc_pool.json` and `oracle.json` and return the files.

    The pool of a query is its judged passages; the oracle is the one with the highest grade.

    Raises `DatasetError` if a query has a history or no relevant passage, or a file exists.
    """
    queries, pool, oracles = [], [], {}
    for query in dataset.queries:
        judged = dataset.qrels.get(query.query_id, {})
        best = max(judged, key=lambda passage_id: judged[passage_id], default="")
        if query.history or not judged.get(best):
            what = "is a turn of a conversation" if query.history else "has no relevant passage"
            raise DatasetError(
                f"query {query.query_id!r} {what}; MIRAGE's form has single queries with a pool "
                "that contains their oracle passage: choose another layout"
            )
        rows = [_pool_row(dataset, query.query_id, i, grade) for i, grade in judged.items()]
        labels = {k: v for k, v in query.labels.items() if k not in {"query_id", "query"}}
        queries.append(
            {
                **labels,
                "query_id": query.query_id,
                "query": query.text,
                "answer": list(query.gold_answers),
                "num_doc_labels": sum(row["support"] for row in rows),
            }
        )
        oracles[query.query_id] = _pool_row(dataset, query.query_id, best, 1)
        pool += rows
    made = {"dataset.json": queries, "doc_pool.json": pool, "oracle.json": oracles}
    return write_lines({folder / name: _document(content) for name, content in made.items()})


def _pool_row(dataset: Dataset, query_id: str, passage_id: str, grade: int) -> dict[str, Any]:
    passage = dataset.corpus[passage_id]
    return {
        "mapped_id": query_id,
        "doc_name": passage.title,
        "doc_chunk": passage.text,
        "support": int(grade > 0),
    }


def _document(content: object) -> Iterator[bytes]:
    yield orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
