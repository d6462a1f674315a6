"""Search texts made of messages, with mtRAG's speaker tags or without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from ragstone.core.component import Outcome
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Message, Query

Variant: TypeAlias = Literal["corrected", "paper"]
"""`paper` puts `|user|: ` before each message, as in mtRAG's published queries; `corrected` removes
such tags from the data, because otherwise all queries would share the same words."""

_TAG: Final = re.compile(r"^\s*\|(?:user|agent|assistant)\|:\s*", re.IGNORECASE)


class MessageFormer(QueryFormer):
    """A query former that searches for some messages of the conversation, one per line."""

    variant: Variant

    def messages(self, query: Query) -> Sequence[Message]:
        """Return the messages to search for."""
        raise NotImplementedError

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the messages of each query as one text."""
        for query in queries:
            yield Outcome("\n".join(tagged(m, self.variant) for m in self.messages(query)))


def tagged(message: Message, variant: Variant) -> str:
    """Return the text of one message with or without its speaker tag.

    >>> message = Message("user", "|user|: Who?")
    >>> tagged(message, "paper"), tagged(message, "corrected")
    ('|user|: Who?', 'Who?')
    """
    text = _TAG.sub("", message.text)
    return f"|{message.role}|: {text}" if variant == "paper" else text


def last_turn(query: Query) -> Message:
    """Return the user's last message: the query itself."""
    return Message("user", query.text)
