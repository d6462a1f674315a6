"""The changes that a report shows: against the earlier run, or between the two best systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ragstone.errors import RagstoneError
from ragstone.evaluation.changes import ChangeCount, QueryChange, change_counts, query_changes
from ragstone.results.changes import answered_texts
from ragstone.results.earlier import finished_records
from ragstone.results.leaderboards import Lead
from ragstone.results.reader import StoredResults
from ragstone.results.wording import moment
from ragstone.statistics.failures import difference_between
from ragstone.statistics.flipped import flipped_queries
from ragstone.statistics.paired import Difference
from ragstone.types import Score


@dataclass(frozen=True)
class ShownChanges:
    """The queries on which the second of two systems or runs is better or worse."""

    a: str
    b: str
    metric: str
    setting: str
    difference: Difference
    """Mean of b minus mean of a, paired by query; not corrected."""
    counts: tuple[ChangeCount, ...]
    queries: tuple[QueryChange, ...]


@dataclass(frozen=True)
class _Side:
    name: str
    results: StoredResults
    system: str


def shown_changes(results: StoredResults, lead: Lead | None) -> ShownChanges | None:
    """Return the changes of the best system against the run before this one.

    Without an earlier run with this system, they are those between the second best system and the
    best one. None with a single system and run.
    """
    if lead is None:
        return None
    now = _Side(lead.best, results, lead.best)
    earlier = _earlier(results)
    if earlier is not None:
        before = _Side(f"run of {moment(earlier.record.finished or '')}", earlier, lead.best)
        this_run = replace(now, name=f"{lead.best}, this run")
        if found := _between(before, this_run, lead):
            return found
    return _between(_Side(lead.runner_up, results, lead.runner_up), now, lead)


def _earlier(results: StoredResults) -> StoredResults | None:
    """Return the results of the last run that finished before these."""
    finished = results.record.finished
    try:
        known = finished_records(results.store, results.name)
    except RagstoneError:
        return None
    # Two runs may finish in one second.
    before = [r for r in known if finished and (r.finished or "") <= finished]
    before = [r for r in before if r != results.record]
    return StoredResults(results.store, before[-1], results.reveal) if before else None


def _between(a: _Side, b: _Side, lead: Lead) -> ShownChanges | None:
    scale = b.results.record.scale(lead.metric)
    try:
        tables = {side.name: {lead.metric: _scores(side, lead)} for side in (a, b)}
        before, after = (tables[side.name][lead.metric] for side in (a, b))
        difference = difference_between(before, after, scale, b.results.clusters)
        if difference is None:
            return None
        answered = {s.name: answered_texts(s.results, s.system, lead.setting) for s in (a, b)}
    except (RagstoneError, OSError):  # an earlier run whose steps were pruned
        if a.results is b.results:
            raise
        return None
    flipped = flipped_queries(before, after, scale)
    found = tuple(query_changes(lead.metric, (a.name, b.name), flipped, tables, answered))
    counts = tuple(change_counts(found))
    return ShownChanges(a.name, b.name, lead.metric, lead.setting, difference, counts, found)


def _scores(side: _Side, lead: Lead) -> Mapping[str, Score]:
    measured = (*side.results.trials, *side.results.rankings)
    rows = (one for one in measured if (one.system, one.setting) == (side.system, lead.setting))
    return next((one.scores.get(lead.metric, {}) for one in rows), {})
