"""The rules that decide a cause: each cause, their order, refinements, hops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from ragstone.causes.evidence import Evidence, GoldPath
from ragstone.causes.order import BESIDE, BY_NAME, CAUSES, GOLD, NONE, REPEATS, VULNERABLE
from ragstone.causes.rules import RULES, decide, deciding_path, gold_shown, lost_at
from ragstone.statistics.adaptability import classify

SHOWN = GoldPath("p", retrieved=2, ranked=2, built=True, shown=True)
MISSED = GoldPath("p")
LOW = GoldPath("p", retrieved=8, ranked=8)
REWRITTEN = GoldPath("p", with_rewrite=1)
PUSHED = GoldPath("p", retrieved=2, ranked=9)
CUT = GoldPath("p", retrieved=1, ranked=1, built=True)
SHORTENED = replace(SHOWN, kept=False)


def found(*gold: GoldPath, **known: Any) -> Evidence:
    """Return evidence of a search for ten passages, of which five are shown."""
    return Evidence(gold=gold, **{"depth": 10, "cut": 5, "reranked": True, **known})


@pytest.mark.parametrize(
    ("cause", "evidence"),
    [
        ("failure", found(SHOWN, failure="filtered: not allowed", refused=True)),
        ("label_suspect", found(MISSED, label_doubt="others agree", right_with_gold=True)),
        ("missed_refusal", found(unanswerable=True, refused=False)),
        ("undecided", found(MISSED, right_repeats=2, repeats=5)),
        ("false_refusal", found(SHOWN, refused=True, right_with_gold=False, right_without=True)),
        ("knowledge_conflict", found(SHOWN, right_with_gold=False, right_without=True)),
        ("reading", found(MISSED, right_with_gold=False, right_without=False)),
        ("query_rewriting", found(REWRITTEN, right_with_gold=True)),
        ("retrieval_miss", found(MISSED, right_with_gold=True)),
        ("ranking", found(LOW)),
        ("reranking", found(PUSHED)),
        ("processing", found(CUT)),
        ("processing", found(SHORTENED, right_with_gold=True)),
        ("distraction", found(SHOWN, right_with_gold=True)),
        ("undecided", found(SHOWN)),
        ("undecided", found()),
    ],
)
def test_every_cause_has_its_evidence(cause: str, evidence: Evidence) -> None:
    """Each has a sentence, and is decided unless it is undecided."""
    decision = decide(evidence)

    assert decision.cause == cause
    assert decision.evidence
    assert not decision.evidence.endswith(".")
    assert (decision.missing_trial is None) == (cause != "undecided")
    assert decision.within is None


def test_what_would_decide_is_named() -> None:
    """The setting that is missing, the repeats, or the labels of the data."""
    assert decide(found(SHOWN)).missing_trial == GOLD
    assert decide(found(SHOWN, right_with_gold=False)).missing_trial == NONE
    assert decide(found(SHOWN, right_repeats=2, repeats=5)).missing_trial == REPEATS
    assert decide(found(SHOWN, right_repeats=2, repeats=5)).evidence == "2 of 5 repeats are right"
    assert decide(found(unanswerable=True)).missing_trial == "the metric refusal or the judge idk"
    assert "reported" in str(decide(found(MISSED, context_known=False)).missing_trial)
    assert "qrels" in str(decide(found()).missing_trial)
    assert decide(found(sufficient=True)).missing_trial == "gold passages (qrels)"


@pytest.mark.parametrize(
    ("known", "refinement"),
    [
        ({"right_with_neighbours": True, "covered": 0.5, "sufficient": False}, "chunk_border"),
        ({"right_with_neighbours": False, "covered": 0.5, "sufficient": False}, "incomplete"),
        ({"covered": 0.0, "sufficient": False}, "insufficient_context"),
    ],
)
def test_refinements_name_the_cause_that_they_refine(
    known: dict[str, Any], refinement: str
) -> None:
    """The first that applies counts, within the cause that the rules found."""
    decision = decide(found(SHOWN, right_with_gold=True, **known))

    assert (decision.cause, decision.within) == (refinement, "distraction")
    assert BY_NAME[decision.cause].refines


def test_a_refinement_needs_a_cause_that_it_can_refine() -> None:
    """Chance, refusals and failures have none; a lost passage explains itself what is missing."""
    joined = {"right_with_neighbours": True}

    assert decide(found(SHOWN, right_repeats=1, repeats=3, **joined)).cause == "undecided"
    assert decide(found(SHOWN, refused=True, **joined)).cause == "false_refusal"
    assert decide(found(SHOWN, failure="failed", **joined)).cause == "failure"
    assert decide(found(MISSED, sufficient=False)).cause == "retrieval_miss"
    assert decide(found(MISSED, **joined)).within == "retrieval_miss"
    assert decide(found(sufficient=False)).within == "undecided"
    assert decide(found(SHOWN, **joined)).missing_trial == GOLD


def test_one_gold_passage_is_enough_unless_all_are_needed() -> None:
    """The one that came farthest decides, or the one that was lost first."""
    several = found(MISSED, replace(CUT, passage_id="q"))

    assert deciding_path(several)[0] == "processing"
    assert decide(several).evidence.startswith("the gold passage q was in the context as built")
    needed = replace(several, all_needed=True, lost_at_hop=2)
    assert decide(needed).cause == "retrieval_miss"
    assert decide(needed).evidence == (
        "the gold passage p is not among the 10 retrieved; search 2 was the first that found no "
        "further one"
    )
    assert gold_shown(found(MISSED, SHOWN))
    assert not gold_shown(found(MISSED, SHOWN, all_needed=True))
    assert "all 2 gold passages" in decide(found(SHOWN, SHOWN, all_needed=True)).evidence


def test_the_gold_rewrite_counts_before_what_else_was_missed() -> None:
    """A passage that it brings into the context decides, whatever others are missing."""
    assert decide(found(MISSED, REWRITTEN)).cause == "query_rewriting"
    assert decide(found(LOW, REWRITTEN)).cause == "query_rewriting"
    assert decide(found(REWRITTEN, CUT)).cause == "processing"
    assert decide(found(replace(MISSED, with_rewrite=6))).cause == "retrieval_miss"


def test_what_a_search_found_and_the_context_lacks_is_ranking() -> None:
    """The system itself left it out, whether or not it reports a ranking."""
    decision = decide(found(replace(MISSED, hop=2)))

    assert decision.cause == "ranking"
    assert (
        decision.evidence == "the gold passage p was found in search 2, and is not in the context"
    )


def test_a_reranker_is_to_blame_only_for_what_it_moved_below_the_cut() -> None:
    """What was below the cut before, or stayed above it, is another step's fault."""
    assert lost_at(PUSHED, found()) == "reranking"
    assert lost_at(replace(PUSHED, ranked=None), found()) == "reranking"
    assert lost_at(LOW, found()) == "ranking"
    assert lost_at(PUSHED, found(reranked=False)) == "ranking"
    assert "not ranked after it" in decide(found(replace(PUSHED, ranked=None))).evidence


PATHS = (SHOWN, MISSED, LOW, REWRITTEN, PUSHED, CUT, SHORTENED)


@pytest.mark.parametrize("path", PATHS)
def test_the_causes_are_those_of_mirage(path: GoldPath) -> None:
    """Whatever was shown: right with gold alone is vulnerability, wrong is reading or conflict."""
    groups = {
        "noise_vulnerability": VULNERABLE,
        "context_insensitivity": ("reading",),
        "context_misinterpretation": ("knowledge_conflict",),
    }
    for base, oracle in product((True, False), repeat=2):
        outcome = classify(base=base, oracle=oracle, mixed=False)
        evidence = found(path, right_without=base, right_with_gold=oracle)
        assert decide(evidence).cause in groups[outcome]
        joined = decide(replace(evidence, right_with_neighbours=True))
        assert joined.within in groups[outcome]


def test_the_order_is_documented() -> None:
    """Every cause has one entry, with what it needs; the names of groups of causes are known."""
    names = [cause.name for cause in CAUSES]

    assert len(set(names)) == len(names) == 16
    assert len(RULES) == 8
    assert all(cause.meaning for cause in CAUSES)
    assert {*VULNERABLE, *BESIDE} <= set(names)
    assert [cause.name for cause in CAUSES if cause.refines] == [
        "chunk_border",
        "incomplete",
        "insufficient_context",
    ]
