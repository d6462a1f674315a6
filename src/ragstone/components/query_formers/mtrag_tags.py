"""What was said, as search texts show it: with mtRAG's speaker tags, or without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from ragstone.types import Message, Query

Variant: TypeAlias = Literal["corrected", "paper"]
"""`paper` puts `|user|: ` before what is said, as mtRAG's published queries have it; `corrected`
takes such a tag away where the data has one: every query would hold the same words."""

_TAG: Final = re.compile(r"^\s*\|(?:user|agent|assistant)\|:\s*", re.IGNORECASE)


def said(message: Message, variant: Variant) -> str:
    """Return one utterance.

    >>> said(Message("user", "Who?"), "paper"), said(Message("user", "|user|: Who?"), "corrected")
    ('|user|: Who?', 'Who?')
    """
    text = _TAG.sub("", message.text)
    return f"|{message.role}|: {text}" if variant == "paper" else text


def joined(messages: Sequence[Message], variant: Variant) -> str:
    """Return utterances one below the other; those of several lines keep them."""
    return "\n".join(said(message, variant) for message in messages)


def last_turn(query: Query) -> Message:
    """Return what the user says last: the query itself."""
    return Message("user", query.text)
