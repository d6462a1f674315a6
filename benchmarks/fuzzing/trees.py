"""Mutations of structure: JSON-like trees and tables, written with tokens that no writer makes."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final


@dataclass(frozen=True)
class Raw:
    """A token that is written as it is, such as NaN or a number beyond 64 bits."""

    token: bytes


@dataclass
class Pairs:
    """An object in which a key may occur twice."""

    items: list[tuple[Any, Any]]


BEYOND: Final = (2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400)
TOKENS: Final = tuple(
    Raw(token)
    for token in (
        *(b"NaN", b"Infinity", b"-Infinity", b"1e308", b"-1e308", b"1e309", b"1e-400", b"-0"),
        *(b"-0.0", b"00", b"0x1F", b"1_000", b"+1", b"1.", b".5", b"1e5", b"2.0", b"1" * 5000),
        *(rb'"\ud800"', rb'"a\udfffb"', b'"\xed\xa0\x80"', b'"\xff\xfe"', b'"\x00"', b"'text'"),
        *(b"None", b"True", b"", b"{", b"]", b'"open', rb'"\x41"', b'"tab\there"'),
        *(b"[" * n + b"]" * n for n in (90, 101, 1100, 100_000)),
        *(b'{"a":' * n + b"1" + b"}" * n for n in (95, 1100, 50_000)),
    )
)
TEXTS: Final = (
    *("", " ", "\t", "\n", "\r", "\r\n", "\0", "a\0b", "\ufeff", "\u2028", "\u0085", "\x1b[31m"),
    *(
        "²",
        "٣",
        "\uff11",
        "①",
        "Ⅷ",
        "\u09ea",
        "1²",
        "-",
        "--1",
        "1e3",
        "0x10",
        "1_0",
        " 7 ",
        "+5",
        "∞",
    ),
    *("nan", "inf", "-inf", "1e308", "1e309", str(2**63), str(2**64), "9" * 4400, "NaN", "null"),
    *("true", "None", "../../etc/passwd", "/dev/zero", "{}", "[]", "[[", "::", "<::>", "c::x::1"),
    *("c::²", "c<::>" + "9" * 5000, "::1", "é", "e\u0301", "ﬀ", "İ", "ß", "👩‍👩‍👧", "\u202eabc"),
    *("x" * 300, "x" * 70_000, "( " * 3000, "[" * 3000, "{" * 3000, "\\" * 3000, '"' * 3000),
    *("a," * 500, "=1+1", "%s%n", "{0}", "{text}", "${x}", "<script>alert(1)</script>", "a\tb"),
)
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 0.5, -0.0, 1e308, 5e-324, "", "text", [], {}, [[]], [{}]),
    *([None], [1], ["a"], {"a": 1}, {"": None}, {"text": 1}, {"text": "a"}, ["a", 1], [["a"]]),
    *BEYOND,
)
KEYS: Final = (
    *("", "_id", "id", "text", "metadata", "labels", "domain", "turn", "conversation", "query_id"),
    *("answer", "answers", "history", "system", "setting", "value", "metric", "a" * 3000, "\0"),
    *("\ud800", "٣", "__class__", "null", "text ", "Text", "tex", "a.b", "a\nb", "\x1b[2J"),
)


_LEVELS: Final = 8000
"""Calls within each other for a deep tree; what reads it has the usual limit."""


def written(value: Any, *, ascii_only: bool = True) -> bytes:
    """Return a tree as JSON; a lone surrogate is an escape, or its three bytes."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(_LEVELS)
    try:
        return _written(value, ascii_only)
    finally:
        sys.setrecursionlimit(usual)


def _written(value: Any, ascii_only: bool) -> bytes:
    match value:
        case Raw(token):
            return token
        case Pairs(items):
            return _object(items, ascii_only)
        case dict():
            return _object(value.items(), ascii_only)
        case list() | tuple():
            return b"[" + b", ".join(_written(one, ascii_only) for one in value) + b"]"
    return json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


def _object(items: Any, ascii_only: bool) -> bytes:
    def pairs() -> Iterator[bytes]:
        for key, value in items:
            named = key if isinstance(key, Raw) else str(key)
            yield b": ".join(_written(one, ascii_only) for one in (named, value))

    return b"{" + b", ".join(pairs()) + b"}"


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return container and key of all values."""
    found: list[tuple[Any, Any]] = []
    todo = [tree]
    for one in todo:
        keys = one.keys() if isinstance(one, dict) else range(len(one))
        for key in keys:
            found.append((one, key))
            if isinstance(one[key], dict | list):
                todo.append(one[key])
    return found


def _text(value: Any, draw: Random) -> Any:
    """Put a strange text into a text, or in its place."""
    strange = draw.choice(TEXTS)
    if not isinstance(value, str) or draw.random() < 0.4:
        return strange
    at = draw.randint(0, len(value))
    return value[:at] + strange + value[at:]


def _number(value: Any, draw: Random) -> Any:
    if type(value) is int and draw.random() < 0.4:
        return draw.choice(
            (value + 1, -value, float(value), value + 0.5, str(value), value * 2**62)
        )
    return draw.choice(TOKENS) if draw.random() < 0.6 else draw.choice(BEYOND)


def _deep(value: Any, draw: Random) -> Any:
    for _ in range(draw.choice((1, 1, 2, 5, 60, 110))):
        value = [value] if draw.random() < 0.5 else {draw.choice(KEYS): value}
    return value


def _long(value: Any, draw: Random) -> Any:
    many = draw.choice((2, 10, 300, 5000))
    match value:
        case str():
            return value * many if len(value) * many < 400_000 else value * 2
        case list():
            return value * min(many, 300)
        case dict():
            return {**value, **{f"{draw.choice(KEYS)}{n}": n for n in range(min(many, 300))}}
    return [value] * min(many, 300)


CHANGES: Final[tuple[Callable[[Any, Random], Any], ...]] = (
    lambda _, draw: draw.choice(VALUES),
    lambda _, draw: copy.deepcopy(draw.choice(VALUES)),
    _text,
    _text,
    _number,
    _deep,
    _long,
)


def change(tree: Any, draw: Random) -> Any:
    """Return a tree with one mutation; the tree itself may change."""
    places = _places(tree) if isinstance(tree, dict | list) else []
    if not places or draw.random() < 0.01:
        return draw.choice(CHANGES)(tree, draw)
    inside, key = draw.choice(places)
    if draw.random() < 0.65:
        inside[key] = draw.choice(CHANGES)(inside[key], draw)
    elif isinstance(inside, list):
        _change_list(inside, key, draw)
    else:
        return _replaced(tree, inside, _changed_keys(inside, key, draw))
    return tree


def _change_list(inside: list[Any], at: int, draw: Random) -> None:
    how = draw.randrange(5)
    if how == 0:
        del inside[at]
    elif how == 1:
        inside.insert(draw.randint(0, len(inside)), copy.deepcopy(inside[at]))
    elif how == 2:
        draw.shuffle(inside)
    elif how == 3:
        inside.append(copy.deepcopy(draw.choice(VALUES)))
    else:
        inside.clear()


def _changed_keys(inside: dict[Any, Any], key: Any, draw: Random) -> Any:
    """Return an object with a key dropped, renamed, swapped or repeated."""
    others = [one for one in inside if one != key] or [key]
    how = draw.randrange(5)
    if how == 0:
        return {name: value for name, value in inside.items() if name != key}
    if how == 1:
        new = draw.choice(KEYS) if draw.random() < 0.6 else f"{key}s"
        return {new if name == key else name: value for name, value in inside.items()}
    if how == 2:
        other = draw.choice(others)
        return {**inside, key: inside[other], other: inside[key]}
    if how == 3:
        return {**inside, draw.choice(KEYS): copy.deepcopy(draw.choice(VALUES))}
    second = draw.choice(VALUES) if draw.random() < 0.7 else inside[key]
    return Pairs([*inside.items(), (key, second)])


def _replaced(tree: Any, old: Any, new: Any) -> Any:
    """Return the tree with one object replaced by another."""
    if tree is old:
        return new
    for inside, key in _places(tree):
        if inside[key] is old:
            inside[key] = new
    return tree


def change_table(rows: list[list[str]], draw: Random) -> list[list[str]]:
    """Return the cells of a table with one mutation."""
    if not rows:
        return [[draw.choice(TEXTS)]]
    row = draw.choice(rows)
    at, how = draw.randrange(len(row) or 1), draw.randrange(10)
    if how < 4 and row:
        row[at] = _text(row[at], draw)
    elif how == 4 and row:
        other = draw.randrange(len(row))
        for one in rows if draw.random() < 0.5 else [row]:
            if max(at, other) < len(one):
                one[at], one[other] = one[other], one[at]
    elif how == 5 and row:
        del row[at]
    elif how == 6:
        row.insert(at, draw.choice(TEXTS))
    elif how == 7:
        rows.insert(draw.randint(0, len(rows)), list(row))
    elif how == 8:
        rows.remove(row)
    else:
        draw.shuffle(rows)
    return rows
