"""What differs between two passports, in the order in which it could matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.component import TEMPLATE_FIELD
from ragstone.data.readers.rows import listed
from ragstone.results.contents import MARK
from ragstone.results.passport_numbers import differing, numbered, shown

CATEGORIES: Final = (
    "data",
    "prompts",
    "models",
    "parts",
    "code",
    "packages",
    "seeds",
    "calls",
    "answers",
    "numbers",
)


@dataclass(frozen=True, slots=True)
class PassportChange:
    """A value that differs between two passports; None if one of them has no such value."""

    category: str
    what: str
    a: Any
    b: Any

    def __str__(self) -> str:
        """Return the change as one line."""
        return f"{self.what}: {shown(self.a)} | {shown(self.b)}"


@dataclass(frozen=True)
class PassportDiff:
    """The changes between two passports, by category."""

    a: str
    b: str
    changes: tuple[PassportChange, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; docs/passport.md lists the keys."""
        return {"a": self.a, "b": self.b, "different": [asdict(change) for change in self.changes]}

    def __str__(self) -> str:
        """Return the changes below their categories."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.a} | {self.b}" if self.changes else f"{self.a} | {self.b}: nothing differs"
        for category, group in groupby(self.changes, lambda change: change.category):
            found = list(group)
            yield f"{category}:"
            yield from (f"  {change}" for change in found[: limits.SHOWN_DIFFERENCES])
            if len(found) > limits.SHOWN_DIFFERENCES:
                more = len(found) - limits.SHOWN_DIFFERENCES
                yield f"  ... and {more:,} more; --json lists all"


def diff_passports(a: Mapping[str, Any], b: Mapping[str, Any]) -> PassportDiff:
    """Return the changes between two passports, in the order of `CATEGORIES`."""
    found = sorted(_changes(a, b), key=lambda change: CATEGORIES.index(change.category))
    return PassportDiff(a["name"], b["name"], tuple(found))


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[PassportChange]:
    yield from _entries("data", a["data"], b["data"])
    yield from _rows("data", ("queries", "gold_answers", "qrels", "clusters"), a, b)
    yield from _entries("data", *({"sample": p["experiment"].get("sample")} for p in (a, b)))
    yield from _parts(a, b)
    for key in ("settings", "metrics", "judges", "correctness_metric"):
        yield from _entries("parts", *({key: p["experiment"].get(key)} for p in (a, b)))
    software = ({**p["packages"], "ragstone": p["ragstone"]} for p in (a, b))
    yield from _entries("packages", *software)
    yield from _entries("seeds", a["seeds"], b["seeds"])
    yield from _entries("calls", *({_place(c): c for c in p["calls"]} for p in (a, b)))
    for before, after in _pairs(a, b, "trials"):
        yield from _rows("answers", ("contexts", "answers"), before, after, (a, b))
    for before, after in _pairs(a, b, "rankings"):
        yield from _rows("answers", ("run",), before, after, (a, b))
    numbers = (
        {" / ".join(filter(None, place)): row for place, row in numbered(p["numbers"]).items()}
        for p in (a, b)
    )
    yield from _entries("numbers", *numbers)


def _entries(category: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[PassportChange]:
    yield from (PassportChange(category, key, old, new) for key, old, new in differing(a, b))


def _place(row: Mapping[str, Any]) -> str:
    return " / ".join(filter(None, (row["system"], row.get("setting", ""))))


def _pairs(
    a: Mapping[str, Any], b: Mapping[str, Any], key: str
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the contents of each trial or ranking that both passports have."""
    others = {_place(row): row for row in b["contents"][key]}
    for row in a["contents"][key]:
        if _place(row) in others:
            yield row, others[_place(row)]


def _rows(
    category: str,
    names: Sequence[str],
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    passports: Sequence[Mapping[str, Any]] = (),
) -> Iterator[PassportChange]:
    """Yield the contents of some names that differ, with the ids of the queries."""
    whole = passports or (a, b)
    parts = (a, b) if passports else (a["contents"], b["contents"])
    for name in names:
        known, other = (part[name] for part in parts)
        if known["digest"] == other["digest"]:
            continue
        marks = [
            _marks(part[name]["marks"], _query_ids(passport, name))
            for part, passport in zip(parts, whole, strict=True)
        ]
        for side, (own, others) in enumerate((marks, marks[::-1])):
            alone = [query_id for query_id in own if query_id not in others]
            if alone:
                values = [len(alone), None] if side == 0 else [None, len(alone)]
                yield PassportChange(category, f"{name} of {listed(alone)}", *values)
        changed = [q for q, mark in marks[0].items() if marks[1].get(q, mark) != mark]
        if changed:
            where = f" ({_place(a)})" if passports else ""
            what = f"{name} of {listed(changed)}{where}"
            yield PassportChange(category, what, known["digest"][:12], other["digest"][:12])


def _marks(marks: str, query_ids: Sequence[str]) -> dict[str, str]:
    starts = range(0, len(marks), MARK)
    return dict(zip(query_ids, (marks[n : n + MARK] for n in starts), strict=True))


def _query_ids(passport: Mapping[str, Any], name: str) -> list[str]:
    """Return the queries that the marks of a content are of, in order."""
    contents = passport["contents"]
    answered: list[str] = contents["answered"]
    if name in ("answers", "contexts"):
        return answered
    return list(dict.fromkeys([*answered, *(contents["ranked"] or ())]))


def _parts(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[PassportChange]:
    """Yield the changes of each part of a system, of each metric and of the other steps."""
    mine, others = named_parts(a), named_parts(b)
    for name in dict.fromkeys([*mine, *others]):
        sides = [mine.get(name, ""), others.get(name, "")]
        made = [p["parts"].get(part, {}) for p, part in zip((a, b), sides, strict=True)]
        if not all(sides):
            yield PassportChange("parts", name, *(one.get("component") for one in made))
            continue
        prompts = (p["prompts"].get(part, {}) for p, part in zip((a, b), sides, strict=True))
        yield from _entries("prompts", *({name: one} for one in prompts))
        yield from _entries("models", *({name: one.get("revision")} for one in made))
        yield from _entries("parts", *({name: _fields(one)} for one in made))
        yield from _entries("code", *({name: one.get("source")} for one in made))


def _fields(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return the component and the parameters of a part, without its prompts."""
    given = made.get("parameters", {}).items()
    plain = {key: value for key, value in given if not TEMPLATE_FIELD.search(key)}
    return {"component": made.get("component"), **plain}


def named_parts(passport: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each part, such as "bm25: generator", -> its id."""
    found = {
        f"{system}: {step}": part
        for system, parts in passport["systems"].items()
        for step, part in parts.items()
    }
    found |= {f"metric {name}": m["part"] for name, m in passport["metrics"].items() if m["part"]}
    named = set(found.values())
    for step in passport["steps"]:
        made = passport["parts"][step["part"]]
        if step["part"] not in named and made["component"] != "MetricSet":
            found.setdefault(f"{step['step']}: {made['component']}", step["part"])
    return found
