"""Answers without the names of their systems: drawn in an order per person and item, with tokens.

A browser gets a token in place of `system · setting`. The server puts the part into each event
before it is kept, so labels, exports and agreement have exact names. Tokens are digests of seed,
person, item and part, with a key that the project's file alone has. They give the order in which
the answers are shown: it is the same after a reload, and another one for each person and item.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.items import AnnotationItem, ShownAnswer, base_id
from ragstone.data.readers.rows import FieldError

if TYPE_CHECKING:
    from ragstone.annotation.events import Event
    from ragstone.annotation.project import Project

_MARK: Final = "~"
_DIGITS: Final = 16
_TOKEN: Final = re.compile(rf"{_MARK}[0-9a-f]{{{_DIGITS}}}")
SIDES: Final = ("a", "b")
"""The labels of a pair: its first and its second answer in the file, whatever side it was on."""


def token_of(seed: int, person: str, item_id: str, part: str, key: str = "") -> str:
    """Return the token that a browser gets in place of a part.

    >>> token_of(0, "ann", "q1", "bm25")
    '~d7f2e1f3296eb1e2'
    """
    written = "\0".join((f"{seed}{key}", person, item_id, part))
    return _MARK + hashlib.sha256(written.encode()).hexdigest()[:_DIGITS]


class Blind:
    """The answers of an item as one person sees them.

    Args:
        project: the project, with its seed.
        person: who sees them.
        item_id: the id of the item; a second showing (`#again`) has an order of its own.
    """

    def __init__(self, project: Project, person: str, item_id: str) -> None:
        item = project.items.get(base_id(item_id))
        seed, key = project.settings.seed, project.settings.blind_key
        answers: Sequence[ShownAnswer] = () if item is None else item.answers
        self.parts = {token_of(seed, person, item_id, one.part, key): one.part for one in answers}
        """Token -> part."""
        self.tokens = {part: token for token, part in self.parts.items()}
        self._pair = [one.part for one in answers[: len(SIDES)]]
        self.sides = sorted(self.tokens[one] for one in self._pair)
        """The tokens of a pair, left and right."""

    def drawn(self, item: AnnotationItem) -> list[tuple[str, ShownAnswer]]:
        """Return the answers with their tokens, in this person's order."""
        return sorted((self.tokens[one.part], one) for one in item.answers)

    def hidden(self, value: Any) -> Any:
        """Return the label of a pair for the browser: a token in place of `a` and `b`."""
        pair = dict(zip(SIDES, self._pair, strict=False))
        return self.tokens[pair[value]] if value in SIDES and value in pair else value

    def named(self, event: Event) -> Event:
        """Return an event of the browser with a part, or `a` or `b`, in place of tokens.

        Raises `FieldError` if a token is of no answer of the item.
        """
        part, value = event.part, event.value
        if _TOKEN.fullmatch(part):
            part = self._part(part, event.item_id)
        if event.kind == "label" and isinstance(value, str) and value in self.parts:
            value = SIDES[self._pair.index(self.parts[value])]
        return replace(event, part=part, value=value)

    def _part(self, token: str, item_id: str) -> str:
        if token not in self.parts:
            raise FieldError(f"{token} is not an answer of the item {item_id}; reload the page")
        return self.parts[token]


def hidden_labels(
    project: Project, person: str, current: Mapping[str, Sequence[dict[str, Any]]]
) -> dict[str, list[dict[str, Any]]]:
    """Return item id -> labels as a browser gets them: with tokens in place of systems."""
    found = {}
    for item_id, labels in current.items():
        blind = Blind(project, person, item_id)
        found[item_id] = [
            {
                **one,
                "part": blind.tokens.get(one["part"], one["part"]),
                "value": blind.hidden(one["value"])
                if is_pair(project, one["field"])
                else one["value"],
            }
            for one in labels
        ]
    return found


def is_pair(project: Project, field: str) -> bool:
    """Whether a question is about a pair of answers."""
    question = project.scheme.question(field)
    return question is not None and question.of == "pair"


def named_event(project: Project, person: str, event: Event) -> Event:
    """Return an event as it is kept: with the systems in place of tokens.

    Raises `FieldError` if a token is of no answer of the item.
    """
    return Blind(project, person, event.item_id).named(event)
