"""The result of verifying a passport: equal and different numbers, with the causes found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Final

from ragstone.core.environment import describe_environment
from ragstone.data.readers.rows import listed
from ragstone.results.passport_numbers import first_lines, shown
from ragstone.results.record import is_oracle
from ragstone.types import brief
from ragstone.version import __version__

NOUNS: Final[Mapping[str, str]] = {
    "queries": "text, history or labels",
    "gold_answers": "gold answers",
    "qrels": "relevance judgements",
    "clusters": "conversation or document",
    "answers": "answers",
    "contexts": "contexts",
    "run": "rankings",
}
"""Content of a passport -> its name in messages."""


_OF_ANSWERS: Final = ("queries", "gold_answers", "answers", "contexts", "clusters")
_READ_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "leaderboard": _OF_ANSWERS,
    "retrieval": ("run", "qrels", "clusters"),
    "adaptability": (*_OF_ANSWERS, "qrels"),
    "usage": ("answers",),
    "collections": (*_OF_ANSWERS, "run", "qrels"),
}
"""Table of numbers -> the contents that decide them."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A number, some rows or a part that differ from the passport."""

    what: str
    """`number`, `code`, `corpus`, `table`, or the content: `answers`, `gold_answers`, ..."""
    system: str = ""
    setting: str = ""
    metric: str = ""
    number: str = ""
    """The number's name: "mean", "interval", ...; "" if it is not a number."""
    query_ids: tuple[str, ...] = ()
    passport: Any = None
    recomputed: Any = None
    causes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The metric, system and setting as text."""
        return place_text(self.metric, self.system, self.setting)

    def __str__(self) -> str:
        """Return the difference as one line."""
        if self.what == "number":
            before, here = shown(self.passport), shown(self.recomputed)
            return f"{self.place}: {self.number} {before} in the passport, {here} recomputed"
        if self.what in NOUNS:
            at = f" ({place_text('', self.system, self.setting)})" if self.system else ""
            return f"the {NOUNS[self.what]} of {queries_text(self.query_ids)} differ{at}"
        if self.causes:
            return "; ".join(self.causes)
        before, here = shown(self.passport), shown(self.recomputed)
        return f"the {self.what} differs: {before} in the passport, {here} here"


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A part of a passport that could not be checked."""

    what: str
    why: str


@dataclass(frozen=True)
class Verification:
    """The outcome of `ragstone verify`."""

    name: str
    equal: int
    """Published numbers that are equal when they are computed again."""
    different: tuple[Mismatch, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the name and the counts."""
        return brief(self, repr(self.name), *self._counts())

    def __str__(self) -> str:
        """Return the counts, then every difference with its causes."""
        return "\n".join(self._lines())

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return not self.different

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; docs/passport.md lists the keys."""
        return {
            "equal": self.equal,
            "different": [asdict(one) for one in self.different],
            "not_checked": [asdict(one) for one in self.not_checked],
        }

    def _counts(self) -> tuple[str, ...]:
        numbers = sum(one.what == "number" for one in self.different)
        others = len(self.different) - numbers
        return (
            f"{self.equal:,} numbers equal",
            f"{numbers:,} different",
            *([f"{others:,} differences in data, answers or code"] if others else []),
            f"{len(self.not_checked):,} not checked",
        )

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {', '.join(self._counts())}"
        numbers = [one for one in self.different if one.what == "number"]
        yield from (f"  different: {one}" for one in self.different if one.what != "number")
        for causes, group in groupby(numbers, lambda one: one.causes):
            yield from first_lines([f"different: {one}" for one in group])
            yield from (f"    cause: {cause}" for cause in causes)
        for reason, entries in groupby(self.not_checked, lambda one: one.why):
            yield f"  not checked: {listed([one.what for one in entries])}: {reason}"


@dataclass
class Causes:
    """Why numbers may differ: rows, code and packages that are not those of the passport."""

    passport: Mapping[str, Any]
    rows: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    """Content, system and setting -> ids of the queries whose rows differ."""
    code: dict[str, str] = field(default_factory=dict)
    """Metric -> the difference of its code or parameters."""

    def of(self, table: str, system: str, setting: str, metrics: Iterable[str]) -> tuple[str, ...]:
        """Return the causes found for a number of a table."""
        # Adaptability compares a setting with no context and with the oracle.
        ideal = {at for _, _, at in self.rows if at == "none" or is_oracle(at)}
        settings = {"", setting, *(ideal if table == "adaptability" else ())}
        found = [
            f"the {NOUNS[what]}{f' under {at}' if at != setting and at else ''} of "
            f"{queries_text(ids)} differ"
            for (what, of_system, at), ids in self.rows.items()
            if what in _READ_BY[table.partition(" ")[0]]
            and of_system in ("", system)
            and at in settings
        ]
        found += [self.code[metric] for metric in metrics if metric in self.code]
        return tuple(found) or self._environment()

    def _environment(self) -> tuple[str, ...]:
        here = {**describe_environment(), "ragstone": __version__}
        before = {**self.passport["packages"], "ragstone": self.passport["ragstone"]}
        changed = [
            f"{name} {before.get(name, 'absent')} in the passport, {here.get(name, 'absent')} here"
            for name in sorted({*before, *here})
            if before.get(name) != here.get(name)
        ]
        if changed:
            return (f"no other cause was found than software: {'; '.join(changed)}",)
        return ("no cause was found: answers, data, code and packages are those of the passport",)


def place_text(metric: str, system: str, setting: str) -> str:
    """Return the metric, system and setting of a number as text.

    >>> place_text("Match", "bm25", "gold")
    'Match of bm25 under gold'
    """
    of = " of ".join(part for part in (metric, system) if part)
    return f"{of} under {setting}" if setting else of


def queries_text(query_ids: Sequence[str]) -> str:
    """Return the ids of some queries as text."""
    if not query_ids:
        return "a query"
    return f"{'query' if len(query_ids) == 1 else 'queries'} {listed(list(map(repr, query_ids)))}"
