"""The experiment file: what may stand in it, read, overridden from the command line, and checked.

This module knows the file's shape; the names in it are checked in `ragstone.experiment.experiment`,
when components are made of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ragstone.core.spec import COMPONENT_LISTS, Written, short_name
from ragstone.errors import ConfigError, did_you_mean


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


class Sample(BaseModel):
    """Which queries take part."""

    model_config = ConfigDict(extra="forbid")

    limit: int | None = Field(default=None, ge=1)
    """Answer a random sample of this many queries; all where absent. The same for every system."""
    seed: int = 0
    where: dict[str, Any] = Field(default_factory=dict)
    """Label -> value or list of values (null: without it): which queries may be answered."""
    retrieval: Literal["sample", "matching", "all"] = "sample"
    """What retrieval is measured on: the answered queries, all that match `where`, or all."""


class SystemEntry(BaseModel):
    """A system: one component a step. A list in place of a value makes one system per value."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    query: Written = "as-given"
    retriever: Written | None = None
    reranker: Written | None = None
    processor: Written | None = None
    generator: Written | None = None


class ExperimentFile(BaseModel):
    """What an experiment file says."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """The file's name where absent. Letters, digits, dot, hyphen, underscore."""
    data: Written
    """`sample`, a path, or a reader with its parameters."""
    store: str = ".ragstone"
    """Folder of everything that is kept, relative to the current directory."""
    sample: Sample = Field(default_factory=Sample)
    systems: list[SystemEntry] = Field(min_length=1)
    """A mapping from name to system, or a list."""
    settings: Annotated[list[Written], BeforeValidator(_as_list)] = Field(default_factory=list)
    """Context settings; every system with a generator answers under each."""
    metrics: Annotated[list[str], BeforeValidator(_as_list)] = Field(min_length=1)
    judges: Annotated[list[Written], BeforeValidator(_as_list)] = Field(default_factory=list)
    """Language models that grade every answer; each is a metric, or several."""
    noise: Written = "bm25"
    """The retriever whose best irrelevant passages are the noise of `gold+noise`."""
    prices: str | None = None
    """A file with the prices of models, for costs and budgets (docs/calls.md)."""
    correct: str = "Match"
    """The metric whose value 1 means a right answer, for the adaptability metrics."""


def read_experiment_file(path: Path, overrides: Sequence[str] = ()) -> ExperimentFile:
    """Return what an experiment file says after `key=value` overrides, sweeps spread out.

    Raises `ConfigError` naming the file, the key, the value and the nearest legal one.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"there is no experiment file {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the experiment file {path}: {error}") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(
            f"{path}: expected keys such as data, systems and metrics, found {document!r}"
        )
    for override in overrides:
        apply_override(document, override)
    return parse_experiment(document, where=str(path), default_name=path.stem)


def parse_experiment(
    document: Mapping[str, Any], *, where: str, default_name: str = "experiment"
) -> ExperimentFile:
    """Return the checked form of an experiment given as plain data."""
    filled = {"name": default_name, **document}
    filled["systems"] = list(_spread(filled.get("systems"), where))
    try:
        return ExperimentFile.model_validate(filled)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_first_error(error)}") from error


def apply_override(document: dict[str, Any], override: str) -> None:
    """Set one value of the document, in place: `sample.limit=20`, `systems.0.retriever.k1=0.9`.

    The value is read as YAML. A number in the key is a place in a list, counted from 0. Setting a
    parameter of a component that is written as a bare name turns the name into a mapping.
    """
    key, equals, raw = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r}: expected key=value, for example sample.limit=20")
    try:
        value = yaml.safe_load(raw)
    except yaml.YAMLError as error:
        raise ConfigError(f"override {override!r}: the value is not YAML: {error}") from error
    *path, last = key.split(".")
    place: Any = document
    for part in path:
        place = _step_into(place, part, override)
    if isinstance(place, list):
        place[_position(place, last, override)] = value
    else:
        place[last] = value


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
    if part.isdigit() and int(part) < len(place):
        return int(part)
    raise ConfigError(
        f"override {override!r}: {part!r} is no place in a list of {len(place)}, counted from 0"
    )


def _spread(systems: object, where: str) -> Iterable[dict[str, Any]]:
    """Yield one entry per system, lists in place of values spread into their product."""
    if isinstance(systems, Mapping):
        entries = [{"name": str(name), **_mapping(entry, where)} for name, entry in systems.items()]
    elif isinstance(systems, list):
        entries = [dict(_mapping(entry, where)) for entry in systems]
    else:
        raise ConfigError(f"{where}: 'systems' must be a list or a mapping, found {systems!r}")
    for entry in entries:
        yield from _variants(entry)


def _mapping(entry: object, where: str) -> Mapping[str, Any]:
    if isinstance(entry, Mapping):
        return entry
    raise ConfigError(
        f"{where}: a system is a mapping with keys such as retriever and generator, found {entry!r}"
    )


def _variants(entry: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    keys, options = list(entry), [_options(value) for value in entry.values()]
    many = len(list(itertools.product(*options))) > 1
    for chosen in itertools.product(*options):
        variant = dict(zip(keys, chosen, strict=True))
        if many and variant.get("name"):
            swept = [k for k, o in zip(keys, options, strict=True) if len(o) > 1]
            told = ", ".join(short_name(variant[k]) for k in swept)
            variant["name"] = f"{variant['name']} [{told}]"
        yield variant


def _options(value: object) -> list[Any]:
    """Return the values a step is to take: a list's members, a mapping's parameters swept."""
    if isinstance(value, list):
        return [option for member in value for option in _options(member)]
    if isinstance(value, Mapping):
        products = itertools.product(*(_values(name, held) for name, held in value.items()))
        return [dict(zip(value, chosen, strict=True)) for chosen in products]
    return [value]


def _values(name: str, value: object) -> list[Any]:
    """Return the values that one parameter is to take."""
    if not isinstance(value, list):
        return [value]
    if name in COMPONENT_LISTS:
        return [list(chosen) for chosen in itertools.product(*map(_options, value))]
    if name in LIST_PARAMETERS and not all(isinstance(member, list) for member in value):
        return [value]
    return value


LIST_PARAMETERS = frozenset({"stop", "weights"})
"""Parameters that are lists by nature: a list there is one value, a list of lists is a sweep."""


def _first_error(error: ValidationError) -> str:
    """Say the first thing that is wrong, with the nearest legal key where a key is unknown."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"])
        return f"unknown key {key!r}{did_you_mean(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"the key {key!r} is missing"
    return f"key {key!r}: {first['msg'][0].lower()}{first['msg'][1:]}, found {first['input']!r}"


def _known_keys(place: tuple[int | str, ...]) -> Iterable[str]:
    models: dict[str, type[BaseModel]] = {"systems": SystemEntry, "sample": Sample}
    model = models.get(str(place[0]), ExperimentFile) if len(place) > 1 else ExperimentFile
    return list(model.model_fields)
