"""The open and the secret share of queries or nuggets side by side, once the latter is revealed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.components.judges.secret_nuggets import open_part
from ragstone.results.two_groups import (
    GroupCell,
    GroupRow,
    compared_rows,
    group_rows,
    group_table,
)

if TYPE_CHECKING:
    from ragstone.core.tables import TextTable
    from ragstone.results.reader import StoredResults
    from ragstone.statistics.summary import Summary

_NAMES: Final = ("open", "secret")
Of = Literal["queries", "nuggets"]
_SHARED: Final[tuple[Of, ...]] = ("queries", "nuggets")


@dataclass(frozen=True, slots=True)
class ShareRow(GroupRow):
    """One metric of a system under a setting, over the open and over the secret share."""

    of: Of
    """Unit of the shares: different queries, or the nuggets of the same queries."""

    @property
    def open(self) -> Summary:
        """The open share."""
        return self.first

    @property
    def secret(self) -> Summary:
        """The secret share."""
        return self.second


def share_rows(
    results: StoredResults, system: str | None = None, setting: str | None = None
) -> list[ShareRow]:
    """Return a row per cell of revealed results; [] if nothing secret is revealed.

    Secret queries have a row per metric, secret nuggets one per judge of nuggets. `system` and
    `setting` choose cells as in `group_rows`.
    """
    if not results.reveal or not results.secret:
        return []
    found: list[ShareRow] = []
    if secret := results.secret_queries:
        rows = group_rows(results, results.all_queries.keys() - secret, secret, system, setting)
        found += _share_rows([row for row in rows if not open_part(row.metric)], "queries")
    if results.secret_nuggets:
        rows = compared_rows(results, _nugget_cells(results), system, setting, paired=True)
        found += _share_rows(rows, "nuggets")
    return found


def _share_rows(rows: list[GroupRow], of: Of) -> list[ShareRow]:
    names = [field.name for field in fields(GroupRow)]
    values: list[dict[str, Any]] = [{name: getattr(row, name) for name in names} for row in rows]
    return [ShareRow(**known, of=of) for known in values]


def _nugget_cells(results: StoredResults) -> Iterator[GroupCell]:
    """Yield the scores of open and of secret nuggets, of the queries that have both."""
    for rows in results.trials:
        for metric, scores in rows.scores.items():
            if known := open_part(metric):
                both = rows.scores[known], scores
                sides = (
                    {q: s for q, s in one.items() if q in results.secret_nuggets} for one in both
                )
                yield GroupCell(rows.system, rows.setting, known, *sides)


def share_sentence(results: StoredResults, rows: list[ShareRow] | None = None) -> str:
    """Return a sentence per revealed share by the headline metric; "" if nothing is revealed.

    Queries and nuggets have a sentence each; that of nuggets is about their first judge. `rows` are
    those of `share_rows`, by default all.
    """
    rows = share_rows(results) if rows is None else rows
    kinds = dict.fromkeys(row.of for row in rows)
    return " ".join(_sentence(results, [row for row in rows if row.of == of], of) for of in kinds)


def _sentence(results: StoredResults, rows: list[ShareRow], of: Of) -> str:
    headline, names = results.record.headline, [row.metric for row in rows]
    metric = headline if headline in names else names[0]
    share = "The secret share is" if of == "queries" else "The secret nuggets are"
    differing = [row for row in rows if row.metric == metric and row.worse is not None]
    worse = [row for row in differing if row.worse]
    if not differing:
        return f"{share} not shown to differ ({metric})."
    found = "; ".join(f"{row.place} {row.difference:+.3f}" for row in worse or differing)
    if worse:
        return f"{share} worse in {metric}: {found}. The system may be tuned to the open {of}."
    ones = "one" if of == "queries" else "ones"
    return f"{share} better in {metric}: {found}. Nothing shows tuning to the open {ones}."


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


def share_tables(results: StoredResults, rows: list[ShareRow]) -> Iterator[TextTable]:
    """Yield a table of the rows of queries and one of those of nuggets, with the sentence below."""
    for of in _SHARED:
        if mine := [row for row in rows if row.of == of]:
            title = f"Open and secret {of} (mean [interval])"
            sentence = share_sentence(results, mine)
            yield group_table([*mine], _NAMES, title, sentence, paired=of == "nuggets")
