"""The embedder of a component, as it is written, checked, and given the way to its server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ragstone.protocols import CallingEmbedder

if TYPE_CHECKING:
    from ragstone.calls import Calls

Written: TypeAlias = str | dict[str, Any]
"""A name, with its parameters in brackets or as a mapping, or `module:Class`."""

C = TypeVar("C")


def check_part(part: object, calls: Calls) -> None:
    """Let a component's embedder say what it lacks, where it has a way to."""
    check = getattr(part, "check", None)
    if check is not None:
        check(calls)


def with_calling_part(component: C, name: str, calls: Calls) -> C:
    """Return a component whose cached embedder `name` asks its server by `calls`.

    The component itself where its embedder asks none: what is loaded stays loaded.
    """
    part = getattr(component, name)
    if not isinstance(part, CallingEmbedder):
        return component
    made = replace(component)  # type: ignore[type-var]  # components are dataclasses
    vars(made)[name] = part.with_calls(calls)
    return made
