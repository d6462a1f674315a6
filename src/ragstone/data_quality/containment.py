"""Passages that are part of another one, that end too early, or that contain a whole query."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.match import occurs
from ragstone.core import limits
from ragstone.data_quality.duplicates import LEAST
from ragstone.data_quality.finding import Finding, report, shown
from ragstone.data_quality.shingles import contained_pairs
from ragstone.text.scripts import is_unspaced

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_CONTAINED: Final = 0.9
"""Least share of the runs of five words of a passage that another one has."""
_LEAST_RUNS: Final = 8
"""Least runs of a contained passage, or of a query without spaces: others occur by chance."""
_LEAST_QUERY_RUNS: Final = 2
_END: Final = re.compile(
    "[.!?;:\uff1a\u3002\uff01\uff1f\uff1b\u061f\u061b\u06d4\u0964\\])\uff09\u300d]['\"\u2019\u201d\u00bb\\s]*$"
)
_INSIDE: Final = re.compile("[.!?\u061f] |[\u3002\uff01\uff1f]")
_LEAST_CHARACTERS: Final = 40
_TAIL_CHARACTERS: Final = 8
_OUTLIERS: Final = 100
"""If more than one passage of this many ends early, the finding is only a note."""


def check_containment(subject: Subject) -> Iterator[Finding]:
    """Find passages of which another passage contains nearly all."""
    total = len(subject.passage_ids)
    sizes = np.diff(subject.shingles.starts)[:total]
    inner = np.flatnonzero(sizes >= _LEAST_RUNS).tolist()
    passages = subject.shingles.first(total)
    found: dict[str, str] = {}
    for pair in contained_pairs(passages.take(inner), passages, _CONTAINED):
        place = inner[pair.first]
        # Otherwise the two are near-duplicates, or the copy of one another.
        if pair.second != place and sizes[place] < LEAST * sizes[pair.second]:
            found.setdefault(subject.passage_ids[place], subject.passage_ids[pair.second])
    judged = {passage_id for gold in subject.gold.values() for passage_id in gold}
    with_gold = sum(small in judged or large in judged for small, large in found.items())
    yield from report(
        "containment/passages",
        "note",
        [(small, f"{small} is in {large}") for small, large in found.items()],
        total,
        f"passages are part of a longer one; {with_gold:,} of the pairs include a gold passage",
        advice="the passage that contains a gold passage answers too, but counts as a miss: judge "
        "both, or keep one",
        kind="passage",
        pairs=found.items(),
    )


def check_ends(subject: Subject) -> Iterator[Finding]:
    """Find passages of prose that end in the middle of a sentence."""
    table = subject.dataset.corpus.table
    found = []
    for start in range(0, table.num_rows, limits.TABLE_BATCH_ROWS):
        part = table.slice(start, min(limits.TABLE_BATCH_ROWS, table.num_rows - start))
        ids, texts = part.column("passage_id").to_pylist(), part.column("text").to_pylist()
        found += [
            (
                passage_id,
                f"{passage_id}: ...{shown(text.strip()[-limits.EXAMPLE_ANSWER_CHARACTERS :])}",
            )
            for passage_id, text in zip(ids, texts, strict=True)
            if is_cut(text)
        ]
    yield from report(
        "texts/truncated",
        "warning" if len(found) * _OUTLIERS <= table.num_rows else "note",
        found,
        table.num_rows,
        "passages end within a sentence",
        advice="if an answer may be in the part that is cut off, cut the documents again at ends "
        "of sentences (`ragstone data chunk`); lists and captions end so, too",
        kind="passage",
    )


def is_cut(text: str) -> bool:
    """Return whether a text has sentences with marks, and its last one has none.

    >>> is_cut("The bridge was built in 1912. It is the oldest one that crosses the")
    True
    >>> is_cut("The bridge was built in 1912. It is the oldest one. Notes")
    False
    """
    text = text.strip()
    if len(text) < _LEAST_CHARACTERS or _END.search(text):
        return False
    tail = _INSIDE.split(text)
    return len(tail) > 1 and len(tail[-1].strip()) >= _TAIL_CHARACTERS


def check_questions(subject: Subject) -> Iterator[Finding]:
    """Find queries whose words and gold answer are in one passage."""
    total, queries = len(subject.passage_ids), subject.queries
    sizes = np.diff(subject.shingles.starts)[total:]
    asked = [
        place
        for place, query in enumerate(queries)
        if query.gold_answers
        and sizes[place] >= (_LEAST_RUNS if is_unspaced(query.text) else _LEAST_QUERY_RUNS)
    ]
    inner = subject.shingles.take([total + place for place in asked])
    found: dict[str, str] = {}
    for pair in contained_pairs(inner, subject.shingles.first(total)):
        query, passage_id = queries[asked[pair.first]], subject.passage_ids[pair.second]
        text = subject.dataset.corpus[passage_id].full_text
        if query.query_id not in found and occurs(text, query.gold_answers):
            found[query.query_id] = passage_id
    texts = {query.query_id: query.text for query in queries}
    yield from report(
        "leakage/question-in-passage",
        "warning",
        [(q, f"{q} in {p}: {texts[q]}") for q, p in found.items()],
        len(queries),
        "queries are in a passage word for word, together with a gold answer",
        advice="a search for the words finds it: fine for a page of questions and answers, but no "
        "measure of retrieval; reword the query, or remove the question from the passage",
        pairs=found.items(),
    )
