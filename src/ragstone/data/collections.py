"""Collections: the parts of a corpus, of which each query searches the one that it names.

A collection is a domain, a language, a tenant or another label of a query. Inside `data:`,
`collections: {by: domain}` names the label, and `collections: none` pools all passages.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.core.registry import build
from ragstone.core.schemas import (
    CORPUS,
    joined,
    labels_from_json,
    labels_to_json,
    with_texts,
)
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.judged_documents import on_passages
from ragstone.data.languages import StatedLanguages, labelled_corpus, with_languages
from ragstone.data.readers.folder import read_corpus
from ragstone.data.readers.rows import listed
from ragstone.data.rechunk.rechunk import rechunk
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.text.language_names import LANGUAGE, LANGUAGE_NAMES, base_code
from ragstone.types import Label

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
LABEL: Final = "collection"
"""Label with which a written data set keeps its collections."""
_shared: ContextVar[dict[str, Corpus] | None] = ContextVar("shared_corpora", default=None)
_UNSTATED: Final = StatedLanguages()
_EXAMPLE: Final = "collections: {by: domain}"
_ANY_CORPUS: Final = frozenset({LANGUAGE, LABEL})
"""Labels whose collections need no queries, and whose queries need no collection."""


@dataclass(frozen=True)
class ByLabel:
    """The value of `collections`: the label of queries that names their collection."""

    by: str
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Value of the label, or name of a corpus -> name of the collection."""

    def name(self, value: Label | None) -> str | None:
        """Return the collection of a label's value; None without one value."""
        if value is None or isinstance(value, tuple):
            return None
        return self.aliases.get(str(value), str(value))


def parse_collections(written: Any) -> ByLabel | None:
    """Return the form of `collections`; None for `none`, which pools all passages."""
    if written == "none" or isinstance(written, ByLabel):
        return None if written == "none" else written
    if not isinstance(written, Mapping):
        raise ConfigError(
            f"data: 'collections' must be none or a mapping such as {_EXAMPLE}, found {written!r}",
            key="collections",
            value=written,
        )
    found: ByLabel = build(ByLabel, written, where="data, collections")
    return found


def with_corpora(
    dataset: Dataset,
    corpus: str | Path | Mapping[str, Any] | None,
    collections: Any,
    dangling: Literal["error", "drop"] = "error",
    read: Callable[[str], Corpus] = lambda path: read_corpus(Path(path)),
    *,
    stated: StatedLanguages = _UNSTATED,
) -> Dataset:
    """Return a data set with the passages of the keys `corpus` and `collections`.

    `corpus` is one file, or collection -> file; without it, the data set keeps its corpus. If the
    judgements are of documents, all passages of a judged document get its grade; `dangling` is for
    documents without a passage. `read` returns the passages of a file. `stated` has the languages,
    which become labels; the passages of a collection by language have the language of its name.
    """
    named = isinstance(corpus, Mapping)
    chosen = None if collections is None else parse_collections(collections)
    by_language = named and chosen is not None and chosen.by == LANGUAGE
    places = None
    if corpus is not None:
        files = corpus if isinstance(corpus, Mapping) else {"": corpus}
        parts = {str(name): _read_once(str(path), read) for name, path in files.items()}
        if by_language:
            parts = {name: _in_language(part, name) for name, part in parts.items()}
        places = spans({name: len(part) for name, part in parts.items()}) if named else None
        dataset = replace(dataset, corpus=joined_corpora(parts))
        if dataset.judged == "document":
            dataset = on_passages(dataset, dangling)
        _check_qrels(dataset, files)
    dataset = with_languages(dataset, stated)
    if collections is None and places and len(places) > 1:
        raise ConfigError(
            f"data: 'corpus' has {len(places)} collections ({listed(list(places))}); name the "
            f"label of queries that chooses one, such as {_EXAMPLE}, or pool them with "
            f"collections: none",
            key="collections",
        )
    return dataset if chosen is None else divided(dataset, chosen, places, complete=named)


def _in_language(part: Corpus, name: str) -> Corpus:
    """Return the passages of a collection with the language of its name, if it is one."""
    code = base_code(name)
    if code not in LANGUAGE_NAMES:
        return part
    return labelled_corpus(part, code, f"data, corpus {name!r}: ")


def spans(sizes: Mapping[str, int]) -> dict[str, range]:
    """Return the positions of parts that follow each other.

    >>> spans({"a": 2, "b": 3})
    {'a': range(0, 2), 'b': range(2, 5)}
    """
    ends = accumulate(sizes.values())
    return {n: range(end - size, end) for (n, size), end in zip(sizes.items(), ends, strict=True)}


@contextmanager
def shared_corpora() -> Iterator[None]:
    """Read each corpus of a key `corpus` once within the block: data sets may share it."""
    token = _shared.set({})
    try:
        yield
    finally:
        _shared.reset(token)


def _read_once(path: str, read: Callable[[str], Corpus]) -> Corpus:
    known = _shared.get()
    if known is None:
        return read(path)
    if path not in known:
        known[path] = read(path)
    return known[path]


def divided(
    dataset: Dataset,
    chosen: ByLabel,
    places: Mapping[str, Sequence[int]] | None = None,
    *,
    complete: bool = False,
) -> Dataset:
    """Return a data set whose queries search only their own collection.

    Args:
        dataset: queries, and the passages of all collections.
        chosen: the label of queries that names their collection.
        places: collection -> positions of its passages; by default those with the same label.
        complete: whether a collection without queries is an error; if not, a warning names it.

    Queries need not have a corpus in their own language, nor a language queries: a system may
    choose other collections, its `datastore`.

    Raises:
        DatasetError: a query has no collection, or one without passages.
    """
    if not len(dataset.corpus):
        return dataset
    parts: dict[str, list[Sequence[int]]] = {}
    for given, positions in (places or _labelled(dataset.corpus, chosen)).items():
        parts.setdefault(chosen.name(given) or "", []).append(positions)
    names = _names(dataset, chosen, list(parts))
    unasked = [repr(name) for name in parts if name not in set(names.values())]
    if unasked:
        problem = f"no query has the {chosen.by} {listed(unasked)}, which is a collection"
        if complete and chosen.by not in _ANY_CORPUS:
            raise DatasetError(f"{problem}; remove its corpus, or correct the name")
        searched = " without a datastore" if chosen.by in _ANY_CORPUS else ""
        _LOG.warning("%s: its passages are not searched%s", problem, searched)
    if len(parts) == 1 and set(names.values()) == parts.keys():
        return dataset
    merged = {n: p[0] if len(p) == 1 else list(chain.from_iterable(p)) for n, p in parts.items()}
    corpus = replace(dataset.corpus, collections=merged)
    return replace(dataset, corpus=corpus, collections=names)


def _names(dataset: Dataset, chosen: ByLabel, known: Sequence[str]) -> dict[str, str]:
    """Return query id -> collection; raise `DatasetError` unless each has passages."""
    names = {query.query_id: chosen.name(query.labels.get(chosen.by)) for query in dataset.queries}
    there = f"the collections with passages are {listed(sorted(known))}"
    without = [repr(query_id) for query_id, name in names.items() if name is None]
    if without:
        raise DatasetError(
            f"{dataset.name}: {len(without):,} queries have no collection, because they have no "
            f"single label {chosen.by!r}: {listed(without)}; {there}; label them, or pool the "
            f"passages with collections: none"
        )
    found = {query_id: name for query_id, name in names.items() if name is not None}
    absent = [(query_id, name) for query_id, name in found.items() if name not in known]
    if absent and chosen.by not in _ANY_CORPUS:
        query_id, name = absent[0]
        raise DatasetError(
            f"{dataset.name}: the query {query_id!r} is of the collection {name!r}, which has no "
            f"corpus ({len(absent):,} queries without one){did_you_mean(name, known)}; {there}; "
            f"add its file to 'corpus', rename it with "
            f"collections: {{by: {chosen.by}, aliases: {{{name}: {min(known)}}}}}, or pool "
            f"the passages with collections: none"
        )
    return found


def _labelled(corpus: Corpus, chosen: ByLabel) -> dict[str, list[int]]:
    """Return collection -> positions of the passages with that label."""
    found: dict[str, list[int]] = {}
    for position, text in enumerate(corpus.table.column("labels").to_pylist()):
        name = chosen.name(labels_from_json(text).get(chosen.by))
        if name is None:
            raise DatasetError(
                f"the passage {corpus.passage_ids[position]!r} has no single label {chosen.by!r}, "
                f"which names its collection; label it, give corpus: {{collection: path}}, or pool "
                f"the passages with collections: none"
            )
        found.setdefault(name, []).append(position)
    return found


def joined_corpora(parts: Mapping[str, Corpus]) -> Corpus:
    """Return the corpus of all parts; raise `DatasetError` if two have a passage id in common."""
    owners: dict[str, str] = {}
    for name, part in parts.items():
        for passage_id in part.passage_ids:
            if owners.setdefault(passage_id, name) != name:
                raise DatasetError(
                    f"the passage id {passage_id!r} is in the collections {owners[passage_id]!r} "
                    f"and {name!r}; give each passage its own id, such as "
                    f"{f'{name}-{passage_id}'!r}, in the corpus and in the qrels"
                )
    if len(parts) == 1:
        return next(iter(parts.values()))
    return Corpus(joined((part.table for part in parts.values()), CORPUS))


def with_collection_labels(dataset: Dataset) -> Dataset:
    """Return a data set whose queries and passages have their collection as the label `collection`.

    It can then be read with `collections: {by: collection}`. A data set without collections is
    returned as it is.

    Raises:
        DatasetError: a query or passage has the label with another value.
    """
    if not dataset.collections:
        return dataset
    named = [""] * len(dataset.corpus)
    for name, positions in dataset.corpus.collections.items():
        for position in positions:
            named[position] = name
    asked = dataset.query_table.column("query_id").to_pylist()
    queries = _with_label(dataset.query_table, [dataset.collections[i] for i in asked])
    corpus = replace(dataset.corpus, table=_with_label(dataset.corpus.table, named))
    return replace(dataset, query_table=queries, corpus=corpus)


def _with_label(table: Table, names: Sequence[str]) -> Table:
    """Return a table with the label `collection` in each row that has a name for it."""
    texts = table.column("labels").to_pylist()
    found = []
    for text, name in zip(texts, names, strict=True):
        labels = labels_from_json(text)
        if name and labels.setdefault(LABEL, name) != name:
            raise DatasetError(
                f"the label {LABEL!r} has the value {labels[LABEL]!r} in a row of the collection "
                f"{name!r}; rename the label"
            )
        found.append(labels_to_json(labels))
    return with_texts(table, labels=found)


def _check_qrels(dataset: Dataset, files: Mapping[str, Any]) -> None:
    judged: Iterable[str] = dict.fromkeys(dataset.qrel_table.column("passage_id").to_pylist())
    unknown = [repr(passage_id) for passage_id in judged if passage_id not in dataset.corpus]
    if unknown:
        raise DatasetError(
            f"{dataset.name}: the qrels name {len(unknown):,} passages that are not in "
            f"{listed([str(path) for path in files.values()])}: {listed(unknown)}; add them, or "
            f"remove their judgements"
        )


def rechunked(dataset: Dataset, chunker: Any) -> Dataset:
    """Return a data set with new passages; a warning counts judgements that are not transferred."""
    if not len(dataset.corpus):
        raise ConfigError(
            f"data: the data set {dataset.name!r} has no passages that a chunker could cut; remove "
            "'chunker', or add 'documents' or 'corpus'",
            key="chunker",
        )
    made = rechunk(with_collection_labels(dataset), chunker)
    if lost := len(made.not_carried):
        _LOG.warning(
            "%s: %s of %s judgements are left out, because no passage of the chunker has enough of "
            "their text",
            dataset.name,
            f"{lost:,}",
            f"{made.judgements:,}",
        )
    whole = replace(made.dataset, collections={})
    return divided(whole, ByLabel(LABEL)) if dataset.collections else whole
