"""Existing conversations as items and events, so that people can review them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.annotation.events import Event


@dataclass(frozen=True, slots=True)
class ConversationItems:
    """What a project gets from a file of conversations."""

    items: tuple[dict[str, Any], ...]
    """Lines of `items.jsonl`."""
    events: tuple[tuple[str, Event], ...]
    """Person and event, in order. The client ids are those of a second import too."""


def conversation_items(source: Path) -> ConversationItems:
    """Return the conversations of a file in mtRAG's form or of a data set.

    Keep the events with `database.append(person, [event])`, in order: a second import of the same
    file changes nothing.

    Raises `DatasetError` if the source has no conversations, or a malformed one.
    """
    raise NotImplementedError
