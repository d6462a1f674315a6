"""Screening: leaks, unsupported answers, and reasons. `test_build_testset.py` has the rest."""

from __future__ import annotations

import pytest
from tests.fakes.scripted_writer import ScriptedWriter

from ragstone.building.draft import Draft
from ragstone.building.pooling import PassagePool
from ragstone.building.screening import LEAK, NO_VERDICT, ONE_IS_ENOUGH, UNSUPPORTED, Screen
from ragstone.components.judges.support import Support
from ragstone.components.retrievers.bm25 import BM25
from ragstone.data.corpus import Corpus
from ragstone.testing import ScriptedCalls
from ragstone.types import Passage

_MODEL = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
MILL = Passage("mill", "The old mill of Oldby ground barley and rye until 1840.")
BRIDGE = Passage("bridge", "The stone bridge of Oldby was opened by the weaver Anna in 1712.")


def screen(judge: str = "") -> Screen:
    """Return the checks with a scripted judge, or one that always gives the same reply."""
    corpus = Corpus.from_passages([MILL, BRIDGE])
    calls = ScriptedCalls((lambda _: judge) if judge else ScriptedWriter())
    services = calls.services()
    support = Support(model=_MODEL, least_parse_rate=0.0)
    return Screen(support, None, PassagePool(corpus, [BM25(top_k=10)], services), services)


def test_an_unanswerable_question_that_another_passage_covers_is_a_leak() -> None:
    """The source may have all its words; another passage may not."""
    draft = Draft("adversarial", "unanswerable", (MILL,))
    draft.question = "Which weaver opened the stone bridge of Oldby?"
    same = Draft("adversarial", "unanswerable", (BRIDGE,), question=draft.question)
    screen().reject_leaks([draft, same])
    assert (draft.reason, same.reason) == (f"{LEAK}: bridge", "")


@pytest.mark.parametrize(
    ("judge", "answer", "reason"),
    [
        ("", "barley and rye", ""),
        ("", "barley and wheat", UNSUPPORTED),
        ("I wonder.", "barley", NO_VERDICT),
    ],
)
def test_an_answer_must_be_supported(judge: str, answer: str, reason: str) -> None:
    """A judge without a verdict supports nothing."""
    draft = Draft("single", "fact_single", (MILL,), question="What was ground?", answer=answer)
    screen(judge).reject_unsupported([draft])
    assert draft.reason == reason


def test_an_answer_that_one_of_two_passages_supports_is_rejected() -> None:
    """A question that takes two passages must need both."""
    draft = Draft("multi-hop", "multi_hop", (MILL, BRIDGE), question="Who?", answer="weaver Anna")
    screen().reject_unsupported([draft])
    assert draft.reason == ONE_IS_ENOUGH


def test_the_difficulty_is_the_rank_of_the_source() -> None:
    """A query with the words of its source is easy; one without them is hard."""
    easy = Draft(
        "single", "fact_single", (MILL,), question="What did the mill grind?", answer="rye"
    )
    hard = Draft("single", "fact_single", (MILL,), question="Who?", answer="rye")
    screen().label([easy, hard])
    assert [draft.labels["difficulty"] for draft in (easy, hard)] == ["easy", "hard"]
