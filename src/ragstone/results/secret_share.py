"""The open and the secret share of the queries side by side, once the secret one is revealed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from ragstone.results.two_groups import GroupRow, group_rows, group_table

if TYPE_CHECKING:
    from ragstone.core.tables import TextTable
    from ragstone.results.reader import StoredResults
    from ragstone.statistics.summary import Summary

_NAMES: Final = ("open", "secret")


@dataclass(frozen=True, slots=True)
class ShareRow(GroupRow):
    """One metric of a system under a setting, over the open and over the secret queries."""

    @property
    def open(self) -> Summary:
        """The open queries."""
        return self.first

    @property
    def secret(self) -> Summary:
        """The secret queries."""
        return self.second


def share_rows(
    results: StoredResults, system: str | None = None, setting: str | None = None
) -> list[ShareRow]:
    """Return a row per cell of revealed results; [] if the secret queries are not revealed.

    `system` and `setting` choose cells as in `group_rows`.
    """
    if not results.reveal or not results.secret_queries:
        return []
    secret = results.secret_queries
    found = group_rows(results, results.all_queries.keys() - secret, secret, system, setting)
    names = [field.name for field in fields(GroupRow)]
    return [ShareRow(*(getattr(row, name) for name in names)) for row in found]


def share_sentence(results: StoredResults, rows: list[ShareRow] | None = None) -> str:
    """Return what the headline metric says of the secret share; "" if it is not revealed.

    `rows` are those of `share_rows`, by default all.
    """
    rows = share_rows(results) if rows is None else rows
    if not rows:
        return ""
    headline = results.record.headline
    names = [row.metric for row in rows]
    metric = headline if headline in names else next(iter(names), "")
    differing = [row for row in rows if row.metric == metric and row.worse is not None]
    worse = [row for row in differing if row.worse]
    if not differing:
        return f"The secret share is not shown to differ ({metric})."
    found = "; ".join(f"{row.place} {row.difference:+.3f}" for row in worse or differing)
    if worse:
        return (
            f"The secret share is worse in {metric}: {found}. The system may be tuned to the open "
            "queries."
        )
    return f"The secret share is better in {metric}: {found}. Nothing shows tuning to the open one."


def share_document(
    results: StoredResults, system: str | None = None, setting: str | None = None
) -> dict[str, Any] | None:
    """Return the facts of the secret share; with `rows` and `sentence` once it is revealed.

    `system` and `setting` are those of `share_rows`. None without a secret share.
    """
    document, rows = results.secret_document(), share_rows(results, system, setting)
    if document is None or not rows:
        return document
    sentence = share_sentence(results, rows)
    return {**document, "rows": [row.document(*_NAMES) for row in rows], "sentence": sentence}


def share_table(results: StoredResults, rows: list[ShareRow]) -> TextTable:
    """Return the rows as a table, with the sentence below."""
    title = "Open and secret queries (mean [interval])"
    return group_table([*rows], _NAMES, title, share_sentence(results, rows))
