"""One data set of a set in several languages, such as the translations of XQuAD."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.registry import own_folder
from ragstone.core.schemas import (
    CORPUS,
    QRELS,
    QUERIES,
    columns,
    joined,
    labels_from_json,
    labels_to_json,
    to_table,
)
from ragstone.data.collections import ByLabel, divided, spans
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset, DataSource
from ragstone.data.load import load_dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.rows import listed, show
from ragstone.errors import ConfigError, DatasetError
from ragstone.text.language_names import LANGUAGE, checked_code, stated_language

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
PARALLEL: Final = "parallel"
"""The label that the translations of one query, or of one passage, have in common."""


@dataclass(frozen=True)
class ParallelReader(Reader):
    """Reads a set in several languages as one data set, with a collection per language.

    The id of a row is its language and its id, `ar/ID`. Labels: `language`, and `parallel`, the id
    that the translations of a query or passage share. Queries with one id are translations of each
    other. So are their relevant passages, and all passages with one id if no query contradicts it.
    A passage with two such passages in one language, such as two chunks, has no translation. A
    language that shares no query with another has no label `parallel`. The id of a document has the
    language too.

    Args:
        sets: language -> path, or reader with its parameters, as in `data`.
    """

    sets: Mapping[str, Any]
    folder: Path = field(default_factory=own_folder, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the languages."""
        codes = [checked_code(language) for language in self.sets]
        if len(set(codes)) < max(2, len(codes)):
            raise ConfigError(
                "'sets' must name two or more languages, each once, such as {en: PATH, de: PATH}; "
                f"found {', '.join(map(str, self.sets)) or 'none'}",
                key="sets",
            )

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` if a set of a language is malformed."""
        sets = {
            checked_code(language): load_dataset(written, self.folder)
            for language, written in self.sets.items()
        }
        _tell_sizes(sets)
        queries, passages = _parallel_ids(sets)
        parts = [_part(sets[code], code, queries[code], passages[code]) for code in sets]
        corpus = Corpus(joined((part.corpus.table for part in parts), CORPUS))
        whole = Dataset(
            "+".join(dict.fromkeys(one.name for one in sets.values())),
            joined((part.query_table for part in parts), QUERIES),
            corpus,
            joined((part.qrel_table for part in parts), QRELS),
            source=_source(sets),
        )
        return divided(whole, ByLabel(LANGUAGE), spans(_sizes(sets)))


def _sizes(sets: Mapping[str, Dataset]) -> dict[str, int]:
    return {code: len(one.corpus) for code, one in sets.items()}


def _tell_sizes(sets: Mapping[str, Dataset]) -> None:
    """Warn if the languages have different numbers of queries or passages."""
    for noun, sizes in (
        ("queries", {code: one.query_table.num_rows for code, one in sets.items()}),
        ("passages", _sizes(sets)),
    ):
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{code} {size:,}" for code, size in sizes.items())
            _LOG.warning("the languages have different numbers of %s: %s", noun, shown)


_Ids = dict[str, dict[str, str]]
"""Language -> id in its set -> the id that translations share."""


def _parallel_ids(sets: Mapping[str, Dataset]) -> tuple[_Ids, _Ids]:
    """Return the shared ids of the queries and passages that have translations."""
    asked = {code: set(columns(one.query_table)["query_id"]) for code, one in sets.items()}
    queries: _Ids = {}
    for code, ids in asked.items():
        others = set[str]().union(*(asked[other] for other in sets if other != code))
        queries[code] = {query_id: query_id for query_id in ids & others}
    if alone := [code for code, ids in queries.items() if not ids]:
        _LOG.warning(
            "%s: no query has the id of a query in another language, so nothing in %s counts as a "
            "translation",
            listed(alone),
            "these languages" if len(alone) > 1 else "this language",
        )
    return queries, _parallel_passages(sets, queries)


def _parallel_passages(sets: Mapping[str, Dataset], queries: _Ids) -> _Ids:
    gold = {code: {q: _relevant(sets[code], q) for q in shared} for code, shared in queries.items()}
    contradicted = any(
        one[q] != other[q]
        for one in gold.values()
        for other in gold.values()
        for q in one
        if q in other
    )
    if not contradicted:
        return {
            code: {i: i for i in sets[code].corpus.passage_ids} if queries[code] else {}
            for code in sets
        }
    # Articles in another order have other ids: the queries tell which passages are translations.
    found: _Ids = {code: {} for code in sets}
    for query_id in dict.fromkeys(q for shared in gold.values() for q in sorted(shared)):
        members = [(code, own[query_id]) for code, own in gold.items() if query_id in own]
        places = [(code, ids[0]) for code, ids in members if len(ids) == 1]
        known = [found[code][i] for code, i in places if i in found[code]]
        name = known[0] if known else "/".join(places[0]) if places else ""
        for code, passage_id in places:
            found[code].setdefault(passage_id, name)
    return _one_to_one(found)


def _one_to_one(found: _Ids) -> _Ids:
    """Return the shared ids of one passage per language; a warning counts the others."""
    several = {
        name for own in found.values() for name, count in Counter(own.values()).items() if count > 1
    }
    if several:
        _LOG.warning(
            "%s passages have several counterparts in one language, as chunks of other borders "
            "have, and count as no translations",
            f"{sum(name in several for own in found.values() for name in own.values()):,}",
        )
    return {
        code: {i: name for i, name in own.items() if name not in several}
        for code, own in found.items()
    }


def _relevant(dataset: Dataset, query_id: str) -> list[str]:
    grades = dataset.qrels.get(query_id, {})
    return sorted(passage_id for passage_id, grade in grades.items() if grade > 0)


def _part(
    dataset: Dataset, code: str, queries: Mapping[str, str], passages: Mapping[str, str]
) -> Dataset:
    """Return the set of a language with its ids and labels in the joint set."""
    judged = columns(dataset.qrel_table)
    for name in ("query_id", "passage_id"):
        judged[name] = [f"{code}/{one}" for one in judged[name]]
    return replace(
        dataset,
        query_table=_renamed(dataset.query_table, "query_id", code, queries),
        corpus=Corpus(_renamed(dataset.corpus.table, "passage_id", code, passages)),
        qrel_table=to_table(QRELS, judged),
    )


def _renamed(table: Table, key: str, code: str, shared: Mapping[str, str]) -> Table:
    """Return queries or passages with the language in their ids, and both labels."""
    found = columns(table)
    found["labels"] = [
        labels_to_json(_labels(labels_from_json(text), row_id, code, shared.get(row_id)))
        for text, row_id in zip(found["labels"], found[key], strict=True)
    ]
    for name in {key, "document_id"} & found.keys():
        found[name] = [row_id and f"{code}/{row_id}" for row_id in found[name]]
    return to_table(QUERIES if key == "query_id" else CORPUS, found)


def _labels(
    labels: Mapping[str, Any], row_id: str, code: str, shared: str | None
) -> dict[str, Any]:
    if (stated := stated_language(labels)) and stated != code:
        raise DatasetError(
            f"{show(row_id)} of the set in {code} has the label {LANGUAGE} with the value "
            f"{show(stated)}; "
            "correct the label, or the language in 'sets'"
        )
    return {LANGUAGE: code, **labels, **({PARALLEL: shared} if shared else {})}


def parallel_ids(corpus: Corpus) -> dict[int, str]:
    """Return position of a passage -> its label `parallel`, for the passages with translations.

    Two passages of one language with the same label, such as chunks of one passage, are none.
    """
    labels = (labels_from_json(text) for text in corpus.table.column("labels").to_pylist())
    known = [
        (place, str(one[PARALLEL]), stated_language(one))
        for place, one in enumerate(labels)
        if one.get(PARALLEL) is not None
    ]
    counts = Counter((name, language) for _, name, language in known)
    several = {name for (name, language), count in counts.items() if count > 1 and language}
    return {place: name for place, name, _ in known if name not in several}


def _source(sets: Mapping[str, Dataset]) -> DataSource:
    """Return the source of the joint set: the files of all languages, and what they share."""

    def same(name: str) -> str:
        values = {getattr(one.source, name) for one in sets.values()}
        return str(values.pop()) if len(values) == 1 else ""

    return DataSource(
        address=same("address"),
        revision=same("revision"),
        licence=same("licence"),
        citation=same("citation"),
        digests=dict(_digests(sets)),
    )


def _digests(sets: Mapping[str, Dataset]) -> Iterator[tuple[str, str]]:
    for code, one in sets.items():
        for name, digest in one.source.facts()["files"].items():
            yield f"{code}/{name}", digest
