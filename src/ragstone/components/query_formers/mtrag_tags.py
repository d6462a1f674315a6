"""Messages as search texts show them: with mtRAG's speaker tags, or without."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from ragstone.types import Message, Query

Variant: TypeAlias = Literal["corrected", "paper"]
"""`paper` puts `|user|: ` before each message, as in mtRAG's published queries; `corrected` removes
such tags from the data, because otherwise all queries would share the same words."""

_TAG: Final = re.compile(r"^\s*\|(?:user|agent|assistant)\|:\s*", re.IGNORECASE)


def tagged(message: Message, variant: Variant) -> str:
    """Return the text of one message with or without its speaker tag.

    >>> message = Message("user", "|user|: Who?")
    >>> tagged(message, "paper"), tagged(message, "corrected")
    ('|user|: Who?', 'Who?')
    """
    text = _TAG.sub("", message.text)
    return f"|{message.role}|: {text}" if variant == "paper" else text


def joined(messages: Sequence[Message], variant: Variant) -> str:
    """Return the texts of messages, each on its own lines."""
    return "\n".join(tagged(message, variant) for message in messages)


def last_turn(query: Query) -> Message:
    """Return the user's last message: the query itself."""
    return Message("user", query.text)
