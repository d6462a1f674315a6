"""The rules that say why the value of a query differs between two systems or runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.causes.changes import (
    CHANGES,
    DecidedChange,
    Outcome,
    Side,
    cause_of_change,
    cause_of_ranking_change,
)

GOLD = frozenset({"g"})
BEFORE = Side(
    query="Who?",
    gold_answers=("Ann",),
    gold=GOLD,
    answer="Bob",
    candidates=("x", "y", "g"),
    shown=("x", "y"),
    texts=("tx", "ty"),
    prompt="p1",
    generator="m1",
)
SHOWN = replace(BEFORE, shown=("g", "x"), texts=("tg", "tx"), answer="Ann")
MISSED = replace(BEFORE, candidates=("x", "y"))


@pytest.mark.parametrize(
    ("a", "b", "outcome", "cause", "evidence"),
    [
        (BEFORE, replace(SHOWN, gold_answers=("Eve",)), "worse", "label", "gold answers"),
        (BEFORE, replace(SHOWN, query="Where?"), "better", "label", "text of the query"),
        (BEFORE, replace(SHOWN, answer=None, failure="time-out"), "worse", "failure", "time-out"),
        (MISSED, SHOWN, "better", "now_retrieved", "g: no candidate before, rank 3 now"),
        (SHOWN, MISSED, "worse", "not_retrieved", "g: rank 3 before, no candidate now"),
        (BEFORE, SHOWN, "better", "now_shown", "g: rank 3, not shown before, shown now"),
        (SHOWN, BEFORE, "worse", "now_cut", "g: rank 3"),
        (BEFORE, replace(BEFORE, shown=("x", "z")), "worse", "noise_added", "z"),
        (BEFORE, replace(BEFORE, shown=("x",)), "better", "noise_removed", "y"),
        (BEFORE, replace(BEFORE, shown=("y", "x")), "worse", "order_changed", "x, y before"),
        (BEFORE, replace(BEFORE, texts=("tx", "cut")), "worse", "text_changed", "y"),
        (BEFORE, replace(BEFORE, prompt="p2", answer="Ann"), "better", "prompt", "prompt"),
        (BEFORE, replace(BEFORE, generator="m2", answer="Ann"), "better", "generator", "generator"),
        (BEFORE, replace(BEFORE, answer="Ann"), "better", "random", "gave another answer"),
        (BEFORE, BEFORE, "better", "scoring", "answers are equal"),
    ],
)
def test_the_first_difference_that_explains_the_change(
    a: Side, b: Side, outcome: Outcome, cause: str, evidence: str
) -> None:
    """Each cause is found, and its evidence names what differs."""
    found = cause_of_change(a, b, outcome)

    assert found.cause == cause
    assert evidence in found.evidence


def test_every_cause_has_a_meaning_and_a_place() -> None:
    """Docs and tables take causes and their order from one list."""
    assert next(iter(CHANGES)) == "label"
    assert list(CHANGES)[-1] == "undecided"
    assert all(CHANGES.values())


@pytest.mark.parametrize(
    ("before", "after", "is_chance"),
    [
        ((0, 0, 0), (1, 1, 0), True),
        ((0, 0, 0), (1, 1, 1), False),
        ((0.2, 0.4), (0.5, 0.6), False),
        ((0,), (0, 1), True),
    ],
)
def test_repeats_that_overlap_are_chance(
    before: tuple[float, ...], after: tuple[float, ...], *, is_chance: bool
) -> None:
    """A gold passage that is now shown does not explain what repeats with it do not show."""
    found = cause_of_change(replace(BEFORE, values=before), replace(SHOWN, values=after), "better")

    assert found.cause == ("random" if is_chance else "now_shown")


def test_a_loss_is_not_explained_by_what_helps() -> None:
    """A gold passage that is now shown does not cause a loss; the passage beside it does."""
    assert cause_of_change(BEFORE, SHOWN, "worse").cause == "undecided"
    further = replace(SHOWN, shown=("g", "z"))
    assert cause_of_change(BEFORE, further, "worse").cause == "noise_added"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"shown": None}, "what was shown is not known"),
        ({"gold": frozenset()}, "no gold passage is known"),
        (
            {"shown": ("x", "y"), "texts": None, "prompt": None},
            "prompt and generator are not known",
        ),
    ],
)
def test_what_is_not_known_is_named(changes: dict[str, object], what: str) -> None:
    """Scores from files and passports decide less, and nothing is guessed."""
    b = replace(SHOWN, **changes)  # type: ignore[arg-type]
    found = cause_of_change(replace(BEFORE, gold=b.gold), b, "better")

    assert (found.cause, what in found.evidence) == ("undecided", True)


def test_without_candidates_shown_is_still_known() -> None:
    """Files of scores have the passages of the context alone."""
    a, b = replace(BEFORE, candidates=None), replace(SHOWN, candidates=None)
    found = cause_of_change(a, b, "better")

    assert found.cause == "now_shown"
    assert found.evidence == "g: not shown before, shown now"


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (("x",), ("x", "g"), "now_retrieved"),
        (("g",), ("x",), "not_retrieved"),
        (("g", "x"), ("x", "g"), "order_changed"),
        (("g", "x"), ("g", "y"), "undecided"),
    ],
)
def test_rankings_change_by_the_places_of_gold(
    before: tuple[str, ...], after: tuple[str, ...], cause: str
) -> None:
    """Other passages alone change no ranking metric that is computed from gold."""
    a, b = (Side(gold=GOLD, candidates=ids) for ids in (before, after))

    assert cause_of_ranking_change(a, b).cause == cause
    elsewhere = replace(b, gold=frozenset("h"))
    assert cause_of_ranking_change(a, elsewhere).cause == "label"
    labelled = (replace(side, labelled=GOLD) for side in (a, elsewhere))
    assert cause_of_ranking_change(*labelled).cause != "label"
    assert cause_of_ranking_change(a, replace(b, candidates=None)).cause == "undecided"


def test_a_passage_at_the_same_rank_is_shown_or_not() -> None:
    """A smaller cut does not change the rank."""
    a = Side(gold=GOLD, candidates=("g", "x"), shown=("g",))
    b = Side(gold=GOLD, candidates=("g", "x"), shown=())

    found = cause_of_change(a, b, "worse")

    assert found == DecidedChange("now_cut", "g: rank 1, shown before, not shown now")
