"""Texts: empty, enormous, or damaged on their way through an encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.core import limits
from ragstone.data_quality.finding import Finding, Severity, first, shown

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_ENORMOUS: Final = {"passage": 10_000, "query": 1_000, "answer": 2_000}
"""Characters; Know Your RAG leaves out contexts of more than 10,000."""
_TIMES_MEDIAN: Final = 4
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REPLACED: Final = "\ufffd"
_MARKUP: Final = re.compile(r"&(?:amp|lt|gt|quot|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_CP1252: Final = {
    **{chr(code): code for code in range(0x80, 0x100)},
    **{
        bytes([code]).decode("cp1252"): code
        for code in range(0x80, 0xA0)
        if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # what Windows-1252 leaves undefined
    },
}
"""Character -> the byte that Windows-1252 (or Latin-1, in its gaps) writes for it."""
_SUSPECT: Final = re.compile(f"[Â-ô][{re.escape(''.join(_CP1252))}]+")
_CONTINUED: Final = range(0x80, 0xC0)


def repaired(text: str) -> str:
    """Return a text with its mojibake undone: UTF-8 that was read as Windows-1252.

    Only runs that are valid UTF-8 once written back are changed.

    >>> repaired("cafÃ©, naïve, Ã la carte")
    'café, naïve, Ã la carte'
    """
    return _SUSPECT.sub(lambda match: _undone(match.group()), text)


def _undone(run: str) -> str:
    written = bytes(_CP1252[character] for character in run)
    if written[1] not in _CONTINUED:
        return run
    try:
        return written.decode()
    except UnicodeDecodeError:
        return run


def check_sizes(subject: Subject) -> Iterator[Finding]:
    """Find empty and enormous texts."""
    for kind, texts in _kinds(subject):
        empty = [text_id for text_id, text in texts if not text.strip()]
        if empty:
            yield Finding(
                f"texts/empty-{kind}",
                "error",
                f"{len(empty):,} of {len(texts):,} texts of kind {kind} are empty",
                len(empty),
                len(texts),
                "take them out (`--fix` does): an empty passage can be retrieved, and an empty "
                "answer is found in every text",
                first(empty),
            )
        lengths = np.array([len(text) for _, text in texts] or [0])
        limit = max(_ENORMOUS[kind], _TIMES_MEDIAN * int(np.median(lengths)))
        large = [texts[place] for place in np.flatnonzero(lengths > limit)]
        if large:
            yield Finding(
                f"texts/enormous-{kind}",
                "warning",
                f"{len(large):,} of {len(texts):,} texts of kind {kind} have more than {limit:,} "
                f"characters (median {int(np.median(lengths)):,}, longest {lengths.max():,})",
                len(large),
                len(texts),
                "embedders cut them and prompts overflow: cut them into passages",
                first([f"{text_id}: {len(text):,} characters" for text_id, text in large]),
            )


def _kinds(subject: Subject) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    held = subject.dataset.corpus.table
    ids, texts = held.column("passage_id").to_pylist(), held.column("text").to_pylist()
    yield "passage", list(zip(ids, texts, strict=True))
    yield "query", [(query.query_id, query.text) for query in subject.queries]
    yield "answer", [(q.query_id, answer) for q in subject.queries for answer in q.gold_answers]


def check_encoding(subject: Subject) -> Iterator[Finding]:
    """Find what encodings broke: characters lost, mojibake, control characters, HTML entities."""
    found: dict[str, list[str]] = {name: [] for name in _ADVICE}
    total = 0
    for kind, texts in _kinds(subject):
        total += len(texts)
        for text_id, text in texts:
            for name, shows in _damage(text).items():
                found[name].append(f"{kind} {text_id}: {shows}")
    for name, places in found.items():
        if places:
            severity, what, advice = _ADVICE[name]
            yield Finding(
                f"encoding/{name}",
                severity,
                f"{len(places):,} of {total:,} texts hold {what}",
                len(places),
                total,
                advice,
                first(places),
            )


_ADVICE: Final[Mapping[str, tuple[Severity, str, str]]] = {
    "lost": (
        "warning",
        "the character U+FFFD: something could not be decoded and is lost",
        "get the texts again from their source, decoded rightly",
    ),
    "mojibake": (
        "warning",
        "UTF-8 that was read as another encoding ('Ã©' for 'é')",
        "write it back (`--fix` does), and look for the step that reads files as Latin-1",
    ),
    "controls": (
        "warning",
        "control characters",
        "take them out (`--fix` does): tokenizers treat them as they like",
    ),
    "markup": (
        "note",
        "HTML entities ('&amp;')",
        "decode them where the texts are not about HTML",
    ),
}


def _damage(text: str) -> dict[str, str]:
    found = {}
    if _REPLACED in text:
        found["lost"] = _around(text, text.index(_REPLACED))
    if not text.isascii():
        for match in _SUSPECT.finditer(text):
            if _undone(match.group()) != match.group():
                found["mojibake"] = _around(text, match.start())
                break
    control = CONTROLS.search(text)
    # The gaps of Windows-1252 are controls too: they belong to the mojibake that holds them.
    if control and CONTROLS.search(repaired(text)):
        found["controls"] = f"{control.group()!r} at character {control.start() + 1}"
    if "&" in text and (entity := _MARKUP.search(text)):
        found["markup"] = _around(text, entity.start())
    return found


def _around(text: str, place: int) -> str:
    margin = limits.EXAMPLE_MARGIN_CHARACTERS
    return shown(text[max(0, place - margin) : place + margin])
