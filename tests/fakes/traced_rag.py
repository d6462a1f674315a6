"""A small RAG application that OpenTelemetry and OpenInference record, and its own log.

It rewrites a question, searches twice, reranks the second search if its convention has rerankers,
and answers. Every fifth question fails.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from openinference.instrumentation import (
    Document,
    TracerProvider,
    get_llm_attributes,
    get_reranker_attributes,
    get_retriever_attributes,
)
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.trace import Span

CORPUS: Final = {f"p{n}": f"Ferry {n} to Hånö leaves at {n % 24}, quay {n}." for n in range(50)}
SCHEMA: Final = "https://opentelemetry.io/schemas/1.37.0"
Spans = Sequence[ReadableSpan]
Attributes = dict[str, Any]


class ProtobufFile(SpanExporter):
    """Writes every batch as OTLP protobuf; `before` returns what precedes a message."""

    def __init__(self, path: Path, before: Callable[[int], bytes]) -> None:
        self.path, self.before = path, before

    def export(self, spans: Spans) -> SpanExportResult:
        """Append a batch to the file."""
        message = encode_spans(spans).SerializeToString()
        with self.path.open("ab") as file:
            file.write(self.before(len(message)) + message)
        return SpanExportResult.SUCCESS


@contextmanager
def recording(exporter: SpanExporter | Path, batch: int = 64) -> Iterator[Any]:
    """Yield a tracer of OpenInference, whose spans are exported in batches, as JSON to a path."""
    target = FileSpanExporter(path=exporter) if isinstance(exporter, Path) else exporter
    provider = TracerProvider(resource=Resource.create({"service.name": "ferries"}))
    provider.add_span_processor(
        BatchSpanProcessor(target, max_queue_size=50_000, max_export_batch_size=batch)
    )
    yield provider.get_tracer("app", schema_url=SCHEMA)
    provider.shutdown()


def documents(ids: Sequence[str], scores: Sequence[float]) -> list[Document]:
    """Return documents in the form that OpenInference takes."""
    pairs = zip(ids, scores, strict=True)
    return [Document(id=name, content=CORPUS[name], score=score) for name, score in pairs]


def shown(found: Sequence[Document]) -> list[dict[str, Any]]:
    """Return documents as a row of a trace has them."""
    return [{"id": one["id"], "text": one["content"], "score": one["score"]} for one in found]


class OpenInference:
    """Writes attributes with OpenInference's own functions."""

    has_rerankers: Final = True

    def start(self, tracer: Any, kind: str) -> Any:
        """Start a span as the current one."""
        return tracer.start_as_current_span(kind, openinference_span_kind=kind)

    def system(self, span: Any, query: str, answer: str | None) -> None:
        """Record the input and the output of the application."""
        span.set_input(query)
        if answer is not None:
            span.set_output(answer)

    def retriever(self, span: Any, query: str, found: list[Document]) -> None:
        """Record a search."""
        span.set_input(query)
        span.set_attributes(get_retriever_attributes(documents=found))

    def reranker(self, span: Any, query: str, given: list[Document], kept: list[Document]) -> None:
        """Record a reranker."""
        span.set_attributes(
            get_reranker_attributes(query=query, input_documents=given, output_documents=kept)
        )

    def llm(self, span: Any, prompt: str, answer: str, tokens: tuple[int, int]) -> None:
        """Record a model call."""
        span.set_attributes(
            get_llm_attributes(
                input_messages=[{"role": "user", "content": prompt}],
                output_messages=[{"role": "assistant", "content": answer}],
                token_count={"prompt": tokens[0], "completion": tokens[1]},
            )
        )


class GenAI:
    """Writes the attributes of OpenTelemetry's conventions: no reranker, no texts."""

    has_rerankers: Final = False
    operations: Final = {"chain": "invoke_agent", "retriever": "retrieval", "llm": "chat"}

    def start(self, tracer: Any, kind: str) -> Any:
        """Start a span as the current one, past OpenInference's wrapper."""
        name = self.operations[kind]
        known = {"gen_ai.operation.name": name}
        return tracer.__wrapped__.start_as_current_span(name, attributes=known)

    def system(self, span: Span, query: str, answer: str | None) -> None:
        """Record the input and the output of the application."""
        span.set_attribute("gen_ai.input.messages", self._messages("user", query))
        if answer is not None:
            span.set_attribute("gen_ai.output.messages", self._messages("assistant", answer))

    def retriever(self, span: Span, query: str, found: list[Document]) -> None:
        """Record a search."""
        listed = [{"id": one["id"], "score": one["score"]} for one in found]
        span.set_attribute("gen_ai.retrieval.query.text", query)
        span.set_attribute("gen_ai.retrieval.documents", json.dumps(listed))

    def llm(self, span: Span, prompt: str, answer: str, tokens: tuple[int, int]) -> None:
        """Record a model call."""
        self.system(span, prompt, answer)
        span.set_attribute("gen_ai.usage.input_tokens", tokens[0])
        span.set_attribute("gen_ai.usage.output_tokens", tokens[1])

    def _messages(self, role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


@dataclass
class TracedRag:
    """The application. `log` is what it did: query -> the row that its trace must become."""

    tracer: Any
    convention: Any
    log: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def ask_all(self, queries: Sequence[str], threads: int = 4) -> None:
        """Answer queries in several threads, so that the spans of traces are mixed."""
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self.ask, queries))

    def ask(self, query: str) -> None:
        """Answer a query; write its row to the log."""
        row: dict[str, Any] = {"query": query, "answer": None, "reason": "ValueError: no ferry"}
        number = int(query.split()[2].strip("?"))
        try:
            with self.convention.start(self.tracer, "chain") as span:
                self.convention.system(span, query, None)
                self._answer(query, number, row, span)
        except ValueError:
            pass
        with self._lock:
            self.log[query] = row

    def _answer(self, query: str, number: int, row: dict[str, Any], span: Any) -> None:
        names = [f"p{(number + step) % len(CORPUS)}" for step in range(4)]
        calls = [self._call(f"Rewrite: {query}", f"ferry {number}", number)]
        hops = {f"ferry {number}": documents(names[:2], [0.9, 0.5])}
        hops[f"quay {number}"] = documents(names[1:], [0.8, 0.7, 0.1])
        for asked, found in hops.items():
            self._search(asked, found)
        if self.convention.has_rerankers:
            hops[f"quay {number}"] = self._rerank(query, hops[f"quay {number}"])
            names.pop()
        row["steps"] = [{"query": q, "passages": shown(found)} for q, found in hops.items()]
        row["passage_ids"] = names
        row["contexts"] = [{"id": name, "text": CORPUS[name]} for name in names]
        row["usage"] = {"tokens_in": number, "tokens_out": 3}
        if number % 5 == 0:
            raise ValueError("no ferry")
        answer = f"At {number % 24} o'clock."
        texts = "\n".join(CORPUS[name] for name in names)
        calls.append(self._call(f"{texts}\n{query}", answer, number + 1))
        row["usage"] = {
            "tokens_in": sum(asked for asked, _ in calls),
            "tokens_out": sum(told for _, told in calls),
        }
        row["answer"] = answer
        del row["reason"]
        self.convention.system(span, query, answer)

    def _search(self, query: str, found: list[Document]) -> None:
        with self.convention.start(self.tracer, "retriever") as span:
            self.convention.retriever(span, query, found)

    def _rerank(self, query: str, given: list[Document]) -> list[Document]:
        kept = given[:2][::-1]
        with self.convention.start(self.tracer, "reranker") as span:
            self.convention.reranker(span, query, given, kept)
        return kept

    def _call(self, prompt: str, answer: str, tokens: int) -> tuple[int, int]:
        with self.convention.start(self.tracer, "llm") as span:
            self.convention.llm(span, prompt, answer, (tokens, 3))
        return tokens, 3
