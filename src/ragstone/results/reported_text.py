"""The terminal's tables of the reports of own systems: several hops, stated confidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ragstone.core.tables import TextTable
from ragstone.results import wording
from ragstone.results.confidence import BINNING, confidence_rows
from ragstone.results.hops import hop_trials
from ragstone.results.population import left_out_suffix
from ragstone.results.reader import StoredResults
from ragstone.statistics.summary import Summary
from ragstone.types import Hop


def reported_tables(results: StoredResults) -> Iterator[TextTable]:
    """Yield the tables of hops and of confidence that have rows."""
    tables = (
        _systems(results),
        _by_hop(results),
        _by_calls(results),
        _confidence(results),
    )
    yield from (table for table in tables if table.rows)


def _systems(results: StoredResults) -> TextTable:
    """Return search calls, and the fate of the gold passages, per system and setting."""
    rows = hop_trials(results)
    lines = [
        [
            *(row.system, row.setting, row.queries, row.failed, _counted(row.found.calls)),
            *map(
                _counted,
                (row.found.recall, row.found.in_context, row.found.lost, row.found.never_found),
            ),
        ]
        for row in rows
    ]
    headers = ["system", "setting", "queries", "failed", "search calls", "recall of all hops"]
    headers += ["in context", "lost", "never found"]
    below = [
        f"{row.system}, {row.setting}{left_out_suffix(row.left_out)}"
        for row in rows
        if row.left_out
    ]
    title = "Hops (search calls per query; shares of the gold passages [95 % interval])"
    return TextTable(headers, lines, title, below=below)


def _by_hop(results: StoredResults) -> TextTable:
    lines = [
        [
            *(row.system, row.setting, one.hop, one.queries),
            *(_counted(one.recall), _counted(one.recall_so_far), one.lost),
        ]
        for row in hop_trials(results)
        if row.found.recall.n  # without a gold passage there is no recall
        for one in row.found.by_hop
    ]
    headers = ["system", "setting", "hop", "queries", "recall", "recall so far", "lost after it"]
    return TextTable(headers, lines, "Recall by hop (lost: found and not in the final context)")


def _by_calls(results: StoredResults) -> TextTable:
    """Return the accuracy by number of search calls; empty without a rule for right answers."""
    rows = hop_trials(results)
    lines = [
        [row.system, row.setting, one.calls, _counted(one.accuracy), _counted(one.within)]
        for row in rows
        for one in row.found.by_calls
    ]
    headers = ["system", "setting", "search calls", "right of those", "right within"]
    title = (
        f"Accuracy by search calls (right: {results.correctness}; within: more calls count as "
        "wrong)"
    )
    below = [
        f"{row.system}, {row.setting}: {row.found.beyond} answers took more calls"
        for row in rows
        if row.found.beyond
    ]
    return TextTable(headers, lines, title, below=below)


def _confidence(results: StoredResults) -> TextTable:
    rows = confidence_rows(results)
    lines = [
        [
            *(row.system, row.setting, row.found.n, len(row.found.bins)),
            wording.number(row.found.error) + wording.interval_text(row.found.interval),
            wording.number(row.found.by_chance),
            *map(wording.mean_text, (row.found.brier, row.found.confidence, row.found.accuracy)),
            wording.number(row.selective.area),
            sum(row.left_out.values()),
        ]
        for row in rows
    ]
    headers = ["system", "setting", "n", "bins", "calibration error", "by chance", "Brier score"]
    headers += ["confidence", "accuracy", "area of risk", "left out"]
    title = (
        f"Stated confidence (right: {results.correctness}; calibration error: ECE over bins of "
        f"{BINNING} [95 % interval])"
    )
    below = [
        f"{row.system}, {row.setting}{left_out_suffix(row.left_out)}"
        for row in rows
        if row.left_out
    ]
    return TextTable(headers, lines, title, below=below)


def _counted(summary: Summary) -> str:
    """Return a mean with its interval and n."""
    return f"{wording.mean_text(summary)} n {summary.n}"


def hop_lines(hops: Iterable[Hop], grades: Mapping[str, int]) -> Iterator[str]:
    """Yield the searches of a query and the results of each; `grades` marks the gold passages."""
    for place, hop in enumerate(hops, start=1):
        facts = [f"{wording.seconds(hop.seconds)} s"] if hop.seconds is not None else []
        facts += [f"{hop.tokens:,} tokens"] if hop.tokens is not None else []
        noted = f" ({', '.join(facts)})" if facts else ""
        yield f"Hop {place}: {hop.query}{noted}"
        for passage in hop.passages:
            grade = grades.get(passage.passage_id)
            relevance = "" if grade is None else f", relevance {grade}"
            yield f"  [{passage.passage_id}{relevance}] {passage.text}"
        if not hop.passages:
            yield "  nothing found"
