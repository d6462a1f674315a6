"""Small valid inputs of each kind, in the layouts that are published or Ragstone's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from .frames import Frame
from .requests import LATER, PASSPORT, REQUESTS
from .traces import GENAI, LANGFUSE, LANGFUSE_TABLE, LANGFUSE_TRACE, TRACES

Form = Literal["lines", "json", "table", "text", "parquet", "protobuf", "frame"]


@dataclass(frozen=True)
class Source:
    """The content of a file that is mutated, as a tree."""

    form: Form
    content: Any
    """Objects of lines, a tree, cells of rows, or a text."""
    break_: str = "\t"
    """What separates the cells of a table."""


@dataclass(frozen=True)
class Seed:
    """The files of one valid input."""

    files: Mapping[str, Source]
    targets: tuple[str, ...]
    """The files that are mutated."""
    how: str = "data"
    """The entry that reads it; see `entries`."""
    to: str = ""
    """What the entry reads: a file, or the folder if empty."""


def lines(*rows: Any) -> Source:
    """Return a file of JSON lines."""
    return Source("lines", list(rows))


def tree(content: Any) -> Source:
    """Return a JSON file."""
    return Source("json", content)


def table(text: str, break_: str = "\t") -> Source:
    """Return a table of cells."""
    return Source("table", [line.split(break_) for line in text.splitlines()], break_)


def text(content: str) -> Source:
    """Return a file of text."""
    return Source("text", content)


def columns(**values: Sequence[Any]) -> Source:
    """Return a Parquet file."""
    return Source("parquet", values)


QUERIES: Final = lines(
    {"_id": "q1", "text": "Where is Lisbon?", "answers": ["Portugal"], "domain": "places"},
    {"_id": "q2", "text": "And its river?", "answers": ["Tagus", "the Tagus"], "rewrite": "River?",
     "history": [{"role": "user", "text": "Where is Lisbon?"}, {"role": "agent", "text": "There."}],
     "turn": 2, "famous": True, "weight": 0.5},
    {"_id": "q3", "text": "Who?", "answers": [], "metadata": {"year": 1999}, "tags": ["a", "b"]},
)  # fmt: skip
CORPUS: Final = lines(
    {"_id": "p1", "title": "Lisbon", "text": "Lisbon is in Portugal.", "document": "d1"},
    {"_id": "p2", "title": "", "text": "The Tagus flows by.", "metadata": {"ref": {"a": 1}}},
    {"_id": "p3", "text": "Another one.", "year": 2001, "tags": ["a"]},
)
QRELS: Final = table("query-id\tcorpus-id\tscore\nq1\tp1\t2\nq2\tp2\t1\nq2\tp3\t0\nq3\tp3\t1")
TREC_QRELS: Final = table("q1 0 p1 2\nq2 0 p2 1\nq2 0 p3 0\nq3 0 p3 -1", " ")
SUBTOPICS: Final = table("q1 1 p1 2\nq1 2 p2 1\nq2 1 p3 0\nq2 2 p2 1", " ")
RUN: Final = table(
    "q1 Q0 p1 1 12.5 bm25\nq1 Q0 p2 2 3.25 bm25\nq2 Q0 p2 1 7 bm25\nq2 Q0 p3 2 -1e-3 bm25\n"
    "q3 Q0 p3 1 0.5 bm25",
    " ",
)
CONVERSATIONS: Final = lines(
    {"_id": "c1", "domain": "places", "turns": [
        {"user": "Where is Lisbon?", "agent": "In Portugal.", "answers": ["Portugal"], "turn": 1},
        {"user": "Its river?", "agent": "The Tagus.", "rewrite": "Which river?", "kind": "a"},
        {"user": "Thanks."}]},
    {"_id": "c2", "turns": [{"user": "Who?", "agent": "Ada."}]},
)  # fmt: skip
ANSWERS: Final = lines(
    {"query_id": "q1", "answer": "In Portugal.", "passage_ids": ["p1"], "setting": "gold",
     "contexts": [{"id": "p1", "text": "Lisbon is in Portugal."}], "confidence": 0.9},
    {"query_id": "q2", "answer": None, "reason": "too long", "usage": {"tokens_in": 210,
     "tokens_out": 4, "cost": 0.0002, "seconds": 0.8}},
    {"query_id": "q3", "answer": "Ada.", "steps": [{"query": "Which?", "passages": ["p3", {"id":
     "p9", "score": 7.5}], "tokens": 3}, {"query": "When?", "contexts": ["It."], "latency_s": 1}]},
)  # fmt: skip
SQUAD: Final = tree(
    {"version": "v2.0", "data": [
        {"title": "Lisbon_city", "paragraphs": [
            {"context": "Lisbon is in Portugal.", "qas": [
                {"id": "a1", "question": "Where?", "answers": [{"text": "Portugal",
                 "answer_start": 13}], "is_impossible": False},
                {"id": "a2", "question": "Who?", "answers": [], "is_impossible": True,
                 "plausible_answers": [{"text": "Lisbon", "answer_start": 0}]}]},
            {"context": "The Tagus.", "qas": []}]},
        {"title": "Ada", "paragraphs": [{"context": "Ada wrote.", "qas": [
            {"id": "a3", "question": "Who wrote?", "answers": [{"text": "Ada"}]}]}]}]}
)  # fmt: skip
_POOL: Final = [
    {"mapped_id": q, "doc_name": "Lisbon", "doc_chunk": f"Passage {n} of {q}.", "support": n % 2}
    for q in ("m1", "m2")
    for n in range(3)
]
MIRAGE: Final = {
    "dataset.json": tree([
        {"source": "popqa", "query_id": q, "query": f"What is {q}?", "doc_name": "Lisbon",
         "answer": ["journalist", "journo"], "doc_url": "https://e.org/?curid=1",
         "num_doc_labels": 1} for q in ("m1", "m2")]),
    "doc_pool.json": tree(_POOL),
    "oracle.json": tree({"m1": _POOL[1], "m2": _POOL[4]}),
}  # fmt: skip
MIRAGE_HUB: Final = lines(
    {"query_id": "m1", "query": "What?", "answer": ["a"], "source": "nq", "oracle": {"doc_chunk":
     "Two.", "support": 1}, "doc_pool": {"doc_name": ["A", "B"], "doc_chunk": ["One.", "Two."],
     "support": [0, 1], "mapped_id": ["m1", "m1"]}},
    {"query_id": "m2", "query": "Who?", "answer": "b", "doc_pool": [{"doc_name": "A", "doc_chunk":
     "One.", "support": 1}]},
)  # fmt: skip
_DIMENSIONS: Final = {"Question Type": ["Factoid"], "Multi-Turn": ["N/A"],
                      "Answerability": ["ANSWERABLE"]}  # fmt: skip
_COLLECTION: Final = "mt-rag-clapnq-elser-512-100-20240503"
MTRAG_TALKS: Final = lines(
    {"conversation_file": "1", "author": "x", "retriever": {"collection": {"name": _COLLECTION,
     "size": "3"}}, "messages": [
        {"speaker": "user", "text": "Where?", "timestamp": 1724708469, "enrichments": _DIMENSIONS},
        {"speaker": "agent", "text": "There.", "timestamp": 1724708471, "original_text": "Here.",
         "contexts": [{"document_id": "p1", "text": "Lisbon\nIt is.", "title": "Lisbon", "score":
         18.7, "feedback": {"relevant": {"a": {"value": "no", "timestamp": 1}, "b": {"value": "yes",
         "timestamp": 2}}}}, {"document_id": "p2", "text": "No.", "feedback": {"relevant": {}}}]},
        {"speaker": "user", "text": "Really?", "enrichments": _DIMENSIONS},
        {"speaker": "agent", "text": "Yes.", "contexts": []}]},
)  # fmt: skip
MTRAG_TASKS: Final = lines(
    *({"task_id": f"abc<::>{turn}", "conversation_id": "abc", "conversation_file": "1",
       "turn": turn, "domain": "clapnq", "collection": _COLLECTION, "input": [{"speaker": "user",
       "text": "Where?"}, {"speaker": "agent", "text": "There."}, {"speaker": "user", "text":
       "Ah?"}][: 2 * turn - 1], "targets": [{"speaker": "agent", "text": "There."}], "enrichments":
       _DIMENSIONS, "contexts": [{"document_id": "p1", "relevant": ["yes"]}], "qrels": ["p1"]}
      for turn in (1, 2))
)  # fmt: skip
MTRAG_SAMPLE: Final = lines(
    {"conversation_id": "abc", "task_id": "abc::1", "task_type": "rag", "turn": 1, "collection":
     _COLLECTION, "dataset": "x", "contexts": [{"document_id": "p1", "text": "It.", "score": 1.5}],
     "input": [{"speaker": "user", "text": "Where?", "metadata": {"created_at": 1724708469},
     "enrichments": {"Question Type": ["Factoid"]}}], "targets": [{"speaker": "agent", "text":
     "There."}], "Question Type": ["Factoid"], "answerability": ["ANSWERABLE"],
     "predictions": [{"text": "I do not know."}]},
)  # fmt: skip
MTRAG: Final = {
    "tasks/mtrag_human_tasks.jsonl": MTRAG_TASKS,
    "queries/clapnq_rewrite.jsonl": lines({"_id": "abc<::>2", "text": "|user|: Where is it?"}),
    "qrels/human_clapnq.tsv": table("query-id\tcorpus-id\tscore\nabc<::>1\tp1\t1"),
    "corpus/clapnq.jsonl": lines({"_id": "p1", "title": "Lisbon", "text": "Lisbon\nIt is.", "from":
                                  "x"}, {"_id": "p2", "text": "No."}),
}  # fmt: skip
PARQUET: Final = {
    "queries.parquet": columns(_id=["q1", "q2", "q3"], text=["Where?", "Which?", "Who?"],
                               answers=[["Portugal"], ["Tagus"], []], domain=["a", "b", None]),
    "corpus.parquet": columns(_id=["p1", "p2", "p3"], text=["In Portugal.", "Tagus.", "Ada."],
                              title=["Lisbon", None, ""]),
    "qrels.parquet": columns(query_id=["q1", "q2"], passage_id=["p1", "p2"], relevance=[2, 1]),
}  # fmt: skip
PARQUET_HUB: Final = columns(
    query_id=["m1", "m2"], query=["What?", "Who?"], answer=[["a"], ["b"]],
    doc_pool=[{"doc_name": ["A"], "doc_chunk": ["One."], "support": [1]}] * 2,
)  # fmt: skip
PARQUET_ROWS: Final = columns(
    question=["Where?", "Who?"], answer=["There.", None], gold_answers=[["There"], ["Ada"]],
    contexts=[["It is there."], []],
)  # fmt: skip
EXPERIMENT: Final = """\
# An experiment.
data: data
sample: {limit: 2, seed: 7, where: {domain: [places]}}
systems:
  bm25: {retriever: "bm25(k1=1.2)", generator: "callable(own.py:answer)"}
  other:
    retriever: {name: bm25, k1: [0.9, 1.2]}
    generator: {name: chat, model: m, base_url: "http://localhost:1/v1"}
settings: [none, gold, gold+noise(1), "retrieved(1)"]
metrics: [Match, EM, F1, "nDCG@1", R@3]
prices: prices.yaml
repeats: {answers: 2}
failures: exclude
"""
PRICES: Final = (
    "models:\n  m: {input: 1.0, output: 2}\n  a: &a {input: 0, output: 0}\n  b: *a\ncurrency: EUR\n"
)
OWN: Final = text("def answer(query, passages):\n    return query\n")
SCORES: Final = lines(
    *({"query_id": f"q{n}", "metric": m, "value": v, "status": "scored", "reason": ""}
      for n in (1, 2, 3, 4) for m, v in (("F1", n / 4), ("EM", n % 2))),
    {"query_id": "q5", "metric": "F1", "value": None, "status": "failed", "reason": "cut", "query":
     "Who?", "gold_answers": ["Ada"], "answer": "Ada", "passage_ids": ["p1"]},
    {"query_id": "q5", "metric": "EM", "value": None},
)  # fmt: skip
CLUSTERS: Final = table("q1\tc1\nq2\tc1\nq3\tc2\nq4\tc2\nq5\tc3")
ROWS: Final = table(
    "query_id,query,gold_answers,contexts,answer,system\nq1,Where?,Portugal,It is.,There,a\n"
    'q2,Who?,"[""Ada""]","[""One."", ""Two.""]",Ada,a\nq3,When?,1912,,In 1912.,a',
    ",",
)
RAGAS: Final = lines(
    {"user_input": "Where?", "retrieved_contexts": ["It is."], "response": "There.", "reference":
     "There"},
    {"user_input": "Who?", "retrieved_contexts": [], "response": "Ada.", "reference": "Ada"},
)  # fmt: skip


_REPLIES: Final[Mapping[str, Sequence[str]]] = json.loads(
    (Path(__file__).parents[1] / "judge_replies.json").read_text(encoding="utf-8")
)
VERDICTS: Final = (
    *("Rating: [[8]]", "8/10", "**8**", '{"reason": "It is.", "rating": 7}', "Verdict: [[yes]]"),
    *("1: yes\n2: no\n3: yes", "1. Paris is a city.\n2. It is in France.", "none", "Yes, because.",
      '```json\n{"verdict": "no", "reason": "a"}\n```', "<think>so</think>\nno", "はい", "否"),
    *('{"1": "yes", "2": false, "3": "no"}', '{"claims": ["a", "b"]}', "Final: 3 out of 10 claims"),
)  # fmt: skip
REPLIES: Final = tuple(
    text(one) for one in (*VERDICTS, *_REPLIES["ratings"][:20], *_REPLIES["words"][:20])
)
COMPLETION: Final = {
    "id": "c1", "object": "chat.completion", "created": 1_700_000_000, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "There.", "reasoning_content":
         "so"}, "finish_reason": "stop", "logprobs": {"content": [{"token": "There", "logprob": -1,
         "top_logprobs": [{"token": "There", "logprob": -0.1}, {"token": "No", "logprob": -3}]}]}}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
              "completion_tokens_details": {"reasoning_tokens": 1}},
}  # fmt: skip
MESSAGE: Final = {
    "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [{"type":
    "thinking", "thinking": "so"}, {"type": "text", "text": "There."}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 12, "output_tokens": 3},
}  # fmt: skip
REFUSAL: Final = {"error": {"message": "slow down", "type": "rate_limit", "code": "x"}}
_HEADERS: Final = [
    ["HTTP/1.1 200 OK"], ["Content-Type", "application/json"], ["x-ratelimit-remaining-requests",
    "5"], ["Retry-After", "1"], ["x-ratelimit-reset-requests", "1s"], ["Location", "http://a/b"],
]  # fmt: skip
HEAD: Final = Source("table", _HEADERS, ": ")
DATA: Final = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels.tsv": QRELS}


def _http(body: Any) -> Seed:
    return Seed({"head": HEAD, "body": tree(body)}, ("body", "body", "body", "head"), "http")


_IDS_AND_TEXTS: Final = table("q1\tWhere is Lisbon?\nq2\tIts river?\nq3\tWho?")
_TABLES: Final = tuple(
    Seed({"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, name: qrels}, (name,))
    for name, qrels in (("qrels.tsv", QRELS), ("qrels.txt", TREC_QRELS), ("qrels/test.tsv", QRELS))
)
SEEDS: Final[Mapping[str, tuple[Seed, ...]]] = {
    "queries": (
        Seed(DATA, ("queries.jsonl",)),
        Seed(DATA, ("queries.jsonl",)),
        Seed({**{k: v for k, v in DATA.items() if k != "queries.jsonl"}, "queries.tsv":
              _IDS_AND_TEXTS}, ("queries.tsv",)),
    ),
    "corpus": (
        Seed(DATA, ("corpus.jsonl",)),
        Seed({**{k: v for k, v in DATA.items() if k != "corpus.jsonl"}, "corpus.tsv":
              table("p1\tIn Portugal.\np2\tTagus.\np3\tAda.")}, ("corpus.tsv",)),
    ),
    "qrels": (
        *_TABLES,
        Seed({"run": RUN, "qrels": QRELS}, ("qrels",), "qrels", "qrels"),
        Seed({"run": RUN, "qrels": TREC_QRELS}, ("qrels",), "qrels", "qrels"),
        Seed({"run": RUN, "qrels": SUBTOPICS}, ("qrels",), "subtopics", "qrels"),
    ),
    "runs": (Seed({"run": RUN, "qrels": TREC_QRELS}, ("run",), "run", "run"),),
    "conversations": (Seed({"conversations.jsonl": CONVERSATIONS, "corpus.jsonl": CORPUS},
                           ("conversations.jsonl",)),),
    "answers": (Seed({**DATA, "answers.jsonl": ANSWERS}, ("answers.jsonl",), "answers",
                     "answers.jsonl"),),
    "SQuAD": (
        Seed({"dev.json": SQUAD}, ("dev.json",), "data", "dev.json"),
        Seed({"dev.json": SQUAD}, ("dev.json",)),
    ),
    "MIRAGE": (
        Seed(MIRAGE, tuple(MIRAGE)),
        Seed({"hub.jsonl": MIRAGE_HUB}, ("hub.jsonl",), "mirage", "hub.jsonl"),
    ),
    "mtRAG": (
        Seed(MTRAG, (*MTRAG, "tasks/mtrag_human_tasks.jsonl"), "mtrag"),
        Seed({"conversations/talks.jsonl": MTRAG_TALKS}, ("conversations/talks.jsonl",), "mtrag"),
        Seed({"talks.jsonl": MTRAG_TALKS}, ("talks.jsonl",), "mtrag", "talks.jsonl"),
        Seed({"a.json": tree(MTRAG_TALKS.content)}, ("a.json",), "mtrag", "a.json"),
        Seed({"sample.jsonl": MTRAG_SAMPLE}, ("sample.jsonl",), "mtrag", "sample.jsonl"),
    ),
    "Parquet": (
        Seed(PARQUET, tuple(PARQUET)),
        Seed({"hub.parquet": PARQUET_HUB}, ("hub.parquet",), "mirage", "hub.parquet"),
        Seed({"rows.parquet": PARQUET_ROWS}, ("rows.parquet",), "rows", "rows.parquet"),
        Seed({"rows.parquet": PARQUET_ROWS}, ("rows.parquet",), "data", "rows.parquet"),
    ),
    "YAML": tuple(
        Seed({**{f"data/{k}": v for k, v in DATA.items()}, "own.py": OWN, **files}, (target,),
             "yaml", "e.yaml")
        for target, files in (
            ("e.yaml", {"e.yaml": tree(yaml.safe_load(EXPERIMENT)), "prices.yaml": text(PRICES)}),
            ("e.yaml", {"e.yaml": text(EXPERIMENT), "prices.yaml": text(PRICES)}),
            ("prices.yaml", {"e.yaml": text(EXPERIMENT), "prices.yaml": text(PRICES)}),
        )
    ),
    "score files": (
        Seed({"a.jsonl": SCORES, "b.jsonl": SCORES}, ("a.jsonl",), "compare", "a.jsonl"),
        Seed({"a.jsonl": SCORES, "b.jsonl": SCORES, "clusters.tsv": CLUSTERS}, ("clusters.tsv",),
             "compare", "a.jsonl"),
    ),
    "rows and traces": (
        Seed({"rows.csv": ROWS}, ("rows.csv",), "rows", "rows.csv"),
        Seed({"rows.jsonl": RAGAS}, ("rows.jsonl",), "rows", "rows.jsonl"),
        Seed({"traces.jsonl": lines(TRACES)}, ("traces.jsonl",), "traces", "traces.jsonl"),
        Seed({"langfuse.jsonl": lines(*LANGFUSE)}, ("langfuse.jsonl",), "traces", "langfuse.jsonl"),
    ),
    "judge replies": tuple(Seed({"reply": one}, ("reply",), "judge", "reply") for one in REPLIES),
    "HTTP replies": tuple(map(_http, (COMPLETION, COMPLETION, MESSAGE, REFUSAL))),
    "OTLP": (
        *(Seed({name: tree(TRACES)}, (name,), "traces", name) for name in ("a.json", "b.jsonl")),
        *(Seed({"a.pb": Source("protobuf", TRACES)}, ("a.pb",), "traces", "a.pb"),) * 2,
        Seed({"genai.json": tree(GENAI)}, ("genai.json",), "traces", "genai.json"),
    ),
    "Langfuse": (
        Seed({"a.jsonl": lines(*LANGFUSE)}, ("a.jsonl",), "traces", "a.jsonl"),
        Seed({"a.json": tree(list(LANGFUSE))}, ("a.json",), "traces", "a.json"),
        Seed({"a.json": tree(LANGFUSE_TRACE)}, ("a.json",), "traces", "a.json"),
        Seed({"a.csv": table(LANGFUSE_TABLE, ",")}, ("a.csv",), "traces", "a.csv"),
    ),
    "history": (
        Seed({"a.json": tree(PASSPORT), "b.json": tree(LATER)}, ("a.json",), "history", "a.json"),
    ),
    "HTTP framing": tuple(
        Seed({"response": Source("frame", Frame(first, json.dumps(body).encode()))}, ("response",),
             "framing", "response")
        for first, body in (("HTTP/1.1 200 OK", COMPLETION), ("HTTP/1.1 200 OK", MESSAGE),
                            ("HTTP/1.1 429 slow", REFUSAL))
    ),
    "HTTP requests": tuple(
        Seed({name: Source("frame", Frame(f"{path} HTTP/1.1", body, headers))}, (name,), "requests",
             name)
        for name, path, body, headers in REQUESTS
    ),
}  # fmt: skip
"""Kind of input -> its seeds."""
