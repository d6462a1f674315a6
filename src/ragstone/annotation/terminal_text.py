"""Items and questions as text of a terminal: wrapped, with control characters as codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.core.screen_text import plain, wrapped
from ragstone.web.marked import gold_parts

if TYPE_CHECKING:
    from ragstone.annotation.item_questions import AskedQuestion
    from ragstone.annotation.items import AnnotationItem, ShownAnswer
    from ragstone.annotation.schemes import Scheme

_MARKS: Final = ("«", "»")
"""Around a gold answer in a passage."""
KEYS: Final = (
    ("1, 2, ...", "the options of a question"),
    ("Enter", "leave a question out, if that is allowed; save several options"),
    ("e", "write a text or statements"),
    ("u", "undo the last label"),
    ("s", "skip the item, with a reason"),
    ("g", "guidelines"),
    ("m", "write a comment"),
    ("q", "quit; the next start goes on here"),
    ("?", "this list"),
)


def item_text(
    item: AnnotationItem,
    answers: Sequence[ShownAnswer],
    parts: Sequence[str],
    scheme: Scheme,
    width: int,
) -> str:
    """Return the text of an item for a person: no system is named.

    Args:
        item: the item.
        answers: its answers in the order in which the person gets them.
        parts: its statements, or those that the person wrote.
        scheme: the questions, and whether gold answers are shown and marked.
        width: characters of a line.
    """
    gold = item.query.gold_answers if scheme.shows_gold else ()
    return "\n\n".join(_blocks(item, answers, parts, gold, width))


def _blocks(
    item: AnnotationItem,
    answers: Sequence[ShownAnswer],
    parts: Sequence[str],
    gold: Sequence[str],
    width: int,
) -> Iterator[str]:
    for message in item.query.history:
        yield f"{message.role.upper()}\n{wrapped(message.text, width, '  ')}"
    yield f"QUERY\n{wrapped(item.query.text, width, '  ')}"
    if gold:
        yield f"GOLD ANSWERS\n{wrapped('; '.join(gold), width, '  ')}"
    for number, passage in enumerate(item.passages, 1):
        head = f"PASSAGE {number}  {plain(passage.title)}".rstrip()
        yield f"{head}\n{wrapped(_marked(passage.text, gold), width, '  ')}"
    for number, answer in enumerate(answers, 1):
        text = answer.text if answer.text is not None else f"(no answer: {answer.reason})"
        head = f"ANSWER {number}" if len(answers) > 1 else "ANSWER"
        yield f"{head}\n{wrapped(text, width, '  ')}"
    if parts:
        listed = "\n".join(wrapped(f"{n}. {one}", width, "  ") for n, one in enumerate(parts, 1))
        yield f"STATEMENTS\n{listed}"


def _marked(text: str, gold: Sequence[str]) -> str:
    parts = gold_parts(text, gold)
    opening, closing = _MARKS
    return "".join(f"{opening}{one}{closing}" if n % 2 else one for n, one in enumerate(parts))


def question_text(asked: AskedQuestion, options: Sequence[str], width: int) -> str:
    """Return a question with its keys."""
    head = f"{asked.about}: " if asked.about else ""
    lines = [wrapped(f"{head}{asked.text or asked.field}", width)]
    return "\n".join([*lines, *(wrapped(one, width, "  ") for one in options)])
