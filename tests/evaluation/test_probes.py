"""The made-up systems of probes: what they change, and which judges read it."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.components.judges.verdict import Item
from ragstone.core import limits
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.evaluation.probes import PROBES, chosen_probes, criteria_of, not_applicable
from ragstone.types import Query

MODEL: dict[str, Any] = {"name": "chat", "model": "m", "base_url": "http://localhost:1/v1"}
ITEM = Item(Query("q", "Which river?", ("Seine",)), "The Rhine. Perhaps.", ("one", "two"))


def judge(name: str, **more: Any) -> Any:
    """Return a judge with a model that is not asked."""
    return create("judges", {"name": name, "model": MODEL, **more}, where="test")


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_changes_what_it_says_and_adds_no_gold_answer(name: str) -> None:
    """The query and its gold answers stay; the other part stays."""
    probe = PROBES[name]
    made = probe.change(ITEM, "the criteria")

    assert made.query is ITEM.query
    assert "Seine" not in f"{made.answer} {made.passages}"
    assert (made.answer != ITEM.answer) == (probe.reads == "answer")
    assert (made.passages != ITEM.passages) == (probe.reads == "passages")


def test_every_sentence_cites_every_passage() -> None:
    """At least three, and at most ten."""
    change = PROBES["citations"].change

    assert change(ITEM, "").answer == "The Rhine [1][2][3]. Perhaps [1][2][3]."
    assert change(Item(ITEM.query, "Rhine", ("p",) * 40), "").answer == (
        "Rhine " + "".join(f"[{n}]" for n in range(1, limits.PROBED_CITATIONS + 1))
    )


@pytest.mark.parametrize(
    ("name", "answer", "passages"),
    [
        ("equivalence", True, False),
        ("RB_llm", True, True),
        ("RL_F", True, True),
        ("citation-support", True, True),
        ("sufficient-context", False, True),
        ("context-relevance", False, True),
    ],
)
def test_a_probe_applies_to_what_a_judge_reads(name: str, answer: bool, passages: bool) -> None:
    """The reason names what the judge does not read."""
    found = judge(name)

    assert not_applicable(PROBES["long"], found) == ("" if answer else "the judge reads no answer")
    expected = "" if passages else "the judge reads no passages"
    assert not_applicable(PROBES["passage-json"], found) == expected


def test_a_judge_made_of_judges_reads_what_they_read() -> None:
    """`conditioned` has the criteria of its inner judge."""
    outer = create(
        "judges",
        {
            "name": "conditioned",
            "of": {"name": "RB_llm", "model": MODEL},
            "idk": {"name": "idk", "model": MODEL},
        },
        where="test",
    )

    assert not_applicable(PROBES["passage-json"], outer) == ""
    assert criteria_of(outer).startswith("Rate the answer from 1 to 10")


def test_the_criteria_are_the_judges_task() -> None:
    """The text of a criterion comes before the template."""
    assert criteria_of(judge("criterion", text="It is polite")) == "It is polite"
    assert "\n" not in criteria_of(judge("equivalence"))


def test_an_unknown_probe_is_refused() -> None:
    """The error has the nearest name."""
    with pytest.raises(ConfigError, match="did you mean 'citations'"):
        chosen_probes(["citation"])
    assert [one.name for one in chosen_probes(["hedged", "long"])] == ["long", "hedged"]
