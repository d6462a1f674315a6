"""The result of `ragstone.gate`: a verdict, and its evidence per metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias
from xml.etree import ElementTree as ET

from ragstone.core.tables import Shown, TextTable, to_markdown
from ragstone.core.text_plot import plot_intervals
from ragstone.data.readers.rows import listed
from ragstone.evaluation.answered import Answered
from ragstone.evaluation.changes import ChangeCount, changes_tables
from ragstone.statistics.flipped import FlippedQueries
from ragstone.types import brief

Verdict: TypeAlias = Literal["pass", "worse", "undecided"]
EXIT_CODES: Final[dict[Verdict, int]] = {"pass": 0, "worse": 1, "undecided": 3}
_LIKELY: Final = 0.8
"""Chance of an equal system to pass, below which a margin is too small for the queries."""


def worst_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on several metrics: worse beats undecided, undecided beats pass.

    >>> worst_verdict(["pass", "undecided"]), worst_verdict(["undecided", "worse", "pass"])
    ('undecided', 'worse')
    """
    order: tuple[Verdict, ...] = ("pass", "undecided", "worse")
    return max(verdicts, key=order.index)


@dataclass(frozen=True, slots=True)
class GatedMetric:
    """One metric of a gate; its change is positive if the new version is better."""

    metric: str
    margin: float
    look: int
    """The last look at it, from 1."""
    direction: str
    difference: float | None = None
    """New minus baseline, with its sign turned if lower is better; None if no query counts."""
    interval: tuple[float, float] | None = None
    """The one-sided lower and upper bounds of the difference; None if there are none."""
    n: int = 0
    verdict: Verdict = "undecided"
    clusters: int = 0
    baseline: float | None = None
    """Mean of the baseline over the n queries."""
    new: float | None = None
    failed: tuple[int, int] = (0, 0)
    """Failed queries of the baseline and of the new version."""
    hidden_failures: bool = False
    """Whether it passes only because more failed queries of the new version are left out."""
    queries_to_decide: int | None = None
    """About how many queries in all decide; None if it is decided, or if the number is unknown."""
    chance_to_pass: float | None = None
    """Approximate probability that an equal system passes on these queries."""
    flipped: FlippedQueries | None = None
    """The queries on which the new version is better or worse."""

    @property
    def is_small_loss(self) -> bool:
        """Whether a loss is shown, and shown to be smaller than the margin."""
        return self.verdict == "pass" and self.interval is not None and self.interval[1] < 0

    def sentences(self) -> Iterator[str]:
        """Yield the verdict, its reason and the conditions for another one."""
        name = self.metric
        if self.difference is None:
            yield f"{name}: undecided, no query counts for both versions"
            return
        bounds = "without bounds"
        if self.interval is not None:
            bounds = "[{:+.4f}, {:+.4f}]".format(*self.interval)
        size = f"{self.difference:+.4f} {bounds}, margin {self.margin:g}"
        reason = {
            "pass": "not worse by the margin or more",
            "worse": "worse than the baseline",
            "undecided": "undecided",
        }[self.verdict]
        if self.is_small_loss:
            reason = "a loss is shown, which is smaller than the margin"
        yield f"{name}: {reason}: {size}"
        if self.hidden_failures:
            yield (
                f"{name}: no pass, because failed queries are left out and the new version failed "
                f"on {self.failed[1]:,}, the baseline on {self.failed[0]:,}"
            )
        elif self.failed != (0, 0):
            yield f"{name}: failed queries: baseline {self.failed[0]:,}, new {self.failed[1]:,}"
        if self.queries_to_decide is not None:
            yield f"{name}: about {self.queries_to_decide:,} queries in all would decide"
        chance = self.chance_to_pass
        if self.verdict != "pass" and chance is not None and chance < _LIKELY:
            yield (
                f"{name}: the margin is small for {self.n:,} queries: an equal system passes with "
                f"a probability of {chance:.0%}"
            )
        flipped = asdict(self.flipped) if self.flipped else {}
        for word, ids in flipped.items():
            if ids:
                queries = "query" if len(ids) == 1 else "queries"
                yield f"{name}: {word} on {len(ids):,} {queries}: {listed(ids)}"


@dataclass(frozen=True)
class GateResult(Shown):
    """The verdict of a gate."""

    verdict: Verdict
    metrics: tuple[GatedMetric, ...]
    queries_to_decide: int | None
    """About how many queries in all decide; None if the gate is decided, or if it is unknown."""
    looks: int
    look: int
    """The look that ended the analysis, from 1."""
    used: int
    """Queries analysed, of `queries`."""
    queries: int
    """Queries that both versions have."""
    clusters: str
    """Name of the clusters; empty if each query is a cluster."""
    notes: tuple[str, ...] = ()
    """How the data of the two versions differ."""
    changes: tuple[ChangeCount, ...] = ()
    """Causes of the changed queries of each metric, `a` the baseline and `b` the new version."""
    answered: Mapping[str, Answered] = field(default_factory=dict)
    """The texts of both versions, as far as they are known."""

    def __repr__(self) -> str:
        """Return one line: the verdict and the metrics."""
        return brief(self, self.verdict, ", ".join(one.metric for one in self.metrics))

    @property
    def exit_code(self) -> int:
        """The exit code of `ragstone gate`."""
        return EXIT_CODES[self.verdict]

    @property
    def headline(self) -> str:
        """The verdict and the population as one line."""
        found = f"{self.verdict}: {self.used:,} common queries"
        if self.looks > 1:
            found += f" of {self.queries:,}, ended at look {self.look} of {self.looks}"
        return f"{found}. Bounds: one-sided 95%, over {self.clusters or 'queries'}."

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the verdict, changes drawn, metrics with reasons below, and causes of changes."""
        yield self.headline
        yield from self._plots()
        yield self._table()
        yield from changes_tables(self.changes, self.answered)

    def _plots(self) -> Iterator[TextTable]:
        """Yield a table per margin: each change, and its bounds drawn beside the margin and 0."""
        for margin in dict.fromkeys(one.margin for one in self.metrics):
            held = [one for one in self.metrics if one.margin == margin]
            changes = [(one.metric, one.difference, one.interval) for one in held]
            drawn = [None if change is None else (change, ends) for _, change, ends in changes]
            plot = plot_intervals(drawn, marks=(-margin, 0.0))
            rows = [
                [name, "" if change is None else f"{change:+.4f}", row]
                for (name, change, _), row in zip(changes, plot.rows, strict=True)
            ]
            title = f"Changes with their bounds; the marks are -{margin:g} and 0"
            yield TextTable(["metric", "change", plot.axis], rows, title)

    def _table(self) -> TextTable:
        rows = [
            [one.metric, *map(_number, (one.baseline, one.new)), one.n, one.verdict]
            for one in self.metrics
        ]
        below = [f"  {line}" for one in self.metrics for line in one.sentences()]
        below += [f"  note: {note}" for note in self.notes]
        return TextTable(["metric", "baseline", "new", "n", "verdict"], rows, "", below)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/gate.md describes each key."""
        return {
            "verdict": self.verdict,
            "metrics": [_document(one) for one in self.metrics],
            "queries_to_decide": self.queries_to_decide,
            "looks": self.looks,
            "look": self.look,
            "queries_used": self.used,
            "queries": self.queries,
            "clusters": self.clusters or None,
            "notes": self.notes,
            "changes": [asdict(one) for one in self.changes],
        }

    def to_markdown(self) -> str:
        """Return the verdict, the metrics and the causes of changes for a pull request."""
        tables = [self._table(), *changes_tables(self.changes, self.answered)]
        return f"### Gate: {to_markdown([self.headline])}\n\n{to_markdown(tables)}\n"

    def to_junit(self) -> str:
        """Return JUnit XML: a test per metric; `worse` is a failure, `undecided` an error."""
        counts = [one.verdict for one in self.metrics]
        suite = ET.Element(
            "testsuite",
            name="ragstone gate",
            tests=str(len(counts)),
            failures=str(counts.count("worse")),
            errors=str(counts.count("undecided")),
        )
        for one in self.metrics:
            case = ET.SubElement(
                suite, "testcase", classname="ragstone.gate", name=_printable(one.metric)
            )
            lines = [_printable(line) for line in one.sentences()]
            if one.verdict == "pass":
                ET.SubElement(case, "system-out").text = "\n".join(lines)
                continue
            kind = "failure" if one.verdict == "worse" else "error"
            problem = ET.SubElement(case, kind, type=one.verdict, message=lines[0])
            problem.text = "\n".join(lines)
        suites = ET.Element("testsuites")
        suites.append(suite)
        ET.indent(suites)
        return ET.tostring(suites, "unicode", xml_declaration=True) + "\n"


def _document(one: GatedMetric) -> dict[str, Any]:
    found = asdict(one)
    order = ("metric", "difference", "interval", "margin", "n")
    return {key: found.pop(key) for key in order} | found


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _printable(text: str) -> str:
    """Return a text without the control characters that XML forbids."""
    return "".join(c if c.isprintable() else " " for c in text)
