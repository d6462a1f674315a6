"""The stored index: built in parts, resumed after a kill, refused if it will not fit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.support import rankings

from ragstone.components.retrievers.bm25 import BM25
from ragstone.core import resources as room
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import RagstoneError
from ragstone.indexes import bm25_index as word_index
from ragstone.indexes import merge as merging
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.term_counts import Counted, count_words
from ragstone.text.analyzer import Analysis
from ragstone.types import Passage, Ranking, Search

TEXTS = [f"passage {n % 7} of number {n} says word{n % 3} and again word{n % 3}" for n in range(50)]
SEARCHES = [Search("q", "word1 number 4"), Search("r", "passage word2 nothing")]


def _corpus(texts: Iterable[str], store: Path | None = None) -> Corpus:
    made = Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])
    return Corpus(made.table, None if store is None else Store(store))


def _rankings(corpus: Corpus, retriever: BM25 | None = None) -> list[Ranking]:
    """Search like a new process, without an index in memory."""
    INDEXES.clear()
    return rankings(retriever or BM25(), SEARCHES, corpus)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make parts and blocks small; return the number of passages of each counting."""
    done: list[int] = []

    def counted(texts: list[str], analysis: Analysis) -> Counted:
        done.append(len(texts))
        return count_words(texts, analysis)

    monkeypatch.setattr(word_index, "_PART", 600)
    monkeypatch.setattr(word_index, "_READ", 4)
    monkeypatch.setattr(merging, "_BLOCK", 16)
    monkeypatch.setattr(word_index, "count_words", counted)
    return done


def test_parts_make_the_same_index_as_the_whole(tmp_path: Path, counts: list[int]) -> None:
    """In memory, stored and loaded: the rankings equal those of a single part."""
    in_parts, kept = _rankings(_corpus(TEXTS)), _rankings(_corpus(TEXTS, tmp_path))
    assert len(counts) > 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_index, "_PART", 10**9)
        patch.setattr(merging, "_BLOCK", 10**9)
        assert in_parts == kept == _rankings(_corpus(TEXTS)) == _rankings(_corpus(TEXTS, tmp_path))


def test_a_stored_index_is_not_built_again(tmp_path: Path, counts: list[int]) -> None:
    """Another process loads it; other parameters of the formula use the same counts."""
    first = _rankings(_corpus(TEXTS, tmp_path))
    counts.clear()
    assert _rankings(_corpus(TEXTS, tmp_path)) == first
    assert _rankings(_corpus(TEXTS, tmp_path), BM25(k1=0.5)) != first
    assert counts == []


def test_a_killed_build_resumes(
    tmp_path: Path, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished parts are not counted again after an interrupted count or merge."""
    expected = _rankings(_corpus(TEXTS))
    whole = len(counts)
    counts.clear()
    with monkeypatch.context() as patch:

        def cut_off(texts: list[str], analysis: Analysis) -> Counted:
            if len(counts) == 3:
                raise KeyboardInterrupt
            counts.append(len(texts))
            return count_words(texts, analysis)

        patch.setattr(word_index, "count_words", cut_off)
        with pytest.raises(KeyboardInterrupt):
            _rankings(_corpus(TEXTS, tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(merging._Sink, "write", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            _rankings(_corpus(TEXTS, tmp_path))
    assert len(counts) == whole
    assert _rankings(_corpus(TEXTS, tmp_path)) == expected
    assert len(counts) == whole


def test_a_damaged_part_is_named_and_counted_alone(
    tmp_path: Path, counts: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """The damaged part is set aside; the other parts are read as they are."""
    expected = _rankings(_corpus(TEXTS, tmp_path))
    parts = sorted((tmp_path / "arrays").glob("words-*"))
    (index,) = (tmp_path / "arrays").glob("bm25-*")
    (index / "places.npy").write_bytes(b"damaged")
    (parts[0] / "places.npy").write_bytes(b"damaged")
    counts.clear()
    assert _rankings(_corpus(TEXTS, tmp_path)) == expected
    assert len(counts) == 1 < len(parts)
    assert f"{parts[0] / 'places.npy'} is damaged" in caplog.text
    set_aside = {path.name for path in (tmp_path / "damaged").iterdir()}
    assert set_aside == {f"{parts[0].name}-1", f"{index.name}-1"}


def test_added_passages_cost_only_their_own_parts(tmp_path: Path, counts: list[int]) -> None:
    """A longer corpus has a new index, made of stored parts and new ones."""
    old = _rankings(_corpus(TEXTS, tmp_path))
    more = [*TEXTS, *["word1 number 4 once more"] * 9]
    counts.clear()
    new = _rankings(_corpus(more, tmp_path))
    assert sum(counts) < 30
    assert new == _rankings(_corpus(more)) != old


def test_an_index_that_will_not_fit_is_refused(
    tmp_path: Path, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes before the count, with the needed and the free space."""
    monkeypatch.setattr(word_index, "_SURE", 10)
    monkeypatch.setattr(room, "free_disk", lambda _: 1_000)
    with pytest.raises(RagstoneError, match=r"indexing 50 passages for BM25 needs about .* disk"):
        _rankings(_corpus(TEXTS, tmp_path))
    monkeypatch.setattr(room, "free_ram", lambda: 1_000)
    with pytest.raises(RagstoneError, match=r"needs about 500\.\d MB of memory"):
        _rankings(_corpus(TEXTS))
    assert len(counts) == 2, "only the sample was looked at"
