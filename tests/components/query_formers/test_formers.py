"""Search texts are formed from a turn and what was said before it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.calls.types import Failure, Reply
from ragstone.components.query_formers.conversation import LastTurns, WholeConversation
from ragstone.components.query_formers.llm_rewrite import LlmRewrite, read_rewrite
from ragstone.components.query_formers.user_turns import UserTurns
from ragstone.core.registry import create
from ragstone.core.schemas import columns, queries_to_table
from ragstone.core.store import Store
from ragstone.core.stored_table import StoredTable
from ragstone.data.readers.mtrag import MtragReader
from ragstone.errors import ConfigError
from ragstone.experiment.step_blocks import run_step
from ragstone.experiment.steps import Step
from ragstone.protocols import Services
from ragstone.testing import ScriptedCalls
from ragstone.types import Message, Query

SharedData = Callable[[str], Path]
TURN = Query(
    "c<::>3",
    "And its\naddress?",
    history=(
        Message("user", "Who leads Apple?"),
        Message("agent", "Tim Cook."),
        Message("user", "Since when?"),
        Message("agent", "2011."),
    ),
    rewrite="What is Apple's address?",
)


def texts(former: Any, *queries: Query) -> list[str]:
    """Return the search texts of a query former that calls no model."""
    return [outcome.value for outcome in former.form(queries, Services())]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("as-given", "And its\naddress?"),
        ("as-given(variant=paper)", "|user|: And its\naddress?"),
        ("rewrite", "What is Apple's address?"),
        ("user-turns", "Who leads Apple?\nSince when?\nAnd its\naddress?"),
        ("user-turns(2)", "Since when?\nAnd its\naddress?"),
        ("last-turns(1)", "And its\naddress?"),
        ("last-turns", "Since when?\n2011.\nAnd its\naddress?"),
        (
            "conversation(variant=paper)",
            (
                "|user|: Who leads Apple?\n|agent|: Tim Cook.\n|user|: Since when?\n"
                "|agent|: 2011.\n|user|: And its\naddress?"
            ),
        ),
    ],
)
def test_each_former_has_its_text(written: str, text: str) -> None:
    """A query of several lines is whole; `paper` adds speaker tags."""
    assert texts(create("query_formers", written, where="query"), TURN) == [text]


def test_a_tag_in_the_data_is_taken_away() -> None:
    """All queries would share the words of the tag."""
    tagged = Query("q", "|user|: Who?")

    assert texts(create("query_formers", "as-given", where="query"), tagged) == ["Who?"]


def test_a_first_turn_has_nothing_before_it() -> None:
    """Formers that read the history return the text alone."""
    for former in (UserTurns(), LastTurns(), WholeConversation()):
        assert texts(former, Query("q", "Who?")) == ["Who?"]


def test_counts_below_one_are_refused() -> None:
    """Without a turn there is nothing to search for."""
    with pytest.raises(ConfigError, match="turns must be 1 or more, found 0"):
        LastTurns(0)
    with pytest.raises(ConfigError, match="last must be 1 or more, found 0"):
        UserTurns(0)


@pytest.mark.parametrize(
    ("written", "form"), [("as-given", "lastturn"), ("user-turns", "questions"), ("rewrite",) * 2]
)
def test_the_paper_variant_gives_the_published_queries(
    shared_data: SharedData, written: str, form: str
) -> None:
    """All 188 of the cloud domain, word for word."""
    folder = shared_data("mtrag")
    published = {row["_id"]: row["text"] for row in _rows(folder / f"queries/cloud_{form}.jsonl")}
    queries = MtragReader(folder / "tasks/mtrag_human_tasks.jsonl.gz", domains="cloud")
    turns = [q for q in _with_rewrites(queries, folder) if q.query_id in published]

    formed = texts(create("query_formers", f"{written}(variant=paper)", where="query"), *turns)

    assert len(formed) == 188
    assert dict(zip((q.query_id for q in turns), formed, strict=True)) == published


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _with_rewrites(reader: MtragReader, folder: Path) -> list[Query]:
    rewrites = {row["_id"]: row["text"] for row in _rows(folder / "queries/cloud_rewrite.jsonl")}
    return [
        Query(q.query_id, q.text, history=q.history, rewrite=rewrites.get(q.query_id, ""))
        for q in reader.read().queries
    ]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"class": "non-standalone", "query": "Where is Apple?"}', "Where is Apple?"),
        ('```json\n{"class": "standalone", "query": "Where\\nis it?"}\n```', "Where is it?"),
        ('<think>{"query": "no"}</think>{"reworded version": "Yes?"}', "Yes?"),
        ('{"class": "standalone"}', "given"),
        ("{'class': 'non-standalone', 'query': 'Where is Apple?'}", "Where is Apple?"),
        ('{"class": "non-standalone", "query": "Where is Apple?"', "Where is Apple?"),
        ('{"query": ""}', ""),
        ("I cannot help with that.", ""),
        ("{" * 50, ""),
        ('{"a":' * 100_000, ""),
        ('{"result": [{"query": "Where is Apple?"}]}', "Where is Apple?"),
    ],
)
def test_a_reply_is_read_tolerantly_but_never_guessed(reply: str, found: str) -> None:
    """Fences, thinking, single quotes and a missing brace are accepted; prose is not."""
    assert read_rewrite(reply, "given") == found


@pytest.mark.parametrize(
    "reply",
    ['{"query": "the message as it should be searched for"}', '{"query": "..."}'],
)
def test_the_prompts_own_words_are_no_rewrite(reply: str) -> None:
    """If a model repeats the prompt, the turn is searched for as it is, with the reason."""
    former = LlmRewrite({"name": "chat", "model": "m"})

    [formed] = former.form([TURN], ScriptedCalls(lambda _: reply).services())

    assert formed.value == TURN.text
    assert formed.reason.startswith("the reply repeats the prompt")


def test_a_model_is_asked_for_later_turns_alone(tmp_path: Path) -> None:
    """A turn without a rewrite is searched for as it is, and counted in the manifest."""
    model = {"name": "chat", "model": "m"}
    queries = [Query("q1", "Who?"), TURN, TURN, TURN]
    outcomes: Iterator[Reply | Failure] = iter(
        [Reply('{"query": "Where is Apple?"}'), Reply("no"), Failure("the server is down")]
    )
    replies = ScriptedCalls(lambda _: next(outcomes))
    given = StoredTable.in_memory(queries_to_table(queries))
    step = Step("form", LlmRewrite(model), {"queries": given})

    kept = run_step(step, {"queries": given}, Store(tmp_path), replies.services())

    assert columns(kept.table)["text"] == ["Who?", "Where is Apple?", TURN.text, TURN.text]
    assert len(replies.asked) == 3
    assert "Tim Cook." in replies.asked[0].messages[-1][1]
    assert kept.manifest["failed"] == 1
    assert kept.manifest["reasons"] == {"no rewrite in 'no'": 1, "the server is down": 1}


def test_the_key_of_a_rewrite_has_the_model_and_its_address() -> None:
    """The model changes the key, and so does the port."""
    here = LlmRewrite({"name": "chat", "model": "m", "base_url": "http://localhost:1/v1"})
    there = LlmRewrite({"name": "chat", "model": "m", "base_url": "http://localhost:2/v1"})
    other = LlmRewrite({"name": "chat", "model": "n"})

    assert len({str(part.content_revision) for part in (here, there, other)}) == 3


def test_a_component_that_is_not_a_model_is_refused() -> None:
    """A generator without a model cannot rewrite."""
    with pytest.raises(ConfigError, match="not a language model"):
        LlmRewrite("gold")
