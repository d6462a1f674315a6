"""Stop words, stemmers, and the errors for unknown ones."""

from __future__ import annotations

import sys

import pytest

from ragstone.components.retrievers.bm25 import BM25
from ragstone.errors import ConfigError, MissingDependency
from ragstone.text.analyzer import Analysis
from ragstone.text.stop_words import STOP_WORDS
from ragstone.text.words import words


def test_every_word_counts_by_default() -> None:
    """The default removes and stems no words."""
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
    """Porter's stemmer and Snowball's for English return different stems."""
    pytest.importorskip("Stemmer")
    assert Analysis(stemmer=stemmer).of("generally running") == expected


def test_an_unknown_stemmer_is_an_error() -> None:
    """The error offers the nearest name."""
    pytest.importorskip("Stemmer")
    with pytest.raises(ConfigError, match="unknown stemmer 'englsh'; did you mean 'english'"):
        Analysis(stemmer="englsh").check()


def test_unknown_stop_words_are_refused() -> None:
    """The error contains the known lists."""
    with pytest.raises(ConfigError, match=r"unknown stop_words 'klingon'.*english.*french"):
        BM25(stop_words="klingon")


def test_a_stemmer_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the command that installs it."""
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[stem\]'"):
        Analysis(stemmer="porter").check()


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_stop_words_are_words_of_the_splitter(language: str) -> None:
    """A stop word that the splitter never returns would have no effect."""
    assert all(words(word) == [word] for word in STOP_WORDS[language])
