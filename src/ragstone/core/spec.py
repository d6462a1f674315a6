"""How a component is written: `name(arguments)`, parsed and shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from ragstone.errors import ConfigError

Written = str | dict[str, Any]
"""A component as people write it: a name, a call such as `retrieved(3)`, or a mapping."""


COMPONENT_LISTS = frozenset({"retrievers"})
"""Parameters that list components: a list in the place of one of them is a sweep."""


def short_name(written: object) -> str:
    """Return how a component is called in a system's name: `bm25`, `bm25(k1=0.9)`.

    >>> short_name({"name": "bm25", "k1": 0.9})
    'bm25(k1=0.9)'
    >>> short_name({"name": "fusion", "retrievers": ["bm25", "dense"], "text_weight": 0.2})
    'fusion(bm25, dense, text_weight=0.2)'
    """
    if not isinstance(written, Mapping):
        return str(written)
    told: list[str] = []
    for key, value in written.items():
        if key in COMPONENT_LISTS and isinstance(value, list):
            told += map(short_name, value)
        elif key != "name":
            told.append(f"{key}={value}")
    return f"{written.get('name')}({', '.join(told)})" if told else str(written.get("name"))


_CALL = re.compile(r"(?P<name>[^\s()]+)\s*(?:\((?P<arguments>.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class Spec:
    """A component as written: its name and its parameters, not yet checked."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def parse_spec(written: object, *, where: str) -> Spec:
    """Return what a name, a call-like text or a mapping with the key `name` says.

    >>> parse_spec("bm25(k1=0.9)", where="retriever")
    Spec(name='bm25', parameters={'k1': 0.9})
    >>> parse_spec({"name": "bm25", "k1": 0.9}, where="retriever").parameters
    {'k1': 0.9}
    """
    if isinstance(written, str):
        match = _CALL.fullmatch(written.strip())
        if match:
            return Spec(match["name"], _parse_arguments(match["arguments"] or "", where))
    elif isinstance(written, Mapping) and isinstance(written.get("name"), str):
        named = parse_spec(written["name"], where=where)
        rest = {str(key): value for key, value in written.items() if key != "name"}
        return Spec(named.name, {**named.parameters, **rest})
    raise ConfigError(
        f"{where}: expected a component's name or a mapping with the key 'name', found {written!r}"
    )


def _parse_arguments(text: str, where: str) -> dict[str, Any]:
    """Read `3, position=last` as YAML values; a value without a name gets the key ''."""
    parameters: dict[str, Any] = {}
    for place, part in enumerate(filter(None, (p.strip() for p in text.split(",")))):
        name, equals, value = part.partition("=")
        if not equals and place > 0:
            raise ConfigError(
                f"{where}: only the first parameter may stand without a name: {part!r}"
            )
        key, raw = (name.strip(), value) if equals else ("", part)
        try:
            parameters[key] = yaml.safe_load(raw)
        except yaml.YAMLError as error:
            raise ConfigError(f"{where}: cannot read the parameter {part!r}") from error
    return parameters
