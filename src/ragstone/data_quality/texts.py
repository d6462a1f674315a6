"""Texts that are empty, enormous, or damaged by a wrong encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from ftfy import TextFixerConfig, fix_encoding

from ragstone.core import limits
from ragstone.data_quality.finding import Finding, Severity, report, shown

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_ENORMOUS: Final = {"passage": 10_000, "query": 1_000, "answer": 2_000}
"""Kind of text -> maximum number of characters; 10,000 is Know Your RAG's limit of a context."""
_TIMES_MEDIAN: Final = 4
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REPLACED: Final = "\ufffd"
_MARKUP: Final = re.compile(r"&(?:amp|lt|gt|quot|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_ENCODING_ONLY: Final = TextFixerConfig(replace_lossy_sequences=False, explain=False)


def repaired(text: str) -> str:
    """Return a text with mojibake undone by ftfy: characters decoded with the wrong encoding.

    Only the encoding is repaired. Quotes, ligatures, character width, HTML entities and Unicode
    normalisation stay, and so does a sequence whose bytes are lost in part.

    >>> repaired("cafÃ©, naïve, Ã la carte, “ﬁne”")
    'café, naïve, à la carte, “ﬁne”'
    """
    return text if text.isascii() else fix_encoding(text, _ENCODING_ONLY)


def check_sizes(subject: Subject) -> Iterator[Finding]:
    """Find empty and enormous texts."""
    for kind, texts in _kinds(subject):
        yield from report(
            f"texts/empty-{kind}",
            "error",
            [text_id for text_id, text in texts if not text.strip()],
            len(texts),
            f"texts of kind {kind} are empty",
            advice="remove them (`--fix` does): an empty passage can be retrieved, and an empty "
            "answer occurs in every text",
        )
        lengths = np.array([len(text) for _, text in texts] or [0])
        limit = max(_ENORMOUS[kind], _TIMES_MEDIAN * int(np.median(lengths)))
        large = [texts[place] for place in np.flatnonzero(lengths > limit)]
        yield from report(
            f"texts/enormous-{kind}",
            "warning",
            [f"{text_id}: {len(text):,} characters" for text_id, text in large],
            len(texts),
            f"texts of kind {kind} have more than {limit:,} characters (median "
            f"{int(np.median(lengths)):,}, longest {lengths.max():,})",
            advice="embedders truncate them and prompts overflow: cut them into passages",
        )


def _kinds(subject: Subject) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    table = subject.dataset.corpus.table
    ids, texts = table.column("passage_id").to_pylist(), table.column("text").to_pylist()
    yield "passage", list(zip(ids, texts, strict=True))
    yield "query", [(query.query_id, query.text) for query in subject.queries]
    yield "answer", [(q.query_id, answer) for q in subject.queries for answer in q.gold_answers]


def check_encoding(subject: Subject) -> Iterator[Finding]:
    """Find lost characters, mojibake, control characters and HTML entities."""
    found: dict[str, list[str]] = {name: [] for name in _ADVICE}
    total = 0
    for kind, texts in _kinds(subject):
        total += len(texts)
        for text_id, text in texts:
            for name, excerpt in _damage(text).items():
                found[name].append(f"{kind} {text_id}: {excerpt}")
    for name, places in found.items():
        severity, damage, advice = _ADVICE[name]
        what = f"texts contain {damage}"
        yield from report(f"encoding/{name}", severity, places, total, what, advice=advice)


_ADVICE: Final[Mapping[str, tuple[Severity, str, str]]] = {
    "lost": (
        "warning",
        "the character U+FFFD: characters were lost in decoding",
        "get the texts from their source again, and decode them correctly",
    ),
    "mojibake": (
        "warning",
        "characters decoded with the wrong encoding ('Ã©' for 'é')",
        "repair them (`--fix` does), and find the step that reads files as Latin-1",
    ),
    "controls": (
        "warning",
        "control characters",
        "remove them (`--fix` does): tokenizers treat them in different ways",
    ),
    "markup": (
        "note",
        "HTML entities ('&amp;')",
        "decode them if the texts are not about HTML",
    ),
}


def _damage(text: str) -> dict[str, str]:
    found = {}
    if _REPLACED in text:
        found["lost"] = _around(text, text.index(_REPLACED))
    whole = repaired(text)
    if whole != text:
        same = (a == b for a, b in zip(text, whole, strict=False))
        found["mojibake"] = _around(text, [*same, False].index(False))
    if control := CONTROLS.search(whole):
        found["controls"] = f"{control.group()!r} at character {text.find(control.group()) + 1}"
    if "&" in text and (entity := _MARKUP.search(text)):
        found["markup"] = _around(text, entity.start())
    return found


def _around(text: str, place: int) -> str:
    margin = limits.EXAMPLE_MARGIN_CHARACTERS
    return shown(text[max(0, place - margin) : place + margin])
