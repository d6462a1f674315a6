"""The changes of one query when it is asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.types import ContextPassage, one_line


@dataclass(frozen=True)
class WhatIf:
    """The changes of one query; an empty value changes nothing."""

    passages: tuple[ContextPassage, ...] | None = None
    """The passages in place of those that were shown. One without a text is looked up."""
    search: str | None = None
    """The search text in place of the formed query; the system retrieves with it."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Parameter of the generator, such as `user` -> the template in its place."""
    note: str = ""
    """The changes, in words."""

    __repr__ = one_line
