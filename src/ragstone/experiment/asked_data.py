"""Facts about the data of an experiment, and the languages of the queries that it asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone.core.schemas import LANGUAGES, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.languages import DataLanguages, LanguageFacts, languages_of
from ragstone.data.published.presets import published_factors
from ragstone.results.data_facts import DataFacts

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.members import Member
    from ragstone.experiment.system import SharedInputs


def asked_languages(dataset: Dataset, shared: SharedInputs) -> DataLanguages:
    """Return the languages of the queries that are asked, and of passages."""
    return languages_of(dataset, shared.ranked.table, shared.answered.table)


def language_table(found: DataLanguages) -> StoredTable | None:
    """Return the language of each query; None if the labels of the queries have it."""
    columns = {"query_id": list(found.by_query), "language": list(found.by_query.values())}
    return StoredTable.in_memory(to_table(LANGUAGES, columns)) if found.unlabelled else None


def data_facts(
    dataset: Dataset, shared: SharedInputs, member: Member, languages: LanguageFacts
) -> DataFacts:
    """Return the facts in the record of an experiment."""
    corpus = dataset.corpus if shared.collections else replace(dataset.corpus, collections={})
    return DataFacts(
        name=dataset.name,
        passages=len(dataset.corpus),
        queries=dataset.query_table.num_rows,
        ranked=shared.ranked.table.num_rows,
        answered=shared.answered.table.num_rows,
        corpus_digest=corpus.digest,
        left_out=dict(shared.left_out),
        listed=shared.listed,
        factors={**published_factors(dataset.source), **member.factors},
        languages=languages,
    )
