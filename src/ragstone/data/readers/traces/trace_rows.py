"""Rows of traces: a query with its answer, its context, its searches and its usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ragstone.core import limits
from ragstone.data.corpus import Corpus
from ragstone.data.readers.traces.span import Operation, TracedPassage, TraceSpan
from ragstone.data.readers.traces.tree import TraceTree

NO_QUERY: Final = (
    "no span carries the text of the query; record the content of messages (for OpenTelemetry's "
    "own instrumentations, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only)"
)
"""Reason of a trace without a row."""
NO_ANSWER: Final = "no span carries the text of the answer"
"""Reason of a row without an answer."""
SHOWN: Final = "the contexts are those of the retrieved passages that the prompt contains"
NONE_SHOWN: Final = (
    "the prompt contains no retrieved passage word for word; contexts are all of them"
)
NO_SEARCH: Final = "the trace has no search; the row has no contexts"
NO_PASSAGES: Final = "a search without passages; record them, if the search found some"
NO_IDS: Final = "passages without an id: the row has no passage_ids"
NO_TEXTS: Final = (
    "passages with an id and without a text: the row has no contexts; name the corpus that has "
    "their texts with --corpus"
)


@dataclass(eq=False)
class _Hop:
    """One search: its query, and the passages that were left after reranking."""

    query: str
    passages: Sequence[TracedPassage]
    start: int
    end: int

    def to_dict(self) -> dict[str, Any]:
        found = {"query": self.query, "passages": [_passage(one) for one in self.passages]}
        seconds = (self.end - self.start) / 1e9
        return {**found, "latency_s": seconds} if seconds > 0 else found


def trace_row(
    tree: TraceTree, tops: Sequence[TraceSpan], corpus: Corpus | None, notes: Counter[str]
) -> dict[str, Any] | str:
    """Return the row of one query, without its id, or the reason why there is none.

    Args:
        tree: the trace.
        tops: the top spans of the query.
        corpus: texts of passages of which a span carries the id alone.
        notes: counts the missing parts of rows, with the reason.
    """
    spans = tree.operations(tops)
    query, answer = _query_and_answer(tree, spans)
    if not query.strip():
        return NO_QUERY
    reason = _failure(tops, spans, answer)
    hops = [_with_texts(hop, spans, corpus) for hop in _hops(spans)]
    found: dict[str, Any] = {"query": query, "answer": None if reason else answer}
    if reason:
        found["reason"] = reason
        notes[f"the answer is null: {reason[: limits.MAX_REASON_CHARACTERS]}"] += 1
    if hops:
        found |= _sources(hops, _last_model(spans), notes)
        found["steps"] = [hop.to_dict() for hop in hops]
    else:
        notes[NO_SEARCH] += 1
    found["usage"] = _usage(spans, tops)
    return found | _labels(spans, tops)


def _failure(tops: Sequence[TraceSpan], spans: Sequence[TraceSpan], answer: str) -> str:
    """Return why there is no answer; "" if there is one and no span around the query failed."""
    around = [top for top in tops if top.operation is None or _is(top, "system")]
    failed = [span.error for span in (around if answer else [*around, *spans]) if span.error]
    return failed[0] if failed else "" if answer else NO_ANSWER


def _query_and_answer(tree: TraceTree, spans: Sequence[TraceSpan]) -> tuple[str, str]:
    """Return the input and the output of the outermost system around the last model call.

    If none carries them, the query is that of the first search, or else the user's message to the
    model, and the answer is the model's.
    """
    last = _last_model(spans)
    systems = [span for span in spans if _is(span, "system")]
    outer = systems if last is None else tree.around(last)
    first = next((span for span in spans if _is(span, "retrieval")), None)
    asked = [*outer, *([first] if first else []), *([last] if last else []), *systems]
    told = [*outer, *([last] if last else [])]
    queries = (_of(span).query for span in asked)
    answers = (_of(span).answer for span in told)
    return next(filter(None, queries), ""), next(filter(None, answers), "")


def _last_model(spans: Iterable[TraceSpan]) -> TraceSpan | None:
    """Return the model call that ended last: it wrote the answer."""
    models = [span for span in spans if _is(span, "model")]
    return max(models, key=lambda span: span.end, default=None)


def _is(span: TraceSpan, kind: str) -> bool:
    return _of(span).kind == kind


def _of(span: TraceSpan) -> Operation:
    return span.operation or Operation("other", "")


def _hops(spans: Iterable[TraceSpan]) -> list[_Hop]:
    """Return the searches by time; a reranker's output replaces the searches that it was given."""
    hops: list[_Hop] = []
    for span in spans:
        operation, merged = _of(span), list[_Hop]()
        if operation.kind == "reranking" and operation.passages:
            given = {_key(passage) for passage in operation.candidates}
            merged = [h for h in hops if h.passages and given.issuperset(map(_key, h.passages))]
            merged = merged or hops[-1:]
        elif operation.kind != "retrieval":
            continue
        hops = [hop for hop in hops if hop not in merged]
        query = merged[0].query if merged else operation.query
        start = min([span.start, *(hop.start for hop in merged)])
        hops.append(_Hop(query, operation.passages, start, span.end))
    return hops


def _key(passage: TracedPassage) -> str:
    return passage.passage_id or passage.text


def _with_texts(hop: _Hop, spans: Iterable[TraceSpan], corpus: Corpus | None) -> _Hop:
    """Return a search with texts for the passages of which it has the id alone.

    They are in another span of the trace, or in the corpus.
    """
    if all(one.text for one in hop.passages):
        return hop
    known = {
        one.passage_id: one.text
        for operation in map(_of, spans)
        for one in (*operation.candidates, *operation.passages)
        if one.text
    }

    def text(passage: TracedPassage) -> str:
        name = passage.passage_id
        if corpus is None or name not in corpus:
            return passage.text or known.get(name, "")
        return passage.text or known.get(name) or corpus[name].full_text

    passages = [replace(passage, text=text(passage)) for passage in hop.passages]
    return replace(hop, passages=passages)


def _sources(hops: Sequence[_Hop], model: TraceSpan | None, notes: Counter[str]) -> dict[str, Any]:
    """Return `contexts` and `passage_ids`, as far as they are known.

    The context is the retrieved passages in the model's prompt, if it contains any, or else all of
    them.
    """
    retrieved = {_key(passage): passage for hop in hops for passage in hop.passages}
    found: dict[str, Any] = {}
    if all(passage.passage_id for passage in retrieved.values()):
        found["passage_ids"] = list(retrieved)
    else:
        notes[NO_IDS] += 1
    if not retrieved:
        notes[NO_PASSAGES] += 1
    if not all(passage.text for passage in retrieved.values()):
        notes[NO_TEXTS] += 1
        return found
    prompt = " ".join(_of(model).prompt.split()) if model else ""
    shown = [one for one in retrieved.values() if " ".join(one.text.split()) in prompt]
    if shown and len(shown) < len(retrieved):
        notes[SHOWN] += 1
    elif not shown and prompt and retrieved:
        notes[NONE_SHOWN] += 1
    found["contexts"] = [
        {"id": one.passage_id, "text": one.text} if one.passage_id else one.text
        for one in shown or retrieved.values()
    ]
    return found


def _passage(passage: TracedPassage) -> dict[str, Any]:
    fields = {"id": passage.passage_id, "text": passage.text, "score": passage.score}
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _usage(spans: Sequence[TraceSpan], tops: Sequence[TraceSpan]) -> dict[str, Any]:
    """Return the tokens and the cost of all model calls, and the seconds of the whole query."""
    models = [_of(span) for span in spans if _is(span, "model")]
    # Some agents report the sum of their calls, and their calls report nothing.
    counted = [one for one in models if one.tokens_in is not None]
    counted = counted or [_of(span) for span in spans if _of(span).tokens_in is not None][:1]
    costs = [one.cost for one in models if one.cost is not None]
    end, start = max(top.end for top in tops), min(top.start for top in tops)
    usage: dict[str, Any] = {}
    if counted:
        usage["tokens_in"] = sum(one.tokens_in or 0 for one in counted)
        usage["tokens_out"] = sum(one.tokens_out or 0 for one in counted)
    if costs:
        usage["cost"] = sum(costs)
    return usage | ({"seconds": (end - start) / 1e9} if end > start else {})


def _labels(spans: Sequence[TraceSpan], tops: Sequence[TraceSpan]) -> dict[str, Any]:
    """Return where the row comes from: system, conversation, trace, convention and its schema."""
    every = [*tops, *spans]
    conventions = dict.fromkeys(_of(span).convention for span in spans)
    schemas = dict.fromkeys(span.schema_url for span in spans if span.schema_url)
    labels = {
        "system": next((span.system for span in every if span.system), ""),
        "conversation": next((span.conversation for span in every if span.conversation), ""),
        "trace_id": tops[0].trace_id,
        "convention": ", ".join(conventions),
        "schema_url": ", ".join(schemas),
    }
    return {name: value for name, value in labels.items() if value}
