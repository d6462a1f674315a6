"""The page on the four papers: every item has a row, and the counts are those of the rows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import click
import pytest
from benchmarks.figures import read_figures

from ragstone.cli import root
from ragstone.results.plots.table import PLOTS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "papers.md").read_text("utf-8")
ITEMS = {"MIRAGE": (11, 5), "mtRAG": (16, 10), "BERGEN": (12, 7), "Know Your RAG": (6, 5)}
"""Tables and figures of each paper; mtRAG's figures after the tenth are further examples."""


def rows(paper: str) -> list[list[str]]:
    """Return the cells of a paper's rows."""
    section = PAGE.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| ((?:Table|Figure) .*) \|$", section, re.MULTILINE)
    return [[cell.strip() for cell in line.split(" |")] for line in lines]


@pytest.mark.parametrize("paper", ITEMS)
def test_every_table_and_figure_has_a_row(paper: str) -> None:
    """In the order of the paper, tables first."""
    tables, figures = ITEMS[paper]
    names = [f"Table {n + 1}" for n in range(tables)] + [f"Figure {n + 1}" for n in range(figures)]
    assert [row[0] for row in rows(paper)] == names


def test_the_counts_are_those_of_the_rows() -> None:
    """The table at the top counts each result over the four papers."""
    counted = Counter(row[4] for paper in ITEMS for row in rows(paper))
    stated = re.findall(
        r"^\| ([a-z ]+) \| .* \| (\d+) \|$", PAGE.partition("\n## ")[0], re.MULTILINE
    )
    assert {name: int(count) for name, count in stated} == counted


@pytest.mark.parametrize("paper", ITEMS)
def test_compared_figures_have_an_entry(paper: str) -> None:
    """A compared item names a command of docs/figures.yaml."""
    for row in rows(paper):
        entry = row[5] if len(row) > 5 else ""
        assert entry or row[4] in {"made", "no result"}, row
        assert not entry or entry in read_figures()["commands"], row


@pytest.mark.parametrize("paper", ITEMS)
def test_every_counterpart_exists(paper: str) -> None:
    """A command is one of the command line, with that option, and a plot one of its plots."""
    for row in rows(paper):
        for text in re.findall(r"`ragstone ([^`]+)`", row[2]):
            words = text.split()
            command: click.Command | None = root
            context = click.Context(root)
            while isinstance(command, click.Group) and words:
                command = command.get_command(context, words.pop(0))
                assert command, row
            options = {option for one in command.params for option in one.opts} if command else {}
            assert all(word in options for word in words if word.startswith("--")), row
            if text.startswith("plot "):
                assert words[0] in PLOTS, row
