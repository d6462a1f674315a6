"""Which languages a data set is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ragstone.data_quality.finding import Finding, distribution, report, shown
from ragstone.text.language import language_of
from ragstone.text.language_names import LANGUAGE_NAMES

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_FEW: Final = 20
_SHARED_SCRIPT: Final = {"Chinese", "Japanese"}
"""Short texts may be recognised as either of the two."""


def check_languages(subject: Subject) -> Iterator[Finding]:
    """Find passages and queries in another language than the rest."""
    passages = {i: _name(text) for i, text in subject.texts()}
    queries = {q.query_id: _name(q.text) for q in subject.queries}
    for kind, found in (("passages", passages), ("queries", queries)):
        counts = Counter(filter(None, found.values()))
        if not counts:
            continue
        main = counts.most_common(1)[0][0]
        other = [i for i, name in found.items() if name and not _same(name, main)]
        yield from report(
            f"languages/{kind}",
            "warning" if len(other) * 20 > counts.total() >= _FEW else "note",
            [f"{i} ({found[i]})" for i in other],
            counts.total(),
            f"{kind} whose language is recognised are not in {main} ({distribution(counts)})",
            advice="add a label `language` and read the scores per language, or remove them; "
            "English-only retrievers and metrics fail on the rest",
        )
    yield from _across(subject, passages, queries)


def _name(text: str) -> str:
    code = language_of(text)
    return LANGUAGE_NAMES.get(code, code)


def _same(name: str, main: str) -> bool:
    return name == main or {name, main} == _SHARED_SCRIPT


def _across(
    subject: Subject, passages: Mapping[str, str], queries: Mapping[str, str]
) -> Iterator[Finding]:
    """Find queries in another language than their first gold passage."""
    pairs = [
        (query.query_id, passage_id)
        for query in subject.queries
        for passage_id in subject.gold.get(query.query_id, ())[:1]
        if queries[query.query_id] and passages.get(passage_id)
    ]
    apart = [pair for pair in pairs if not _same(queries[pair[0]], passages[pair[1]])]
    return report(
        "languages/across",
        "note",
        [f"{q} ({shown(queries[q])}), {p} ({passages[p]})" for q, p in apart],
        len(pairs),
        "queries are in another language than their gold passage",
        advice="words do not match across languages: BM25 finds nothing there, use a multilingual "
        "embedder",
    )
