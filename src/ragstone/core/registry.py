"""Finding components by name: built in, installed as a plugin, or in the user's own file.

Three spellings, one way in:

- `bm25`: a name of the table in `ragstone.core.builtins`, or of an entry point in the group
  `ragstone.<kind>` of an installed package;
- `my_file:MyThing`: a class in a Python file next to the experiment file (or importable);
- with parameters, `{name: bm25, k1: 0.9}` or `bm25(k1=0.9)`; the first parameter may stand without
  its name: `retrieved(3)`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from ragstone.core.builtins import BUILT_IN, FORMER_KINDS
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError, UnknownComponent, did_you_mean

_beside: ContextVar[Path | None] = ContextVar("beside", default=None)


def create(kind: str, written: object, *, where: str, folder: Path | None = None) -> Any:
    """Return the component that `written` describes, its parameters checked against its fields.

    `kind` is a key of `ragstone.core.builtins.BUILT_IN`, `where` the place to name in errors,
    `folder` where a user's own file is looked for.
    """
    spec = parse_spec(written, where=where)
    found = find(kind, spec.name, where=where, folder=folder)
    token = _beside.set(folder)
    try:
        return build(found, spec.parameters, where=f"{where} {spec.name!r}")
    finally:
        _beside.reset(token)


def beside() -> Path | None:
    """Return the folder of the experiment file that is being read; None elsewhere.

    For a component's `__post_init__` that makes other components.
    """
    return _beside.get()


def locate(path: Path) -> Path:
    """Return a file as the experiment file that is being read means it: beside that file first.

    For a component's `__post_init__`; elsewhere the path comes back as it is.
    """
    folder = beside()
    found = folder is not None and not path.is_absolute() and (folder / path).exists()
    return folder / path if folder is not None and found else path


def find(kind: str, name: str, *, where: str, folder: Path | None = None) -> type:
    """Return the class of a component; raise `UnknownComponent` with the nearest names."""
    target = known(kind).get(name, name if ":" in name else None)
    if target is None:
        raise UnknownComponent(
            f"{where}: unknown {kind.removesuffix('s')} {name!r}{did_you_mean(name, known(kind))}"
        )
    module_name, _, class_name = target.partition(":")
    module = _load(module_name, folder if target == name else None, where)
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        classes = [name for name, value in vars(module).items() if isinstance(value, type)]
        raise UnknownComponent(
            f"{where}: {module_name!r} has no dataclass {class_name!r}"
            f"{did_you_mean(class_name, classes)}"
        )
    return found


@cache
def known(kind: str) -> Mapping[str, str]:
    """Return name -> "module:Class" of one kind; a name owned twice is an error."""
    kind = FORMER_KINDS.get(kind, kind)
    table = dict(BUILT_IN[kind])
    groups = [kind, *(former for former, now in FORMER_KINDS.items() if now == kind)]
    for point in (point for group in groups for point in entry_points(group=f"ragstone.{group}")):
        if point.name in table and table[point.name] != point.value:
            raise ConfigError(
                f"two {kind} are called {point.name!r}: {table[point.name]} and {point.value}; "
                f"uninstall one of the packages"
            )
        table[point.name] = point.value
    return table


def _load(module_name: str, folder: Path | None, where: str) -> ModuleType:
    """Import a module; a file of that name in `folder` comes first."""
    path = (folder or Path()) / f"{module_name.removesuffix('.py')}.py"
    if folder is not None and path.is_file():
        return load_file(path.resolve(), where)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name not in {module_name, module_name.partition(".")[0]}:
            raise
        looked = f", nor is there a file {path}" if folder is not None else ""
        raise UnknownComponent(
            f"{where}: no module {module_name!r} is installed{looked}"
        ) from error


def load_file(path: Path, where: str) -> ModuleType:
    """Import a Python file of the user's; changed text is another module.

    Raises `ConfigError`, naming file and line, where the file fails on import.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = f"ragstone_user_{path.stem}_{digest[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UnknownComponent(f"{where}: cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up here while they are being made.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        place = failing_line(error)
        raise ConfigError(f"{where}: {path} failed on import: {error!r}{place}") from error
    return module


def failing_line(error: Exception) -> str:
    """Return file and line where an error was raised, in brackets."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def build(kind: type, parameters: Mapping[str, Any], *, where: str) -> Any:
    """Return an instance of a component's dataclass; a wrong key or type is a `ConfigError`.

    Values are checked in pydantic's lax mode ("3" and 3 are both an int), unknown keys are refused.
    """
    fields = [f for f in dataclasses.fields(kind) if f.init]
    named = dict(parameters)
    if "" in named:
        if not fields:
            raise ConfigError(f"{where}: takes no parameter, found {named['']!r}")
        unnamed = next((f for f in fields if not f.kw_only), fields[0])
        named[unnamed.name] = named.pop("")
    legal = [f.name for f in fields]
    for key in sorted(set(named) - set(legal)):
        raise ConfigError(f"{where}: unknown key {key!r}{did_you_mean(key, legal)}")
    from pydantic import TypeAdapter, ValidationError

    try:
        checked = _adapter(kind, TypeAdapter).validate_python(named)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "?"
        raise ConfigError(
            f"{where}: key {key!r}: {first['msg'].lower()}, found {first['input']!r}"
        ) from error
    except ConfigError as error:
        raise ConfigError(_placed(where, str(error))) from error
    return checked


def _placed(where: str, told: str) -> str:
    """Return the place and the message; a component that both name is named once."""
    own = where.rpartition(", ")[2]
    return f"{where}{told.removeprefix(own)}" if told.startswith(own) else f"{where}: {told}"


@cache
def _adapter(kind: type, adapter: Any) -> Any:
    return adapter(kind)
