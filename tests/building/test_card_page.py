"""A data card as Markdown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.building.card_facts import CardFacts, Statements, card_facts
from ragstone.building.card_page import card_page
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.data_quality.finding import Finding


@pytest.fixture
def facts(tmp_path: Path) -> CardFacts:
    """Return the facts of the sample."""
    write_dataset(load_dataset("sample"), tmp_path)
    return card_facts(load_dataset(tmp_path), tmp_path, tmp_path, Statements(title='A "B" | c'), ())


def test_the_usual_sections(facts: CardFacts) -> None:
    """The header is YAML; what nobody states is unknown."""
    page = card_page(facts, None)
    assert page.startswith('---\npretty_name: "A \\"B\\" | c"\nlicense: unknown\n')
    titles = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert titles == [
        *("Files", "Splits", "Composition", "How it was made", "Agreement of people"),
        *("Licence and sources", "Known faults", "What is not known", "Use"),
    ]
    assert "| queries.jsonl | queries | 203 |" in page
    assert "Licence: unknown." in page
    assert "- creator" in page
    assert "`ragstone data check` was not run" in page
    assert "Label `conversation`" not in page


def test_how_it_was_made(facts: CardFacts) -> None:
    """Steps with reasons, sources with licences, and models."""
    sets = [{"name": "nq", "given": "/home/x/nq.csv"}]
    built = {
        "stages": [{"stage": "known", "in": 9, "out": 7, "rejected": {"right | wrong": 2}}],
        "partial": "the budget is spent",
        "recipe": {"command": "mirage", "sets": sets, "corpus": "/home/x/w"},
        "warnings": ["not balanced"],
    }
    made = {"model": "m", "strategy": "single", "kept": {"a": 3}, "tried": 5, "rejected": {"x": 2}}
    found = replace(facts, built=built, generated=made, machine_qrels="qrels.tsv is machine-made")
    page = card_page(found, [Finding("a/b", "error", "It is wrong", 1, 2, "")])
    assert "| known | 9 | 7 | right \\| wrong (2) |" in page
    assert "The build is partial: the budget is spent." in page
    assert "| nq | unknown | nq.csv |" in page
    assert "Corpus: w (licence unknown)." in page
    assert "3 of 5 queries were kept" in page
    assert "qrels.tsv is machine-made." in page
    assert "Warning: not balanced" in page
    assert "| error | `a/b` | It is wrong |" in page


@pytest.mark.parametrize(
    ("licence", "header"),
    [("CC BY-SA 4.0", "cc-by-sa-4.0"), ("see the file LICENSE; ask us", "other"), ("", "unknown")],
)
def test_the_licence_of_the_header(facts: CardFacts, licence: str, header: str) -> None:
    """The hub's spelling, or else other."""
    found = replace(facts, statements=Statements(licence=licence))
    assert f"\nlicense: {header}\n" in card_page(found, None)
