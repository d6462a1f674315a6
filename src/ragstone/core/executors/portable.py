"""A component as plain data, so that another process can create an equal one.

The data name the class as `core.builtins` does, "module:Class", and have all parameters, also those
that no experiment file writes. No object of a component is pickled. Only components of this package
are sent; one with a part of your own stays in this process.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from ragstone.core.component import Component
from ragstone.core.fingerprint import cache_key_parts, fingerprint
from ragstone.core.registry import beside, build, own_folder
from ragstone.core.user_code import is_ours
from ragstone.errors import RagstoneError


@dataclass(frozen=True)
class Portable:
    """A component as text, with the digest of its cache key.

    >>> from ragstone.components.retrievers.bm25 import BM25
    >>> Portable.of(BM25(top_k=5)).component()
    BM25(top_k=5, k1=1.2, b=0.75, stemmer='none', stop_words='none')
    """

    written: str
    """JSON: the class and the parameters."""
    key: str
    """The digest of the parts of the cache key, with the content of its files."""
    folder: str
    """The folder in which files are looked for: that of the experiment file, or the current one."""

    @classmethod
    def of(cls, component: Component) -> Self | None:
        """Return a component as data; None if it is not of this package alone."""
        if any(":" in name for name in names_in(component)):
            return None
        try:
            written = json.dumps(_plain(component))
        except TypeError:
            return None
        folder = str(own_folder().absolute())
        found = cls(written, fingerprint(component), folder)
        return found if fingerprint(found._made()) == found.key else None

    def component(self) -> Any:
        """Return an equal component: one per process, so that a model is loaded once.

        Raises:
            RagstoneError: a file of the component is missing here or has another content.
        """
        return _restored(self)

    def _made(self) -> Any:
        with beside(Path(self.folder)):
            return _built(json.loads(self.written))


@lru_cache(maxsize=1)
def _restored(portable: Portable) -> Any:
    component = portable._made()  # noqa: SLF001 - the cache is beside the class
    if fingerprint(component) != portable.key:
        raise RagstoneError(
            f"the worker creates another {type(component).__name__}: a model or another file that "
            "it reads has another content there; give every worker the same files"
        )
    return component


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; raise `TypeError` if it is not plain data."""
    if dataclasses.is_dataclass(value) and is_ours(kind := type(value)):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {
            "class": f"{kind.__module__}:{kind.__qualname__}",
            "parameters": {name: _plain(getattr(value, name)) for name in fields},
        }
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a {type(value).__name__} is not plain data")


def _built(value: Any) -> Any:
    """Return the value of plain data, its components created."""
    if isinstance(value, list):
        return [_built(member) for member in value]
    if not isinstance(value, dict):
        return value
    if value.keys() != {"class", "parameters"}:
        return {key: _built(member) for key, member in value.items()}
    module, _, name = value["class"].partition(":")
    if not f"{module}.".startswith("ragstone."):
        raise RagstoneError(f"{value['class']!r} is not a component of ragstone", value=module)
    kind = getattr(importlib.import_module(module), name)
    return build(kind, _built(value["parameters"]), where=name)


def names_in(component: Component) -> frozenset[str]:
    """Return the names of a component and of its parts in cache keys; your own are `file:Class`.

    >>> from ragstone.components.retrievers.dense import Dense
    >>> sorted(names_in(Dense()))
    ['embedders/minilm', 'retrievers/dense']
    """
    return frozenset(_names(cache_key_parts(component)))


def _names(made_by: Any) -> Iterator[str]:
    """Yield the names of a component and of its parts from the parts of its cache key."""
    if isinstance(made_by, list):
        for member in made_by:
            yield from _names(member)
    elif isinstance(made_by, Mapping):
        if {"component", "source"} <= made_by.keys():
            yield made_by["component"]
        for member in made_by.values():
            yield from _names(member)
