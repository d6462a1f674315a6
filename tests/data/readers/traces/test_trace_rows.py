"""Rows of traces: query, answer, hops, context and usage from spans in every arrangement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_traces import made_span, write_traces

from ragstone.data.readers.traces import trace_rows
from ragstone.data.readers.traces.conversion import DROPPED, INCOMPLETE, REPEATED, TraceConverter

CHAIN = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}
LLM = {"openinference.span.kind": "LLM"}
EVALUATOR = {"openinference.span.kind": "EVALUATOR"}


def retriever(*ids: str, query: str = "why") -> dict[str, Any]:
    """Return the attributes of a search that found passages, whose texts are their ids twice."""
    found: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": query}
    for place, name in enumerate(ids):
        found[f"retrieval.documents.{place}.document.id"] = name
        found[f"retrieval.documents.{place}.document.content"] = f"{name} {name}"
    return found


def llm(prompt: str, answer: str, tokens: int | None = None) -> dict[str, Any]:
    """Return the attributes of a model call."""
    found = {
        **LLM,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": prompt,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }
    counts = {"llm.token_count.prompt": tokens, "llm.token_count.completion": 1}
    return found if tokens is None else {**found, **counts, "llm.cost.total": tokens / 1000}


def convert(
    folder: Path, *spans: dict[str, Any], keep_incomplete: bool = False
) -> tuple[list[dict[str, Any]], TraceConverter]:
    """Return the rows of spans of one trace, and the converter."""
    path = write_traces(folder / "traces.jsonl", *spans)
    converter = TraceConverter([path], keep_incomplete=keep_incomplete)
    return list(converter.rows()), converter


def only(folder: Path, *spans: dict[str, Any]) -> dict[str, Any]:
    """Return the only row of spans of one trace."""
    (row,), _ = convert(folder, *spans)
    return row


def test_the_context_is_what_the_prompt_contains(tmp_path: Path) -> None:
    """Of three retrieved passages the prompt has two, with other white space."""
    row, converter = convert(
        tmp_path,
        made_span("1", "", CHAIN),
        made_span("2", "1", retriever("a", "b", "c")),
        made_span("3", "1", llm("Use: b\n b; a a. Why?", "So.")),
    )
    assert row[0]["passage_ids"] == ["a", "b", "c"]
    assert [one["id"] for one in row[0]["contexts"]] == ["a", "b"]
    assert converter.found.notes == {trace_rows.SHOWN: 1}

    row, converter = convert(
        tmp_path,
        made_span("1", "", CHAIN),
        made_span("2", "1", retriever("a", "b")),
        made_span("3", "1", llm("Why?", "So.")),
    )
    assert [one["id"] for one in row[0]["contexts"]] == ["a", "b"]
    assert converter.found.notes == {trace_rows.NONE_SHOWN: 1}


def test_query_and_answer_are_those_of_the_outermost_system(tmp_path: Path) -> None:
    """A chain that rewrites the query, and a span of a web framework, are not asked."""
    rewrite = {**CHAIN, "input.value": "Rewrite: Why?", "output.value": "why so"}
    row = only(
        tmp_path,
        made_span("web", "", {"http.route": "/ask"}),
        made_span("1", "web", CHAIN, at=(2, 20)),
        made_span("2", "1", rewrite, at=(3, 5)),
        made_span("3", "2", llm("Rewrite: Why?", "why so"), at=(3, 5)),
        made_span("4", "1", llm("p", "An inner answer."), at=(6, 9)),
    )
    assert (row["query"], row["answer"]) == ("Why?", "So.")


def test_without_a_system_the_search_and_the_model_tell(tmp_path: Path) -> None:
    """The query is the first search's, not the prompt; the answer is the last model's."""
    row = only(
        tmp_path,
        made_span("web", "", {"http.route": "/ask"}),
        made_span("2", "web", retriever("a", query="Why?"), at=(2, 3)),
        made_span("4", "web", llm("a a. Why?", "The answer."), at=(5, 6)),
        made_span("3", "web", llm("Plan: Why?", "A plan."), at=(3, 4)),
    )
    assert (row["query"], row["answer"]) == ("Why?", "The answer.")
    assert only(tmp_path, made_span("1", "", llm("Why?", "So.")))["query"] == "Why?"


def test_nested_reports_of_the_same_work_count_once(tmp_path: Path) -> None:
    """A search in a search, a model call in a model call, and the calls of an evaluation."""
    row = only(
        tmp_path,
        made_span("1", "", CHAIN, at=(1, 99)),
        made_span("2", "1", retriever("a", "b"), at=(2, 9)),
        made_span("3", "2", retriever("b"), at=(3, 5)),
        made_span("4", "2", retriever("a"), at=(5, 7)),
        made_span("5", "1", llm("a a", "So.", 10), at=(10, 20)),
        made_span("6", "5", llm("a a", "So.", 10), at=(11, 19)),
        made_span("7", "1", EVALUATOR, at=(30, 40)),
        made_span("8", "7", llm("Is it right?", "Yes.", 1000), at=(31, 39)),
    )
    assert [[one["id"] for one in step["passages"]] for step in row["steps"]] == [["a", "b"]]
    assert row["usage"] == {"tokens_in": 10, "tokens_out": 1, "cost": 0.01, "seconds": 98e-9}


def test_an_outer_search_without_passages_yields_to_inner_ones(tmp_path: Path) -> None:
    """Two searches inside a retriever that reports nothing are two hops, by time."""
    row = only(
        tmp_path,
        made_span("1", "", CHAIN, at=(1, 99)),
        made_span("2", "1", retriever(), at=(2, 9)),
        made_span("4", "2", retriever("a"), at=(5, 7)),
        made_span("3", "2", retriever("b"), at=(3, 5)),
    )
    assert [step["passages"][0]["id"] for step in row["steps"]] == ["b", "a"]


def test_a_reranker_replaces_the_searches_that_it_was_given(tmp_path: Path) -> None:
    """Two searches are merged into one hop; a search of other passages stays."""
    given = {f"reranker.input_documents.{n}.document.id": i for n, i in enumerate("abc")}
    kept = {"reranker.output_documents.0.document.id": "c", "reranker.query": "Why?"}
    reranker = {"openinference.span.kind": "RERANKER", **given, **kept}
    row = only(
        tmp_path,
        made_span("1", "", CHAIN, at=(1, 99)),
        made_span("2", "1", retriever("x"), at=(2, 3)),
        made_span("3", "1", retriever("a", "b", query="dense"), at=(4, 5)),
        made_span("4", "1", retriever("b", "c", query="words"), at=(6, 7)),
        made_span("5", "1", reranker, at=(8, 9)),
    )
    found = [(step["query"], [one["id"] for one in step["passages"]]) for step in row["steps"]]
    assert found == [("why", ["x"]), ("dense", ["c"])]
    assert [step["latency_s"] for step in row["steps"]] == [1e-9, 5e-9]
    # The reranker has no text for c, but the search has.
    assert [one["text"] for one in row["contexts"]] == ["x x", "c c"]


def test_failures_and_missing_texts_are_reasons(tmp_path: Path) -> None:
    """An error of the query's span; no output; no input; and a hidden input."""
    failed = {"code": 2, "message": "timed out"}
    row = only(tmp_path, made_span("1", "", CHAIN, status=failed))
    assert (row["answer"], row["reason"]) == (None, "timed out")
    events = {"exception": {"exception.type": "ValueError", "exception.message": "no"}}
    row = only(tmp_path, made_span("1", "", CHAIN, events=events, status={"code": 2}))
    assert row["reason"] == "ValueError: no"

    inner = made_span("2", "1", LLM, status={"code": 2, "message": "rate limit"})
    unanswered = made_span("1", "", {**CHAIN, "output.value": ""})
    assert only(tmp_path, unanswered, inner)["reason"] == "rate limit"
    assert only(tmp_path, made_span("1", "", CHAIN), inner)["answer"] == "So."

    silent = {**CHAIN, "output.value": "__REDACTED__"}
    assert only(tmp_path, made_span("1", "", silent))["reason"] == trace_rows.NO_ANSWER
    hidden = {**CHAIN, "input.value": "__REDACTED__"}
    rows, converter = convert(tmp_path, made_span("1", "", hidden))
    assert rows == []
    assert converter.found.without_row == {trace_rows.NO_QUERY: 1}


def test_a_missing_parent_is_a_reason_unless_it_is_elsewhere(tmp_path: Path) -> None:
    """A parent in another process is not missed; `keep_incomplete` takes what is there."""
    rows, converter = convert(tmp_path, made_span("2", "1", CHAIN))
    assert rows == []
    assert converter.found.without_row == {INCOMPLETE: 1}
    assert convert(tmp_path, made_span("2", "1", CHAIN), keep_incomplete=True)[0]
    assert only(tmp_path, made_span("2", "1", CHAIN, flags=0x300))["answer"] == "So."


@pytest.mark.parametrize("parents", [("2", "1"), ("1", "2")])
def test_a_circle_of_parents_is_an_incomplete_trace(
    tmp_path: Path, parents: tuple[str, str]
) -> None:
    """It ends, and has no row."""
    spans = (made_span("1", parents[0], CHAIN), made_span("2", parents[1], CHAIN))
    rows, converter = convert(tmp_path, *spans)
    assert rows == []
    assert converter.found.without_row == {INCOMPLETE: 1}


def test_a_deep_trace_is_read(tmp_path: Path) -> None:
    """Five thousand spans, each inside the one before."""
    spans = [made_span(str(n), str(n - 1) if n else "", CHAIN) for n in range(5000)]
    assert only(tmp_path, *spans)["query"] == "Why?"


def test_several_queries_of_one_trace_are_rows(tmp_path: Path) -> None:
    """Two calls from one page of another service; a repeated query has a number in its id."""
    first, second = made_span("1", "x", CHAIN, flags=0x300), made_span("3", "x", CHAIN, flags=0x300)
    search = made_span("2", "1", retriever("a"))
    rows, converter = convert(tmp_path, first, search, second)
    assert ["steps" in row for row in rows] == [True, False]
    assert rows[1]["query_id"] == f"{rows[0]['query_id']}#2"
    assert converter.found.notes[REPEATED] == 1


def test_what_is_not_used_is_counted(tmp_path: Path) -> None:
    """Spans of other conventions, spans written twice, traces without any, dropped attributes."""
    chain = made_span("1", "", CHAIN, droppedAttributesCount=3)
    _, converter = convert(tmp_path, chain, chain, made_span("2", "1", {"db.system": "x"}))
    reasons = {"it was written twice": 1, "it follows no known convention": 1}
    assert converter.found.skipped == reasons
    assert converter.found.notes == {DROPPED: 1, trace_rows.NO_SEARCH: 1}
    rows, converter = convert(tmp_path, made_span("1", "", {"http.route": "/"}))
    assert rows == []
    assert converter.found.without_row == {"no span of it follows a known convention": 1}


def test_passages_without_ids_are_texts(tmp_path: Path) -> None:
    """The output of the decorators of openinference-instrumentation is a JSON list."""
    search = {"openinference.span.kind": "RETRIEVER", "input.value": "why"}
    search |= {"output.value": '["a b", {"page_content": "c"}]'}
    search |= {"output.mime_type": "application/json"}
    row, converter = convert(tmp_path, made_span("1", "", CHAIN), made_span("2", "1", search))
    assert row[0]["contexts"] == ["a b", "c"]
    assert "passage_ids" not in row[0]
    assert converter.found.notes == {trace_rows.NO_IDS: 1}


def test_texts_of_a_trace_do_not_control_the_terminal(tmp_path: Path) -> None:
    """An error with an escape sequence is printed without it."""
    failed = {"code": 2, "message": "\x1b[2Jgone"}
    _, converter = convert(tmp_path, made_span("1", "", CHAIN, status=failed))
    assert "the answer is null:  [2Jgone" in str(converter.found)


def test_numbers_beyond_64_bits_are_no_counts(tmp_path: Path) -> None:
    """Tokens and scores of that size are left out."""
    row = only(
        tmp_path,
        made_span("1", "", {**CHAIN, "gen_ai.usage.input_tokens": "9" * 400}),
        made_span("2", "1", {**llm("p", "So.", 1), "llm.token_count.prompt": "9" * 400}),
    )
    assert "tokens_in" not in row["usage"]


def test_labels_tell_where_a_row_comes_from(tmp_path: Path) -> None:
    """The session is the conversation, and an unnamed service is none."""
    path = write_traces(
        tmp_path / "t.jsonl",
        made_span("1", "", {**CHAIN, "session.id": "s7"}),
        service="unknown_service:python",
    )
    (row,) = TraceConverter([path]).rows()
    assert row["conversation"] == "s7"
    assert (row["trace_id"], row["convention"]) == ("t", "OpenInference")
    assert "system" not in row
