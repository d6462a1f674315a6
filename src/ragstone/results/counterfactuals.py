"""The counterfactuals of an experiment that its store keeps: changed queries, systems or passages.

They are kept beside experiments and are part of no mean, leaderboard, passport or history.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ragstone.core.fingerprint import fingerprint, without_sources
from ragstone.core.store import Store
from ragstone.core.store_contents import documents
from ragstone.errors import StoreError
from ragstone.results.earlier import with_secret
from ragstone.results.reader import StoredResults
from ragstone.results.record import COUNTERFACTUALS, Record

_LOG: Final = logging.getLogger(__name__)


def kept_counterfactuals(
    results: StoredResults, query_id: str = "", purpose: str = ""
) -> list[StoredResults]:
    """Return the finished counterfactuals of an experiment's present results, the oldest first.

    Those of an earlier run with other components or other data are left out.

    Args:
        results: the experiment.
        query_id: only those that ask this query.
        purpose: only those that are `exploratory` or `deciding`.
    """
    found = [
        StoredResults(results.store, with_secret(record, results.record), results.reveal)
        for record in _records(results.store, results.name)
        if record.finished
        and is_current(record, results.record)
        and (not query_id or query_id in record.counterfactual["query_ids"])
        and purpose in ("", record.counterfactual["purpose"])
    ]
    return sorted(found, key=lambda one: one.record.finished or "")


def _records(store: Store, name: str) -> Iterator[Record]:
    """Yield the counterfactuals of an experiment; a notice names one that cannot be read."""
    for path in documents(store.root, COUNTERFACTUALS):
        if path.stem.rpartition("@")[0] == name:
            try:
                yield Record.load(store, path.stem, kind=COUNTERFACTUALS)
            except StoreError as error:
                _LOG.warning("%s", error)


def is_current(counterfactual: Record, record: Record) -> bool:
    """Return whether a counterfactual is of the data and the components of an experiment."""
    same_data = counterfactual.data.corpus_digest == record.data.corpus_digest
    known = base_of(record)
    of = counterfactual.counterfactual["base"]
    return same_data and all(known.get(name) == parts for name, parts in of.items())


def base_of(record: Record) -> dict[str, dict[str, str]]:
    """Return system -> key -> digest of the component, whatever the version of its code."""
    return {entry.name: digests_of(entry.components) for entry in record.systems}


def digests_of(parts: Mapping[str, Any]) -> dict[str, str]:
    """Return key -> digest of each component, given by its cache key parts."""
    return {key: fingerprint(without_sources(made)) for key, made in parts.items()}
