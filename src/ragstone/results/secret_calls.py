"""Kept model calls about secret queries and nuggets, which outputs of a call log leave out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.core.schemas import columns
from ragstone.core.store import Store
from ragstone.core.store_contents import documents
from ragstone.errors import StoreError
from ragstone.results.record import KIND, Record
from ragstone.results.stored_tables import StoredTables

_LOG: Final = logging.getLogger(__name__)


def secret_texts(store: Store) -> frozenset[str]:
    """Return the texts of the secret queries and nuggets of all experiments of a store.

    Those of an experiment whose tables cannot be read are not known: a notice names it.
    """
    found: set[str] = set()
    for path in documents(store.root, KIND):
        try:
            tables = StoredTables(store, Record.load(store, path.stem))
            found |= {one.strip() for texts in tables.secret_nuggets.values() for one in texts}
            for folder in {tables.record.tables.answered, tables.record.tables.ranked}:
                found |= _texts(tables, folder)
        except StoreError as error:
            _LOG.warning("note: secrets of %s are not known: %s", path.stem, error)
    return frozenset(filter(None, found))


def _texts(tables: StoredTables, folder: str) -> set[str]:
    """Return the texts and rewrites of the secret queries of a table."""
    secret = tables.secret_queries
    if not secret:
        return set()
    rows = columns(tables.whole_table(folder))
    ids = rows["query_id"]
    texts = (
        rows[name][n] for name in ("text", "rewrite") for n, q in enumerate(ids) if q in secret
    )
    return {text.strip() for text in texts if text and text.strip()}


def is_secret_call(call: Mapping[str, Any], texts: frozenset[str]) -> bool:
    """Return whether a message of a call contains a text of a secret query or nugget.

    >>> call = {"messages": [["user", "Answer: who wrote it?"]]}
    >>> is_secret_call(call, frozenset({"who wrote it?"})), is_secret_call(call, frozenset())
    (True, False)
    """
    messages = [str(text) for _, text in call.get("messages", ())]
    return any(text in message for message in messages for text in texts)


def texts_of_log(log: Path) -> frozenset[str]:
    """Return the texts of the secret queries and nuggets of the store that a call log is in."""
    return secret_texts(Store(log.parent))
