"""Whether an encoder can read texts: the share of them that its tokenizer does not know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from ragstone.core import limits
from ragstone.models.tokenizer import load_tokenizer

_UNKNOWN: Final = 0.1
"""Share of unknown tokens from which an encoder cannot read a language."""
_SPELT: Final = 0.5
"""Share of words in single letters from which it cannot."""
_LETTERS: Final = 4
"""Letters of a word from which it counts: shorter ones are often split in any language."""


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


def read_texts(texts: Sequence[str], tokenizer: Path) -> Reading:
    """Return how the tokenizer of a file (`tokenizer.json`) reads some texts."""
    unknown = tokens = spelt = words = 0
    mark = _unknown_token(tokenizer)
    for encoded in load_tokenizer(tokenizer).encode_batch(list(texts), add_special_tokens=False):
        tokens += len(encoded.tokens)
        unknown += encoded.tokens.count(mark)
        pieces = zip(encoded.word_ids, encoded.offsets, strict=True)
        for _, held in groupby(pieces, key=lambda piece: piece[0]):
            spans = [span for _, span in held]
            length = spans[-1][1] - spans[0][0]
            words += length >= _LETTERS
            spelt += length >= _LETTERS and len(spans) >= length - 1
    return Reading(unknown / max(tokens, 1), spelt / max(words, 1))


def reading_notes(encoder: str, tokenizer: Path, dataset: Any) -> Iterator[str]:
    """Yield a sentence for the queries, and one for the passages, that an encoder cannot read."""
    most = limits.MAX_SAMPLED_TEXTS
    queries = dataset.query_table.column("text").to_pylist()
    size = len(dataset.corpus)
    for noun, texts in (
        ("queries", [queries[i] for i in _spread(len(queries), most)]),
        ("passages", [dataset.corpus.full_texts(i, i + 1)[0] for i in _spread(size, most)]),
    ):
        found = read_texts([text[: limits.MAX_SAMPLED_CHARACTERS] for text in texts], tokenizer)
        if found.is_poor:
            yield (
                f"{encoder} cannot read the {noun}: {found.unknown:.0%} of their tokens are "
                f"unknown to it, and {found.spelt:.0%} of their words are cut into single letters "
                f"(sample of {len(texts):,}); use an encoder of their language"
            )


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
