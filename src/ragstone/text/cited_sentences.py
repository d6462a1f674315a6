"""Sentences of an answer, and the numbers of the passages that each cites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NUMBERS: Final = r"\^?\d{1,3}\^?(?:\s*[,;–-]\s*\^?\d{1,3}\^?)*"  # noqa: RUF001 - a dash
_BRACKETED: Final = re.compile(
    rf"[\[【](?:(?:doc|document|passage|source)\s*)?({_NUMBERS})[\]】]", re.IGNORECASE
)
_IN_ROUND: Final = re.compile(r"(?<=[\w.!?])\s*\((\d{1,2}(?:\s*[,–-]\s*\d{1,2})*)\)")  # noqa: RUF001 - a dash
"""Round brackets contain citations only in an answer without square ones: (1912) is a year."""
_BREAK: Final = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|(?<=[。！？])\s*|\n+")  # noqa: RUF001 - marks of Chinese
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|No|Nos|Fig|Vol|"
    r"pp|ca|cf|approx|Inc|Ltd|Co|Corp|Gen|Col|Lt|Sgt|Rev|Hon|Mt|al)\.$"
)
"""The end of a part of a sentence that ends in an abbreviation and not in a full stop."""
_TAIL: Final = 20
"""Characters before a break in which an abbreviation is looked for."""


def cited_sentences(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the sentences of an answer without their citations, and the numbers that each cites.

    A citation belongs to the sentence that it is in or follows. Each number is listed once.

    >>> cited_sentences("Paris is in France [1]. It is old [2-3]. Yes.")
    [('Paris is in France.', (1,)), ('It is old.', (2, 3)), ('Yes.', ())]
    >>> cited_sentences("Dr. Low came. [^1^] He left (in 1912).")
    [('Dr. Low came.', (1,)), ('He left (in 1912).', ())]
    >>> cited_sentences("It is old (1, 2).")
    [('It is old.', (1, 2))]
    """
    pattern = _BRACKETED if _BRACKETED.search(answer) else _IN_ROUND
    found: list[tuple[str, tuple[int, ...]]] = []
    for part in _parts(answer.strip()):
        cited = [n for listed in pattern.findall(part) for n in _listed(listed)]
        text = re.sub(r"(?<!\s)\s+([.!?。])", r"\1", pattern.sub("", part)).strip()
        if text:
            found.append((text, tuple(dict.fromkeys(cited))))
        elif cited and found:
            # The citation is after the full stop of its sentence.
            sentence, before = found[-1]
            found[-1] = (sentence, tuple(dict.fromkeys([*before, *cited])))
    return found


def _parts(answer: str) -> Iterator[str]:
    """Yield the sentences of a text with their citations; leading citations are of the one before.

    >>> list(_parts("It rose by 3.5 m. [1] See U.S. law."))
    ['It rose by 3.5 m.', '[1]', 'See U.S. law.']
    """
    start = 0
    for match in _BREAK.finditer(answer):
        tail = answer[max(start, match.start() - _TAIL) : match.start()]
        if "\n" not in match[0] and _ABBREVIATED.search(tail):
            continue
        yield from _without_leading(answer[start : match.end()].strip())
        start = match.end()
    yield from _without_leading(answer[start:].strip())


def _without_leading(part: str) -> Iterator[str]:
    """Yield the citations at the start of a part, then the rest of it."""
    leading = re.match(rf"(?:{_BRACKETED.pattern}\s*)+", part, re.IGNORECASE)
    if leading:
        yield leading[0].strip()
        part = part[leading.end() :]
    if part:
        yield part


def _listed(text: str) -> list[int]:
    """Return the numbers of a citation; a range has all between its ends.

    >>> _listed("1-3, 7"), _listed("^2^")
    ([1, 2, 3, 7], [2])
    """
    found: list[int] = []
    for one in re.split(r"[,;]", text.replace("^", "")):
        first, *last = (int(number) for number in re.findall(r"\d+", one))
        low, high = sorted((first, last[0] if last else first))
        found += range(low, high + 1)
    return found
