"""The words of a text that are counted: stop words are removed, the others are stemmed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Final

from ragstone.core.component import Component
from ragstone.errors import ConfigError, MissingDependency, did_you_mean
from ragstone.text.stop_words import STOP_WORDS
from ragstone.text.words import words

NONE: Final = "none"


@dataclass(frozen=True)
class Analysis(Component):
    """Reduces a text to the words that are counted.

    Args:
        stemmer: `none`, `porter` (Porter, "An algorithm for suffix stripping", 1980, as Anserini
            and Lucene use it), or the English name of a language that Snowball can stem.
        stop_words: `none`, or the language whose most frequent words are removed.
    """

    stemmer: str = NONE
    stop_words: str = NONE

    def __post_init__(self) -> None:
        """Check the name of the stop words; `check` checks that of the stemmer."""
        if self.stop_words not in (NONE, *STOP_WORDS):
            raise ConfigError(
                f"unknown stop_words {self.stop_words!r}"
                f"{did_you_mean(self.stop_words, [NONE, *STOP_WORDS])}"
            )

    @property
    def content_revision(self) -> str | None:
        """The release of the stemmers if one is used: stems may differ between releases."""
        if self.stemmer == NONE or find_spec("Stemmer") is None:
            return None
        return f"PyStemmer {metadata.version('PyStemmer')}"

    def check(self, services: Any = None) -> None:
        """Raise `MissingDependency` or `ConfigError` if the stemmer is not available."""
        _ = self._stem

    def of(self, text: str) -> list[str]:
        """Return the stemmed words of a text without stop words, in order.

        >>> Analysis(stop_words="english").of("Who was the King?")
        ['who', 'king']
        """
        return self.kept(words(text))

    def kept(self, found: Iterable[str]) -> list[str]:
        """Return some words without stop words, stemmed."""
        kept = [word for word in found if word not in self._stopped]
        return kept if self._stem is None else [self._stem(word) for word in kept]

    @property
    def plain(self) -> bool:
        """Whether words are neither removed nor stemmed."""
        return self.stemmer == NONE == self.stop_words

    @cached_property
    def _stopped(self) -> frozenset[str]:
        return STOP_WORDS.get(self.stop_words, frozenset())

    @cached_property
    def _stem(self) -> Callable[[str], str] | None:
        return None if self.stemmer == NONE else _stemmer(self.stemmer)


def _stemmer(name: str) -> Callable[[str], str]:
    try:
        import Stemmer
    except ImportError as error:
        raise MissingDependency(f"stemmer {name!r}", "PyStemmer", "stem") from error
    known = Stemmer.algorithms()
    if name not in known:
        raise ConfigError(f"unknown stemmer {name!r}{did_you_mean(name, [NONE, *known])}")
    stem: Callable[[str], str] = Stemmer.Stemmer(name).stemWord
    return stem
