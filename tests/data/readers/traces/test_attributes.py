"""Attributes and events of both conventions, in the shapes of their versions and frameworks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragstone.data.readers.traces.genai import is_genai, read_genai
from ragstone.data.readers.traces.openinference import read_openinference
from ragstone.data.readers.traces.payloads import answer_text, count, passages_in, query_text
from ragstone.data.readers.traces.span import TracedPassage

USER = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
CHAT = {"gen_ai.operation.name": "chat"}
PARTS = {"role": "user", "parts": [{"type": "text", "content": "Why?"}]}
THOUGHT = {"type": "reasoning", "content": "Hm."}
TOLD = {"role": "assistant", "parts": [THOUGHT, {"type": "text", "content": "So."}]}
VERSIONS: dict[str, tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = {
    "structured messages": (
        {**CHAT, "gen_ai.input.messages": [PARTS], "gen_ai.output.messages": [TOLD]},
        [],
    ),
    "messages as JSON text": (
        {
            **CHAT,
            "gen_ai.input.messages": json.dumps([PARTS]),
            "gen_ai.output.messages": json.dumps([TOLD]),
        },
        [],
    ),
    "the event of 1.37": (
        CHAT,
        [
            (
                "gen_ai.client.inference.operation.details",
                {"gen_ai.input.messages": [PARTS], "gen_ai.output.messages": [TOLD]},
            )
        ],
    ),
    "an event per message, with attributes": (
        CHAT,
        [
            ("gen_ai.system.message", {"content": "Be brief."}),
            ("gen_ai.user.message", {"content": "Why?"}),
            ("gen_ai.choice", {"message": '{"role": "assistant", "content": "So."}'}),
        ],
    ),
    "an event per message, with a body": (
        CHAT,
        [
            ("gen_ai.user.message", {"gen_ai.event.content": '{"content": "Why?"}'}),
            ("gen_ai.choice", {"event.body": '{"index": 0, "message": {"content": "So."}}'}),
        ],
    ),
    "the events of 1.26": (
        {"gen_ai.system": "openai"},
        [
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(USER)}),
            ("gen_ai.content.completion", {"gen_ai.completion": '[{"content": "So."}]'}),
        ],
    ),
    "OpenLLMetry's attributes": (
        {
            "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Why?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "So.",
        },
        [],
    ),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_genai_has_query_and_answer(version: str) -> None:
    """Messages as attributes, as events, and as the flattened attributes before them."""
    attributes, events = VERSIONS[version]
    assert is_genai(attributes)
    found = read_genai(attributes, events)
    assert (found.kind, found.query, found.answer) == ("model", "Why?", "So.")
    assert "Why?" in found.prompt


def test_tokens_of_genai_have_two_names() -> None:
    """Those before 1.27 are prompt and completion tokens; a text of digits is a number."""
    new = {**CHAT, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 0}
    old = {**CHAT, "gen_ai.usage.prompt_tokens": "7", "gen_ai.usage.completion_tokens": 0}
    for attributes in (new, old):
        found = read_genai(attributes, [])
        assert (found.tokens_in, found.tokens_out) == (7, 0)
    assert [count(value) for value in (-1, "x", True, None, float("nan"))] == [None] * 5


def test_kinds_of_genai() -> None:
    """Agents and workflows are systems; tools and embeddings are neither search nor model."""
    names = ("retrieval", "invoke_agent", "invoke_workflow", "execute_tool", "embeddings", "x")
    found = [read_genai({"gen_ai.operation.name": name}, []).kind for name in names]
    assert found == ["retrieval", "system", "system", "other", "other", "other"]


def test_documents_of_genai_may_carry_more_than_id_and_score() -> None:
    """The schema allows further fields; an empty document is left out."""
    documents = [{"id": 7, "score": 0.9, "content": "It sank."}, {"id": "p2"}, {}]
    attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.documents": documents,
        "gen_ai.retrieval.query.text": "when",
    }
    found = read_genai(attributes, [])
    assert found.query == "when"
    assert found.passages == (TracedPassage("7", "It sank.", 0.9), TracedPassage("p2"))


def test_a_tool_with_documents_is_a_search() -> None:
    """In both conventions; a tool without documents is none."""
    documents = {"retrieval.documents.0.document.id": "p1"}
    found = read_openinference({"openinference.span.kind": "TOOL", **documents})
    assert (found.kind, found.passages) == ("retrieval", (TracedPassage("p1"),))
    tool = {"gen_ai.operation.name": "execute_tool"}
    found = read_genai({**tool, "gen_ai.retrieval.documents": '[{"id": "p1"}]'}, [])
    assert (found.kind, found.passages) == ("retrieval", (TracedPassage("p1"),))
    assert read_openinference({"openinference.span.kind": "TOOL"}).kind == "other"


def test_openinference_reads_json_by_its_mime_type() -> None:
    """A JSON object without the type is the text of the query."""
    text = '{"query": "Why?", "history": []}'
    plain = {"openinference.span.kind": "CHAIN", "input.value": text}
    assert read_openinference(plain).query == text
    typed = {**plain, "input.mime_type": "application/json"}
    assert read_openinference(typed).query == "Why?"


def test_messages_of_openinference_may_have_parts() -> None:
    """Parts of a message are flattened twice; completions have choices."""
    start = "llm.input_messages.0.message"
    attributes = {
        "openinference.span.kind": "LLM",
        f"{start}.role": "user",
        f"{start}.contents.0.message_content.type": "text",
        f"{start}.contents.0.message_content.text": "Why?",
        f"{start}.contents.1.message_content.type": "image",
        "llm.choices.0.completion.text": "So.",
    }
    found = read_openinference(attributes)
    assert (found.query, found.answer) == ("Why?", "So.")


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("Why?", "Why?"),
        ({"question": "Why?", "k": 3}, "Why?"),
        ({"input": {"messages": USER}}, "Why?"),
        ({"messages": [[{"type": "human", "content": "Why?"}]]}, "Why?"),
        ({"args": ["Why?"]}, "Why?"),
        ({"first": "Why?", "second": "When?"}, ""),
        ([{"role": "assistant", "content": "So."}], ""),
        (7, "7"),
        (None, ""),
        ([], ""),
        ({}, ""),
    ],
)
def test_queries_of_inputs(value: object, query: str) -> None:
    """A text, an object with a usual field, messages; nothing is guessed of other objects."""
    assert query_text(value) == query


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ({"result": "So.", "source_documents": []}, "So."),
        ({"role": "assistant", "content": [{"type": "text", "text": "So."}]}, "So."),
        ({"messages": [*USER, {"type": "ai", "content": "So."}]}, "So."),
        ([{"type": "text", "text": "So."}], "So."),
        ({"year": 1912, "month": 4}, '{"year":1912,"month":4}'),
        ({"role": "assistant", "tool_calls": []}, ""),
        (None, ""),
    ],
)
def test_answers_of_outputs(value: object, answer: str) -> None:
    """Other objects are the answer as JSON: a structured output."""
    assert answer_text(value) == answer


def test_passages_of_frameworks() -> None:
    """LangChain's documents and pairs with a score, LlamaIndex' nodes, matches of a database."""
    chain = {"page_content": "a", "metadata": {"id": "p1"}, "type": "Document"}
    assert passages_in([[chain, 0.5], chain])[0] == TracedPassage("p1", "a", 0.5)
    titled = {"page_content": "a", "metadata": {"content": "a title", "text": "no", "id": "p1"}}
    assert passages_in([titled]) == (TracedPassage("p1", "a"),)
    wrapped = {"document": {"content": "a", "metadata": '{"id": 0}'}, "score": 0}
    assert passages_in([wrapped]) == (TracedPassage("0", "a", 0.0),)
    node = {"node": {"id_": "p1", "text": "a"}, "score": 0.5}
    assert passages_in({"nodes": [node]}) == (TracedPassage("p1", "a", 0.5),)
    match = {"id": "p1", "score": "0.5", "metadata": {"text": "a"}}
    assert passages_in({"matches": [match, None, 3]}) == (TracedPassage("p1", "a", 0.5),)
    assert passages_in("a text") == ()
