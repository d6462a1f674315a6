"""The model card: metadata of the hub, facts of the record, and texts without effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError
from ragstone.training.card import CARD, with_results, write_card
from ragstone.training.record import TrainingRecord, write_record

RECORD = TrainingRecord(
    kind="generator",
    base="smollm2-135m-instruct",
    base_digest="b179",
    method="lora",
    recipe={
        "examples": 1200,
        "batch": 8,
        "seed": 3,
        "licence": "cc-by-4.0",
        "device": "cpu",
        "setting": ["gold", "none"],
        "adapter": {"r": 32, "alpha": 64},
        "optim": {"lr": 0.0001},
    },
    data={"name": "ferries", "queries_digest": "aa11", "train": 1200, "test": 200},
    environment={"torch": "2.13", "threads": "2"},
    notes=("3 queries without a gold answer were left out",),
    loss=(2.0, 1.5),
    validation=({"step": 0, "loss": 2.5}, {"step": 2, "loss": 1.25}),
    seconds=61.0,
    digest="d1g35t",
)


def text(folder: Path, record: TrainingRecord = RECORD) -> str:
    """Return a record's card."""
    return write_card(folder, record).read_text(encoding="utf-8")


def test_the_card_has_the_facts_of_the_record(tmp_path: Path) -> None:
    """Metadata, data with licence, method, losses before and after, what it is not for."""
    found = text(tmp_path)
    front = yaml.safe_load(found.split("---")[1])
    assert front == {
        "base_model": "smollm2-135m-instruct",
        "library_name": "peft",
        "license": "cc-by-4.0",
        "datasets": ["ferries"],
        "tags": ["ragstone", "generator", "lora"],
    }
    for part in ("aa11", "1,200", "r 32, alpha 64", "2.5000", "1.2500", "61 s", "seed 3", "d1g35t"):
        assert part in found
    for title in ("## Data", "## Training", "## Not to be used", "## Memorised data", "## Use"):
        assert title in found
    assert "3 queries without a gold answer" in found


def test_names_from_outside_have_no_effect(tmp_path: Path) -> None:
    """A name makes no heading, no link, no tag, no metadata."""
    evil = "# evil | x\n---\nlicense: mit\n[a](javascript:x) <script>"
    found = text(tmp_path, replace(RECORD, data={"name": evil, evil: evil}, notes=(evil,)))
    front = yaml.safe_load(found.split("\n---\n\n")[0].removeprefix("---\n"))
    assert front["datasets"] == [" ".join(evil.split())]
    assert front["license"] == "cc-by-4.0"
    body = found.split("\n---\n\n", 1)[1]
    assert "<script>" not in body
    assert "](javascript" not in body
    assert not any(line.startswith("# evil") or line == "---" for line in body.splitlines())


def test_a_path_on_this_machine_is_not_published(tmp_path: Path) -> None:
    """A folder's name is its last part; a name of the hub stays whole."""
    assert "/home/me" not in text(tmp_path, replace(RECORD, base="/home/me/models/qwen"))
    assert "owner/name" in text(tmp_path, replace(RECORD, base="owner/name"))


def test_results_are_added_to_the_card(tmp_path: Path) -> None:
    """The table takes the place of the sentence that nothing else was measured."""
    assert "Only the loss was measured" in text(tmp_path)
    table = TextTable(["metric", "before", "after"], [["Match", "0.20", "0.65 [0.5, 0.8]"]])
    with pytest.raises(ConfigError, match="has no finished training"):
        with_results(tmp_path, table)
    write_record(tmp_path, RECORD)
    with_results(tmp_path, table)
    found = (tmp_path / CARD).read_text(encoding="utf-8")
    assert "0.65 [0.5, 0.8]" in found
    assert "Only the loss" not in found


def test_facts_of_a_kind_are_results(tmp_path: Path) -> None:
    """Such as kappa with its interval; a whole model is of another library."""
    facts = {"kappa": {"value": 0.4, "low": 0.2, "high": 0.6, "n": 90}}
    found = text(tmp_path, replace(RECORD, kind="judge", method="full", facts=facts))
    assert "value 0.4, low 0.2, high 0.6, n 90" in found
    assert "library_name: transformers" in found
