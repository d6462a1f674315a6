"""The differences of two passports, in the order in which they could matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Final

from ragstone.core.component import TEMPLATE_FIELD
from ragstone.core.likely_secrets import MARK
from ragstone.data.readers.rows import listed
from ragstone.results.contents import marks_of, pairs, query_ids_of
from ragstone.results.passport_numbers import differing, first_lines, numbered, shown_apart

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

_PROMPT: Final = re.compile(f"^prompt$|{TEMPLATE_FIELD.pattern}")
"""Names of parameters that are compared as prompts."""


@dataclass(frozen=True, slots=True)
class PassportChange:
    """A value that differs between two passports; None if one of them has no such value."""

    category: str
    what: str
    a: Any
    b: Any

    def __str__(self) -> str:
        """Return the change as one line."""
        return f"{self.what}: {' | '.join(shown_apart(self.a, self.b))}"


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
            yield f"{category}:"
            yield from first_lines(list(group))


def diff_passports(a: Mapping[str, Any], b: Mapping[str, Any]) -> PassportDiff:
    """Return the changes between two passports, in the order of `CATEGORIES`."""
    found = sorted(_changes(a, b), key=lambda change: CATEGORIES.index(change.category))
    return PassportDiff(a["name"], b["name"], tuple(found))


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[PassportChange]:
    yield from _entries("data", a["data"], b["data"])
    yield from _rows(a["contents"], b["contents"])
    yield from _entries("data", *({"sample": p["experiment"].get("sample")} for p in (a, b)))
    yield from _parts(a, b)
    trainings = ({_trained(t): _seen(t) for t in p.get("trained", ())} for p in (a, b))
    yield from _entries("models", *trainings)
    for key in ("settings", "metrics", "judges", "oracle", "headline", "analysis"):
        yield from _entries("parts", *({key: p["experiment"].get(key)} for p in (a, b)))
    yield from _entries("parts", *({"correct": _rule(p["experiment"])} for p in (a, b)))
    yield from _hidden(a["experiment"], b["experiment"])
    software = ({**p["packages"], "ragstone": p["ragstone"]} for p in (a, b))
    yield from _entries("packages", *software)
    yield from _entries("seeds", a["seeds"], b["seeds"])
    yield from _entries(
        "calls", *({_place(c["system"], c["setting"]): c for c in p["calls"]} for p in (a, b))
    )
    places = (numbered(p["numbers"]).items() for p in (a, b))
    yield from _entries("numbers", *({_place(*place): row for place, row in s} for s in places))


def _hidden(a: Any, b: Any) -> Iterator[PassportChange]:
    """Yield the values that differ and that both passports hide."""
    mine, others = dict(_marked(a)), dict(_marked(b))
    for place in sorted(mine.keys() & others.keys()):
        old, new = mine[place], others[place]
        if old == new or MARK.sub("", old) != MARK.sub("", new):
            continue
        stores = {mark[1] for text in (old, new) for mark in MARK.finditer(text)}
        alone = len(stores) == 1
        what = place if alone else f"{place}: cannot be compared, because two stores hide it"
        yield PassportChange("parts", what, old, new)


def _marked(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each value in which a part is hidden."""
    members: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, Mapping) else ()
    if isinstance(value, list):
        members = ((_name_of(one, number), one) for number, one in enumerate(value))
    for name, inner in members:
        yield from _marked(inner, f"{place}.{name}".lstrip("."))
    if isinstance(value, str) and MARK.search(value):
        yield place, value


def _name_of(member: Any, number: int) -> Any:
    return member.get("name", number) if isinstance(member, Mapping) else number


def _trained(training: Mapping[str, Any]) -> str:
    return f"{training['system']}: {training['step']}, training"


def _seen(training: Mapping[str, Any]) -> str:
    return f"{training['seen']} of {training['asked']} queries seen"


def _rule(file: Mapping[str, Any]) -> Any:
    """Return the rule for correct answers, also under its former key."""
    return file.get("correct", file.get("correctness_metric"))


def _entries(category: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[PassportChange]:
    yield from (PassportChange(category, key, old, new) for key, old, new in differing(a, b))


def _rows(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[PassportChange]:
    """Yield the contents that differ, with the ids of the queries."""
    for what, system, setting, *sides in pairs(a, b):
        category = "answers" if system else "data"
        before, after = (side["digest"] for side in sides)
        if before == after:
            continue
        mine, others = (
            marks_of(side, query_ids_of(whole, what))
            for side, whole in zip(sides, (a, b), strict=True)
        )
        if alone := [query_id for query_id in mine if query_id not in others]:
            yield PassportChange(category, f"{what} of {listed(alone)}", len(alone), None)
        if alone := [query_id for query_id in others if query_id not in mine]:
            yield PassportChange(category, f"{what} of {listed(alone)}", None, len(alone))
        if changed := [q for q, mark in mine.items() if others.get(q, mark) != mark]:
            where = f" ({_place(system, setting)})" if system else ""
            text = f"{what} of {listed(changed)}{where}"
            yield PassportChange(category, text, before[:12], after[:12])


def _place(*names: str) -> str:
    return " / ".join(filter(None, names))


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
    plain = {key: value for key, value in given if not _PROMPT.search(key)}
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
