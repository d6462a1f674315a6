"""Describing components for people and machines: names, parameters, defaults, documentation."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.registry import find, known
from ragstone.errors import RagstoneError

REQUIRED = "(required)"


def describe_kind(kind: str) -> list[dict[str, Any]]:
    """Return every component of a kind; one that cannot be imported says why."""
    return [_describe(kind, name) for name in sorted(known(kind))]


def _describe(kind: str, name: str) -> dict[str, Any]:
    target = known(kind)[name]
    try:
        found = find(kind, name, where="components")
    except (RagstoneError, ImportError) as error:
        return {"name": name, "class": target, "summary": f"unusable: {error}", "parameters": []}
    return {
        "name": name,
        "class": target,
        "summary": (inspect.getdoc(found) or "").partition("\n")[0],
        "parameters": [_parameter(field) for field in dataclasses.fields(found) if field.init],
    }


def _parameter(field: dataclasses.Field[Any]) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": str(field.type),
        "default": _default(field),
        "in_key": not any(field.metadata.get(mark) for mark in NOT_IN_CACHE_KEY),
    }


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return repr(field.default_factory())
    return REQUIRED
