"""Which languages a set is in: by the script of its letters and, for Latin, by function words.

A heuristic that needs no model: it tells Russian from Greek from Japanese with certainty, and six
languages in Latin script from each other where a text has words enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality.finding import Finding, first, shown
from ragstone.text.language import _FUNCTION_WORDS, language

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_FEW: Final = 20


def check_languages(subject: Subject) -> Iterator[Finding]:
    """Find passages and queries in another language or script than the rest."""
    passages = {i: language(text) for i, text in subject.texts()}
    queries = {q.query_id: language(q.text) for q in subject.queries}
    for kind, found in (("passages", passages), ("queries", queries)):
        counts = Counter(name for name in found.values() if name)
        if not counts:
            continue
        main, _ = max(counts.items(), key=lambda pair: (pair[1], pair[0] != "Latin"))
        if main == "Latin":
            main = next((n for n in counts if n in _FUNCTION_WORDS), main)
        other = [i for i, name in found.items() if name and not _same(name, main)]
        if other:
            most = counts.most_common(limits.MAX_DISTRIBUTION_VALUES)
            mix = ", ".join(f"{name} {n:,}" for name, n in most)
            yield Finding(
                f"languages/{kind}",
                "warning" if len(other) * 20 > counts.total() >= _FEW else "note",
                f"{len(other):,} of {counts.total():,} {kind} that are long enough to tell are not "
                f"in {main} ({mix})",
                len(other),
                counts.total(),
                "say so in a label `language` and read the scores per language, or take them out; "
                "English-only retrievers and metrics fail on the rest",
                first([f"{i} ({found[i]})" for i in other]),
            )
    yield from _across(subject, passages, queries)


def _same(name: str, main: str) -> bool:
    """Latin script of an unknown language contradicts no language that is written in it."""
    if "Latin" in (name, main):
        return name in _FUNCTION_WORDS or name == main or main in _FUNCTION_WORDS
    return name == main or {name, main} == {"Han", "Japanese"}


def _across(
    subject: Subject, passages: Mapping[str, str], queries: Mapping[str, str]
) -> Iterator[Finding]:
    """Find queries in another script than their gold passages: retrieval across languages."""
    pairs = [
        (query.query_id, passage_id)
        for query in subject.queries
        for passage_id in subject.gold.get(query.query_id, ())[:1]
        if queries[query.query_id] and passages.get(passage_id)
    ]
    apart = [pair for pair in pairs if not _same(queries[pair[0]], passages[pair[1]])]
    if apart:
        yield Finding(
            "languages/across",
            "note",
            f"{len(apart):,} of {len(pairs):,} queries are in another language than their gold "
            "passage",
            len(apart),
            len(pairs),
            "words do not match across languages: BM25 finds nothing there, use a multilingual "
            "embedder",
            first([f"{q} ({shown(queries[q])}), {p} ({passages[p]})" for q, p in apart]),
        )
