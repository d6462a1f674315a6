"""A system over releases and dates: its means in order, and the changes between two of them.

Every entry is a passport, of a kept record or from a file. Values are comparable as long as the
data, the judge, the code and the counting of failures stay the same; a point before which one of
them changed has a mark, and begins a new segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.tables import Shown, TextTable
from ragstone.core.text_plot import plot_intervals
from ragstone.data.machine_qrels import agreement_sentence
from ragstone.errors import ConfigError, UnknownMetric, did_you_mean
from ragstone.results.earlier import declared_release
from ragstone.results.passport_diff import PassportChange, diff_passports
from ragstone.results.wording import interval_text, moment, number
from ragstone.statistics.correctness import Correctness
from ragstone.types import brief

MARKS: Final = ("data", "judge", "code", "failures")
"""Why values before and after a point are not comparable."""
_NO_CONTENT: Final = frozenset({"name", "reader", "files", "source", "revision", "licence"})
"""Facts of a data set that may change while its queries, gold answers and passages stay."""
_OF_PARTS: Final = frozenset({"prompts", "models", "parts", "code"})
_OF_THE_FILE: Final = frozenset(
    {"settings", "metrics", "judges", "oracle", "headline", "analysis", "correct"}
)
"""Keys of an experiment file that change no value of a metric."""
_PLOT: Final = 28
"""Width of an interval in the terminal, in characters."""


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """The mean of one run, and the changes since the run before it."""

    finished: str
    release: str | None
    ragstone: str
    mean: float | None
    interval: tuple[float, float] | None
    n: int
    failed: int
    segment: int
    """Number of marks up to here: values of one segment are comparable."""
    marks: tuple[str, ...] = ()
    """Which of `MARKS` changed."""
    changes: tuple[PassportChange, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the mean if there is none."""
        mean = self.mean or 0.0
        return self.interval or (mean, mean)


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """The points of a system under a setting, which is empty for a ranking metric."""

    system: str
    setting: str
    points: tuple[HistoryPoint, ...]

    @property
    def label(self) -> str:
        """The system and the setting."""
        return " · ".join(filter(None, (self.system, self.setting)))

    @property
    def known(self) -> list[HistoryPoint]:
        """The points that have a mean."""
        return [point for point in self.points if point.mean is not None]


@dataclass(frozen=True)
class History(Shown):
    """A metric of the systems of an experiment, run by run."""

    name: str
    metric: str
    lines: tuple[HistoryLine, ...]
    notes: tuple[str, ...] = ()
    """Which runs have machine-made qrels."""

    def __repr__(self) -> str:
        """Return one line: the name, the metric and the sizes."""
        runs = max((len(line.points) for line in self.lines), default=0)
        return brief(self, repr(self.name), self.metric, f"{len(self.lines)} systems, {runs} runs")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/history.md lists the keys."""
        return asdict(self)

    def parts(self) -> Iterator[str | TextTable]:
        """Yield a table per system and setting, with the changes below it."""
        points = [point for line in self.lines for point in line.points]
        values = [None if p.mean is None else (p.mean, p.interval) for p in points]
        plot = plot_intervals(values, marks=(), width=_PLOT)
        headers = ["finished", "release", self.metric, plot.axis, "n", "failed", "changed"]
        drawn = iter(plot.rows)
        for line in self.lines:
            rows = [_row(point, next(drawn)) for point in line.points]
            yield TextTable(headers, rows, f"{self.name}: {line.label}", list(_below(line)))
        yield from self.notes


def make_history(
    passports: Sequence[Mapping[str, Any]],
    *,
    metric: str | None = None,
    system: str | None = None,
    setting: str | None = None,
) -> History:
    """Return the history of the finished runs that passports describe, in the order of their dates.

    Args:
        passports: at least one.
        metric: a metric of the last run (default: its headline).
        system: one system (default: all of the last run).
        setting: one setting (default: all of the last run).

    Raises:
        ConfigError: there is no passport of a finished run, or a name is unknown.
        UnknownMetric: the last run has no such metric.
    """
    unique = {p["checksum"]: p for p in passports if p.get("finished")}
    ordered = sorted(unique.values(), key=lambda passport: passport["finished"])
    if not ordered:
        raise ConfigError("there is no finished run; a history needs at least one")
    last = ordered[-1]
    chosen = metric or _headline(last)
    if chosen not in last["metrics"]:
        raise UnknownMetric(
            f"the run of {last['finished']} has no metric {chosen!r}"
            f"{did_you_mean(chosen, last['metrics'])}"
        )
    places = list(_rows(last, chosen))
    for kind, wanted, position in (("system", system, 0), ("setting", setting, 1)):
        known = dict.fromkeys(place[position] for place in places)
        if wanted is not None and wanted not in known:
            raise ConfigError(
                f"the run of {last['finished']} has no {kind} {wanted!r} with {chosen}"
                f"{did_you_mean(wanted, filter(None, known))}"
            )
        places = [place for place in places if wanted in (None, place[position])]
    lines = tuple(HistoryLine(*place, tuple(_points(ordered, chosen, *place))) for place in places)
    made = dict.fromkeys(agreement_sentence(p["data"].get("machine_qrels", "")) for p in ordered)
    notes = tuple(f"{one}." for one in made if one)
    return History(" and ".join(dict.fromkeys(p["name"] for p in ordered)), chosen, lines, notes)


def _headline(passport: Mapping[str, Any]) -> str:
    """Return the metric of an experiment's verdict, as `Record.headline` does."""
    file, metrics = passport["experiment"], passport["metrics"]
    rule = file.get("correct")
    correct = Correctness.parse(rule).metric if rule else None
    given = [(file.get("analysis") or {}).get("headline"), file.get("headline"), correct]
    # The metrics of a passport are sorted by name, those of its file are not.
    written = [name for name in file.get("metrics") or () if isinstance(name, str)]
    ordered = [name for name in (*written, *metrics) if name in metrics]
    answers = [name for name in ordered if metrics[name]["kind"] != "ranking"]
    return next((name for name in (*given, *answers, *ordered) if name in metrics), "")


def _rows(passport: Mapping[str, Any], metric: str) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return (system, setting) -> row of the metric's numbers."""
    tables = passport["numbers"]
    rows = [*tables.get("leaderboard", ()), *tables.get("retrieval", ())]
    return {(row["system"], row["setting"]): row for row in rows if row["metric"] == metric}


def _points(
    passports: Sequence[Mapping[str, Any]], metric: str, system: str, setting: str
) -> Iterator[HistoryPoint]:
    """Yield the point of each passport that has the metric of the system under the setting."""
    found = [(p, _rows(p, metric).get((system, setting))) for p in passports]
    held = [(passport, row) for passport, row in found if row is not None]
    changes: list[tuple[PassportChange, ...]] = [()]
    marks: list[tuple[str, ...]] = [()]
    for (before, old), (after, new) in pairwise(held):
        every = diff_passports(before, after).changes
        changes.append(tuple(one for one in every if _concerns(one, system, metric, after)))
        kinds = {_mark(one, metric, after) for one in changes[-1]}
        kinds |= {"failures"} if old["policy"] != new["policy"] else set()
        marks.append(tuple(mark for mark in MARKS if mark in kinds))
    segment = 0
    for (passport, row), changed, marked in zip(held, changes, marks, strict=True):
        segment += bool(marked)
        interval = row["interval"]
        yield HistoryPoint(
            finished=passport["finished"],
            release=_release(passport, system),
            ragstone=passport["ragstone"],
            mean=row["mean"],
            interval=(interval[0], interval[1]) if interval else None,
            n=row["n"],
            failed=row["failed"],
            segment=segment,
            marks=marked,
            changes=changed,
        )


def _release(passport: Mapping[str, Any], system: str) -> str | None:
    entries = passport["experiment"].get("systems") or ()
    for name, entry in zip(_system_names(passport), entries, strict=False):
        if name == system:
            return declared_release(entry)
    return None


def _system_names(passport: Mapping[str, Any]) -> list[str]:
    """Return the names of the file's systems; "" for one without a name, unless it is the only one.

    The systems of a passport are sorted by name, so their places identify nothing.
    """
    named = [entry.get("name") for entry in passport["experiment"].get("systems") or ()]
    rest = [name for name in passport["systems"] if name not in named]
    only = rest[0] if len(rest) == 1 else ""
    return [only if name is None else name for name in named]


def _concerns(
    change: PassportChange, system: str, metric: str, passport: Mapping[str, Any]
) -> bool:
    """Return whether a change can alter the values of a metric of a system."""
    what = change.what
    if change.category == "data":
        return what.split(".")[0] not in _NO_CONTENT
    if change.category not in _OF_PARTS | {"packages"}:
        return False
    if what.startswith("metric "):
        return _is_of(what, f"metric {metric}")
    others = (name for name in passport["systems"] if name != system)
    return what.split(".")[0] not in _OF_THE_FILE and not any(
        what.startswith(f"{name}: ") for name in others
    )


def _mark(change: PassportChange, metric: str, passport: Mapping[str, Any]) -> str:
    """Return the mark of a change; "" if values on both sides are comparable."""
    if change.category == "data":
        return "data"
    if change.category in _OF_PARTS and _is_of(change.what, f"metric {metric}"):
        return "judge" if passport["metrics"][metric]["kind"] == "judge" else "code"
    return "code" if change.category == "code" else ""


def _is_of(what: str, part: str) -> bool:
    """Return whether a change is of a part, or of a field of it."""
    return what == part or what.startswith(f"{part}.")


def _row(point: HistoryPoint, drawn: str) -> list[object]:
    value = f"{number(point.mean)}{interval_text(point.interval)}"
    kinds = dict.fromkeys(change.category for change in point.changes)
    changed = [f"{mark} (not comparable)" for mark in point.marks]
    changed += [kind for kind in kinds if kind not in point.marks]
    where = [moment(point.finished), point.release or "", value, drawn]
    return [*where, point.n, point.failed, ", ".join(changed)]


def _below(line: HistoryLine) -> Iterator[str]:
    """Yield the changes before each point, the first few of each."""
    for point in line.points:
        for change in point.changes[: limits.SHOWN_HISTORY_CHANGES]:
            yield f"  {moment(point.finished)} {change.category}: {change}"
        if (more := len(point.changes) - limits.SHOWN_HISTORY_CHANGES) > 0:
            yield f"  {moment(point.finished)} ... and {more:,} more; --json lists all"
