"""Parsing the verdict in a reply, without false positives.

The last well-formed verdict of the reply counts. The search skips thinking (`<think>` blocks), text
in quotation marks, block quotes, and verbatim copies of the material under judgement, so that a
verdict inside an answer does not count. Two different verdicts side by side contradict each other,
and none is read; if prose withdraws a verdict, the later one counts.

The schemas of verdicts are in `verdict_schemas`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from ragstone.core import limits
from ragstone.text.quotations import Span, quotations, span_at
from ragstone.text.thinking import without_thinking

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_MARKS: Final = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“”"))
_BLOCK_QUOTE: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_TAKEN_BACK: Final = 3
"""Minimum number of words between two different verdicts if the second corrects the first."""
_DELETED: Final = {ord(sign): None for sign in " \t\r\n\u00a0*_`"}
_BRACKETS: Final = {ord(sign): None for sign in "[](){}"}
_FENCES: Final = 24
"""Maximum number of characters around a verdict that may be Markdown and white space."""


class Unreadable(ValueError):
    """A reply has no verdict that counts; the message is part of the repeated request."""


class Found(NamedTuple, Generic[T]):
    """A well-formed verdict in a reply, with its position."""

    value: T | Unreadable
    """The verdict, or why it does not count (a rating outside the scale)."""
    start: int
    end: int
    alone: bool = False
    """Recognised only because it is alone in its sentence: any disagreement invalidates it."""


def spoken(text: str, material: Sequence[str] = ()) -> str:
    """Return the reply without the model's thinking.

    The lone end of a block ends the thinking, unless the material under judgement contains one.

    Raises:
        Unreadable: the reply ends within the thinking.

    >>> spoken("<think>maybe Rating: [[3]]</think> Rating: [[9]]")
    ' Rating: [[9]]'
    """
    rest, unfinished = without_thinking(text, material)
    if unfinished:
        raise Unreadable("the reply ends within the model's thinking")
    return rest


def last_verdict(text: str, found: Iterable[Found[T]], material: Sequence[str]) -> T:
    """Return the verdict that counts among all that are well-formed.

    Args:
        text: the reply, without its thinking.
        found: the well-formed verdicts in it.
        material: the texts under judgement; a verdict that is part of them does not count.

    Raises:
        Unreadable: there is no verdict, or several that disagree.
    """
    ordered = sorted(found, key=lambda one: one.end)
    if len(ordered) == 1 and _is_all(text, ordered[0]):
        return legal(ordered[0].value)
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
        return legal(firm[-1].value)
    if len({str(one.value) for one in own}) > 1:
        raise Unreadable("the reply holds several verdicts that disagree")
    return legal(own[-1].value)


def legal(value: T | Unreadable) -> T:
    """Return a verdict; raise it if it is an `Unreadable`."""
    if isinstance(value, Unreadable):
        raise value
    return value


def _is_all(text: str, one: Found[T]) -> bool:
    """Return whether the reply is this verdict and nothing else, so not a quotation."""
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
    if _is_part(text[start:end], tuple(material)):
        return True
    quote = None if one.alone else span_at(_quoted(text), one.start - 1)
    return quote is not None and one.end <= quote[1]


@lru_cache(maxsize=8)
def _quoted(text: str) -> list[Span]:
    """Return the quotations and the block quotes of a text; a quotation may be in a block."""
    blocks = [match.span() for match in _BLOCK_QUOTE.finditer(text)]
    quotes = [one for one in quotations(text, _MARKS) if span_at(blocks, one[0]) is None]
    return sorted([*blocks, *quotes])


@lru_cache(maxsize=256)
def _is_part(verdict: str, material: tuple[str, ...]) -> bool:
    """Return whether a verdict is a part of the material, in any dress."""
    if any(verdict in source for source in material):
        return True
    plain, bare = _plain(verdict), _bare(verdict)
    if plain and any(plain in _plain(source) for source in material):
        return True
    # A verdict alone occurs in many texts: only with its word is it a quotation in other brackets.
    return ":" in bare and any(bare in _bare(source) for source in material)


def _line(text: str, one: Found[T]) -> tuple[int, int]:
    start = text.rfind("\n", 0, one.start) + 1
    end = text.find("\n", one.end)
    return start, len(text) if end < 0 else end


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """Return a text without case, Markdown and spacing, which could hide a quotation."""
    return text.translate(_DELETED).casefold()


@lru_cache(maxsize=64)
def _bare(text: str) -> str:
    """Return the same without brackets."""
    return _plain(text).translate(_BRACKETS)


_DECODER: Final = json.JSONDecoder()


def objects_in(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield (value, start, end) of the outermost JSON objects and lists of a text.

    >>> [value for value, _, _ in objects_in('So: {"rating": 8, "by": {"a": 1}} and [1].')]
    [{'rating': 8, 'by': {'a': 1}}, [1]]
    """
    place, tried = 0, 0
    for match in re.finditer(r"[{\[]", text):
        if match.start() < place:
            continue
        tried += 1
        if tried > limits.MAX_JSON_STARTS:
            return
        try:
            value, place = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield value, match.start(), place


def json_alone(reply: str) -> Any:
    """Return the JSON object that a reply consists of, the common case; None if it does not."""
    text = reply.strip("` \n").removeprefix("json") if reply.startswith("```") else reply
    try:
        return json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None


def read_objects(
    text: str, read: Callable[[Any], T | None]
) -> tuple[list[Found[T]], list[tuple[int, int]]]:
    """Return the verdicts in a text that are JSON, and the spans of all its objects.

    `read` returns None for an object that is not a verdict, and raises `Unreadable` for one with
    the keys of a verdict but wrong values.
    """
    found: list[Found[T]] = []
    spans: list[tuple[int, int]] = []
    for value, start, end in objects_in(text) if "{" in text else ():
        if isinstance(value, dict):
            spans.append((start, end))
        verdict: T | Unreadable | None
        try:
            verdict = read(value)
        except Unreadable as error:
            verdict = error
        if verdict is not None:
            found.append(Found(verdict, start, end))
    return found, spans


def typed(kind: Any, value: Any) -> Any:
    """Return a JSON value as a type, in pydantic's lax mode; None if it is of another type.

    >>> typed(list[str], ["a"]), typed(list[str], 3)
    (['a'], None)
    """
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(value)
    except ValidationError:
        return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
