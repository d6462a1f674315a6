"""Texts that reports, the terminal and plans share: numbers, reasons, titles of steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.core.screen_text import shorten

if TYPE_CHECKING:
    from ragstone.results.reader import TrustedStep
    from ragstone.results.record import Attempt, CallsEntry
    from ragstone.statistics.summary import Summary

ABSENT: Final = "-"
RETRIES: Final = (
    "The next `ragstone run` requests what failed again (--retry-failed, the default), or keeps it "
    "with --keep-failed; for a system that each run asks again, add --reuse to keep its answers"
)
STATUS_TITLES: Final[Mapping[str, str]] = {"tool_calls": "tool calls"}
"""Status of an answer -> the header of its column, if it is not the status itself."""
_OF_ONE_CALL: Final = re.compile(
    r" \(\d+ attempts in \d+ s\)$| \(query '.*'\)(?=; traceback)|; traceback: .*"
)
TITLES: Final[Mapping[str, str]] = {
    "form": "form queries",
    "retrieve": "retrieve",
    "fuse": "fuse rankings",
    "rerank": "rerank",
    "score-ranking": "score rankings",
    "context": "build contexts",
    "process": "process contexts",
    "generate": "generate answers",
    "reported-run": "read reported passages",
    "reported-context": "read reported contexts",
    "reported-hops": "read reported searches",
    "score-answer": "score answers",
    "judge": "judge answers",
}


def mean_text(summary: Summary) -> str:
    """Return `0.617 [0.483, 0.733]`."""
    return f"{number(summary.mean)}{interval_text(summary.interval)}"


def number(value: float | None) -> str:
    """Return a mean or share with three decimals; a dash for None."""
    return ABSENT if value is None else f"{value:.3f}"


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return ` [0.483, 0.733]`, or "" for None."""
    return "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"


def signed(summary: Summary) -> str:
    """Return a difference with sign and interval, as text with Unicode minus signs.

    >>> from ragstone.statistics.summary import Summary
    >>> signed(Summary(0.125, 8, interval=(-0.25, 0.5)))
    '+0.125 [\N{MINUS SIGN}0.250, +0.500]'
    """
    return signed_interval(summary.mean, summary.interval)


def signed_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    """Return a value with sign and interval; "" for None.

    >>> signed_interval(0.125, None)
    '+0.125'
    """
    mean = "" if value is None else _signed(value)
    if interval is None:
        return mean
    low, high = interval
    return f"{mean} [{_signed(low)}, {_signed(high)}]"


def _signed(value: float) -> str:
    rounded = f"{value:+.3f}"
    return "0" if float(rounded) == 0 else rounded.replace("-", "\N{MINUS SIGN}")


def seconds(value: float | None) -> str:
    """Return a duration in seconds with three significant digits.

    >>> seconds(0.01234), seconds(71.2)
    ('0.0123', '71.2')
    """
    return ABSENT if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"  # noqa: PLR2004


def count(value: int | None) -> str:
    """Return a count with commas between thousands."""
    return ABSENT if value is None else f"{value:,}"


def left_out_text(left_out: Mapping[str, int]) -> str:
    """Return the number of queries left out, and the reasons; "" if there are none.

    >>> left_out_text({"gold+retrieved(5) is defined for few": 406})
    '406 queries are left out of every setting: gold+retrieved(5) is defined for few'
    """
    return "; ".join(
        f"{count:,} {'query is' if count == 1 else 'queries are'} left out of every setting: "
        f"{reason}"
        for reason, count in left_out.items()
    )


def not_applicable_text(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return the number of queries that each setting does not apply to, and the reasons.

    >>> not_applicable_text({"gold": {"the query has no gold passage": 3}})
    'gold is not applicable to 3 queries: the query has no gold passage'
    """
    return "; ".join(
        f"{setting} is not applicable to {count:,} {'query' if count == 1 else 'queries'}: {reason}"
        for setting, reasons in counts.items()
        for reason, count in reasons.items()
    )


def moment(time: str) -> str:
    """Return a moment to the minute, in UTC.

    >>> moment("2026-03-02T10:00:31.123+00:00")
    '2026-03-02 10:00'
    """
    return time[:16].replace("T", " ")


def calls_text(entries: Sequence[CallsEntry]) -> str:
    """Return the calls for the answers of one system, under all settings.

    >>> from ragstone.results.record import CallsEntry
    >>> calls_text([CallsEntry("v1", "none", 8, 0, 1), CallsEntry("v1", "gold", 8, 0, 0)])
    'v1: 16 asked, 0 kept, 1 failed'
    >>> calls_text([CallsEntry("v2", "none", 0, 9, 0, "2026-11-21T05:51:00+00:00", "1.4")])
    'v2: 9 kept from 2026-11-21 05:51, release 1.4'
    """
    asked, kept, failed = (
        sum(getattr(entry, name) for entry in entries) for name in ("asked", "kept", "failed")
    )
    dates = [entry.kept_from for entry in entries if entry.kept_from]
    since = f" from {moment(min(dates))}" if dates else ""
    counts = [f"{asked:,} asked"] if asked or failed or not kept else []
    counts += [f"{kept:,} kept{since}"]
    counts += [f"{failed:,} failed"] if asked or failed else []
    release = f", release {entries[0].release}" if entries[0].release else ""
    return f"{entries[0].system}: {', '.join(counts)}{release}"


def attempt_text(attempt: Attempt) -> str:
    """Return one line about a run that is not complete, with the command that resumes it.

    >>> from ragstone.results.record import Attempt
    >>> attempt_text(Attempt("2026-03-02T10:00:00+00:00", "", "ragstone run a.yaml", 0, 0, 6, 2))
    'A newer attempt is incomplete: 2 of 6 trials are complete; to resume: ragstone run a.yaml'
    """
    counts = (
        (attempt.rankings_complete, attempt.rankings, "rankings"),
        (attempt.trials_complete, attempt.trials, "trials"),
    )
    done = " and ".join(f"{done} of {size} {what}" for done, size, what in counts if size)
    resume = attempt.command or "run the experiment again"
    return f"A newer attempt is incomplete: {done} are complete; to resume: {resume}"


def trusted_text(steps: Sequence[TrustedStep]) -> str:
    """Return one line about reused steps of other code, and the results that rest on them.

    >>> from ragstone.results.reader import TrustedStep
    >>> made = ("metrics/F1", "5d41402abc4b", "0.2.0", "2026-03-02T10:00:00+00:00")
    >>> trusted_text([TrustedStep("score-answer", *made, ("bm25 (gold)",))])
    'OTHER CODE (†): score answers (metrics/F1, code 5d41402abc4b) for bm25 (gold)'
    """
    shown = (
        f"{TITLES[one.step]} ({one.component}, code {one.source}) for {', '.join(one.results)}"
        for one in steps
    )
    return f"OTHER CODE (\N{DAGGER}): {'; '.join(shown)}"


def plain_reason(reason: str) -> str:
    """Return the reason of a failure without its address, message and number of attempts.

    >>> plain_reason("localhost:8000/v1 refused with 500: no memory (6 attempts in 31 s)")
    'HTTP 500'
    >>> plain_reason("timeout (2 attempts in 9 s)")
    'timeout'
    >>> plain_reason("A raised KeyError: 3 in a.py, line 9 (query 'q 1'); traceback: /s/errors.log")
    'A raised KeyError: 3 in a.py, line 9'
    """
    refused = re.search(r" refused with (\d{3})\b", reason)
    if refused:
        return f"HTTP {refused[1]}"
    return shorten(_OF_ONE_CALL.sub("", reason), limits.REASON_CHARACTERS)
