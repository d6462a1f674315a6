"""Parsing the verdict in a reply, without false positives.

The last well-formed verdict of the reply counts. The search skips thinking (`<think>` blocks), text
in quotation marks, block quotes, and verbatim copies of the material under judgement, so that a
verdict inside an answer does not count. Two different verdicts side by side contradict each other,
and none is read; if prose withdraws a verdict, the later one counts.

The schema of a verdict is `Rating` or `Choice` (`verdict_schemas`), `Listing` (claims) or
`Numbered` (one verdict per numbered thing; both in `list_schemas`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeVar

from ragstone.core import limits

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
"""Minimum number of words between two different verdicts if the second corrects the first."""
_DELETED: Final = {ord(sign): None for sign in " \t\r\n*_`"}
_FENCES: Final = 24
"""Maximum number of characters around a verdict that may be Markdown and white space."""


class Unreadable(ValueError):
    """A reply has no verdict that counts; the message is part of the prompt that asks again."""


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
    if "<" not in text:
        return text
    if text.startswith("<think>"):
        # The usual case: five times as fast as the pattern.
        thought, closed, after = text.partition("</think>")
        text = after if closed else thought
        if "<" not in text:
            return text
    rest = _THOUGHT.sub("", text)
    # Chat templates that open the block in the prompt leave only its end in the reply.
    ends = _THOUGHT_ENDS.search(rest)
    if ends and not any(_THOUGHT_ENDS.search(source) for source in material):
        rest = rest[ends.end() :]
    starts = _THOUGHT_STARTS.search(rest)
    if starts and not rest[: starts.start()].strip():
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
    verdict = text[start:end]
    if any(verdict in source for source in material):
        return True
    plain = _plain(verdict)
    if plain and any(plain in _plain_material(source) for source in material):
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
    """Return the same as `_plain`, cached: a text is compared with several replies."""
    return _plain(text)


def _plain(text: str) -> str:
    """Return a text without case, Markdown and spacing, which could hide a quotation."""
    return text.translate(_DELETED).casefold()


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


def outside(found: Iterable[Found[T]], spans: Sequence[tuple[int, int]]) -> list[Found[T]]:
    """Return the verdicts outside the spans: the inside of JSON is not searched again."""
    return [f for f in found if not any(s <= f.start and f.end <= e for s, e in spans)]


def read_objects(
    text: str, read: Callable[[Any], T | None]
) -> tuple[list[Found[T]], list[tuple[int, int]]]:
    """Return the verdicts in a text that are JSON, and the spans of all its objects.

    `read` returns None for an object that is not a verdict, and raises `Unreadable` for one with
    the keys of a verdict but wrong values.
    """
    found: list[Found[T]] = []
    spans: list[tuple[int, int]] = []
    if "{" not in text:
        return found, spans
    for value, start, end in objects_in(text):
        spans.append((start, end))
        verdict: T | Unreadable | None
        try:
            verdict = read(value)
        except Unreadable as error:
            verdict = error
        if verdict is not None:
            found.append(Found(verdict, start, end))
    return found, [span for span in spans if text[span[0]] == "{"]
