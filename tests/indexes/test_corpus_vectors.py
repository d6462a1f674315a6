"""The vectors of a corpus, stored shard by shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from ragstone.core import resources as room
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.progress import shown_by
from ragstone.core.step_notes import add_note, collect_notes
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import ComponentError, ConfigError, RagstoneError
from ragstone.indexes import corpus_vectors as vectors
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.indexes.quantisation import Precision, Vectors
from ragstone.indexes.vector_files import find_damage
from ragstone.protocols import Embedder, Role, Services
from ragstone.types import Passage

Rows: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Counting(Embedder):
    """Embeds a text by its length, records its texts, and can be killed on the way."""

    scale: float = 1.0
    seen: list[str] = field(default_factory=list, metadata=NOT_IN_CACHE_KEY)
    dies_at: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    texts_per_call = 3

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
        """Return one row of two numbers per text."""
        if self.dies_at and self.dies_at in texts:
            raise KeyboardInterrupt
        self.seen.extend(texts)
        rows = [[len(text) * self.scale, ord(text[-1])] for text in texts]
        return np.array(rows, dtype=np.float32)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "SHARD", 4)
    INDEXES.clear()


def _embedded(corpus: Corpus, embedder: Embedder, precision: Precision = "float32") -> Vectors:
    return embed_corpus(embedder, Services(corpus=corpus), precision)


def _rows(corpus: Corpus, embedder: Embedder, precision: Precision = "float32") -> Rows:
    INDEXES.clear()
    found = _embedded(corpus, embedder, precision)
    return found.slice(0, len(found))


def expected(texts: Sequence[str]) -> Rows:
    """Return the vectors of some texts by `Counting`."""
    return np.array([[len(text), ord(text[-1])] for text in texts], dtype=np.float32)


def _corpus(count: int, store: Store | None = None) -> Corpus:
    made = Corpus.from_passages([Passage(f"p{n}", "x" * n + str(n)) for n in range(count)])
    return Corpus(made.table, store)


def test_a_kill_loses_one_shard_at_most(tmp_path: Path) -> None:
    """Shards finished before the interruption are not embedded again, and the rows are right."""
    corpus = _corpus(10, Store(tmp_path))
    texts = corpus.full_texts()
    with pytest.raises(KeyboardInterrupt):
        _embedded(corpus, Counting(dies_at=texts[9]))
    again = Counting()
    found = _rows(corpus, again)
    assert again.seen == texts[8:]
    assert np.array_equal(found, expected(texts))


def test_stored_vectors_are_loaded(tmp_path: Path) -> None:
    """The second call embeds nothing; another parameter or a longer corpus only new parts."""
    store = Store(tmp_path)
    first = _rows(_corpus(8, store), Counting())
    second, other, longer = Counting(), Counting(scale=2.0), Counting()
    assert np.array_equal(_rows(_corpus(8, store), second), first)
    assert second.seen == []
    _embedded(_corpus(8, store), other)
    assert len(other.seen) == 8
    assert len(_embedded(_corpus(9, store), longer)) == 9
    assert len(longer.seen) == 1


def test_without_a_store_everything_is_computed() -> None:
    """A corpus without a store is embedded in memory."""
    embedder = Counting()
    assert _rows(_corpus(5), embedder).shape == (5, 2)
    assert len(embedder.seen) == 5


def test_an_empty_corpus_has_no_vectors() -> None:
    """No passages give no rows."""
    assert len(_embedded(_corpus(0), Counting())) == 0


@pytest.mark.parametrize("stored", [True, False])
def test_joined_collections_have_the_vectors_of_their_parts(
    tmp_path: Path, *, stored: bool
) -> None:
    """Each part is embedded once, whatever it is joined with."""
    passages = [Passage(f"p{n}", "x" * (n + 1)) for n in range(11)]
    whole = Corpus.from_passages(passages)
    corpus = Corpus(
        whole.table,
        Store(tmp_path) if stored else None,
        collections={"ja": range(5), "en": range(5, 11), "de": []},
    )
    embedder = Counting()

    every = [_rows(corpus.part(name), embedder) for name in ("ja", "en", "ja+en", "de+ja+en")]

    assert np.array_equal(every[2], np.concatenate(every[:2]))
    assert np.array_equal(every[3], every[2])
    assert corpus.unlabelled.part("ja+en").passage_ids == [f"p{n}" for n in range(11)]
    assert not stored or len(embedder.seen) == len(passages)


def test_progress_counts_every_passage_once(tmp_path: Path) -> None:
    """The bar ends at the number of passages, stored or computed."""
    counted: list[int] = []

    class Bar:
        def advance(self, count: int = 1) -> None:
            counted.append(count)

        def close(self) -> None:
            """Nothing to close."""

    store = Store(tmp_path)
    _embedded(_corpus(4, store), Counting())
    with shown_by(lambda _title, _total: Bar()):
        _embedded(_corpus(10, store), Counting())
    assert sum(counted) == 10


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros(3), r"an array of shape \(\), expected \(dimension,\), for the text '0'"),
        (np.zeros((3, 0)), r"an array of shape \(0,\), expected \(dimension,\), for the text '0'"),
        (["abc"] * 3, "returned 'abc', expected an array of numbers, for the text '0'"),
        (np.zeros((2, 5)), "returned 2 values for 3 items"),
        (np.array([[1.0], [np.nan], [1.0]]), "not finite for the text 'x1'"),
    ],
)
def test_the_error_names_a_broken_embedder(
    returned: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing rows and rows that are not numbers are found before a search."""
    monkeypatch.setattr(Counting, "embed", lambda *_, **__: returned)
    with pytest.raises((ConfigError, ComponentError), match=message):
        _embedded(_corpus(3), Counting())


def test_each_precision_is_stored_apart(tmp_path: Path) -> None:
    """16 and 8 bits have their own files and give nearly the same numbers."""
    corpus = _corpus(10, Store(tmp_path))
    exact = _rows(corpus, Counting(scale=0.01))
    for precision in ("float16", "int8"):
        again = Counting(scale=0.01)
        np.testing.assert_allclose(_rows(corpus, again, precision), exact, rtol=0.01, atol=0.5)
        assert len(again.seen) == 10


def _save(rows: Rows, folder: Path) -> None:
    np.save(folder / "array.npy", rows)


def test_equal_shards_are_stored_once(tmp_path: Path) -> None:
    """Repeated passages cost one embedding and are at every place."""
    table = Corpus.from_passages([Passage(f"p{n}", "same") for n in range(12)]).table
    embedder = Counting()
    found = _rows(Corpus(table, Store(tmp_path)), embedder)
    assert len(embedder.seen) == 4
    assert np.array_equal(found, np.tile([4, ord("e")], (12, 1)))


def test_a_changed_passage_is_embedded_again(tmp_path: Path) -> None:
    """Only the shard that contains it is new."""
    store, embedder = Store(tmp_path), Counting()
    _rows(_corpus(12, store), Counting())
    passages = [Passage(f"p{n}", "x" * n + str(n)) for n in range(12)]
    passages[5] = Passage("p5", "changed")
    changed = Corpus(Corpus.from_passages(passages).table, store)
    found = _rows(changed, embedder)
    assert len(embedder.seen) == 4
    assert np.array_equal(found, expected(changed.full_texts()))


def _files(folder: Path, kind: str) -> Path:
    (found,) = folder.glob(f"arrays/vectors-*/*.{kind}")
    return found


Change: TypeAlias = Callable[[Path, Path], object]
DAMAGE: dict[str, tuple[Change, str]] = {
    "cut": (lambda rows, _: rows.write_bytes(rows.read_bytes()[:-8]), "vectors 8 to 10 differ"),
    "bit": (
        lambda rows, _: rows.write_bytes(b"\x01" + rows.read_bytes()[1:]),
        "vectors 0 to 4 differ from those written",
    ),
    "rows deleted": (lambda rows, _: rows.unlink(), "No such file"),
    "list": (lambda _, listed: listed.write_bytes(b"{}\n"), "line 1 cannot be read"),
    "length": (
        lambda _, listed: listed.write_bytes(listed.read_bytes().replace(b'rows": 4', b'rows": 3')),
        "line 2 cannot be read: its content differs from its checksum",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_vectors_are_named_set_aside_and_embedded_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Missing bytes, other bytes, a missing file, an unreadable list, another number in it."""
    change, what = DAMAGE[name]
    store = Store(tmp_path)
    corpus, again = _corpus(10, store), Counting()
    first = _rows(corpus, Counting())
    rows, listed = _files(tmp_path, "rows"), _files(tmp_path, "jsonl")
    change(rows, listed)
    assert [found.path in (rows, listed) for found in find_damage(rows.parent)] == [True]

    assert np.array_equal(_rows(corpus, again), first)

    assert what in caplog.text
    assert len(again.seen) == 10
    assert (tmp_path / "damaged" / f"{listed.name}-1").exists()
    assert not list(find_damage(rows.parent))


def test_an_incomplete_line_does_not_count(tmp_path: Path) -> None:
    """Only the shard whose line a kill cut off is embedded again."""
    corpus, again = _corpus(10, Store(tmp_path)), Counting()
    first = _rows(corpus, Counting())
    listed = _files(tmp_path, "jsonl")
    listed.write_bytes(listed.read_bytes()[:-5])
    assert np.array_equal(_rows(corpus, again), first)
    assert len(again.seen) == 2


@dataclass(frozen=True)
class Cutting(Counting):
    """Reads two characters, and adds a note about it."""

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
        """Return the vectors of the first two characters of each text."""
        add_note("passages cut", sum(len(text) > 2 for text in texts))
        return super().embed([text[:2] for text in texts], role, services)


def test_notes_of_the_embedder_are_stored_with_the_vectors(tmp_path: Path) -> None:
    """The run that embeds and every later run note the cut passages."""
    for embedder in (Cutting(), Cutting(), Cutting()):
        with collect_notes() as notes:
            _embedded(_corpus(10, Store(tmp_path)), embedder)
        assert notes == {"passages cut": 8}
        if embedder.seen:
            INDEXES.clear()


def test_a_disk_that_is_too_small_is_reported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error contains the needed size and that of lower precisions; nothing is stored."""
    monkeypatch.setattr(room, "free_disk", lambda _: 50)
    corpus = _corpus(10, Store(tmp_path))
    with pytest.raises(RagstoneError, match=r"storing 12 vectors of 2.*precision: float16.*store="):
        _embedded(corpus, Counting())
    assert not list(tmp_path.glob("arrays/*/*.rows"))


def test_the_error_names_an_embedder_whose_vectors_change_length(tmp_path: Path) -> None:
    """Within a corpus, and between two corpora."""
    store = Store(tmp_path)
    _rows(_corpus(3, store), Growing())
    with pytest.raises(ConfigError, match="3 dimensions, and of 2 before"):
        _rows(_corpus(7, store), Growing())
    with pytest.raises(ConfigError, match="3 dimensions, and of 2 before"):
        _rows(_corpus(7), Growing())


@dataclass(frozen=True)
class Growing(Counting):
    """Gives longer texts more numbers."""

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
        """Return two numbers a text, or three where they are long."""
        return np.ones((len(texts), 3 if max(map(len, texts)) > 5 else 2), dtype=np.float32)


def test_slices_embedded_separately_are_reused(tmp_path: Path) -> None:
    """Whole shards that other processes embedded into the same store are found."""
    whole, again = _corpus(20, Store(tmp_path)), Counting()
    for start in (8, 0, 16):
        _rows(Corpus(whole.table.slice(start, min(8, 20 - start)), Store(tmp_path)), Counting())
    found = _rows(whole, again)
    assert again.seen == []
    assert np.array_equal(found, expected(whole.full_texts()))
