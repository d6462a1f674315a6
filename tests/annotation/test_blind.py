"""Answers without names: tokens and orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.blind import Blind, hidden_labels, named_event
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.data.readers.rows import FieldError

ANSWERS = [{"system": name, "setting": "gold", "answer": name} for name in ("bm25", "dense", "rrf")]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Yield a project of pairs."""
    found: list[dict[str, Any]] = [{**one, "answers": ANSWERS[:2]} for one in plain_items(20)]
    with made_site(tmp_path, found, task="pairwise") as (site, _):
        yield site.project


def test_the_order_is_of_a_person_and_an_item(project: Project) -> None:
    """It is the same again; over items and people it differs."""

    def sides(person: str) -> list[str]:
        found = []
        for item_id, item in project.items.items():
            blind = Blind(project, person, item_id)
            assert blind.drawn(item) == Blind(project, person, item_id).drawn(item)
            found.append(blind.drawn(item)[0][1].system)
        return found

    assert sides("ann") == sides("ann")
    assert sides("ann") != sides("bob")
    assert set(sides("ann")) == {"bm25", "dense"}
    again = [Blind(project, "ann", f"q{n}#again").sides for n in range(20)]
    assert again != [Blind(project, "ann", f"q{n}").sides for n in range(20)]


def test_an_event_gets_the_part_and_the_place_in_the_file(project: Project) -> None:
    """Tokens of the person's own page are read; others are refused."""
    blind = Blind(project, "ann", "q1")
    token = blind.tokens["dense · gold"]
    kept = named_event(project, "ann", Event("1", "label", "q1", "better", value=token))
    assert kept.value == "b"
    kept = named_event(project, "ann", Event("1", "label", "q1", "faithful", token, value=3))
    assert (kept.part, kept.value) == ("dense · gold", 3)
    plain = Event("1", "label", "q1", "better", "bm25 · gold", value="tie")
    assert named_event(project, "ann", plain) == plain
    with pytest.raises(FieldError, match="is not an answer of the item q1; reload the page"):
        named_event(project, "bob", Event("1", "label", "q1", "faithful", token, value=3))


def test_labels_for_a_browser_have_tokens(project: Project) -> None:
    """Neither systems nor their places in the file are in them."""
    blind = Blind(project, "ann", "q1")
    given = [
        {"field": "better", "part": "", "value": "a"},
        {"field": "other", "part": "dense · gold", "value": "a"},
    ]
    found = hidden_labels(project, "ann", {"q1": given})["q1"]
    assert [(one["part"], one["value"]) for one in found] == [
        ("", blind.tokens["bm25 · gold"]),
        (blind.tokens["dense · gold"], "a"),
    ]


def test_who_knows_the_names_of_the_systems_computes_no_token(project: Project) -> None:
    """The key of the project is part of each digest, and so of the order."""
    settings = replace(project.settings, blind_key="5f")
    keyed = Blind(replace(project, settings=settings), "ann", "q1")
    known = Blind(project, "ann", "q1")

    assert keyed.parts.keys().isdisjoint(known.parts)
    assert sorted(keyed.parts.values()) == sorted(known.parts.values())
