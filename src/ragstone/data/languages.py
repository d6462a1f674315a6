"""The languages of a data set: stated in `data` or by labels, else detected in the texts.

Inside `data:`, `language: ja` states the language of queries and passages, and
`language: {queries: ja, passages: en}` that of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from arro3.core import Array, ChunkedArray, DataType, Table

from ragstone.core import limits
from ragstone.core.schemas import labels_from_json, labels_to_json
from ragstone.data.lazy_rows import QueryRows
from ragstone.data.published.presets import find_preset
from ragstone.errors import ConfigError, DatasetError, MissingDependency
from ragstone.text.language import language_among, language_of
from ragstone.text.language_names import (
    LANGUAGE,
    LANGUAGE_NAMES,
    base_code,
    checked_code,
    stated_language,
)

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.data.dataset import Dataset
    from ragstone.types import Query

_USUAL: Final = 0.02
"""Least share of the recognised texts that makes a language one of the data set."""
_MODEL: Final = "lid.176"
"""fastText's model of 176 languages; without it, short texts in Latin script have none."""
_PARTS: Final = ("queries", "passages")
_APART: Final = 20
"""Texts disagree with their stated language if at least one in this number is in another one."""
_ALIKE: Final = {"zh", "ja"}
"""A short text in Chinese characters is in either of the two."""


@dataclass(frozen=True)
class StatedLanguages:
    """The codes of the key `language` of a data set; "" if it is not stated."""

    queries: str = ""
    passages: str = ""


@dataclass(frozen=True)
class LanguageFacts:
    """The languages of the queries that are asked, and of a sample of passages."""

    queries: Mapping[str, int] = field(default_factory=dict)
    """Code -> number of queries; "" for queries whose language is not recognised."""
    passages: Mapping[str, int] = field(default_factory=dict)
    """Code -> number of passages of the sample."""
    stated: bool = False
    """Whether the language of each query is stated: by `data`, a label or the published set."""
    detected_by: str = ""
    """What detected the other languages; "" if all are stated."""

    def __str__(self) -> str:
        """Return one line; "" if no language is recognised.

        >>> str(LanguageFacts({"en": 24}, {"en": 60}, detected_by="lid.176"))
        'English (detected by lid.176)'
        >>> str(LanguageFacts({"en": 24, "": 2}, {"de": 60}, detected_by="lid.176"))
        'queries in English 24, unknown 2 (detected by lid.176); passages in German'
        """
        if not self.codes:
            return ""
        how = f"detected by {self.detected_by}" if self.detected_by else "stated"
        if [*self.queries] == [*self.passages] and len(self.queries) == 1:
            return f"{_named(self.queries)} ({how})"
        asked = f"in {_named(self.queries)} ({how})" if any(self.queries) else "not recognised"
        there = f"; passages in {_named(self.passages)}" if self.passages else ""
        return f"queries {asked}{there}"

    @property
    def lines(self) -> list[str]:
        """The line of a plan or a table; none if no language is recognised."""
        return [f"languages: {self}"] if self.codes else []

    @property
    def codes(self) -> frozenset[str]:
        """The languages of queries and passages."""
        return frozenset(filter(None, [*self.queries, *self.passages]))


@dataclass(frozen=True)
class DataLanguages:
    """The language of each query of a data set, and the numbers of queries and passages."""

    by_query: Mapping[str, str]
    """Query id -> code; "" if it is not recognised."""
    facts: LanguageFacts
    unlabelled: bool
    """Whether the language of some query is known, and is not its label."""


def parse_languages(written: object) -> StatedLanguages:
    """Return the form of the key `language`; `ConfigError` for an unknown code or key.

    >>> parse_languages("Japanese")
    StatedLanguages(queries='ja', passages='ja')
    >>> parse_languages({"queries": "ja"})
    StatedLanguages(queries='ja', passages='')
    """
    if written is None:
        return StatedLanguages()
    if not isinstance(written, Mapping):
        code = _checked(written)
        return StatedLanguages(code, code)
    if not written or not {*map(str, written)} <= {*_PARTS}:
        raise ConfigError(
            f"data: 'language' must be a code, or codes of queries and passages such as "
            f"{{queries: ja, passages: en}}, found {dict(written)!r}",
            key=LANGUAGE,
            value=written,
        )
    return StatedLanguages(**{str(part): _checked(code) for part, code in written.items()})


def _checked(written: object) -> str:
    # YAML reads an unquoted `no` as false.
    return checked_code("no" if written is False else written)


def with_languages(dataset: Dataset, stated: StatedLanguages) -> Dataset:
    """Return a data set whose queries and passages have the stated languages as labels.

    Raises:
        DatasetError: rows have the label with another language.
    """
    if stated.queries:
        table = _labelled(dataset.query_table, stated.queries, f"{dataset.name}: ", "queries")
        dataset = replace(dataset, query_table=table)
    if not stated.passages:
        return dataset
    corpus = labelled_corpus(dataset.corpus, stated.passages, f"{dataset.name}: ")
    return replace(dataset, corpus=corpus)


def labelled_corpus(corpus: Corpus, code: str, where: str) -> Corpus:
    """Return a corpus whose passages have a language as their label; `where` begins errors."""
    return replace(corpus, table=_labelled(corpus.table, code, where, "passages"))


def _labelled(table: Table, code: str, where: str, noun: str) -> Table:
    texts = table.column("labels").to_pylist()
    known = Counter(texts)
    made, others = {}, Counter[str]()
    for text, count in known.items():
        labels = labels_from_json(text)
        own = labels.setdefault(LANGUAGE, code)
        if not isinstance(own, str) or base_code(own) != code:
            others[str(own)] += count
        made[text] = labels_to_json(labels)
    if others:
        counts = ", ".join(f"{own} {count:,}" for own, count in others.most_common())
        raise DatasetError(
            f"{where}{others.total():,} of {len(texts):,} {noun} have the label {LANGUAGE!r} with "
            f"another language than the declared {code} ({counts}); remove 'language' from "
            "'data', or the label from the file",
            key=LANGUAGE,
            value=code,
        )
    place = table.column_names.index("labels")
    column = ChunkedArray([Array([made[text] for text in texts], type=DataType.string())])
    return table.set_column(place, table.schema.field(place), column)


def languages_of(dataset: Dataset, *asked: Table) -> DataLanguages:
    """Return the languages of a data set's passages, and of the queries in some tables.

    A label is preferred to the language of the published set, and this one to what is detected.
    """
    tables = {id(table): table for table in asked}
    queries = [QueryRows(table) for table in tables.values()]
    known = {q.query_id: stated_language(q.labels) for q in chain.from_iterable(queries)}
    passages = _of_passages(dataset.corpus)
    preset = find_preset(dataset.source.published)
    published = preset.language if preset and preset.language in LANGUAGE_NAMES else ""
    found = {i: code or published for i, code in known.items()}
    stated = all(found.values())
    if not stated:
        found |= _detected(queries, found, passages)
    unlabelled = any(code and not known[i] for i, code in found.items())
    counts = dict(Counter(found.values()).most_common())
    facts = LanguageFacts(counts, passages, stated, "" if stated else detected_by())
    return DataLanguages(found, facts, unlabelled)


def _of_passages(corpus: Corpus) -> dict[str, int]:
    """Return the languages of a sample of passages, which are taken at equal distances."""
    step = max(1, -(-len(corpus) // limits.LANGUAGE_TEXTS))
    sample = map(corpus.at, range(0, len(corpus), step))
    codes = [stated_language(one.labels) or language_of(one.text) for one in sample]
    counts = Counter(codes)
    return {code: counts[code] for code in usual_languages(codes)}


def _detected(
    asked: Sequence[Iterable[Query]], known: Mapping[str, str], others: Collection[str]
) -> dict[str, str]:
    """Return the languages of the texts of queries without a known one; "" if not recognised.

    The texts are read again where they count twice, so that not all are in memory.

    The languages of the queries are those with at least 2 % of them. A query in no such language,
    or a short one, is recognised among them. All are in the only language if there is one and most
    are recognised.
    """
    found: dict[str, str] = {}
    for query in chain.from_iterable(asked):
        if not known[query.query_id] and query.query_id not in found:
            found[query.query_id] = language_of(query.text)
    usual = usual_languages([*found.values(), *known.values()])
    clear = sum(map(bool, found.values())) * 2 >= len(found) and detected_by() == _MODEL
    if len(usual) == 1 and clear:
        return dict.fromkeys(found, usual[0])
    expected = usual or list(others)
    unclear = {i for i, code in found.items() if code not in expected} if expected else set()
    for query in chain.from_iterable(asked) if unclear else ():
        if query.query_id in unclear:
            unclear.remove(query.query_id)
            found[query.query_id] = language_among(query.text, expected)
    return {i: code if code in expected else "" for i, code in found.items()}


def usual_languages(codes: Iterable[str]) -> list[str]:
    """Return the languages of a data set: those with at least 2 % of the recognised texts.

    >>> usual_languages([*["en"] * 99, "fr", *["de"] * 10, ""])
    ['en', 'de']
    """
    counts = Counter(filter(None, codes))
    found = [code for code, count in counts.most_common() if count >= _USUAL * counts.total()]
    return found or list(counts)


def detected_by() -> str:
    """Return what detects the language of a text on this machine."""
    try:
        language_of("", by_model=True)
    except MissingDependency:
        return "scripts and function words"
    return _MODEL


def apart(queries: Iterable[Query]) -> tuple[dict[str, tuple[str, str]], int]:
    """Return the queries whose text is in another language than stated, and how many could be.

    The first is query id -> (stated, recognised).
    """
    other, known = dict[str, tuple[str, str]](), 0
    for query in queries:
        stated = stated_language(query.labels)
        if not stated or not (found := language_of(query.text)):
            continue
        known += 1
        if stated != found and {stated, found} != _ALIKE:
            other[query.query_id] = (stated, found)
    return other, known


def language_notes(queries: Iterable[Query]) -> Iterator[str]:
    """Yield a note if the texts of queries clearly disagree with their stated languages."""
    other, recognised = apart(queries)
    if disagree(len(other), recognised):
        counts = Counter(f"{found} instead of {stated}" for stated, found in other.values())
        named = ", ".join(f"{pair} {count:,}" for pair, count in counts.most_common())
        yield (
            f"{len(other):,} of {recognised:,} queries whose language is recognised are in another "
            f"language than stated ({named}); correct 'language' in 'data' or the label 'language'"
        )


def disagree(other: int, recognised: int) -> bool:
    """Return whether more texts are in another language than detection gets wrong."""
    return other > 1 and other * _APART >= recognised


def _named(counts: Mapping[str, int]) -> str:
    """Return names of languages, with their counts if there are several."""
    names = {LANGUAGE_NAMES.get(code, code or "unknown"): n for code, n in counts.items()}
    counted = ", ".join(f"{name} {n:,}" for name, n in names.items())
    return counted if len(names) > 1 else next(iter(names))
