"""Finding components by name: built in, installed as a plugin, or in your own file.

A component of any kind is written in one of these ways:

- `bm25`: a name of the table in `ragstone.core.builtins`, or of an entry point in the group
  `ragstone.<kind>` of an installed package;
- `my_file.py:MyThing`: a class in a Python file beside the experiment file, or `module:MyThing`;
- with parameters, `{name: bm25, k1: 0.9}` or `bm25(k1=0.9)`; the first parameter needs no name:
  `retrieved(3)`;
- an instance of a component, in Python.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.builtins import BUILT_IN, FORMER_KINDS, PROTOCOLS, SYNONYMS
from ragstone.core.component import Component
from ragstone.core.spec import Spec, caret, parse_spec
from ragstone.core.user_code import error_line, load_file
from ragstone.errors import ConfigError, RagstoneError, UnknownComponent, did_you_mean

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_SIMPLE: Final = (int, float, str, bool)
_beside: ContextVar[Path | None] = ContextVar("beside", default=None)
"""The folder of the experiment file that is being read."""


def create(kind: str, written: object, *, where: str, folder: Path | None = None) -> Any:
    """Return the component that `written` describes, its parameters checked against its fields.

    Args:
        kind: a kind of `ragstone.core.builtins.BUILT_IN`.
        written: a spec, a mapping with the key `name`, or a component.
        where: the start of error messages, such as "system 'a', retriever".
        folder: the folder of your own files; by default that of the component being created.

    Raises:
        UnknownComponent: no component has that name; the message has the nearest one.
        ConfigError: a parameter is unknown or has a wrong value; a caret shows its position.
    """
    folder = folder or _beside.get()
    is_part = dataclasses.is_dataclass(written) or hasattr(written, protocol(kind).verb)
    if is_part and not isinstance(written, type):
        return _completed(kind, written, where)
    spec = parse_spec(written, where=where)
    if spec.cutoff is not None:
        raise ConfigError(f"{where}: {spec.name!r} takes no cutoff @{spec.cutoff}", value=written)
    try:
        with beside(folder):
            found = find(kind, spec.name, where=where, folder=folder)
            return build(found, spec.parameters, where=f"{where} {spec.name!r}")
    except ConfigError as error:
        if shown := _position(error, spec):
            raise error.with_message(f"{error}{shown}") from error
        raise


@contextmanager
def beside(folder: Path | None) -> Iterator[None]:
    """Let components that are created in the block find their files in a folder."""
    token = _beside.set(folder)
    try:
        yield
    finally:
        _beside.reset(token)


def locate(path: Path) -> Path:
    """Return the path of a file beside the experiment file being read, if it exists there.

    Otherwise return the path unchanged. For a component's `__post_init__`.
    """
    folder = _beside.get()
    # An absolute path replaces the folder.
    return folder / path if folder is not None and (folder / path).exists() else path


def own_folder() -> Path:
    """Return the folder of the experiment file being read, by default the current one."""
    return _beside.get() or Path()


def find(kind: str, name: str, *, where: str, folder: Path | None = None) -> Any:
    """Return the class of a component; raise `UnknownComponent` with the nearest names."""
    usual = SYNONYMS.get(kind, {})
    target = known(kind).get(usual.get(name, name), name if ":" in name else None)
    if target is None:
        raise UnknownComponent(
            f"{where}: unknown {_noun(kind)} {name!r}{did_you_mean(name, known(kind))}", value=name
        )
    module_name, _, class_name = target.rpartition(":")
    module = _load(module_name, folder if target == name else None, where)
    found = vars(module).get(class_name)
    if not isinstance(found, type):
        classes = [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        raise UnknownComponent(
            f"{where}: {module_name!r} has no class {class_name!r}"
            f"{did_you_mean(class_name, classes)}",
            value=name,
        )
    return complete(kind, found, where=where)


def complete(kind: str, found: type, *, where: str) -> Any:
    """Return a component's class with the declarations of its kind that it omits."""
    if not dataclasses.is_dataclass(found):
        if inspect.signature(found).parameters:
            raise ConfigError(
                f"{where}: {found.__name__!r} must be a dataclass, so that its parameters are "
                "known; write @dataclass(frozen=True) above it",
                value=found.__name__,
            )
        found = dataclasses.dataclass(frozen=True)(found)
    try:
        return protocol(kind).complete(found)
    except ConfigError as error:
        raise error.with_message(f"{where}: {error}") from error


@cache
def protocol(kind: str) -> type[Component]:
    """Return the protocol of a kind."""
    module, _, name = PROTOCOLS[FORMER_KINDS.get(kind, kind)].partition(":")
    found: type[Component] = getattr(importlib.import_module(module), name)
    return found


@cache
def known(kind: str) -> Mapping[str, str]:
    """Return name -> "module:Class" of one kind; a name with two classes is an error."""
    kind = FORMER_KINDS.get(kind, kind)
    table = dict(BUILT_IN[kind])
    groups = [kind, *(former for former, now in FORMER_KINDS.items() if now == kind)]
    named = (_plugins().select(group=f"ragstone.{group}") for group in groups)
    for point in (point for points in named for point in points):
        if point.name in table and table[point.name] != point.value:
            raise ConfigError(
                f"two {kind} are called {point.name!r}: {table[point.name]} and {point.value}; "
                f"uninstall one of the packages"
            )
        table[point.name] = point.value
    return table


@cache
def _plugins() -> Any:
    """Return the entry points of all installed packages, whose files are read once."""
    return entry_points()


def build(kind: type, parameters: Mapping[str, Any], *, where: str) -> Any:
    """Return an instance of a component's dataclass; a wrong key or type is a `ConfigError`.

    Values are checked in pydantic's lax mode ("3" and 3 are both an int), unknown keys are refused.
    The argument without a key is the first field, or the one that the class calls `unnamed`.
    """
    fields = [f for f in dataclasses.fields(kind) if f.init]
    named = dict(parameters)
    if "" in named:
        if not fields:
            raise ConfigError(f"{where}: takes no parameter, found {named['']!r}", value=named[""])
        usual = next((f for f in fields if not f.kw_only), fields[0])
        named[getattr(kind, "unnamed", usual.name)] = named.pop("")
    legal = [f.name for f in fields]
    for key in sorted(set(named) - set(legal), key=str):
        raise ConfigError(
            f"{where}: unknown key {key!r}{did_you_mean(str(key), legal)}",
            key=key,
            value=named[key],
        )
    try:
        if _has_exact_types(fields, named):
            with suppress(ValueError, AssertionError):  # pydantic states these in its own form
                return kind(**named)
        return _adapter(kind).validate_python(named)
    except ConfigError as error:
        raise error.with_message(_placed(where, str(error))) from error
    except RagstoneError:
        raise
    except Exception as error:
        raise _refusal(kind, error, where) from error


def _has_exact_types(fields: Sequence[dataclasses.Field[Any]], named: Mapping[str, Any]) -> bool:
    """Return whether no field is missing, and each value has a simple type that its field names.

    Such values need no check by pydantic, whose import takes longer than most commands.
    """
    missing = dataclasses.MISSING
    return all(
        type(named[f.name]) in _SIMPLE and type(named[f.name]).__name__ in str(f.type).split(" | ")
        if f.name in named
        else f.default is not missing or f.default_factory is not missing
        for f in fields
    )


def _refusal(kind: type, error: Exception, where: str) -> ConfigError:
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return ConfigError(
            f"{where}: {kind.__name__} raised {type(error).__name__}: {error}{error_line(error)}"
        )
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"])) or "?"
    return ConfigError(
        f"{where}: key {key!r}: {first['msg'].lower()}, found {first['input']!r}",
        key=str(first["loc"][0]) if first["loc"] else None,
        value=first["input"],
    )


def _completed(kind: str, component: Any, where: str) -> Any:
    """Return an instance that was made in Python, with the declarations of its kind."""
    full = complete(kind, type(component), where=where)
    if isinstance(component, full):
        return component
    fields = [field.name for field in dataclasses.fields(component) if field.init]
    return full(**{name: getattr(component, name) for name in fields})


def _load(module_name: str, folder: Path | None, where: str) -> ModuleType:
    """Import a module; a file of that name in `folder` comes first."""
    path = (folder or Path()) / f"{module_name.removesuffix('.py')}.py"
    if path.is_file() and (folder is not None or module_name.endswith(".py")):
        return load_file(path.resolve(), where)
    looked = f", and there is no file {path}" if folder or module_name.endswith(".py") else ""
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name not in {module_name, module_name.partition(".")[0]}:
            raise
        raise UnknownComponent(
            f"{where}: no module {module_name!r} is installed{looked}", value=module_name
        ) from error


def _position(error: ConfigError, spec: Spec) -> str:
    """Return the spec with a caret below the wrong argument; "" for a spec without arguments."""
    shown_before = "\n" in str(error)
    return "" if shown_before or not spec.parameters else caret(spec.text, error.key, error.value)


def _noun(kind: str) -> str:
    """Return the singular of a kind, as people write it: "query former"."""
    return FORMER_KINDS.get(kind, kind).removesuffix("s").replace("_", " ")


def _placed(where: str, message: str) -> str:
    """Return the place and the message; a component that both name is named once."""
    own = where.rpartition(", ")[2]
    return where + (message.removeprefix(own) if message.startswith(own) else f": {message}")


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
