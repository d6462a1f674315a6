"""The languages of the queries that an experiment asks, and of its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.core.schemas import LANGUAGES, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.languages import DataLanguages, languages_of

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.system import SharedInputs


def asked_languages(dataset: Dataset, shared: SharedInputs) -> DataLanguages:
    """Return the languages of the queries that are asked, and of passages."""
    return languages_of(dataset, shared.ranked.table, shared.answered.table)


def language_table(found: DataLanguages) -> StoredTable | None:
    """Return the language of each query; None if the labels of the queries have it."""
    columns = {"query_id": list(found.by_query), "language": list(found.by_query.values())}
    return StoredTable.in_memory(to_table(LANGUAGES, columns)) if found.unlabelled else None
