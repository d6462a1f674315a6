"""Installed packages with their versions and extras, and references to secrets in texts."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.redaction import remember
from ragstone.core.regular_files import open_regular
from ragstone.errors import ConfigError, MissingDependency

REFERENCE: Final = re.compile(r"\{(env:[A-Za-z_][A-Za-z0-9_]*|file:[^{}\s][^{}\n]*)\}")
"""A place in a text for the value of an environment variable, or for the content of a file."""


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
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return None
    # To parse all of the file takes four times as long.
    head, _, _ = (found.read_text("METADATA") or "").partition("\n\n")
    version = re.search(r"^Version:[ \t]*(\S+)[ \t]*$", head, re.MULTILINE)
    return version[1] if version else found.version


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

    It is removed from everything that is written or printed from now on.

    Raises:
        ConfigError: the variable is not set; the message begins with `name`.
    """
    found = os.environ.get(variable, "").strip() if variable else ""
    if variable and not found:
        raise ConfigError(
            f"{name} is read from the environment variable {variable!r}, which is not set; "
            f"run: export {variable}=..."
        )
    remember([found])
    return found


def referred(reference: str, name: str) -> str:
    """Return the secret of a reference without its braces, `env:NAME` or `file:PATH`.

    Raises:
        ConfigError: the variable is not set, or the file has no text; the message begins with
            `name`.
    """
    kind, _, place = reference.partition(":")
    if kind == "env":
        return secret(place, name)
    path = Path(place).expanduser()
    try:
        with open_regular(path) as file:
            content = file.read(limits.MAX_SECRET_BYTES + 1)
        found = content.decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"{name} is read from the file {place}, which cannot be read: {cause or error}; "
            "write the secret alone into this file",
            path=path,
        ) from error
    if not found or len(content) > limits.MAX_SECRET_BYTES:
        problem = f"has more than {limits.MAX_SECRET_BYTES:,} bytes" if found else "is empty"
        raise ConfigError(
            f"{name} is read from the file {place}, which {problem}; write the secret alone into "
            "this file",
            path=path,
        )
    remember([found])
    return found


def references_in(value: Any) -> tuple[str, ...]:
    """Return the references in plain data, without their braces.

    >>> references_in({"X-Tenant": "{env:TENANT}", "list": ["{env:A}{file:key.txt}"]})
    ('env:TENANT', 'env:A', 'file:key.txt')
    """
    if isinstance(value, str):
        return tuple(dict.fromkeys(REFERENCE.findall(value)))
    members = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list | tuple):
        return tuple(dict.fromkeys(name for member in members for name in references_in(member)))
    return ()


def resolved(value: Any, name: str) -> Any:
    """Return plain data with its secret in place of each reference.

    Raises:
        ConfigError: as `referred`; the message begins with `name`.
    """
    if isinstance(value, str):
        return REFERENCE.sub(lambda found: referred(found[1], name), value)
    if isinstance(value, Mapping):
        return {key: resolved(member, name) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(member, name) for member in value]
    return value
