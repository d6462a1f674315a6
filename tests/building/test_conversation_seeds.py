"""The passages and queries that conversations begin with."""

from __future__ import annotations

import pytest
from tests.fakes.scripted_talk import rivers_corpus

from ragstone.building.conversation_seeds import drawn_passages, first_messages
from ragstone.building.dialogue import DialoguePlan
from ragstone.building.funnel import Funnel
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.errors import DatasetError
from ragstone.types import Passage


def test_only_passages_that_were_looked_at_are_counted() -> None:
    """Unusable passages are rejected with their reason until the plan is met."""
    short = [Passage(f"s{n}", "Too short.") for n in range(4)]
    corpus, funnel = Corpus.from_passages([*rivers_corpus().corpus, *short]), Funnel()
    plan = DialoguePlan(12)
    kept = drawn_passages(corpus, plan, funnel, "English")
    (stage,) = funnel.stages_document()
    assert len(kept) == stage["out"] == 12
    assert stage["in"] - 12 == sum(stage["rejected"].values()) <= 4
    assert kept == drawn_passages(corpus, plan, Funnel(), "English")


def test_first_messages_have_no_history() -> None:
    """Later turns of conversations are left out; a data set of nothing else is refused."""
    talk = {"conversation_id": "c", "turns": [{"user": "Who?"}, {"user": "And when?"}]}
    data = Dataset.from_records(conversations=[talk])
    assert first_messages(data, DialoguePlan(5), Funnel()) == ["Who?"]
    with pytest.raises(DatasetError, match="no query without a history"):
        first_messages(data.select([1]), DialoguePlan(5), Funnel())
