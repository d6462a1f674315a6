"""The experiment that a query is looked up in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragstone.core.store import Store
from ragstone.errors import ConfigError, StoreError
from ragstone.experiment.joined_sources import DEFAULT_STORE, stored_results
from ragstone.experiment.members import read_members
from ragstone.results.joined import JoinedResults
from ragstone.results.query_page import find_query
from ragstone.results.reader import StoredResults
from ragstone.results.results import Results


def results_with(
    query_id: str, experiment: Path | None = None, overrides: Sequence[str] = ()
) -> Results:
    """Return the kept results of an experiment that has a query.

    Args:
        query_id: the id of an answered query.
        experiment: the experiment file; without one, the experiment of the store in this folder
            that ran last and has the query.
        overrides: `key=value` as on the command line.

    Raises:
        ConfigError: no experiment has the query, or several data sets of a file have it.
        StoreError: there are no results.
    """
    every = stored_results(experiment, overrides) if experiment else _in_store()
    found = [one for one in every if query_id in one.queries]
    if not found:
        find_query(every[0], query_id)
    if experiment and len(found) > 1:
        names = {one.name for one in found}
        keys = [m.key for m in read_members(experiment, overrides)[0] if m.file.name in names]
        raise ConfigError(
            f"several data sets have a query {query_id!r} ({', '.join(keys)}); "
            f"choose one, for example: {experiment}#{keys[0]}",
            value=query_id,
        )
    return Results(found[0].store, found[0].record)


def _in_store() -> list[StoredResults]:
    """Return the experiments of the store in this folder, the one that ran last first."""
    if not Path(DEFAULT_STORE).is_dir():
        raise StoreError(
            f"there is no store {DEFAULT_STORE} in this folder; give the experiment file, "
            "for example: ragstone why QUERY e.yaml"
        )
    joined = JoinedResults.of_store(Store(Path(DEFAULT_STORE))).experiments
    return sorted((one.results for one in joined), key=_ran, reverse=True)


def _ran(results: StoredResults) -> str:
    return results.record.finished or results.record.started
