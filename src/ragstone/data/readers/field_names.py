"""Misspelt fields: a name close to a known one is an error, because any other name is a label.

`answer` in place of `answers` would otherwise be a label, and the query would have no gold answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from ragstone.data.readers.rows import FieldError

_SHORT: Final = 4
"""Names of this length or shorter are often one letter from another word: `test` and `text`."""
_SYNONYMS: Final = {"assistant": "agent", "gold_answer": "answers", "rewritten": "rewrite"}
"""Name -> the field of the same meaning."""
LABELS: Final = ("answerability", "answerable", "conversation", "language")
"""Labels that Ragstone itself uses."""


@lru_cache
def nearest_field(name: str, fields: tuple[str, ...]) -> str:
    """Return the field that another name was probably meant to be, or "".

    Names are compared without case, signs and a final s; one letter may be wrong, missing, added or
    exchanged with the next one.

    >>> nearest_field("Answer", ("answers", "rewrite")), nearest_field("author", ("answers",))
    ('answers', '')
    """
    if name in fields:
        return ""
    if _SYNONYMS.get(name) in fields:
        return _SYNONYMS[name]
    return next((field for field in fields if _similar(_plain(name), _plain(field))), "")


def check_names(names: Collection[str], fields: tuple[str, ...]) -> None:
    """Raise `FieldError` if a name is close to a field that is not among the names."""
    if problem := _misspelt(tuple(names), fields):
        raise FieldError(problem)


@lru_cache
def _misspelt(names: tuple[str, ...], fields: tuple[str, ...]) -> str:
    for name in names:
        near = nearest_field(name, fields)
        if near and near not in names:
            return (
                f"the field {name!r} is unknown; did you mean {near!r}? Rename it, or put it into "
                f"an object 'metadata' if it is a label"
            )
    return ""


def similar_names(names: Iterable[str], fields: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each name that is close to a field or to one of `LABELS`, and the nearest of those."""
    for name in names:
        if near := nearest_field(name, fields) or nearest_field(name, LABELS):
            yield name, near


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower())).removesuffix("s")


def _similar(name: str, field: str) -> bool:
    if min(len(name), len(field)) <= _SHORT:
        return name == field
    start = _in_common(name, field)
    rest, wanted = name[start:], field[start:]
    end = _in_common(rest[::-1], wanted[::-1])
    rest, wanted = rest[: len(rest) - end], wanted[: len(wanted) - end]
    return max(len(rest), len(wanted)) <= 1 or rest == wanted[1:] + wanted[:1]


def _in_common(name: str, other: str) -> int:
    """Return the number of first letters that two texts share."""
    pairs = enumerate(zip(name, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(name), len(other)))
