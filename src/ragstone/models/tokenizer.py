"""Tokens of a text and their positions, by a model's tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.errors import MissingDependency
from ragstone.models.files import model_digest, model_file

if TYPE_CHECKING:
    import numpy.typing as npt

BUNDLED: Final = "all-minilm-l6-v2"
"""The bundled encoder; its tokenizer is BERT's uncased WordPiece."""


@dataclass(frozen=True)
class TokenPlaces:
    """The tokens of a text, without those that a model adds around it."""

    starts: npt.NDArray[np.int64]
    """Character at which each token starts, of shape (tokens,); never falling."""
    words: npt.NDArray[np.int64]
    """The number of the word that each token belongs to, of shape (tokens,); never falling."""


def tokens(text: str, model: str) -> TokenPlaces:
    """Return the tokens of a text."""
    encoded = load_tokenizer(model_file(model, "tokenizer")).encode(text, add_special_tokens=False)
    starts = np.array([start for start, _ in encoded.offsets], dtype=np.int64)
    words = np.array(encoded.word_ids, dtype=np.int64)
    return TokenPlaces(starts, words)


def tokenizer_digest(model: str) -> str:
    """Return the SHA-256 of a model's tokenizer, for cache keys."""
    return model_digest(model, "tokenizer")


@cache
def load_tokenizer(path: Path) -> Any:
    """Return the tokenizer of a file; raise `MissingDependency` without its package."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingDependency("cutting by tokens", "tokenizers", "local") from error
    found = Tokenizer.from_file(str(path))
    found.no_padding()
    found.no_truncation()
    return found
