"""Attributes of OpenInference: https://arize-ai.github.io/openinference/spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ragstone.data.readers.traces import payloads
from ragstone.data.readers.traces.span import Kind, Operation

NAME: Final = "OpenInference"
VERSION: Final = "openinference-semantic-conventions 0.1.42"
"""The version that this file was written against; spans carry no version."""
MARK: Final = "openinference.span.kind"
"""The attribute that every span of the convention has."""
_KINDS: Final[Mapping[str, Kind]] = {
    "CHAIN": "system",
    "AGENT": "system",
    "LLM": "model",
    "RETRIEVER": "retrieval",
    "RERANKER": "reranking",
    "EVALUATOR": "evaluation",
}


def read_openinference(attributes: Mapping[str, Any]) -> Operation:
    """Return the operation that the attributes of a span of the convention describe."""
    kind = _KINDS.get(str(attributes.get(MARK)).upper(), "other")
    if kind == "other" and any(name.startswith("retrieval.documents") for name in attributes):
        kind = "retrieval"  # A tool that searches.
    query, answer = _value(attributes, "input"), _value(attributes, "output")
    if kind == "model":
        return _model(attributes, query, answer)
    if kind == "retrieval":
        # The decorators of openinference-instrumentation write the documents as output alone.
        found = _documents(attributes, "retrieval.documents") or payloads.passages_in(answer)
        return Operation(kind, NAME, payloads.query_text(query), passages=found)
    if kind == "reranking":
        return Operation(
            kind,
            NAME,
            payloads.query_text(attributes.get("reranker.query") or query),
            passages=_documents(attributes, "reranker.output_documents"),
            candidates=_documents(attributes, "reranker.input_documents"),
        )
    if kind == "system":
        return Operation(kind, NAME, payloads.query_text(query), payloads.answer_text(answer))
    return Operation(kind, NAME)


def _value(attributes: Mapping[str, Any], side: str) -> Any:
    """Return the input or the output of a span; the data of a JSON text."""
    value = attributes.get(f"{side}.value")
    is_json = attributes.get(f"{side}.mime_type") == "application/json"
    return payloads.loaded(value) if is_json else value


def _model(attributes: Mapping[str, Any], query: Any, answer: Any) -> Operation:
    asked = _messages(attributes, "llm.input_messages")
    told = _messages(attributes, "llm.output_messages")
    prompts = asked or payloads.indexed(attributes, "llm.prompts", "prompt")
    choices = told or payloads.indexed(attributes, "llm.choices", "completion")[:1]
    return Operation(
        "model",
        NAME,
        payloads.query_text(asked or query),
        payloads.answer_text(choices or answer),
        prompt=payloads.all_texts(prompts or query),
        tokens_in=payloads.count(attributes.get("llm.token_count.prompt")),
        tokens_out=payloads.count(attributes.get("llm.token_count.completion")),
        cost=payloads.number(attributes.get("llm.cost.total")),
    )


def _messages(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the chat messages of a model call: role and content."""
    found = []
    for item in payloads.indexed(attributes, prefix, "message"):
        content = item.get("content") or payloads.indexed(item, "contents", "message_content")
        found.append({"role": item.get("role", ""), "content": content})
    return found


def _documents(attributes: Mapping[str, Any], prefix: str) -> Any:
    return payloads.passages_in(payloads.indexed(attributes, prefix, "document"))
