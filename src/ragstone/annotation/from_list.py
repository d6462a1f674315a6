"""A project of the answers of a list that `ragstone view` shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from ragstone.annotation.create import ProjectPlan, make_project
from ragstone.annotation.from_results import AnswerChoice, result_items
from ragstone.results.reader import StoredResults


class ListedAnswer(Protocol):
    """An answer that a list names."""

    @property
    def query_id(self) -> str:
        """The id of the query."""
        ...

    @property
    def system(self) -> str:
        """The system that answered."""
        ...

    @property
    def setting(self) -> str:
        """The context setting."""
        ...


def annotate_list(
    folder: Path,
    results: StoredResults,
    filters: Mapping[str, str],
    answers: Iterable[ListedAnswer],
) -> int:
    """Write the answers as a project in which people rate them, and return its number of items.

    An item is a query with its answers; a failed call has nothing to be rated.

    Raises `ConfigError` if there is none, or the folder exists.
    """
    named = {(one.query_id, one.system, one.setting): None for one in answers}
    data = results.record.data
    source = {
        "experiment": results.name,
        "filter": dict(filters),
        "data": data.name,
        "corpus_digest": data.corpus_digest,
        "finished": results.record.finished,
    }
    items = result_items(results, "ratings", AnswerChoice(answers=named))
    return len(make_project(folder, ProjectPlan("ratings", source), items).items)
