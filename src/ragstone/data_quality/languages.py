"""Which languages a data set is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ragstone.data.languages import apart, disagree, usual_languages
from ragstone.data_quality.finding import Finding, distribution, report, shown
from ragstone.text.language import language_among, language_of
from ragstone.text.language_names import LANGUAGE_NAMES

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_FEW: Final = 20
_SHARED_SCRIPT: Final = {"Chinese", "Japanese"}
"""Short texts may be recognised as either of the two."""


def check_languages(subject: Subject) -> Iterator[Finding]:
    """Find passages and queries in another language than the rest.

    A query that is too short is compared with the languages of the data set.
    """
    passages = {i: language_of(text) for i, text in subject.texts()}
    queries = {q.query_id: language_of(q.text) for q in subject.queries}
    usual = usual_languages([*passages.values(), *queries.values()])
    undecided = ((q.query_id, q.text) for q in subject.queries if not queries[q.query_id])
    queries |= {i: language_among(text, usual) for i, text in undecided if usual}
    passages = {i: LANGUAGE_NAMES.get(code, code) for i, code in passages.items()}
    queries = {i: LANGUAGE_NAMES.get(code, code) for i, code in queries.items()}
    for kind, noun, found in (("passage", "passages", passages), ("query", "queries", queries)):
        counts = Counter(filter(None, found.values()))
        if not counts:
            continue
        main = counts.most_common(1)[0][0]
        other = [i for i, name in found.items() if name and not _same(name, main)]
        yield from report(
            f"languages/{noun}",
            "warning" if len(other) * 20 > counts.total() >= _FEW else "note",
            [(i, f"{i} ({found[i]})") for i in other],
            counts.total(),
            f"{noun} whose language is recognised are not in {main} ({distribution(counts)})",
            advice="add a label `language` and read the scores per language, or remove them; "
            "English-only retrievers and metrics fail on the rest",
            kind=kind,
        )
    yield from _across(subject, passages, queries)
    yield from _stated(subject)


def _same(name: str, main: str) -> bool:
    return name == main or {name, main} == _SHARED_SCRIPT


def _stated(subject: Subject) -> Iterator[Finding]:
    """Find queries whose text is in another language than their label."""
    found, recognised = apart(subject.queries)
    counts = Counter(LANGUAGE_NAMES.get(code, code) for _, code in found.values())
    return report(
        "languages/stated",
        "warning" if disagree(len(found), recognised) else "note",
        [(q, f"{q} (stated {stated}, text {code})") for q, (stated, code) in found.items()],
        recognised,
        f"queries are in another language than the stated one ({distribution(counts)})",
        advice="correct the label `language`, or the key `language` of the data set; results by "
        "language are wrong otherwise",
    )


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
        [(q, f"{q} ({shown(queries[q])}), {p} ({passages[p]})") for q, p in apart],
        len(pairs),
        "queries are in another language than their gold passage",
        advice="words do not match across languages: BM25 finds nothing there, use a multilingual "
        "embedder",
        pairs=apart,
    )
