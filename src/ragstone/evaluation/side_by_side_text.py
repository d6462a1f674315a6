"""Judges side by side as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragstone.core.tables import TextTable
from ragstone.evaluation.judge_check import JudgeCheck
from ragstone.evaluation.judge_check_text import (
    NO_DIFFERENCE,
    cost_text,
    group_cells,
    group_notes,
    number_text,
)
from ragstone.evaluation.side_by_side import PEOPLE, JudgeOrder, JudgePair, SideBySide

_COARSE = 6
"""Number of systems below which an order takes few values."""


def side_by_side_text(found: SideBySide, checks: Mapping[str, JudgeCheck] | None = None) -> str:
    """Return the tables, and the cost and uses of each judge if they were checked."""
    parts = [str(_orders_table(found)), str(_pairs_table(found))]
    parts += [str(_pair_groups(pair)) for pair in found.pairs if pair.groups and pair.a != PEOPLE]
    if checks:
        groups = _groups_table(checks)
        parts += [*([str(groups)] if groups.rows else []), str(_cost_table(checks)), *_uses(checks)]
    return "\n\n".join(parts)


def _orders_table(found: SideBySide) -> TextTable:
    """Return the mean and the rank of each system by each judge."""
    cells = {one.judge: _ranked(one) for one in found.orders}
    systems = [name for name, _ in found.orders[0].systems]
    rows = [[name, *(column.get(name, "-") for column in cells.values())] for name in systems]
    partial = [one for one in found.orders if one.n < one.answers]
    notes = [f"{one.judge}: a verdict on {one.n:,} of {one.answers:,} answers." for one in partial]
    return TextTable(["system", *cells], rows, "Mean [95 % interval] (rank) by system", notes)


def _ranked(order: JudgeOrder) -> dict[str, str]:
    """Return system -> mean, interval and rank; equal means share the best rank."""
    known = [mean.mean for _, mean in order.systems if mean.mean is not None]
    return {
        name: "-"
        if mean.mean is None
        else f"{number_text(mean.mean, mean.interval)} ({known.index(mean.mean) + 1})"
        for name, mean in order.systems
    }


def _pairs_table(found: SideBySide) -> TextTable:
    heads = ["", "and", "answers", "kappa", "Spearman"]
    heads += ["by run: Kendall", "tau-AP", "by query: Kendall", "swapped"]
    rows = [_pair_row(pair) for pair in found.pairs]
    shown = [i for i in range(len(heads)) if i < 2 or any(row[i] for row in rows)]  # noqa: PLR2004 - the names
    return TextTable(
        [heads[i] for i in shown],
        [[row[i] or "-" for i in shown] for row in rows],
        "Agreement on the same answers, and of the orders of systems",
        list(_notes(found)),
    )


def _pair_row(pair: JudgePair) -> list[str]:
    kappa, order = pair.kappa, pair.order
    row = [
        pair.a,
        pair.b,
        f"{pair.n:,}",
        number_text(kappa.value, kappa.interval) if kappa else "",
        number_text(pair.correlation.value, pair.correlation.interval),
    ]
    if order is None:
        return [*row, "", "", "", ""]
    runs = [order.by_run[name] for name in ("kendall", "tau_ap")]
    queries = order.by_query["kendall"]
    return [
        *row,
        *(number_text(one.value, one.interval) for one in runs),
        number_text(queries.mean, queries.interval),
        f"{order.swapped} of {order.pairs}",
    ]


def _pair_groups(pair: JudgePair) -> TextTable:
    """Return the agreement of two judges by label."""
    measure = "kappa" if pair.kappa else "Spearman"
    heads = ["label", "value", "both judged", measure, f"mean of {pair.a}", "difference"]
    title = f"Agreement of {pair.b} with {pair.a} by label; p is corrected (Holm)"
    rows = [group_cells(one) for one in pair.groups]
    return TextTable([*heads, "minus elsewhere", "p"], rows, title, group_notes(pair.groups))


def _notes(found: SideBySide) -> Iterator[str]:
    """Yield the notes on the orders."""
    orders = [pair.order for pair in found.pairs if pair.order is not None]
    if not orders:
        yield "The answers are of one system: there is no order to compare."
        return
    first = orders[0]
    if len(first.systems) < _COARSE:
        yield (
            f"{len(first.systems)} systems make only {first.pairs} pair{'s' * (first.pairs > 1)}: "
            "agreement by run takes few values, and its interval may span most of them."
        )
    queries = first.by_query["kendall"]
    if queries.n:
        graded = "people grade" if found.pairs[0].a == PEOPLE else f"{found.pairs[0].a} grades"
        yield (
            f"By query: {queries.n:,} queries whose answers by different systems {graded} "
            "differently."
        )
    else:
        yield "No query has answers of two systems that are graded differently."
    for pair in found.pairs:
        for better, worse in pair.order.reversed if pair.order else ():
            yield (
                f"{pair.b} puts {worse} above {better}, {pair.a} the reverse; tests show both "
                "differences."
            )


def _groups_table(checks: Mapping[str, JudgeCheck]) -> TextTable:
    """Return the agreement with people by label, a column per judge."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for name, check in checks.items():
        for one in check.groups:
            shown = number_text(one.agreement.value, one.agreement.interval) or "-"
            marked = f"{shown} lower, p={one.p:.2g}" if one.worse else shown
            cells.setdefault((one.label, one.value), {})[name] = marked
            sizes[one.label, one.value] = max(one.items, sizes.get((one.label, one.value), 0))
    rows = [
        [*key, f"{sizes[key]:,}", *(row.get(name, "-") for name in checks)]
        for key, row in cells.items()
    ]
    title = (
        "Agreement with people by label: kappa if both choose from the same words, else Spearman"
    )
    groups = [one for check in checks.values() for one in check.groups]
    note = "No group is large enough for a test."
    if any(one.worse for one in groups):
        note = "lower: a test shows that agreement is lower than elsewhere (p corrected by Holm)."
    elif any(one.p is not None for one in groups):
        note = NO_DIFFERENCE
    return TextTable(["label", "value", "answers", *checks], rows, title, [note])


def _cost_table(checks: Mapping[str, JudgeCheck]) -> TextTable:
    rows = []
    for name, check in checks.items():
        read = check.quality.parsed
        shown = f"{read.count} of {read.n}"
        shown += f", {check.calls_failed} with failed calls" if check.calls_failed else ""
        rows.append([name, shown, cost_text(check) if check.cost.calls else "no calls"])
    return TextTable(["judge", "verdict read", "cost per judged item"], rows, "Cost")


def _uses(checks: Mapping[str, JudgeCheck]) -> Iterator[str]:
    """Yield a sentence per use of each judge."""
    for name, check in checks.items():
        yield "\n  ".join([f"{name}:", *(use.sentence for use in check.uses)])
