"""Runs and qrels read by columns, against the line readers."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.core import byte_codes, limits
from ragstone.data.readers import run_columns
from ragstone.data.readers.run_columns import QrelColumns, RunColumns, qrel_columns
from ragstone.data.readers.run_columns import run_columns as read_columns
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.errors import DatasetError

_RUN = b"q1 Q0 p1 1 2.5 x\nq1 Q0 p2 2 0.5 x\nq2 Q0 p1 1 -1 x\n"
_QRELS = b"q1 0 p1 2\nq1 0 p2 0\nq2 0 p9 -1\n"
_IRREGULAR: dict[str, Callable[[bytes], bytes]] = {
    "blank at the end": lambda t: t.replace(b"x\n", b"x \n", 1),
    "blank at the start": lambda t: b" " + t,
    "two blanks": lambda t: t.replace(b" ", b"  ", 1),
    "a tab and blanks": lambda t: t.replace(b" ", b"\t", 1),
    "tabs": lambda t: t.replace(b" ", b"\t"),
    "a line with tabs": lambda t: t.split(b"\n")[0].replace(b" ", b"\t") + t[t.index(b"\n") :],
    "CRLF": lambda t: t.replace(b"\n", b"\r\n"),
    "only CR": lambda t: t.replace(b"\n", b"\r"),
    "no last break": lambda t: t.removesuffix(b"\n"),
    "an empty line": lambda t: t.replace(b"\n", b"\n\n", 1),
    "an empty last line": lambda t: t + b"\n",
    "empty": lambda t: t[:0],
    "a mark of the byte order": lambda t: b"\xef\xbb\xbf" + t,
    "no UTF-8": lambda t: t.replace(b"p2", b"p\xe4"),
    "other letters": lambda t: t.replace(b"p2", "p\u00e4".encode()),
    "a wide blank": lambda t: t.replace(b"p2", "p\u2003ok".encode()),
    "a zero": lambda t: t.replace(b"p2", b"p\x00"),
    "a form feed": lambda t: t.replace(b"p2", b"p\x0c2"),
    "a field less": lambda t: t.replace(b"p2 ", b"", 1),
    "a field more": lambda t: t.replace(b"p2", b"p 2", 1),
    "as many fields in other lines": lambda t: t.replace(b"p2 ", b"", 1).replace(b"q2", b"q 2", 1),
    "twice": lambda t: t.replace(b"p2", b"p1"),
    "the query comes back": lambda t: t + t[: t.index(b"\n") + 1].replace(b"p1", b"p7"),
    "one line again": lambda t: t + t[: t.index(b"\n") + 1],
    "a long line": lambda t: t.replace(b"p2", b"p" * 3_000_000),
    "a header": lambda t: b"query-id corpus-id score\n" + t,
}


def _outcome(read: Callable[[Path], Mapping[str, Any]], path: Path) -> object:
    """Return everything that is read, in order, or the error."""
    try:
        found = read(path)
    except DatasetError as error:
        return str(error), error.path, error.line
    values = []
    for query_id, held in found.items():
        assert query_id in found
        listed = (
            list(held.items())
            if isinstance(held, Mapping)
            else list(zip(held.passage_ids, held.scores, strict=True))
        )
        values.append((query_id, [(name, repr(value)) for name, value in listed]))
    return values


def _both_agree(folder: Path, text: bytes, name: str = "file") -> None:
    path = folder / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert _outcome(read_columns, path) == _outcome(read_run, path)
    assert _outcome(qrel_columns, path) == _outcome(read_qrels, path)


def test_plain_files_are_read_as_columns(tmp_path: Path) -> None:
    """The fast way is taken, with blanks or tabs, with gzip, and without a last break."""
    for change in ("tabs", "no last break", "the query comes back"):
        path = tmp_path / "run.gz"
        path.write_bytes(gzip.compress(_IRREGULAR[change](_RUN)))
        assert isinstance(read_columns(path), RunColumns)
        (tmp_path / "qrels").write_bytes(_IRREGULAR[change](_QRELS))
        assert isinstance(qrel_columns(tmp_path / "qrels"), QrelColumns)
    (tmp_path / "beir").write_bytes(b"query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp1\t0\n")
    found = qrel_columns(tmp_path / "beir")
    assert isinstance(found, QrelColumns)
    assert found.with_relevant() == ["q1"]


@pytest.mark.parametrize("change", _IRREGULAR)
@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_irregular_files(tmp_path: Path, change: str, name: str) -> None:
    """Values, messages, files and lines are those of the line readers."""
    for text in (_RUN, _QRELS, b"query-id\tcorpus-id\tscore\nq1\tp1\t1\nq1\tp2\t0\n"):
        _both_agree(tmp_path, _IRREGULAR[change](text), name)


@pytest.mark.parametrize(
    "number",
    ["nan", "inf", "-inf", "1e400", "high", "1_0", "+1", "1.0", "1e2", "9" * 15, "-", "0x1"],
)
def test_numbers(tmp_path: Path, number: str) -> None:
    """A score is what `float` reads, a grade is what `int` reads."""
    _both_agree(tmp_path, _RUN.replace(b"0.5", number.encode()))
    _both_agree(tmp_path, _QRELS.replace(b"2\n", number.encode() + b"\n", 1))


def test_files_that_are_absent_or_cut(tmp_path: Path) -> None:
    """The errors are those of the line readers."""
    assert _outcome(read_columns, tmp_path / "no") == _outcome(read_run, tmp_path / "no")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(_RUN)[:-9])
    assert _outcome(read_columns, tmp_path / "cut.gz") == _outcome(read_run, tmp_path / "cut.gz")
    assert "complete gzip" in str(_outcome(qrel_columns, tmp_path / "cut.gz"))


_ID = st.text("ab\u00e4-", min_size=1, max_size=12) | st.sampled_from(["q1", "q2", "p1", "x" * 30])
_FIELD = _ID | st.sampled_from(
    ["1", "0", "-1", "0.5", "1e3", "nan", "2.5000001", "13.402999877929688"]
)
_GAP = st.sampled_from([" "] * 30 + ["\t"] * 3 + ["  ", " \t", "\r", "\x0b", "\u00a0"])


@st.composite
def _files(draw: st.DrawFn) -> bytes:
    """Return lines of a run or of qrels, most of them plain."""
    width, gap = draw(st.sampled_from([3, 4, 6])), draw(st.sampled_from([" ", "\t"]))
    plain = draw(st.booleans())
    lines = []
    for _ in range(draw(st.integers(0, 12))):
        fields = [draw(_ID) for _ in range(width)]
        fields[4 if width == 6 else -1] = draw(
            st.sampled_from(["1", "2", "0"]) if plain else _FIELD
        )
        gaps = [gap if plain else draw(_GAP) for _ in fields[1:]]
        end = "\n" if plain else draw(st.sampled_from(["\n"] * 20 + ["\n\n", " \n", "\r\n", ""]))
        lines.append("".join(a + b for a, b in zip(fields, [*gaps, end], strict=True)))
    return "".join(lines).encode()


@given(text=_files())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file(tmp_path: Path, text: bytes) -> None:
    """Whatever the file contains, both ways agree."""
    _both_agree(tmp_path, text)


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries go on from one block to the next."""
    lines = [f"query-{n // 7} Q0 passage{n} 1 {n / 3!r} x" for n in range(400)]
    (tmp_path / "run").write_text("\n".join(lines))
    monkeypatch.setattr(run_columns, "_BLOCK_BYTES", 100)
    assert isinstance(read_columns(tmp_path / "run"), RunColumns)
    assert _outcome(read_columns, tmp_path / "run") == _outcome(read_run, tmp_path / "run")


def test_equal_codes_of_different_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes decide about queries; passages that look alike leave the file to the line reader."""
    (tmp_path / "run").write_bytes(_RUN.replace(b"q", b"a-long-query-"))

    def first_byte(padded: bytes, starts: Any, _sizes: Any) -> Any:
        return byte_codes.words_at(padded)[starts] & byte_codes.FIRST[1]

    monkeypatch.setattr(run_columns, "byte_codes", first_byte)
    found = read_columns(tmp_path / "run")
    assert not isinstance(found, RunColumns)
    (tmp_path / "run").write_bytes(b"long-query-1 0 a 1 1 x\nlong-query-2 0 b 1 1 x\n")
    found = read_columns(tmp_path / "run")
    assert isinstance(found, RunColumns)
    assert list(found) == ["long-query-1", "long-query-2"]
    (tmp_path / "run").write_bytes(b"long-query-12 0 a 1 1 x\nlong-query-1 0 b 1 1 x\n")
    found = read_columns(tmp_path / "run")
    assert isinstance(found, RunColumns)
    assert list(found) == ["long-query-12", "long-query-1"]


def test_passages_of_two_files_are_compared_by_their_ids(tmp_path: Path) -> None:
    """Ids of equal size, and ids whose first eight bytes are equal, are told apart."""
    names = ["a", "b", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "b" * 30]
    for name, order in (("one", names), ("two", names[::-1])):
        (tmp_path / name).write_text("".join(f"q 0 {p} 1 {n} x\n" for n, p in enumerate(order)))
    one, two = read_columns(tmp_path / "one"), read_columns(tmp_path / "two")
    assert isinstance(one, RunColumns)
    assert isinstance(two, RunColumns)
    ours, theirs = (side.ravel() for side in np.meshgrid(np.arange(7), np.arange(7)))
    pairs = [(names[a], names[::-1][b]) for a, b in zip(ours, theirs, strict=True)]

    same = one.lines.same_passages(ours, two.lines, theirs)
    assert same.tolist() == [a == b for a, b in pairs]
    later = one.lines.later_passages(ours, theirs)
    assert later.tolist() == [names[a] > names[b] for a, b in zip(ours, theirs, strict=True)]
    assert (len(one), list(one), "q" in one, "p" in one) == (1, ["q"], True, False)
    with pytest.raises(KeyError):
        one["p"]


def test_the_width_of_blocks_and_the_size_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer lines than two blocks, and larger files than the maximum, are for the line reader."""
    for size, is_plain in ((180, True), (190, False)):
        (tmp_path / "run").write_text(f"q 0 {'p' * size} 1 1 x\n")
        monkeypatch.setattr(run_columns, "_BLOCK_BYTES", 97)
        assert isinstance(read_columns(tmp_path / "run"), RunColumns) == is_plain
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", len(_RUN))
    for text, is_plain in ((_RUN, True), (_RUN + b"q3 Q0 p 1 1 x\n", False)):
        (tmp_path / "run").write_bytes(text)
        monkeypatch.setattr(run_columns, "_BLOCK_BYTES", 1 << 20)
        assert isinstance(_columns_or_none(tmp_path / "run"), RunColumns) == is_plain


def _columns_or_none(path: Path) -> object:
    try:
        return read_columns(path)
    except DatasetError:
        return None


@pytest.mark.parametrize(
    ("change", "is_plain"),
    [(c, False) for c in ("two blanks", "CRLF", "only CR", "twice", "other letters")]
    + [(c, True) for c in ("tabs", "the query comes back", "no last break")],
)
def test_only_regular_files_are_read_by_columns(
    tmp_path: Path, change: str, *, is_plain: bool
) -> None:
    """Values of others would be wrong, or their errors have no line."""
    (tmp_path / "run").write_bytes(_IRREGULAR[change](_RUN))
    (tmp_path / "qrels").write_bytes(_IRREGULAR[change](_QRELS))

    assert isinstance(_columns_or_none(tmp_path / "run"), RunColumns) == is_plain
    try:
        found = isinstance(qrel_columns(tmp_path / "qrels"), QrelColumns)
    except DatasetError:
        found = False
    assert found == is_plain
