"""Qrels: lines of both layouts, judgements of programs, and rows without a counterpart."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.qrels import (
    JudgementParser,
    Known,
    collect_qrels,
    grade_of,
    numbered_judgements,
    read_qrels,
    report_dangling,
)
from ragstone.data.readers.rows import FieldError
from ragstone.errors import DatasetError

ANY = Known(None, None)
JUDGED = [("line 1", "q1", "p1", 1), ("line 2", "q1", "p2", 0), ("line 3", "q2", "p1", 2)]


def rows(table: Any) -> list[tuple[str, str, int]]:
    """Return the rows of a table of qrels."""
    columns = [table.column(name).to_pylist() for name in table.column_names]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["q 0 p 1"], [("q", "p", 1)]),
        (["q\tp\t1\r\n"], [("q", "p", 1)]),
        (["q p 1", "q2 p2 -3"], [("q", "p", 1), ("q2", "p2", -3)]),
        (["a\tQ 0\tp 1\t+2"], [("a", "p 1", 2)]),
        (["query-id\tcorpus-id\tscore", "q\tp\t1"], [None, ("q", "p", 1)]),
        (["q 0 p  Label "], [None]),
        ([" q  0  p  1 "], [("q", "p", 1)]),
    ],
)
def test_lines_of_one_layout(lines: list[str], found: list[tuple[str, str, int] | None]) -> None:
    """Three or four columns, with tabs or blanks between them; the first line may be a header."""
    parse = JudgementParser()

    assert [parse(line.encode()) for line in lines] == found


@pytest.mark.parametrize(
    "lines",
    [
        ["q p"],
        ["q 0 p x 1"],
        ["q 0 p 1", "q p 1"],
        ["q p 1", "q 0 p 1"],
        ["q\t0\tp\t1", "q 0 p"],
        ["\tp\t1"],
        ["q\t\t1"],
        ["q\t0\t\t1"],
        [""],
    ],
)
def test_a_line_of_another_layout_is_an_error(lines: list[str]) -> None:
    """Too few columns, too many, other ones than before, or an empty id."""
    *first, last = lines
    parse = JudgementParser()
    assert all(parse(line.encode()) for line in first)
    with pytest.raises(FieldError, match="expected query id, passage id and score with tabs"):
        parse(last.encode())


def test_a_header_is_in_the_first_line_alone() -> None:
    """Later, its last word is a malformed grade."""
    parse = JudgementParser()
    parse(b"q 0 p 1")
    with pytest.raises(FieldError, match="whole number such as 0, 1 or 2, found 'score'"):
        parse(b"q 0 p score")


@pytest.mark.parametrize(
    ("cell", "grade"),
    [("0", 0), ("-1", -1), (" 2 ", 2), ("9" * 18, 10**18 - 1)]
    + [(cell, None) for cell in ("9" * 19, "1.0", "", "1_0", "\u0662", "x", "- 1")],
)
def test_a_grade_is_a_whole_number_of_at_most_eighteen_digits(cell: str, grade: int | None) -> None:
    """It fits into 64 bits."""
    if grade is None:
        with pytest.raises(FieldError, match="must be a whole number"):
            grade_of(cell)
    else:
        assert grade_of(cell) == grade


@pytest.mark.parametrize("row", [("q", "p"), ("q", "p", 1.0), ("q", "p", "1"), 3, ("q", "p", 1, 2)])
def test_a_row_of_a_program_that_is_no_judgement(row: Any) -> None:
    """The error has its number, from 1."""
    assert list(numbered_judgements([("q", "p", True)])) == [("row 1", "q", "p", 1)]
    with pytest.raises(DatasetError, match=r"qrels, row 2: expected \(query id") as caught:
        list(numbered_judgements([("q", "p", 1), row]))
    assert (caught.value.line, caught.value.value) == (2, row)


def test_a_pair_counts_once() -> None:
    """A second judgement with the same grade is passed over; with another one it is an error."""
    table = collect_qrels(
        [*JUDGED[:2], ("line 9", "q1", "p1", 1), JUDGED[2]], "f", ANY, dangling="error"
    )
    assert rows(table) == [("q1", "p1", 1), ("q1", "p2", 0), ("q2", "p1", 2)]
    for place, query_id, passage_id, grade in JUDGED:
        again = ("line 9", query_id, passage_id, grade + 1)
        with pytest.raises(DatasetError) as caught:
            collect_qrels([*JUDGED, again], "f.tsv", ANY, dangling="error")
        assert str(caught.value) == (
            f"f.tsv, line 9: query '{query_id}' and passage '{passage_id}' have grade "
            f"{grade + 1}, and {grade} in {place}; keep one of the two"
        )


@pytest.mark.parametrize(
    ("queries", "passages", "kept", "problem"),
    [
        (None, None, 3, ""),
        ({"q1", "q2"}, {"p1", "p2"}, 3, ""),
        ({"q1"}, None, 2, "1 name queries that do not exist: 'q2' (line 3)"),
        (None, {"p2"}, 1, "2 name passages that do not exist: 'p1' (line 1), 'p1' (line 3)"),
        (
            {"q2"},
            {"p1"},
            1,
            (
                "2 name queries that do not exist: 'q1' (line 1), 'q1' (line 2); "
                "1 name passages that do not exist: 'p2' (line 2)"
            ),
        ),
        (set(), set(), 0, "3 name queries"),
    ],
)
def test_judgements_of_unknown_ids_are_listed_or_left_out(
    queries: set[str] | None,
    passages: set[str] | None,
    kept: int,
    problem: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without queries or without a corpus, every id is known."""
    known = Known(queries, passages)
    with caplog.at_level(logging.WARNING):
        assert collect_qrels(JUDGED, "f", known, dangling="drop").num_rows == kept
    if not problem:
        assert not caplog.text
        return
    assert f"f: of 3 judgements {problem}" in caplog.text
    assert "Left out because of dangling_qrels: drop" in caplog.text
    with pytest.raises(DatasetError) as caught:
        collect_qrels(JUDGED, "f", known, dangling="error")
    assert f"f: of 3 judgements {problem}" in str(caught.value)


def test_a_problem_is_an_error_or_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The error has the way out."""
    with pytest.raises(
        DatasetError, match=r"^two rows\. Add the missing ones, .* dangling_qrels: d"
    ):
        report_dangling("two rows", "error")
    assert not caplog.text
    report_dangling("two rows", "drop")
    assert "two rows. Left out" in caplog.text


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    """The header has no judgement, and an error has its line."""
    path = tmp_path / "q.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq\tp\t1\n\nq\tp\t1\n")
    assert rows(read_qrels(path, ANY, dangling="error")) == [("q", "p", 1)]
    path.write_text("q\tp\t1\nq\tp\t2\n")
    with pytest.raises(DatasetError, match=r"q\.tsv, line 2: .* grade 2, and 1 in line 1"):
        read_qrels(path, ANY, dangling="error")
