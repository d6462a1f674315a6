"""Which languages a set is in: by the script of its letters and, for Latin, by function words.

A heuristic that needs no model: it tells Russian from Greek from Japanese with certainty, and six
languages in Latin script from each other where a text has words enough.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ragstone.data_quality.finding import Finding, first, shown

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_LOOKED_AT: Final = 2_000
"""Characters of a text that are enough to know its language."""
_LEAST_LETTERS, _LEAST_WORDS = 20, 20
_MARGIN: Final = 2
_LEAST_KINDS: Final = 3
_FEW: Final = 20
_WORD: Final = re.compile(r"\w+")
_NAMES: Final = {
    "CJK": "Han",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
}
_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the of and to is was that with for are by this from which were have has",
        "French": "le les des du et est une dans que qui pour par sur avec pas sont aux ce",
        "German": "der die das und ist nicht ein eine mit von auf den dem für sich auch wurde",
        "Spanish": "el los las y del que una por con para se es como más fue su al pero",
        "Italian": "il gli della di che è una per con sono nel dei delle alla come anche più",
        "Portuguese": "os que uma para com não em dos das foi ao mais são pelo como também entre",
    }.items()
}


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""
    return _NAMES.get(name, name.capitalize())


def language(text: str) -> str:
    """Return the script of a text, or its language in Latin script; empty where unsure.

    >>> language("그 도시는 바닷가의 낮은 평야에 자리 잡고 있다고 한다."), language("short")
    ('Korean', '')
    """
    head = text[:_LOOKED_AT]
    if head.isascii():
        return _latin(head) if sum(map(str.isalpha, head)) >= _LEAST_LETTERS else ""
    scripts = Counter(filter(None, map(_script, head)))
    if scripts.total() < _LEAST_LETTERS:
        return ""
    if scripts["Japanese"] * 10 > scripts.total():
        return "Japanese"
    script, count = scripts.most_common(1)[0]
    if count * 10 < scripts.total() * 6:
        return "mixed scripts"
    return _latin(head) if script == "Latin" else script


def _latin(text: str) -> str:
    """Return the language whose function words are there twice as often as any other's."""
    words = _WORD.findall(text.lower())
    if len(words) < _LEAST_WORDS:
        return "Latin"
    held = Counter(words)
    counts = Counter({name: sum(held[w] for w in f) for name, f in _FUNCTION_WORDS.items()})
    (name, most), (_, second) = counts.most_common(2)
    several = len(_FUNCTION_WORDS[name] & held.keys()) >= _LEAST_KINDS
    clear = several and most * 10 >= len(words) and most >= _MARGIN * second
    return name if clear else "Latin"


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
            mix = ", ".join(f"{name} {n:,}" for name, n in counts.most_common(6))
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
