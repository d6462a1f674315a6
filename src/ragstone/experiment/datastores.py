"""Datastores: the collections that a system searches, such as `user+en`, and the gold within them.

`user` is the query's own collection, `all` are all collections, another name is that collection,
and `+` joins them. Contexts of gold passages and noise keep the judgements of the data set. A
ranking is scored against judgements of its reach: each gold passage stands for its translations in
the datastore, which are the passages with the same label `parallel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.core.schemas import (
    COLLECTIONS,
    QRELS,
    TRANSLATIONS,
    table_to_relevance,
    to_table,
)
from ragstone.core.stored_table import StoredTable
from ragstone.data.corpus import JOIN
from ragstone.data.readers.parallel import parallel_ids
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import SystemSpec

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
USER: Final = "user"
ALL: Final = "all"


@dataclass(frozen=True)
class Datastore:
    """What a system with a datastore searches, and how its rankings are judged."""

    collections: StoredTable | None
    """The collections of each query, joined; None for all passages."""
    qrels: StoredTable
    """The judgements, each gold passage replaced by its translations in the datastore."""
    translations: StoredTable | None = None
    """Passage -> the one that it counts as; None if the judgements are those of the data set."""

    @property
    def judgements(self) -> dict[str, StoredTable]:
        """The inputs of a step that scores rankings."""
        known = {"qrels": self.qrels, "translations": self.translations}
        return {name: table for name, table in known.items() if table is not None}


def with_collections(dataset: Dataset, systems: Iterable[SystemSpec]) -> Dataset:
    """Return the data set with the collections that the datastores of systems need.

    Without collections, they are the passages by their label `language`.

    Raises:
        ConfigError: a passage has no such label, or the data set has no passages.
    """
    name = next((one.datastore for one in systems if one.datastore), None)
    if name is None or dataset.corpus.collections:
        return dataset
    found: dict[str, list[int]] = {}
    for place, language in enumerate(dataset.corpus.stated_languages()):
        found.setdefault(language, []).append(place)
    if "" in found or not found:
        ids = [repr(dataset.corpus.passage_ids[place]) for place in found.get("", ())]
        problem = (
            f"{len(ids):,} passages of {dataset.name!r} have no label 'language': {listed(ids)}"
            if ids
            else f"the data set {dataset.name!r} has no passages"
        )
        raise _wrong(
            name,
            f"{problem}; a datastore chooses among the collections of a data set: label the "
            "passages, or give corpus: {LANGUAGE: PATH} with collections: {by: language}",
        )
    return replace(dataset, corpus=replace(dataset.corpus, collections=found))


def datastores_of(
    dataset: Dataset, searched: Dataset, systems: Sequence[SystemSpec], *, with_noise: bool = False
) -> dict[str, Datastore]:
    """Return the name of each datastore of the systems -> its collections and judgements.

    Args:
        dataset: the data set, with all collections.
        searched: the same with the queries that are searched.
        systems: the systems.
        with_noise: whether noise is searched, in each query's own collection.

    Raises:
        ConfigError: a datastore is unknown, its system retrieves nothing, or a query has no
            collection of its own under `user`.
    """
    for system in systems:
        if system.datastore and system.retriever is None:
            name = system.name or system.default_name
            raise _wrong(
                system.datastore,
                f"system {name!r} has no retriever, which searches a datastore; add a retriever, "
                "or remove the datastore",
            )
    names = dict.fromkeys(system.datastore for system in systems if system.datastore)
    if with_noise or any(system.retriever and not system.datastore for system in systems):
        _check_own(dataset, searched)
    resolver = _Resolver(dataset, searched)
    return {name: resolver.datastore(name) for name in names}


def with_near(qrels: Qrels, datastores: Iterable[Datastore]) -> Qrels:
    """Return judgements with those of datastores, such as of translations."""
    found = {query_id: dict(grades) for query_id, grades in qrels.items()}
    for one in datastores:
        for query_id, grades in table_to_relevance(one.qrels.table).items():
            found.setdefault(query_id, {}).update(grades)
    return found


def _check_own(dataset: Dataset, searched: Dataset) -> None:
    """Raise `ConfigError` if a query's own collection, which it searches by default, is empty."""
    if dataset.collections:
        asked = {q: dataset.collections[q] for q in searched.query_ids}
        _require_own(USER, asked, dataset.corpus.collections, "a system without a datastore")


def _require_own(name: str, own: Mapping[str, str], known: Mapping[str, object], who: str) -> None:
    without = {query_id: code for query_id, code in own.items() if code not in known}
    if not without:
        return
    codes = sorted({code or "no language" for code in without.values()})
    raise _wrong(
        name,
        f"{len(without):,} of {len(own):,} queries have no collection of their own, which {who} "
        f"searches ({', '.join(codes)}; such as {next(iter(without))!r}); the collections are "
        f"{listed(sorted(known))}: choose one of them as datastore, label the queries, or leave "
        "these queries out with sample.where",
    )


@dataclass(frozen=True)
class _Resolver:
    """The collections of a data set, and its judgements by datastore."""

    dataset: Dataset
    searched: Dataset

    def datastore(self, name: str) -> Datastore:
        """Return the collections and judgements of a datastore."""
        reach = self._reach(name)
        dataset = self.dataset
        own = {query_id: dataset.collections.get(query_id) for query_id in reach}
        joint = {query_id: JOIN.join(parts) for query_id, parts in reach.items()}
        # The datastore of each query's own collection has the steps of a system without one.
        named = dict(dataset.collections) if own == joint else joint
        columns = {"query_id": list(named), "collection": list(named.values())}
        collections = StoredTable.in_memory(to_table(COLLECTIONS, columns))
        qrels, translations = self._judged(reach)
        if qrels == dataset.qrels and not translations:
            return Datastore(collections, StoredTable.in_memory(dataset.qrel_table))
        return Datastore(collections, _qrel_table(qrels), _translation_table(translations))

    def _reach(self, name: str) -> dict[str, list[str]]:
        """Return query id -> names of the collections that it searches, in the corpus's order."""
        known = self.dataset.corpus.collections
        chosen = self._checked(name)
        own = self._own()
        if USER in chosen and ALL not in chosen:
            _require_own(name, own, known, f"the datastore {name!r}")
        fixed = set(known) if ALL in chosen else {*chosen} - {USER}
        return {
            query_id: [one for one in known if one in fixed or (USER in chosen and one == mine)]
            for query_id, mine in own.items()
        }

    def _checked(self, name: str) -> list[str]:
        """Return the names that a datastore joins; raise `ConfigError` for an unknown one."""
        known = list(self.dataset.corpus.collections)
        if not known:
            raise _wrong(name, f"the data set {self.dataset.name!r} has no collections")
        reserved = [one for one in known if JOIN in one or one in {USER, ALL}]
        if reserved:
            raise _wrong(
                name,
                f"the collection {reserved[0]!r} cannot be named in a datastore, where {USER}, "
                f"{ALL} and {JOIN} have a meaning; give it another name with "
                f"collections: {{by: ..., aliases: {{{reserved[0]}: NAME}}}}",
            )
        chosen = [one.strip() for one in name.split(JOIN)]
        for one in chosen:
            if one not in {*known, USER, ALL}:
                raise _wrong(
                    name, f"unknown collection {one!r}{did_you_mean(one, [USER, ALL, *known])}"
                )
        return chosen

    def _own(self) -> dict[str, str]:
        """Return query id -> its own collection, which may have no passages; "" without one."""
        if self.dataset.collections:
            return {q: self.dataset.collections[q] for q in self.searched.query_ids}
        return self.searched.stated_languages()

    @cached_property
    def _collection(self) -> dict[str, str]:
        """Passage id -> its collection."""
        corpus = self.dataset.corpus
        places = corpus.collections.items()
        return {corpus.passage_ids[place]: name for name, held in places for place in held}

    @cached_property
    def _translations(self) -> dict[str, list[str]]:
        """Passage id -> itself and its translations, in the order of the corpus."""
        ids = self.dataset.corpus.passage_ids
        groups: dict[str, list[str]] = {}
        for place, shared in parallel_ids(self.dataset.corpus).items():
            groups.setdefault(shared, []).append(ids[place])
        return {passage_id: group for group in groups.values() for passage_id in group}

    def _judged(
        self, reach: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
        """Return the judgements within reach, and passage -> first translation of several."""
        found: dict[str, dict[str, int]] = {}
        counts_as: dict[str, str] = {}
        for query_id, grades in self.dataset.qrels.items():
            if query_id not in reach:
                found[query_id] = grades
                continue
            judged: dict[str, int] = {}
            for passage_id, grade in grades.items():
                group = self._translations.get(passage_id, [passage_id])
                near = [one for one in group if self._collection.get(one) in reach[query_id]]
                judged |= {one: max(grade, judged.get(one, grade)) for one in near}
                counts_as |= dict.fromkeys(near, group[0]) if len(near) > 1 else {}
            if judged:
                found[query_id] = judged
        return found, counts_as


def _qrel_table(qrels: Mapping[str, Mapping[str, int]]) -> StoredTable:
    rows = [(q, p, grade) for q, grades in qrels.items() for p, grade in grades.items()]
    names = ("query_id", "passage_id", "relevance")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return StoredTable.in_memory(to_table(QRELS, columns))


def _translation_table(counts_as: Mapping[str, str]) -> StoredTable:
    columns = {"passage_id": list(counts_as), "counts_as": list(counts_as.values())}
    return StoredTable.in_memory(to_table(TRANSLATIONS, columns))


def _wrong(name: str, problem: str) -> ConfigError:
    return ConfigError(f"datastore {name!r}: {problem}", key="datastore", value=name)
