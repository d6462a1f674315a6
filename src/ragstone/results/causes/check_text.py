"""The check of causes as text for the terminal, and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ragstone.core.tables import TextTable
from ragstone.results.causes.check import Agreement, CauseCheck
from ragstone.results.wording import interval_text, number


def cause_check_document(found: CauseCheck) -> dict[str, Any]:
    """Return a check of causes as plain data: docs/causes.md lists the keys."""
    return asdict(found)


def cause_check_text(found: CauseCheck) -> str:
    """Return a check of causes as text."""
    people = f"{len(found.raters)} raters" if len(found.raters) > 1 else "1 rater"
    head = f"Causes of {found.experiment} against {people}: {found.answers:,} wrong answers"
    beside = [
        (found.undecided, "have an undecided cause, which counts as different"),
        (found.set_aside, "have no majority of the raters and are left out"),
        (found.not_wrong, "are not wrong here and are left out"),
        (found.unknown, "are not in the experiment and are left out"),
    ]
    lines = [head, *(f"  {n:,} {what}" for n, what in beside if n)]
    lines += [f"same stage: {_agreement(found.stage)}", f"same cause: {_agreement(found.cause)}"]
    if found.people is not None:
        alpha, interval = found.people.value, found.people.interval
        lines.append(f"people among themselves: alpha {number(alpha)}{interval_text(interval)}")
    rows = [
        [one.cause, one.same.n, f"{number(one.same.mean)}{interval_text(one.same.interval)}"]
        for one in found.causes
    ]
    causes = TextTable(["people say", "n", "same cause found"], rows, "By cause")
    counts = [
        [row, *cells]
        for row, cells in zip(found.confusion.rows, found.confusion.counts, strict=True)
    ]
    title = "People (rows) and trials (columns)"
    matrix = TextTable(["people say", *found.confusion.columns], counts, title)
    return "\n\n".join(["\n".join(lines), str(causes), str(matrix)])


def _agreement(found: Agreement) -> str:
    same = f"{number(found.same.mean)}{interval_text(found.same.interval)}"
    return f"{same}, kappa {number(found.kappa.value)}{interval_text(found.kappa.interval)}"
