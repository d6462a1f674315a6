"""Texts that are empty or enormous."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.data_quality.finding import Finding, report

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_ENORMOUS: Final = {"passage": 10_000, "query": 1_000, "answer": 2_000}
"""Kind of text -> maximum number of characters; 10,000 is Know Your RAG's limit of a context."""
_TIMES_MEDIAN: Final = 4


def check_sizes(subject: Subject) -> Iterator[Finding]:
    """Find empty and enormous texts."""
    for kind, texts in _kinds(subject):
        yield from report(
            f"texts/empty-{kind}",
            "error",
            [(text_id, text_id) for text_id, text in texts if not text.strip()],
            len(texts),
            f"texts of kind {kind} are empty",
            advice="remove them (`--fix` does): an empty passage can be retrieved, and an empty "
            "answer occurs in every text",
            kind=kind,
            remedy="person" if kind == "query" else "fix",
        )
        lengths = np.array([len(text) for _, text in texts] or [0])
        limit = max(_ENORMOUS[kind], _TIMES_MEDIAN * int(np.median(lengths)))
        large = [texts[place] for place in np.flatnonzero(lengths > limit)]
        yield from report(
            f"texts/enormous-{kind}",
            "warning",
            [(text_id, f"{text_id}: {len(text):,} characters") for text_id, text in large],
            len(texts),
            f"texts of kind {kind} have more than {limit:,} characters (median "
            f"{int(np.median(lengths)):,}, longest {lengths.max():,})",
            advice="embedders truncate them and prompts overflow: cut them into passages "
            "(`ragstone data chunk`)",
            kind=kind,
        )


def _kinds(subject: Subject) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    table = subject.dataset.corpus.table
    ids, texts = table.column("passage_id").to_pylist(), table.column("text").to_pylist()
    yield "passage", list(zip(ids, texts, strict=True))
    yield "query", [(query.query_id, query.text) for query in subject.queries]
    yield "answer", [(q.query_id, answer) for q in subject.queries for answer in q.gold_answers]
