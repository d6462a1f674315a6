"""Intervals as text: one scale, a mark, and ASCII if the terminal has no box characters."""

from __future__ import annotations

import io
import sys

import pytest

from ragstone.core.text_plot import plot_intervals


def test_rows_share_a_scale_that_contains_the_mark() -> None:
    """Every row has the same width, and the mark at the same place."""
    found = plot_intervals([(0.2, (0.1, 0.3)), (0.4, (0.35, 0.5)), None], width=51)

    assert found.axis.split() == ["0", "0.5"]
    assert [len(row) for row in (found.axis, *found.rows)] == [51] * 4
    assert {row[0] for row in found.rows} == {"│"}
    assert (found.rows[0].index("├"), found.rows[0].index("●"), found.rows[0].index("┤")) == (
        10,
        20,
        30,
    )
    assert found.rows[2] == "│" + "·" * 50


def test_a_line_crosses_the_mark() -> None:
    """An interval that contains the mark shows it."""
    [row] = plot_intervals([(0.25, (-0.5, 0.5))], width=21).rows

    assert row == "├─────────┼────●────┤"


@pytest.mark.parametrize("values", [[], [(0.0, (0.0, 0.0))], [(0.0, None)], [None]])
def test_nothing_to_spread_is_still_a_row(values: list[tuple[float, None] | None]) -> None:
    """Equal values, no interval and no value are drawn around the mark."""
    found = plot_intervals(values, width=11)

    assert found.axis.split() == ["-1", "0", "1"]
    assert [len(row) for row in found.rows] == [11] * len(values)


def test_other_values_need_no_mark() -> None:
    """Without a mark, the scale is that of the values."""
    found = plot_intervals([(0.6, (0.5, 0.7))], marks=(), width=11)

    assert (found.axis, found.rows) == ("0.5     0.7", ("├────●────┤",))


def test_two_marks_are_drawn_and_named() -> None:
    """The margin of a gate and 0, for example."""
    found = plot_intervals([(0.0, (-0.1, 0.1))], marks=(-0.2, 0.0), width=21)

    assert found.axis.split() == ["-0.2", "0", "0.1"]
    assert found.rows == ("│······├─────●──────┤",)


def test_an_end_that_is_almost_0_is_written_as_0() -> None:
    """The scale has three digits of its span."""
    found = plot_intervals([(-0.0751, (-0.14612, 1.2e-6))], width=21)

    assert found.axis.split() == ["-0.146", "0"]


def test_ascii_is_drawn_for_an_encoding_without_box_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A terminal that cannot show lines gets letters and signs, in the same places."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))

    [row] = plot_intervals([(0.25, (-0.5, 0.5))], width=21).rows

    assert row == "[---------+----o----]"
