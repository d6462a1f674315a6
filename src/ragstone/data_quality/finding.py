"""Findings of the data doctor, each with counts, examples and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from ragstone.core import limits
from ragstone.core.screen_text import columns, head

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: scores are wrong; warning: scores may be wrong; note: matters for reading the scores."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


Remedy: TypeAlias = Literal["fix", "person", ""]
"""fix: `--fix` removes the fault; person: somebody has to decide; "": a fact, not a fault."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a data set, or one fact that matters for reading its scores."""

    check: str
    """Name of the check and, after a slash, its subject: `duplicates/passages`."""
    severity: Severity
    what: str
    """One sentence with the counts."""
    count: int
    """Number of affected rows, pairs or queries; 0 for a finding about the whole data set."""
    of: int
    """Number of checked rows, pairs or queries."""
    advice: str
    examples: tuple[str, ...] = ()
    """One line per affected row, for the first rows."""
    rows: tuple[str, ...] = ()
    """The id of every affected row: of a passage or a query, or the place of a line."""
    kind: str = ""
    """Kind of `rows`: `passage`, `query`, `answer` (ids of its query), `line`, `file`, or ""."""
    pairs: tuple[tuple[str, str], ...] = ()
    """All pairs of ids, if a pair is affected and not a row: two rows, or query and passage."""
    remedy: Remedy = "person"


def report(
    check: str,
    severity: Severity,
    found: Sequence[tuple[str, str]],
    of: int,
    what: str,
    *,
    advice: str,
    kind: str = "query",
    remedy: Remedy = "person",
    pairs: Iterable[tuple[str, str]] = (),
) -> Iterator[Finding]:
    """Yield a finding about `found` of `of` rows, or nothing if `found` is empty.

    `found` has the id and an example of each row, and `what` completes "3 of 24 ...".
    """
    if found:
        yield Finding(
            check,
            severity,
            f"{len(found):,} of {of:,} {what}",
            len(found),
            of,
            advice,
            each_line(example for _, example in found),
            tuple(dict.fromkeys(row_id for row_id, _ in found)),
            kind,
            tuple(pairs),
            remedy,
        )


def shown(text: str, limit: int = limits.MAX_EXAMPLE_CHARACTERS) -> str:
    r"""Return a text on one line, shortened to `limit` columns.

    >>> shown("one\n two", limit=5)
    'one t...'
    """
    line = " ".join(text.split())
    return line if columns(line) <= limit else f"{head(line, limit)}..."


def distribution(counts: Counter[str]) -> str:
    """Return the most frequent values with their counts.

    >>> distribution(Counter("abb"))
    'b 2, a 1'
    """
    most = counts.most_common(limits.MAX_DISTRIBUTION_VALUES)
    return ", ".join(f"{value} {n:,}" for value, n in most)


def each_line(examples: Iterable[str]) -> tuple[str, ...]:
    """Return the first examples, each shortened to one line."""
    return tuple(map(shown, islice(examples, limits.MAX_EXAMPLES)))
