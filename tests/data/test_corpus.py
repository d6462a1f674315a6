"""The corpus by position and by id, and samples of a data set's queries."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from arro3.core import Table

from ragstone.core import fingerprint, limits
from ragstone.core.fingerprint import digest_table
from ragstone.core.schemas import (
    CONTEXTS,
    QRELS,
    columns,
    passages_to_table,
    queries_to_table,
    to_table,
)
from ragstone.data import table_builder as tables
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.types import Passage, Query

PASSAGES = [
    Passage("p1", "one"),
    Passage("p2", "two", "Title", "d1", {"n": 1, "tags": ("a", "b"), "ok": True}),
    Passage("p3", "", "Only a title"),
]


@pytest.fixture(params=["one piece", "two pieces"])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    """A corpus whose table is in one piece, or in two."""
    if request.param == "one piece":
        return Corpus.from_passages(PASSAGES)
    parts = [passages_to_table(PASSAGES[:1]), passages_to_table(PASSAGES[1:])]
    batches = [batch for part in parts for batch in part.to_batches()]
    return Corpus(Table.from_batches(batches, schema=parts[0].schema))


def test_passages_are_read_by_position_and_by_id(corpus: Corpus) -> None:
    """Every field and label comes back, in whatever pieces the table is kept."""
    assert list(corpus) == PASSAGES
    assert [corpus.at(n) for n in range(3)] == PASSAGES
    assert corpus["p2"] == PASSAGES[1]
    assert "p3" in corpus
    assert "p4" not in corpus
    with pytest.raises(KeyError):
        corpus["p4"]
    with pytest.raises(IndexError):
        corpus.at(3)


def test_full_texts_are_title_and_text(corpus: Corpus) -> None:
    """As one list, or a part of it; a title is on its own line."""
    assert corpus.full_texts() == ["one", "Title\ntwo", "Only a title\n"]
    assert corpus.full_texts(1, 99) == [PASSAGES[1].full_text, PASSAGES[2].full_text]


def test_the_digest_is_of_the_rows_not_of_their_pieces(corpus: Corpus) -> None:
    """Equal rows have an equal digest, however they are kept; other rows another."""
    assert corpus.digest == Corpus.from_passages(PASSAGES).digest
    assert corpus.digest != Corpus.from_passages(PASSAGES[:2]).digest


MANY = [Passage(f"p{n}", f"text {n} äöü", "T" * (n % 3), labels={"n": n}) for n in range(50)]


def _in_pieces(monkeypatch: pytest.MonkeyPatch, rows: int, most: int) -> Corpus:
    """Return MANY in batches of some rows, joined up to some bytes."""
    monkeypatch.setattr(limits, "TABLE_BATCH_ROWS", rows)
    monkeypatch.setattr(limits, "TABLE_PIECE_BYTES", most)
    builder = tables.passages()
    whole = passages_to_table(MANY)
    for row in zip(*columns(whole).values(), strict=True):
        builder.add(row)
    return Corpus(builder.finish())


def test_a_corpus_beyond_one_column_is_held_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """No piece is above the limit, no row is lost or moved, and every way of reading crosses."""
    corpus = _in_pieces(monkeypatch, 3, 2_000)
    pieces = corpus.table.to_batches()
    assert len(pieces) > 3
    assert max(piece.num_rows for piece in pieces) > 3, "batches are joined"
    assert all(piece.nbytes <= 2_000 for piece in pieces)
    assert list(corpus) == MANY
    assert corpus.passage_ids == [p.passage_id for p in MANY]
    assert [corpus[p.passage_id] for p in reversed(MANY)] == MANY[::-1]
    for start in range(0, 50, 7):
        expected = [p.full_text for p in MANY[start : start + 20]]
        assert corpus.full_texts(start, start + 20) == expected


def test_a_row_of_much_text_ends_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole books are not collected by the thousand before they become Arrow."""
    monkeypatch.setattr(limits, "TABLE_BATCH_CHARACTERS", 40)
    corpus = _in_pieces(monkeypatch, 1_000, 0)
    assert max(piece.num_rows for piece in corpus.table.to_batches()) <= 3
    assert list(corpus) == MANY


@pytest.mark.parametrize("small", [1 << 28, 900, 0])
def test_a_large_table_has_one_digest_in_all_pieces(
    monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    """Whether hashed whole or in blocks; and rows that change, move or are missing change it."""
    monkeypatch.setattr(fingerprint, "SMALL", small)
    monkeypatch.setattr(fingerprint, "_BLOCK", 7)
    whole = passages_to_table(MANY)
    pieces = [_in_pieces(monkeypatch, rows, most) for rows, most in ((1, 0), (9, 0), (3, 2_000))]
    assert {corpus.digest for corpus in pieces} == {digest_table(whole)}
    assert len({c.table.column(0).num_chunks for c in pieces}) == 3
    others = [MANY[:-1], MANY[::-1], [*MANY[:-1], Passage("p49", "other")]]
    digests = {digest_table(passages_to_table(rows)) for rows in others}
    assert len(digests | {digest_table(whole)}) == 4


def test_the_size_that_decides_is_that_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit a table is hashed whole, one character above it in blocks, in any pieces."""
    size = sum(
        len(value) for column in columns(passages_to_table(MANY)).values() for value in column
    )
    digests = []
    for small in (size, size - 1):
        monkeypatch.setattr(fingerprint, "SMALL", small)
        monkeypatch.setattr(fingerprint, "_BLOCK", 7)
        made = [passages_to_table(MANY), _in_pieces(monkeypatch, 1, 0).table]
        digests.append({digest_table(table) for table in made})
    assert [len(found) for found in digests] == [1, 1]
    assert digests[0] != digests[1]


def test_large_tables_of_lists_and_numbers_are_hashed_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Slices of lists, nulls and numbers give the bytes that fresh ones do."""
    monkeypatch.setattr(fingerprint, "SMALL", 100)
    monkeypatch.setattr(fingerprint, "_BLOCK", 5)
    ids = [f"q{n}" for n in range(23)]
    lists = [None if n % 4 == 3 else ["a"] * (n % 3) for n in range(23)]
    values: dict[str, list[Any]] = {
        "query_id": ids,
        "setting": ids,
        "passage_ids": lists,
        "texts": lists,
    }

    def made(start: int, stop: int) -> Table:
        held = {name: column[start:stop] for name, column in values.items()}
        return to_table(CONTEXTS, {**held, "origins": lists[start:stop]})

    parts = [batch for n in range(0, 23, 2) for batch in made(n, n + 2).to_batches()]
    apart = Table.from_batches(parts, schema=CONTEXTS)
    assert apart.column("texts").num_chunks == 12
    assert digest_table(apart) == digest_table(made(0, 23))


def test_the_digest_of_a_small_table_stays() -> None:
    """What earlier versions computed for it is found again."""
    assert Corpus.from_passages(PASSAGES).digest.startswith("c6d73486f056d2f0")


@pytest.fixture
def dataset() -> Dataset:
    """A set of 200 queries, each judged once."""
    ids = [f"q{n}" for n in range(200)]
    columns: dict[str, list[Any]] = {
        "query_id": ids,
        "passage_id": ["p1"] * 200,
        "relevance": [1] * 200,
    }
    asked = queries_to_table([Query(i, f"what is {i}?", ("a", i), labels={"n": i}) for i in ids])
    return Dataset("x", asked, Corpus.from_passages(PASSAGES), to_table(QRELS, columns))


def test_a_sample_is_random_repeatable_and_in_file_order(dataset: Dataset) -> None:
    """Limit and seed alone decide; whole queries are taken, in the order of the file."""
    once, again = dataset.sample(20, seed=1), dataset.sample(20, seed=1)
    assert once.queries == again.queries
    assert once.queries != dataset.sample(20, seed=2).queries
    places = [dataset.queries.index(query) for query in once.queries]
    assert places == sorted(set(places))
    assert len(places) == 20
    assert once.corpus is dataset.corpus


def test_a_sample_is_not_the_head_of_the_file(dataset: Dataset) -> None:
    """Over many seeds every query is drawn about equally often."""
    drawn = Counter(q.query_id for seed in range(200) for q in dataset.sample(20, seed).queries)
    assert len(drawn) == 200
    assert all(5 <= count <= 45 for count in drawn.values())


def test_a_limit_above_the_number_of_queries_changes_nothing(dataset: Dataset) -> None:
    """The very same set comes back."""
    assert dataset.sample(200, seed=1) is dataset
    assert dataset.sample(999, seed=1) is dataset


def test_queries_may_be_selected_by_position(dataset: Dataset) -> None:
    """In the order given; none at all is legal."""
    assert [query.query_id for query in dataset.select([7, 3]).queries] == ["q7", "q3"]
    assert dataset.select([]).queries == []
