"""Whether an encoder can read texts: the share of them that its tokenizer does not know."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from ragstone.core import limits
from ragstone.core.schemas import labels_from_json
from ragstone.models.tokenizer import load_tokenizer

_UNKNOWN: Final = 0.1
"""Share of unknown tokens from which an encoder cannot read a language."""
_SPELT: Final = 0.5
"""Share of words in single letters from which it cannot."""
_MIXED: Final = 0.1
"""Least share of single unreadable texts that a note counts."""
_LEAST_TEXTS: Final = 3
"""Fewest such texts: one may be a formula."""
_LETTERS: Final = 4
"""Letters of a word from which it counts: shorter ones are often split in any language."""


class _Counts(NamedTuple):
    """Unknown tokens, tokens, words in single letters and words of a text."""

    unknown: int = 0
    tokens: int = 0
    spelt: int = 0
    words: int = 0


class Reading(NamedTuple):
    """How a tokenizer reads texts."""

    unknown: float
    """Share of the tokens that are the tokenizer's unknown one."""
    spelt: float
    """Share of the words of four letters or more that are cut into single letters."""

    @property
    def is_poor(self) -> bool:
        """Whether an encoder with this tokenizer cannot read the texts."""
        return self.unknown >= _UNKNOWN or self.spelt >= _SPELT


def reading_notes(encoder: str, tokenizer: Path, dataset: Any) -> Iterator[str]:
    """Yield a sentence for the queries, and one for the passages, that an encoder cannot read.

    Texts with a label `language` are looked at by language: an average over languages would hide
    one that is unreadable. In the others, unreadable texts among readable ones are counted.
    """
    most = limits.MAX_SAMPLED_TEXTS
    corpus, queries = dataset.corpus, dataset.query_table.column("text").to_pylist()
    by_language: dict[str, list[int]] = defaultdict(list)
    for place, language in enumerate(_languages(dataset.query_table, range(len(queries)))):
        by_language[language].append(place)
    asked = {
        language: [queries[places[n]] for n in _spread(len(places), most)]
        for language, places in by_language.items()
    }
    held: dict[str, list[str]] = defaultdict(list)
    places = _spread(len(corpus), most)
    for place, language in zip(places, _languages(corpus.table, places), strict=True):
        held[language] += corpus.full_texts(place, place + 1)
    for noun, texts in (("queries", asked), ("passages", held)):
        yield from _notes(f"{encoder} cannot read the {noun}", texts, tokenizer)


def _notes(start: str, texts: Mapping[str, Sequence[str]], tokenizer: Path) -> Iterator[str]:
    """Yield a sentence for the texts of unknown language, and one for all known languages."""
    counts = {
        language: _counts([t[: limits.MAX_SAMPLED_CHARACTERS] for t in some], tokenizer)
        for language, some in sorted(texts.items())
    }
    way_out = "use an encoder of their language, such as e5-small"
    unlabelled = counts.pop("", [])
    found, poor = _reading(unlabelled), sum(_reading([each]).is_poor for each in unlabelled)
    if found.is_poor:
        yield f"{start}: {_shares(found)} (sample of {len(unlabelled):,}); {way_out}"
    elif poor >= max(_MIXED * len(unlabelled), _LEAST_TEXTS):
        yield f"{start} in some languages: {poor} of a sample of {len(unlabelled):,}; {way_out}"
    readings = {language: _reading(some) for language, some in counts.items()}
    unread = [f"{name} ({_shares(found)})" for name, found in readings.items() if found.is_poor]
    if unread:
        yield f"{start} in {', '.join(unread)}; {way_out}"


def _shares(found: Reading) -> str:
    return (
        f"{found.unknown:.0%} of their tokens are unknown to it, and {found.spelt:.0%} of their "
        "words are cut into single letters"
    )


def _languages(table: Any, places: Sequence[int]) -> Iterator[str]:
    """Yield the code of the label `language` of some rows without its region; "" if unknown."""
    labels = table.column("labels") if "labels" in table.column_names else None
    for place in places:
        stated = labels_from_json(labels[place].as_py()) if labels is not None else {}
        yield str(stated.get("language", "")).partition("-")[0].lower()


def _counts(texts: Sequence[str], tokenizer: Path) -> list[_Counts]:
    mark, found = _unknown_token(tokenizer), []
    for encoded in load_tokenizer(tokenizer).encode_batch(list(texts), add_special_tokens=False):
        spelt = words = 0
        pieces = zip(encoded.word_ids, encoded.offsets, strict=True)
        for _, held in groupby(pieces, key=lambda piece: piece[0]):
            spans = [span for _, span in held]
            length = spans[-1][1] - spans[0][0]
            words += length >= _LETTERS
            spelt += length >= _LETTERS and len(spans) >= length - 1
        found.append(_Counts(encoded.tokens.count(mark), len(encoded.tokens), spelt, words))
    return found


def _reading(counts: Sequence[_Counts]) -> Reading:
    unknown, tokens, spelt, words = map(sum, zip(_Counts(), *counts, strict=True))
    return Reading(unknown / max(tokens, 1), spelt / max(words, 1))


def _spread(size: int, most: int) -> Sequence[int]:
    """Return up to `most` positions, evenly spread."""
    return range(0, size, max(1, -(-size // most)))


@cache
def _unknown_token(tokenizer: Path) -> str:
    """Return the text of the unknown token; "" if the tokenizer has none."""
    model = json.loads(tokenizer.read_bytes())["model"]
    if model.get("unk_token"):
        return str(model["unk_token"])
    place = model.get("unk_id")
    return "" if place is None else str(model["vocab"][place][0])
