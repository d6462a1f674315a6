"""Traces of the seeds: OTLP, with OpenInference and with GenAI, and exports of Langfuse."""

from __future__ import annotations

from typing import Any, Final


def _attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def _span(number: int, parent: int, kind: str, *attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "", "name": kind.lower(), "kind": 1,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number), "status": {"code": 1},
        "endTimeUnixNano": str(1_700_000_001_000_000_000 + number),
        "attributes": [_attribute("openinference.span.kind", kind), *attributes],
    }  # fmt: skip


SPANS: Final = [
    _span(1, 0, "CHAIN", _attribute("input.value", "Where?"), _attribute("output.value", "There.")),
    _span(2, 1, "RETRIEVER", _attribute("input.value", "Where?"),
          _attribute("retrieval.documents.0.document.id", "p1"),
          _attribute("retrieval.documents.0.document.content", "It is there."),
          {"key": "retrieval.documents.0.document.score", "value": {"doubleValue": 1.5}}),
    _span(3, 1, "LLM", _attribute("llm.output_messages.0.message.content", "There."),
          {"key": "llm.token_count.prompt", "value": {"intValue": "12"}}),
]  # fmt: skip
TRACES: Final = {"resourceSpans": [
    {"resource": {"attributes": [_attribute("service.name", "app")]},
     "scopeSpans": [{"scope": {"name": "x"}, "spans": SPANS}]}]}  # fmt: skip
LANGFUSE: Final = (
    {"id": "o1", "traceId": "t1", "type": "SPAN", "name": "chain", "startTime":
     "2026-01-01T00:00:00.000Z", "endTime": "2026-01-01T00:00:01.000Z", "input": {"question":
     "Where?"}, "output": "There.", "parentObservationId": None, "level": "DEFAULT"},
    {"id": "o2", "traceId": "t1", "type": "RETRIEVER", "name": "search", "startTime":
     "2026-01-01T00:00:00.100Z", "endTime": "2026-01-01T00:00:00.200Z", "input": "Where?",
     "output": [{"id": "p1", "text": "It is there."}], "parentObservationId": "o1"},
)  # fmt: skip
GENAI: Final = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            **SPANS[0],
                            "attributes": [
                                _attribute("gen_ai.operation.name", "invoke_agent"),
                                _attribute(
                                    "gen_ai.input.messages",
                                    '[{"role": "user", "parts": [{"type": "text", "content": '
                                    '"Where?"}]}]',
                                ),
                                _attribute(
                                    "gen_ai.output.messages",
                                    '[{"role": "assistant", "parts": [{"type": "text", '
                                    '"content": "There."}]}]',
                                ),
                            ],
                        },
                        {
                            **SPANS[1],
                            "attributes": [
                                _attribute("gen_ai.operation.name", "retrieval"),
                                _attribute("gen_ai.retrieval.query.text", "Where?"),
                                _attribute(
                                    "gen_ai.retrieval.documents",
                                    '[{"id": "p1", "score": 1.5, "content": "It is."}]',
                                ),
                            ],
                        },
                        {
                            **SPANS[2],
                            "attributes": [
                                _attribute("gen_ai.operation.name", "chat"),
                                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "12"}},
                                {
                                    "key": "gen_ai.output.messages",
                                    "value": {
                                        "arrayValue": {
                                            "values": [
                                                {
                                                    "kvlistValue": {
                                                        "values": [
                                                            _attribute("role", "assistant"),
                                                            _attribute("content", "There."),
                                                        ]
                                                    }
                                                }
                                            ]
                                        }
                                    },
                                },
                            ],
                            "events": [
                                {"name": "gen_ai.choice", "timeUnixNano": "1", "attributes": []}
                            ],
                        },
                    ]
                }
            ]
        }
    ]
}
LANGFUSE_TRACE: Final = {
    "id": "t1",
    "name": "chain",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "input": {"question": "Where?"},
    "output": {"answer": "There."},
    "observations": list(LANGFUSE),
    "scores": [],
}
LANGFUSE_TABLE: Final = (
    "id,traceId,type,name,startTime,endTime,input,output,parentObservationId\n"
    "o1,t1,SPAN,chain,2026-01-01T00:00:00.000Z,2026-01-01T00:00:01.000Z,Where?,There.,\n"
    "o2,t1,RETRIEVER,search,2026-01-01T00:00:00.1Z,2026-01-01T00:00:00.2Z,Where?,"
    '"[{""id"": ""p1""}]",o1'
)
