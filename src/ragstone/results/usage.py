"""The calls of an experiment: statuses of the answers, time, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ragstone.evaluation.usage import UsageRow
from ragstone.results.reader import StoredResults
from ragstone.results.record import CallsEntry
from ragstone.results.wording import calls_text
from ragstone.types import ANSWER_STATUSES


class _WithStatuses(Protocol):
    @property
    def statuses(self) -> Mapping[str, int]: ...


def shown_statuses(rows: Iterable[_WithStatuses]) -> list[str]:
    """Return the statuses that a table has columns for, besides `answered` and `failed`."""
    listed = list(rows)
    others = (status for status in ANSWER_STATUSES if status not in {"answered", "failed"})
    return [s for s in others if any(row.statuses.get(s) for row in listed)]


def usage_rows(results: StoredResults) -> list[UsageRow]:
    """Return time and tokens of every trial."""
    return [trial.usage for trial in results.trials]


def calls_lines(results: StoredResults) -> list[str]:
    """Return a line per system that is called: the replies asked for, kept and failed."""
    calls: dict[str, list[CallsEntry]] = {}
    for entry in results.record.calls:
        calls.setdefault(entry.system, []).append(entry)
    return [calls_text(entries) for entries in calls.values()]


def calls_part(results: StoredResults) -> str | None:
    """Return the paragraph on the calls of the last run; None if no system was called."""
    lines = [f"  {line}" for line in calls_lines(results)]
    return "\n".join(["Answers asked for and kept", *lines]) if lines else None
