"""A random sample of labelled chunks for people, and the model's labels in the form of ratings.

People rate `to-label.jsonl` in the form of docs/ratings.md. `ragstone data ratings` then shows how
far they agree with each other and with the model, which is one of the raters of `labels.jsonl`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ragstone.data.writers.folder import json_line

if TYPE_CHECKING:
    from ragstone.building.mirage import Mapped

TO_LABEL: Final = "to-label.jsonl"
LABELS: Final = "labels.jsonl"
QUERIES: Final = 100
"""Queries in the sample, as in MIRAGE's validation by people."""


def support_sample(queries: Sequence[Mapped], rater: str, seed: int) -> dict[str, bytes]:
    """Return the two files by name; {} without queries."""
    places = sorted(random.Random(seed).sample(range(len(queries)), min(QUERIES, len(queries))))  # noqa: S311 - no secret
    drawn = [queries[place] for place in places]
    wanted = {TO_LABEL: _to_label(drawn), LABELS: _labels(drawn, rater)}
    files = {name: b"".join(map(json_line, rows)) for name, rows in wanted.items()}
    return {name: content for name, content in files.items() if content}


def _to_label(drawn: Sequence[Mapped]) -> Iterator[dict[str, Any]]:
    for one in drawn:
        for chunk in one.candidates:
            yield {
                "query_id": one.item_id,
                "passage_id": chunk.passage_id,
                "property": "support",
                "values": ["yes", "no"],
                "query": one.text,
                "answers": list(one.query.gold_answers),
                "title": chunk.title,
                "text": chunk.text,
            }


def _labels(drawn: Sequence[Mapped], rater: str) -> Iterator[dict[str, Any]]:
    for one in drawn:
        for chunk_id, label in one.supporting.items():
            if label is not None:
                yield {
                    "query_id": one.item_id,
                    "rater": rater,
                    "property": "support",
                    "value": "yes" if label else "no",
                    "passage_id": chunk_id,
                }
