"""Synthetic conversations with a scripted model in every role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.scripted_talk import REFUSAL, ScriptedTalk, rivers_corpus

from ragstone.building.conversations import ConversationBuilder, MadeConversations, TurnJudges
from ragstone.building.dialogue import KINDS, DialoguePlan
from ragstone.building.draft import QueryWriter
from ragstone.calls.client import Calls
from ragstone.calls.prices import Budget, Prices
from ragstone.components.context_settings.retrieved import Retrieved
from ragstone.components.judges.sufficient_context import SufficientContext
from ragstone.components.judges.support import Support
from ragstone.components.llm import resolve_llm
from ragstone.components.query_formers.llm_rewrite import LlmRewrite
from ragstone.core import limits
from ragstone.core.registry import create
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.writers.layouts import WRITERS
from ragstone.errors import DatasetError
from ragstone.experiment.live_system import LiveSystem
from ragstone.experiment.system import System
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer

PLAN = DialoguePlan(6, (2, 5), dict.fromkeys(KINDS, 1.0))


@contextmanager
def serving(**options: Any) -> Iterator[FakeModelServer]:
    """Yield a server of a scripted model."""
    with FakeModelServer(answer=ScriptedTalk(**options)) as server:
        yield server


def build(
    server: FakeModelServer,
    folder: Path,
    plan: DialoguePlan = PLAN,
    *,
    max_calls: int | None = None,
    data: Dataset | None = None,
    seeds: Dataset | None = None,
) -> MadeConversations:
    """Return the conversations of a plan; replies are kept in the folder."""
    model = {"name": "chat", "base_url": server.url, "model": "fake"}
    budget = Budget(None, Prices(), max_calls=max_calls) if max_calls else None
    corpus = (data or rivers_corpus()).corpus
    with Calls.at(folder / "calls.sqlite", budget=budget) as calls:
        services = Services(calls=calls)
        generator = create("generators", {**model, "prompt": "mtrag-like"}, where="test")
        retriever = create("retrievers", "bm25", where="test")
        agent = System("agent", LlmRewrite(model=model), retriever, generator=generator)
        judges = TurnJudges(
            Support(model=model, least_parse_rate=0.0),
            SufficientContext(model=model, least_parse_rate=0.0),
        )
        writer = QueryWriter(resolve_llm(model), services)
        live = LiveSystem(agent, Retrieved(3), corpus)
        return ConversationBuilder(corpus, live, writer, judges, plan).build(seeds)


def rejected(made: MadeConversations, stage: str) -> dict[str, int]:
    """Return the reasons of a step with their counts."""
    return dict(made.funnel.stages[stage].rejected)


def test_every_kind_of_turn_is_kept_with_its_labels(tmp_path: Path) -> None:
    """Nothing is rejected wrongly; both passages of a river are relevant, others are judged."""
    with serving() as server:
        made = build(server, tmp_path)
    assert not made.funnel.rejections
    queries = made.dataset.queries
    assert {query.labels["asked"] for query in queries} == {"first", *KINDS}
    for query in queries:
        grades = made.dataset.qrels[query.query_id]
        declined = query.labels["asked"] == "unanswerable"
        assert query.labels["answerability"] == ("unanswerable" if declined else "answerable")
        assert (query.gold_answers == (REFUSAL,)) == declined
        assert sum(grades.values()) == (0 if declined else 2)
        assert 0 in grades.values()
        assert bool(query.rewrite) == (query.turn != 1)
    assert 2 <= min(len(one.turns) for one in made.kept) <= 5


def test_the_same_build_again_asks_nothing(tmp_path: Path) -> None:
    """All replies are kept."""
    with serving() as server:
        first = build(server, tmp_path).dataset.queries
        asked = sum(server.asked.values())
        assert build(server, tmp_path).dataset.queries == first
        assert sum(server.asked.values()) == asked
        assert set(server.asked.values()) == {1}


def test_a_spent_budget_leaves_whole_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finished ones are kept, the others are not reached; the rest follows without repeats."""
    monkeypatch.setattr(limits, "BUILD_CONVERSATIONS", 2)
    with serving() as server:
        part = build(server, tmp_path, max_calls=60)
        assert "maximum of 60 calls" in part.funnel.partial
        assert 0 < len(part.kept) < 6
        assert rejected(part, "conversation") == {"not reached": 6 - len(part.kept)}
        assert all(len(one.turns) == len(one.kinds) for one in part.kept)
        whole = build(server, tmp_path)
        assert len(whole.kept) == 6
        assert set(server.asked.values()) == {1}


@pytest.mark.parametrize(
    ("faults", "stage", "reason"),
    [
        (
            {"user": "- What is the length of Tagus, please?"},
            "question",
            "the question repeats an earlier message",
        ),
        ({"user": ""}, "question", "the reply is empty"),
        (
            {"user": "- What does the passage say about Tagus?"},
            "question",
            "the question mentions the passage",
        ),
        ({"agent": ""}, "answer", "the answer is empty"),
        (
            {"agent": "The passage says that it is deep."},
            "answer",
            "the answer mentions the passage",
        ),
        ({"agent": "source"}, "answer", "the question contains the answer"),
        ({"agent": REFUSAL}, "answer", "the agent declined a turn that was to be answerable"),
        ({"agent": "It is made of cheese."}, "support", "no passage supports the answer"),
    ],
)
def test_a_bad_turn_ends_its_conversation(
    tmp_path: Path, faults: dict[str, str], stage: str, reason: str
) -> None:
    """A conversation of one turn is rejected as a whole, with the reason of its second turn."""
    plan = DialoguePlan(1, (3, 3), {"follow-up": 1}, seed=1)
    data = rivers_corpus()
    tagus = [p for p in data.corpus if p.passage_id.startswith("Tagus")]
    with serving(faults=faults) as server:
        made = build(
            server,
            tmp_path,
            plan,
            data=Dataset("one", data.query_table, Corpus.from_passages(tagus), data.qrel_table),
        )
    assert rejected(made, stage) == {reason: 1}
    assert rejected(made, "conversation") == {"fewer than 2 turns": 1}
    assert not made.kept


def test_a_conversation_ends_before_a_rejected_turn(tmp_path: Path) -> None:
    """A user who copies the agent in the third turn leaves a conversation of two turns."""
    plan = DialoguePlan(1, (4, 4), {"follow-up": 1})
    with serving(faults={"user": "- What is the source of it?"}, since=1) as server:
        made = build(server, tmp_path, plan)
    assert [len(one.turns) for one in made.kept] in ([], [2])
    assert rejected(made, "question") | rejected(made, "answer") | rejected(made, "support")


def test_first_turns_may_be_given(tmp_path: Path) -> None:
    """The queries of a data set open the conversations, without a call for them."""
    data = rivers_corpus()
    with serving() as server:
        made = build(server, tmp_path, DialoguePlan(3, (2, 2), {"follow-up": 1}), seeds=data)
    assert [one.turns[0].question for one in made.kept] == ["What is the depth of Sado?"]
    assert [s["stage"] for s in made.funnel.stages_document()][:2] == ["passages", "queries"]


def test_an_answer_where_none_was_wanted_is_labelled_answerable(tmp_path: Path) -> None:
    """The label is what was obtained, and a warning counts the differences."""
    plan = DialoguePlan(2, (2, 2), {"unanswerable": 1})
    with serving(faults={"user": "- What is the source of Tagus, please?"}) as server:
        made = build(server, tmp_path, plan)
    assert made.about["asked_against_obtained"]["unanswerable"] == {"answerable": len(made.kept)}
    assert any("were to be unanswerable" in one for one in made.about["warnings"])


def test_mtrags_form_round_trips(tmp_path: Path) -> None:
    """The conversations are read again with their labels, rewrites and judgements."""
    with serving() as server:
        made = build(server, tmp_path).dataset
    WRITERS["mtrag"](made, tmp_path / "mtrag")
    again = load_dataset({"name": "mtrag", "path": str(tmp_path / "mtrag")})
    assert [q.text for q in again.queries] == [q.text for q in made.queries]
    for before, after in zip(made.queries, again.queries, strict=True):
        assert after.history == before.history
        for name in ("multi_turn", "answerability", "asked"):
            assert after.labels.get(name) == before.labels.get(name)


def test_an_empty_or_unusable_corpus_is_an_error(tmp_path: Path) -> None:
    """Nothing is asked."""
    queries = [{"query_id": "q", "text": "Who?"}]
    short = Dataset.from_records(queries=queries, passages=[{"passage_id": "p", "text": "Short."}])
    with serving() as server:
        with pytest.raises(DatasetError, match="the corpus has no passage"):
            build(server, tmp_path, data=Dataset.from_records(queries=queries))
        with pytest.raises(DatasetError, match="fewer than 20 words"):
            build(server, tmp_path, data=short)
        assert not server.asked


def test_a_judge_that_calls_everything_supporting_is_named(tmp_path: Path) -> None:
    """The controls are in `build.json`, and a warning says what the labels are worth."""
    with serving() as server:
        about = build(server, tmp_path).about
    assert about["judge_on_controls"] == {"supporting": [6, 6], "foreign": [6, 6]}
    assert len(about["warnings"]) == 1
    with serving(faults={"support": "yes"}) as server:
        about = build(server, tmp_path).about
    assert about["judge_on_controls"] == {"supporting": [6, 6], "foreign": [0, 6]}
    assert "MAY BE NOISE" in about["warnings"][1]
