"""Installed packages with their versions and extras, and secrets in environment variables."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata, util
from typing import Any, Final

from ragstone.errors import ConfigError, MissingDependency

VARIABLE: Final = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
"""A place in a text for the value of an environment variable."""


def describe_environment() -> dict[str, str]:
    """Return the Python version, the kind of machine and the versions of installed packages.

    The packages are Ragstone itself and everything that it or one of its extras requires. There is
    no host name, user name or path: a record may be published.
    """
    facts = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    watched = dict.fromkeys(["ragstone", *(name for names in extras().values() for name in names)])
    return facts | {name: version for name in watched if (version := installed(name))}


def installed(package: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@cache
def extras() -> Mapping[str, tuple[str, ...]]:
    """Return each extra with the packages it requires; the core's own are under ""."""
    found: dict[str, list[str]] = {"": []}
    for requirement in metadata.requires("ragstone") or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([^'\"]+)", requirement)
        if name:
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return {extra: tuple(names) for extra, names in found.items()}


def require(component: str, extra: str, *modules: str) -> None:
    """Raise `MissingDependency` unless all modules can be imported; none is imported here."""
    for module in modules:
        if util.find_spec(module) is None:
            raise MissingDependency(component, module, extra)


def secret(variable: str, name: str) -> str:
    """Return the secret in an environment variable, or "" if `variable` is empty.

    Raises:
        ConfigError: the variable is not set; the message begins with `name`.
    """
    found = os.environ.get(variable, "").strip() if variable else ""
    if variable and not found:
        raise ConfigError(
            f"{name} is read from the environment variable {variable!r}, which is not set; "
            f"run: export {variable}=..."
        )
    return found


def variables_in(value: Any) -> tuple[str, ...]:
    """Return the environment variables that plain data refer to as `{env:NAME}`.

    >>> variables_in({"X-Tenant": "{env:TENANT}", "list": ["{env:A}{env:TENANT}"]})
    ('TENANT', 'A')
    """
    if isinstance(value, str):
        return tuple(dict.fromkeys(VARIABLE.findall(value)))
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list | tuple):
        return tuple(dict.fromkeys(name for member in members for name in variables_in(member)))
    return ()


def with_variables(value: Any, name: str) -> Any:
    """Return plain data with the value of the variable in place of each `{env:NAME}`.

    Raises:
        ConfigError: a variable is not set; the message begins with `name`.
    """
    if isinstance(value, str):
        return VARIABLE.sub(lambda found: secret(found[1], name), value)
    if isinstance(value, Mapping):
        return {key: with_variables(member, name) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [with_variables(member, name) for member in value]
    return value
