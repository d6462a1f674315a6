"""Which words count and in what form: stop words, stemmers, and what is said of unknown ones."""

from __future__ import annotations

import sys

import pytest

from ragstone.components.retrievers.bm25 import BM25
from ragstone.errors import ConfigError, MissingDependency
from ragstone.text.analyzer import Analysis
from ragstone.text.stop_words import STOP_WORDS
from ragstone.text.words import words


def test_every_word_counts_unless_it_is_said_otherwise() -> None:
    """The default leaves words as they are."""
    assert Analysis().of("The Kings") == ["the", "kings"]


@pytest.mark.parametrize(
    ("stemmer", "expected"),
    [
        ("porter", ["gener", "run"]),
        ("english", ["general", "run"]),
        ("german", ["generally", "running"]),
    ],
)
def test_stemmers_of_many_languages(stemmer: str, expected: list[str]) -> None:
    """Porter's stemmer and Snowball's for English differ, as they should."""
    pytest.importorskip("Stemmer")
    assert Analysis(stemmer=stemmer).of("generally running") == expected


def test_an_unknown_stemmer_is_named_before_anything_is_read() -> None:
    """The error offers the nearest name."""
    pytest.importorskip("Stemmer")
    with pytest.raises(ConfigError, match="unknown stemmer 'englsh'; did you mean 'english'"):
        Analysis(stemmer="englsh").check()


def test_unknown_stop_words_are_refused() -> None:
    """The lists that there are stand in the error."""
    with pytest.raises(ConfigError, match=r"unknown stop_words 'klingon'.*english.*french"):
        BM25(stop_words="klingon")


def test_a_stemmer_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[stem\]'"):
        Analysis(stemmer="porter").check()


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_stop_words_are_words_as_they_are_split(language: str) -> None:
    """A stop word that the splitting never gives would stop nothing."""
    assert all(words(word) == [word] for word in STOP_WORDS[language])
