"""Causes as text: shares, trials that would decide the others, and the wrong answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from ragstone.causes.order import BY_NAME, CAUSES
from ragstone.core import limits
from ragstone.core.screen_text import shorten
from ragstone.core.tables import TextTable
from ragstone.results.causes.found import CauseCounts, CauseShare, FoundCauses, QueryCause
from ragstone.results.causes.gains import gains_of
from ragstone.results.causes.sought import nothing_to_find, unsought
from ragstone.results.population import left_out_suffix
from ragstone.results.reader import StoredResults
from ragstone.results.wording import ABSENT, interval_text, number

_ROWS: Final = 40
"""Wrong answers in the terminal; JSON has all."""


def causes_text(results: StoredResults, found: FoundCauses) -> str:
    """Return the causes of an experiment's wrong answers as text."""
    if reason := nothing_to_find(results):
        return f"No causes: {reason}."
    return "\n\n".join(str(part) for part in causes_parts(results, found))


def causes_parts(results: StoredResults, found: FoundCauses) -> Iterator[str | TextTable]:
    """Yield the table of shares, notes, and the table of wrong answers."""
    yield _shares(results, found)
    if found.missing:
        yield "\n".join(
            ["Undecided causes", *(f"  {n:,} need {what}" for what, n in found.missing.items())]
        )
    if others := unsought(results):
        yield "\n".join(["Not looked for", *(f"  {one}" for one in others)])
    if gains := _gains(results, found):
        yield gains
    if found.queries:
        yield _wrong(found.queries)
    if found.marks:
        lines = [[one.query_id, one.system, one.setting, one.evidence] for one in found.marks]
        headers = ["query", "system", "setting", "evidence"]
        title = f"Right answers with a wrong source ({len(lines):,})"
        yield _table(headers, lines, title)


def _shares(results: StoredResults, found: FoundCauses) -> TextTable:
    counts = {(one.system, one.setting): one for one in found.counts}
    rows: list[list[object]] = []
    for trial, count in counts.items():
        mine = [one for one in found.shares if (one.system, one.setting) == trial]
        for place, one in enumerate(mine):
            head = [*trial, _answers(count)] if not place else ["", "", ""]
            rows.append([*head, *_share(one)])
        if not mine:
            rows.append([*trial, _answers(count), ABSENT, 0, ABSENT])
    rule = results.correctness
    title = f"Causes of wrong answers ({rule}; share of the wrong answers [95 % interval])"
    left = [
        f"{one.system}, {one.setting}{left_out_suffix(one.left_out)}"
        for one in found.counts
        if one.left_out
    ]
    named = {one.cause for one in found.shares}
    meanings = [f"  {one.name}: {one.meaning}" for one in CAUSES if one.name in named]
    if any(BY_NAME[name].refines for name in named):
        meanings.append("  of which: counted under the cause that it refines, too")
    headers = ["system", "setting", "wrong", "cause", "n", "share"]
    return TextTable(headers, rows, title, below=[*left, *meanings])


def _answers(count: CauseCounts) -> str:
    return f"{count.wrong:,} of {count.wrong + count.right:,}"


def _share(one: CauseShare) -> list[object]:
    cause = BY_NAME[one.cause]
    name = f"of which {cause.name}" if cause.refines else cause.name
    return [name, one.n, f"{number(one.share)}{interval_text(one.interval)}"]


def _gains(results: StoredResults, found: FoundCauses) -> TextTable | None:
    trials = {(one.system, one.setting) for one in found.counts}
    gains = [one for one in gains_of(results) if (one.system, one.setting) in trials]
    rows = [
        [
            *(one.system, one.setting, one.step),
            f"{'at most ' if one.bound else ''}{one.gain:+.3f}{interval_text(one.interval)}",
            f"{one.shapley:+.3f}",
            f"{one.n:,}",
            one.missing_trial or ABSENT,
        ]
        for one in gains
        if one.gain or one.shapley or one.missing_trial
    ]
    if not rows:
        return None
    headers = ["system", "setting", "perfect step", "gain", "part of all", "n", "measured by"]
    title = f"Gains of a perfect step ({results.correctness}; difference [95 % interval])"
    below = ["Gains of single steps overlap; the parts add up to the gain of all steps together."]
    return TextTable(headers, rows, title, below=below)


def _wrong(queries: Sequence[QueryCause]) -> TextTable:
    lines = [
        [
            *(one.query_id, one.system, one.setting),
            f"{one.cause} (within {one.within})" if one.within else one.cause,
            one.evidence,
        ]
        for one in queries
    ]
    headers = ["query", "system", "setting", "cause", "evidence"]
    return _table(headers, lines, f"Wrong answers ({len(lines):,})")


def _table(headers: list[str], lines: Sequence[Sequence[str]], title: str) -> TextTable:
    shown = [
        [shorten(" ".join(cell.split()), limits.REASON_CHARACTERS) for cell in line]
        for line in islice(lines, _ROWS)
    ]
    rest = len(lines) - len(shown)
    below = (
        [f"and {rest:,} more: choose with --system and --setting, or add --json"] if rest else []
    )
    return TextTable(headers, shown, title, below=below)
