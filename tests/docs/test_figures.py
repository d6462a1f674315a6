"""Every published figure has a command that reproduces it, in docs/figures.yaml."""

from __future__ import annotations

import re
from typing import Any

import pytest
from benchmarks.figures import (
    ROOT,
    allowed,
    blocks,
    figures_of,
    holds,
    measured_numbers,
    numbers,
    obstacle,
    pages,
    problem,
    published_numbers,
    read_figures,
    sections,
)

FIGURES = read_figures()
COMMANDS: dict[str, dict[str, Any]] = FIGURES["commands"]
ENTRIES = [entry for command in COMMANDS.values() for entry in command["figures"]]


@pytest.mark.parametrize("page", [page for page in pages() if "/decisions/" not in page])
def test_every_figure_has_an_entry(page: str) -> None:
    """An entry for the figure, or for the whole table, paragraph or list item.

    The records of decisions are left out: they keep the figures of their day.
    """
    unknown = []
    for anchor, text in sections(page).items():
        here = [entry for entry in ENTRIES if entry["where"] == f"{page}#{anchor}"]
        known = [entry["figure"] for entry in here if "figure" in entry] + allowed(page)
        covered = tuple(entry["block"] for entry in here if "block" in entry)
        for block in blocks(text):
            if not covered or not block.startswith(covered):
                unknown += [f"#{anchor}: {found}" for found in figures_of(block, known)]
    assert not unknown, "not in docs/figures.yaml: " + "; ".join(unknown)


@pytest.mark.parametrize("name", COMMANDS)
def test_entries_match_the_pages(name: str) -> None:
    """Each command has a date and conditions; each figure is on its page, below its heading."""
    command = COMMANDS[name]
    assert {"run", "date", "conditions", "figures"} <= set(command)
    for script in re.findall(r"(?:benchmarks|tests)/[\w/]+\.py", command["run"]):
        assert (ROOT / script).is_file(), script
    for entry in command["figures"]:
        page, _, anchor = entry["where"].partition("#")
        found = blocks(sections(page)[anchor])
        if "block" in entry:
            assert any(block.startswith(entry["block"]) for block in found), entry
            assert published_numbers(entry), entry
        else:
            figure = rf"(?<![\w.]){re.escape(entry['figure'])}(?!\w)"
            assert re.search(figure, " ".join(found)), entry


@pytest.mark.parametrize("page", sorted({*FIGURES["allowed"]} - {"everywhere"}))
def test_allowed_numbers_are_on_their_pages(page: str) -> None:
    """Parameters, limits, facts about data sets and sums of other figures."""
    text = " ".join(blocks("".join(sections(page).values())))
    assert [number for number in FIGURES["allowed"][page] if number not in text] == []


def test_numbers_are_compared_as_printed() -> None:
    """A published number holds if the measured one rounds to it, or is within the tolerance."""
    assert numbers("takes 1,955 of .25 [-0.5, +3.] at 2.0x, MiniLM-L6") == [
        *("1955", ".25", "-0.5", "+3", "2.0")
    ]
    assert holds("0.91", 0.9149, 0)
    assert not holds("0.91", 0.9161, 0)
    assert holds("30", 33, 0.1)


def test_values_are_found_in_the_output() -> None:
    """By a path into JSON, by a regular expression, or anywhere."""
    output = 'made in 3 s\n{"share": 0.298, "rates": [12.5, 7]}'
    assert measured_numbers({"value": "/share", "scale": 10}, output) == [2.98]
    assert measured_numbers({"value": "/rates/1"}, output) == [7]
    assert measured_numbers({"value": r"made in (\d+) s"}, output) == [3]
    assert problem({"figure": "12.5 calls", "where": ""}, output, 0) == ""
    assert problem({"figure": "13.5 calls", "where": ""}, output, 0) == "not in the output: 13.5"
    assert problem({"figure": "31 %", "value": "/share", "scale": 100}, output, 0) == "now 29.8"


def test_a_command_that_cannot_run_has_a_reason() -> None:
    """Absent data or packages, a stated reason, or more time than allowed."""
    assert obstacle({"needs": ["{data}/no-such-set"]}, 5).endswith("no-such-set")
    assert obstacle({"needs": ["no_such_package"]}, 5) == "needs no_such_package"
    assert obstacle({"minutes": 60}, 5) == "takes 60 minutes (--minutes)"
    assert obstacle({"needs": ["json"]}, 5) == ""
