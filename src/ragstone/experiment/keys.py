"""The keys of an experiment file: those that override it, and the names that they had before."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from ragstone.core.parsing import parse_yaml
from ragstone.errors import ConfigError

_LOG: Final = logging.getLogger(__name__)
FORMER_KEYS: Final = {"correctness_metric": "correct", "noise": "noise_retriever"}
"""Former keys of the file -> their names today; the former ones are still read."""
FORMER_SYSTEM_KEYS: Final[Mapping[str, str]] = {"query": "query_former"}
"""The same for the keys of a system."""


def apply_override(document: dict[str, Any], override: str) -> None:
    """Set one value of the document, in place: `sample.limit=20`, `systems.0.retriever.k1=0.9`.

    The value is read as YAML. A number in the key is a position in a list, counted from 0. To set a
    parameter of a component that is written as a bare name turns the name into a mapping.
    """
    key, equals, raw = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r}: expected key=value, for example sample.limit=20")
    try:
        value = parse_yaml(raw.encode())
    except ValueError as error:
        raise ConfigError(f"override {override!r}: cannot read the value: {error}") from error
    *path, last = _new_key(key)
    place: Any = document
    for part in path:
        place = _step_into(place, part, override)
    if isinstance(place, list):
        place[_position(place, last, override)] = value
    else:
        place[last] = value


def with_new_keys(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the document with the keys of today; a notice names every former key."""
    found: dict[str, Any] = _renamed(document, FORMER_KEYS, where)
    systems = found.get("systems")
    if isinstance(systems, Mapping):
        found["systems"] = {
            name: _renamed(entry, FORMER_SYSTEM_KEYS, where) for name, entry in systems.items()
        }
    elif isinstance(systems, list):
        found["systems"] = [_renamed(entry, FORMER_SYSTEM_KEYS, where) for entry in systems]
    return found


def _renamed(entry: Any, names: Mapping[str, str], where: str) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    for former in entry.keys() & names.keys():
        _LOG.warning("%s: the key %r is now called %r", where, former, names[former])
    return {names.get(key, key): value for key, value in entry.items()}


def _new_key(key: str) -> list[str]:
    """Return the parts of an override's key under the names of today."""
    first, *rest = key.split(".")
    if first == "systems" and len(rest) > 1:
        rest[1] = FORMER_SYSTEM_KEYS.get(rest[1], rest[1])
    return [FORMER_KEYS.get(first, first), *rest]


def _step_into(place: Any, part: str, override: str) -> Any:
    slot: Any = _position(place, part, override) if isinstance(place, list) else part
    if isinstance(place, dict) and place.get(slot) is None:
        place[slot] = {}
    if isinstance(place[slot], str):
        place[slot] = {"name": place[slot]}
    if not isinstance(place[slot], dict | list):
        raise ConfigError(f"override {override!r}: {part!r} is {place[slot]!r}, which has no parts")
    return place[slot]


def _position(place: list[Any], part: str, override: str) -> int:
    if part.isascii() and part.isdecimal() and int(part) < len(place):
        return int(part)
    raise ConfigError(
        f"override {override!r}: {part!r} is not a position in a list of {len(place)}, counted "
        "from 0"
    )
