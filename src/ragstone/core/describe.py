"""Descriptions of components as specs and as plain data."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from ragstone.core.builtins import FORMER_KINDS, name_of
from ragstone.core.component import SET_BY_A_RUN, in_cache_key
from ragstone.core.environment import extras, installed
from ragstone.core.registry import find, known
from ragstone.core.spec import Spec
from ragstone.core.user_code import class_name
from ragstone.errors import RagstoneError


def spec_of(component: Any) -> Spec:
    """Return the spec that creates a component: its name and the parameters that are not defaults.

    >>> from ragstone.components.retrievers.bm25 import BM25
    >>> str(spec_of(BM25(top_k=5)))
    'bm25(top_k=5)'
    """
    name = name_of(type(component)).rpartition("/")[2] or class_name(type(component), ".py")
    fields = ((f, getattr(component, f.name)) for f in _written(component))
    given = {f.name: _plain(value) for f, value in fields if value != _default(f)}
    if name.endswith("@k"):
        return Spec(name.removesuffix("@k"), given, given.pop("k", None))
    return Spec(name, given)


def _written(component: Any) -> list[dataclasses.Field[Any]]:
    """Return the fields that people may write."""
    found = dataclasses.fields(component)
    return [f for f in found if f.init and not SET_BY_A_RUN.items() <= f.metadata.items()]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return spec_of(value) if dataclasses.is_dataclass(value) else value


def describe_kind(kind: str) -> list[dict[str, Any]]:
    """Return every component of a kind as plain data; its shape is in docs/commands.md."""
    kind = FORMER_KINDS.get(kind, kind)
    return [_describe(kind, name) for name in sorted(known(kind), key=str.casefold)]


def _describe(kind: str, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": kind, "name": name, "summary": "", "parameters": []}
    try:
        found = find(kind, name, where="components")
    except (RagstoneError, ImportError) as error:
        summary = f"cannot be imported: {error}"
        return {**entry, "summary": summary, "requires": [], "installed": False}
    helps = parameter_helps(found)
    needed = filter(None, found.requires_extra.split(","))
    packages = [package for extra in needed for package in extras().get(extra, ())]
    # Fields of a shared base come last, so that the first one is the one without a name.
    fields = sorted(_written(found), key=lambda f: bool(f.kw_only))
    return {
        **entry,
        "summary": (inspect.getdoc(found) or "").partition("\n")[0],
        "parameters": [_parameter(field, helps.get(field.name, "")) for field in fields],
        "requires": [f"ragstone[{found.requires_extra}]"] if found.requires_extra else [],
        "installed": all(installed(package) for package in packages),
    }


def parameter_helps(kind: type) -> dict[str, str]:
    """Return parameter -> description, from the sections `Args:` of a class and its bases."""
    found: dict[str, str] = {}
    for base in kind.__mro__:
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("\nArgs:\n")
        section = re.split(r"\n(?=\S)", section)[0]
        for names, text in re.findall(
            r"^    (\w[\w, ]*): (.*(?:\n     .*)*)", section, re.MULTILINE
        ):
            for name in names.split(","):
                found.setdefault(name.strip(), " ".join(text.split()))
    return found


def _parameter(field: dataclasses.Field[Any], text: str) -> dict[str, Any]:
    default = _default(field)
    return {
        "name": field.name,
        "type": str(field.type),
        "default": None if default is dataclasses.MISSING else repr(default),
        "help": text,
        "in_key": in_cache_key(field),
    }


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
