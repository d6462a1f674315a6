"""Names of the systems of a file: short values as they are, long ones by their number.

A template, a list or a text of several lines or many characters is not part of a name. If it
differs between the systems that are named together, it is shown by its number among its values
there, `system#2`; otherwise it is left out.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.component import TEMPLATE_FIELD
from ragstone.core.describe import spec_of
from ragstone.core.spec import COMPONENT_LISTS, parse_spec
from ragstone.errors import ConfigError
from ragstone.results.factors import PARTS

_UNNAMED: Final = "as-given"
"""The query former that is not part of a name."""

_Place = tuple[str | int, ...]


def component_text(part: Any) -> str:
    """Return a component other than a mapping as text, such as one made in Python."""
    return str(spec_of(part)) if dataclasses.is_dataclass(part) else str(part)


def default_name(entry: Mapping[str, Any], names: Names | None = None) -> str:
    """Return the name of a system that has none: its components.

    >>> default_name({"retriever": "bm25", "generator": {"name": "chat", "model": "m"}})
    'bm25 + chat(model=m)'
    """
    names = names or Names([entry])
    steps = (step for step in PARTS if entry.get(step) is not None)
    shown = [names.part(step, entry[step]) for step in steps if entry[step] != _UNNAMED]
    datastore = f" [{entry['datastore']}]" if entry.get("datastore") else ""
    return " + ".join(shown) + datastore


def name_systems(groups: Iterable[tuple[Sequence[str], list[dict[str, Any]]]]) -> None:
    """Set the names of the systems of a file's entries, in place.

    A system without a name keeps none, unless its components have values with a number.

    Args:
        groups: the keys of each entry that are swept, and its systems.
    """
    without: list[dict[str, Any]] = []
    for swept, variants in groups:
        if not (variants and variants[0].get("name")):
            without += variants
        elif swept:
            names = Names(variants, only_varying=True)
            shown = [", ".join(names.part(key, one[key]) for key in swept) for one in variants]
            for one, text in zip(variants, _distinct(shown, variants), strict=True):
                one["name"] = f"{one['name']} [{text}]"
    names = Names(without)
    shown = [default_name(entry, names) for entry in without]
    for entry, text in zip(without, _distinct(shown, without), strict=True):
        if text != default_name(entry):
            entry["name"] = text


def _distinct(shown: Sequence[str], variants: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names, with a number if other systems have the same one; equal ones stay equal."""
    known: dict[str, list[str]] = {}
    for text, variant in zip(shown, variants, strict=True):
        own = known.setdefault(text, [])
        identity = _canonical(variant)
        if identity not in own:
            own.append(identity)
        place = own.index(identity)
        yield f"{text} #{place + 1}" if place else text


class Names:
    """The texts for components in the names of systems that are named together.

    Args:
        systems: the systems.
        only_varying: leave out every parameter that is the same in all of them.
    """

    def __init__(self, systems: Sequence[Mapping[str, Any]], *, only_varying: bool = False) -> None:
        self._only_varying = only_varying
        self._values: dict[_Place, list[str]] = {}
        self._present: Counter[_Place] = Counter()
        for system in systems:
            for step in PARTS:
                if system.get(step) is not None:
                    self._collect((step,), _as_mapping(system[step]))

    def part(self, key: str, part: Any) -> str:
        """Return the text for a component, or for another value of a system."""
        if key not in PARTS:
            return component_text(part)
        return self._shown((key,), _as_mapping(part))

    def _collect(self, place: _Place, part: Any) -> None:
        if not isinstance(part, Mapping):
            self._present[*place, str(part).partition("(")[0]] += 1
            return
        here = (*place, str(part.get("name")))
        self._present[here] += 1
        for key, value in part.items():
            if key in COMPONENT_LISTS and isinstance(value, list):
                for number, member in enumerate(value):
                    self._collect((*here, key, number), _as_mapping(member))
            self._present[*here, key] += 1
            known = self._values.setdefault((*place, key), [])
            if _canonical(value) not in known:
                known.append(_canonical(value))

    def _shown(self, place: _Place, part: Any) -> str:
        """Return the text for a component; see `ragstone.core.spec.short_name`."""
        if not isinstance(part, Mapping):
            return component_text(part)
        here, name = (*place, str(part.get("name"))), str(part.get("name"))
        shown: list[str] = []
        for key, value in part.items():
            if key in COMPONENT_LISTS and isinstance(value, list):
                members = (((*here, key, n), _as_mapping(m)) for n, m in enumerate(value))
                shown += [self._shown(*member) for member in members]
            elif key != "name":
                shown += self._value(place, name, key, value)
        return f"{name}({', '.join(shown)})" if shown else name

    def _value(self, place: _Place, name: str, key: str, value: Any) -> list[str]:
        """Return the text for a parameter, or nothing if it is the same everywhere and long."""
        known, peers = self._values[*place, key], self._present
        varies = len(known) > 1 or peers[*place, name, key] < peers[*place, name]
        if self._only_varying and not varies:
            return []
        if _is_long(key, value) or (varies and isinstance(value, list)):
            return [f"{key}#{known.index(_canonical(value)) + 1}"] if varies else []
        return [f"{key}={value}" if key else str(value)]


def _is_long(key: str, value: Any) -> bool:
    text = str(value)
    return (
        (isinstance(value, str) and bool(TEMPLATE_FIELD.search(str(key))))
        or len(text) > limits.MAX_NAMED_CHARACTERS
        or "\n" in text
    )


def _as_mapping(part: Any) -> Any:
    """Return a component that is written as one long text, or made in Python, as a mapping."""
    if isinstance(part, Mapping):
        return part
    text = component_text(part)
    if len(text) <= limits.MAX_NAMED_CHARACTERS:
        return text
    try:
        spec = parse_spec(text, where="system")
    except ConfigError:
        # Creating the component reports the error.
        return text
    return {"name": spec.name, **spec.parameters}


def _canonical(value: Any) -> str:
    """Return a text that equal values share: 1, 1.0, true and "1" are four values."""
    return json.dumps(value, skipkeys=True, default=component_text)


def check_names(what: str, names: Sequence[str], way_out: str) -> None:
    """Raise `ConfigError` if two things of an experiment have the same name."""
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two {what}s are called {name!r}; {way_out}", value=name)
