"""JSON and YAML from outside the package, parsed within the limits on size and nesting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.regular_files import open_regular
from ragstone.core.yaml_loader import yaml_loader
from ragstone.errors import ConfigError

_COLLECTIONS: Final = frozenset({dict, list})
_SLOW_YAML_BYTES: Final = 2**16
"""Files beyond this size are read by libyaml; PyYAML's own parser needs 15 seconds per megabyte."""


class LimitError(ValueError):
    """Input exceeds a limit. The caller adds the file and the line."""


def parse_json(content: bytes) -> Any:
    """Return parsed JSON; raise `orjson.JSONDecodeError`, or `LimitError` if nested too deeply.

    >>> parse_json(b'{"a": [1]}')
    {'a': [1]}
    """
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        if "limit" in error.msg:
            raise _too_deep() from error
        raise
    # Few brackets cannot be deep, and a walk over each of a million rows would take seconds.
    if content.count(b"[") + content.count(b"{") > limits.MAX_NESTING_LEVELS:
        check_collections(value)
    return value


def read_yaml(path: Path, kind: str) -> Any:
    """Return the content of a YAML file; raise `ConfigError` if it is malformed or too large.

    Args:
        path: the file.
        kind: the kind of file, for errors, such as "price table".
    """
    try:
        with open_regular(path) as file:
            return parse_yaml(file.read(limits.MAX_YAML_BYTES + 1))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no {kind} {path}", path=path) from error
    except (OSError, ValueError) as error:
        mark = getattr(error.__cause__, "problem_mark", None)
        line = mark and mark.line + 1
        raise ConfigError(
            f"cannot read the {kind} {path}: {error}", path=path, line=line
        ) from error


def parse_yaml(content: bytes) -> Any:
    """Return parsed YAML; raise `ValueError` if it is malformed or exceeds a limit."""
    import yaml

    if len(content) > limits.MAX_YAML_BYTES:
        raise LimitError(
            f"it has more than {limits.MAX_YAML_BYTES:,} bytes, the maximum of a YAML file; "
            "split it, or name the right file"
        )
    try:
        # libyaml refuses JSON's escapes of characters beyond U+FFFF, which are two halves.
        fast = len(content) > _SLOW_YAML_BYTES and b"\\ud" not in content.lower()
        loader = yaml_loader(fast=fast)
        value = loader(content.decode()).get_single_data()
    except RecursionError as error:
        raise _too_deep() from error
    except OverflowError as error:
        raise ValueError("it is not YAML: the number behind \\U is not a character") from error
    except yaml.YAMLError as error:
        raise ValueError(f"it is not YAML: {error}") from error
    check_collections(value, limits.MAX_YAML_COLLECTIONS)
    return value


def check_collections(value: Any, maximum: int | None = None) -> None:
    """Raise `LimitError` for too many levels of lists and objects.

    With `maximum`, the number of lists and objects, and their size with aliases expanded, is
    checked too.
    """
    level, count, size = _collections([value], maximum), 0, 0
    for _ in range(limits.MAX_NESTING_LEVELS):
        if not level:
            return
        if maximum is not None:
            count += len(level)
            size += sum(map(len, level))
            if count <= maximum and size <= limits.MAX_YAML_EXPANDED:
                size += sum(len(v) for v in _members(level) if type(v) is str)
            if count > maximum or size > limits.MAX_YAML_EXPANDED:
                raise LimitError(
                    f"it has more than {maximum:,} lists and mappings, or more than "
                    f"{limits.MAX_YAML_EXPANDED:,} values and characters, the maximum of a YAML "
                    "file with its aliases expanded; use fewer aliases, or split the file"
                )
        level = _collections(_members(level), maximum)
    if level:
        raise _too_deep()


def _members(level: Iterable[Any]) -> Iterator[Any]:
    """Return the members of lists and objects."""
    return chain.from_iterable(v.values() if type(v) is dict else v for v in level)


def _collections(values: Iterable[Any], maximum: int | None) -> list[Any]:
    """Return the lists and objects among some values; stop when they exceed `maximum`."""
    found = (value for value in values if type(value) in _COLLECTIONS)
    return list(islice(found, None if maximum is None else maximum + 1))


def _too_deep() -> LimitError:
    return LimitError(
        f"lists and objects are nested more than {limits.MAX_NESTING_LEVELS} levels deep, the "
        "maximum; flatten them, or store the inner ones as text"
    )
