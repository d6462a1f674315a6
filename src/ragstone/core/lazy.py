"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(
    package: str, names_of: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the functions `__getattr__` and `__dir__` and the list `__all__` of a package.

    Args:
        package: the package's `__name__`.
        names_of: module, relative to the package -> public names that it defines.

    >>> get, _, names = attach("ragstone.core", {"resources": ["size"]})
    >>> names, get("size")(20_000_000)
    (['size'], '20.0 MB')
    """
    modules = {name: module for module, names in names_of.items() for name in names}
    names = sorted(modules)

    def get(name: str) -> Any:
        if name not in modules:
            from ragstone.errors import did_you_mean

            hint = did_you_mean(name, names)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return get, names.copy, names
