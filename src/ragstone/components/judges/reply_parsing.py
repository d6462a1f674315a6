"""Finding the verdict in what a judge's model wrote, and nothing that only looks like one.

The last well-formed verdict of the reply counts. Not searched are: thinking (`<think>` blocks),
text in quotation marks, block quotes, and whatever stands word for word in the material under
judgement, so that an answer which holds a verdict of its own cannot place it. Two different
verdicts side by side contradict each other, and none is read; a verdict that is taken back in prose
is followed by the one that counts.

A *form* says what a verdict looks like: `Rating`, `Choice`, `Listing` (claims) or `Numbered` (one
verdict per numbered thing), in `ragstone.components.judges.verdict_schemas` and `list_forms`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")

_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE
)
_THOUGHT_ENDS: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_STARTS: Final = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r'"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|^[ \t]*>.*$', re.MULTILINE
)
_TAKEN_BACK: Final = 3
"""Words between two different verdicts from which on the second is a correction of the first."""
_DELETED: Final = {ord(sign): None for sign in " \t\r\n*_`"}
_FENCES: Final = 24
"""Signs round a verdict that may be Markdown and white space."""
_MOST_OBJECTS: Final = 64
"""Opening braces that are tried: a reply of nothing but braces must not cost its square."""


class Unreadable(ValueError):
    """A reply without a verdict that counts; the text says why, and goes into the re-ask."""


class Found(NamedTuple, Generic[T]):
    """A well-formed verdict in a reply, and where it stands."""

    value: T | Unreadable
    """The verdict, or why it is none although it has its form (a rating outside the scale)."""
    start: int
    end: int
    alone: bool = False
    """Recognised only by standing alone in its sentence: any disagreement undoes it."""


def spoken(text: str, material: Sequence[str] = ()) -> str:
    """Return the reply without what the model thought before.

    The lone end of a block ends the thinking, unless the material under judgement holds one.

    Raises:
        Unreadable: the reply ends before the thinking does.

    >>> spoken("<think>maybe Rating: [[3]]</think> Rating: [[9]]")
    ' Rating: [[9]]'
    """
    if "<" not in text:
        return text
    if text.startswith("<think>"):
        # The usual case, five times faster without the pattern.
        thought, closed, after = text.partition("</think>")
        text = after if closed else thought
        if "<" not in text:
            return text
    rest = _THOUGHT.sub("", text)
    # Chat templates that open the block in the prompt leave only its end in the reply.
    ends = _THOUGHT_ENDS.search(rest)
    if ends and not any(_THOUGHT_ENDS.search(held) for held in material):
        rest = rest[ends.end() :]
    starts = _THOUGHT_STARTS.search(rest)
    if starts and not rest[: starts.start()].strip():
        raise Unreadable("the reply ends within the model's thinking")
    return rest


def last_verdict(text: str, found: Iterable[Found[T]], material: Sequence[str]) -> T:
    """Return the verdict that counts of all that have the form of one.

    Args:
        text: the reply, without its thinking.
        found: what looks like a verdict in it.
        material: the texts under judgement; a verdict that stands in them is theirs.

    Raises:
        Unreadable: there is none, or several that disagree.
    """
    ordered = list(found)
    if len(ordered) > 1:
        ordered.sort(key=_end)
    if len(ordered) == 1 and _is_all(text, ordered[0]):
        return _legal(ordered[0])
    own = [one for one in ordered if not _is_quoted(text, one, material)]
    if not own:
        raise Unreadable(
            "the only verdict in the reply is quoted from the text under judgement"
            if ordered
            else "the reply holds no verdict in the form asked for"
        )
    firm = [one for one in own if not one.alone]
    if firm:
        _check_not_contradicted(text, firm)
        return _legal(firm[-1])
    if len({str(one.value) for one in own}) > 1:
        raise Unreadable("the reply holds several verdicts that disagree")
    return _legal(own[-1])


def _end(one: Found[T]) -> int:
    return one.end


def _legal(one: Found[T]) -> T:
    if isinstance(one.value, Unreadable):
        raise one.value
    return one.value


def _is_all(text: str, one: Found[T]) -> bool:
    """Say whether the reply is this verdict and nothing else: that is no quotation."""
    if len(text) - one.end + one.start > _FENCES:
        return False
    around = text[: one.start] + text[one.end :]
    return not any(character.isalnum() for character in around.replace("json", ""))


def _check_not_contradicted(text: str, firm: Sequence[Found[T]]) -> None:
    if len(firm) < 2:  # noqa: PLR2004 - two are needed to disagree
        return
    before, last = firm[-2], firm[-1]
    if str(before.value) != str(last.value) and _words(text[before.end : last.start]) < _TAKEN_BACK:
        raise Unreadable("the reply ends in several verdicts that disagree")


def _words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in text.split())


def _is_quoted(text: str, one: Found[T], material: Sequence[str]) -> bool:
    start, end = (one.start, one.end) if not one.alone else _line(text, one)
    said = text[start:end]
    if any(said in held for held in material):
        return True
    plain = _plain(said)
    if plain and any(plain in _plain_material(held) for held in material):
        return True
    if one.alone or ('"' not in text and text.isascii() and ">" not in text):
        return False
    return any(m.start() < one.start and one.end <= m.end() for m in _QUOTED.finditer(text))


def _line(text: str, one: Found[T]) -> tuple[int, int]:
    start = text.rfind("\n", 0, one.start) + 1
    end = text.find("\n", one.end)
    return start, len(text) if end < 0 else end


@lru_cache(maxsize=64)
def _plain_material(text: str) -> str:
    """Return the same as `_plain`: a text under judgement is compared with several replies."""
    return _plain(text)


def _plain(text: str) -> str:
    """Return a text as it is compared: neither case nor Markdown nor spacing hides a quotation."""
    return text.translate(_DELETED).casefold()


_DECODER: Final = json.JSONDecoder()


def objects_in(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the JSON objects and lists of a text, outermost only, with where they stand.

    >>> [value for value, _, _ in objects_in('So: {"rating": 8, "by": {"a": 1}} and [1].')]
    [{'rating': 8, 'by': {'a': 1}}, [1]]
    """
    place, tried = 0, 0
    for match in re.finditer(r"[{\[]", text):
        if match.start() < place:
            continue
        tried += 1
        if tried > _MOST_OBJECTS:
            return
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield value, match.start(), place


def outside(found: Iterable[Found[T]], spans: Sequence[tuple[int, int]]) -> list[Found[T]]:
    """Return what does not lie within the spans: a JSON text's inside is not searched again."""
    return [f for f in found if not any(s <= f.start and f.end <= e for s, e in spans)]


def read_objects(
    text: str, read: Callable[[Any], T | None]
) -> tuple[list[Found[T]], list[tuple[int, int]]]:
    """Return the verdicts that stand in a text as JSON, and the spans of all its objects.

    `read` returns None for an object that is no verdict, and raises `Unreadable` for one that has
    a verdict's keys but not its values.
    """
    found: list[Found[T]] = []
    spans: list[tuple[int, int]] = []
    if "{" not in text:
        return found, spans
    for value, start, end in objects_in(text):
        spans.append((start, end))
        held: T | Unreadable | None
        try:
            held = read(value)
        except Unreadable as error:
            held = error
        if held is not None:
            found.append(Found(held, start, end))
    return found, [span for span in spans if text[span[0]] == "{"]
