"""Planted faults: a data set and a fake model that make each kind of mistake on chosen queries.

The pipeline is real: BM25 over written passages, reranking and compression by a model, judges. The
model is a `FakeModelServer` that knows which mistake belongs to which query. So each wrong answer
has a cause that is known beforehand, and the causes that are found can be counted.

    with FakeFaults(Path("faults"), per_cause=20) as faults:
        results = load_experiment(faults.file).run()
        faults.planted  # query id -> cause
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ragstone.causes.order import CAUSES
from ragstone.testing.fake_model_server import FakeModelServer, Messages

FAULTS: Final[tuple[str, ...]] = tuple(cause.name for cause in CAUSES)
"""The causes that can be planted: all."""
RIGHT: Final = "right"
_WITHOUT_GOLD: Final = frozenset({"missed_refusal", "undecided", "insufficient_context"})
_NOTES: Final = 6
_SUBJECT: Final = re.compile(r"\bzor\d+[ab]\b")
_REFUSAL: Final = "I don't know."


@dataclass(frozen=True, slots=True)
class _Planted:
    """A query about an invented festival, with the mistake that is made on it."""

    number: int
    fault: str
    variant: int
    """Counts the queries with this fault: some faults have two forms."""

    @property
    def query_id(self) -> str:
        return f"{self.fault}-{self.variant}"

    @property
    def subject(self) -> str:
        return f"zor{self.number}a"

    @property
    def alias(self) -> str:
        """A name of the same festival that no passage has."""
        return f"zor{self.number}b"

    @property
    def year(self) -> str:
        return str(1000 + self.number)

    @property
    def wrong_year(self) -> str:
        return str(5000 + self.number)

    def query(self) -> dict[str, Any]:
        """Return the query as a row of a data set."""
        question = f"When did the {self.subject} festival begin?"
        asked = f"{self.alias} beginnings?" if self.fault == "query_rewriting" else question
        gold = f"{self.year} with music" if self.fault == "incomplete" else self.year
        is_unanswerable = self.fault == "missed_refusal"
        facts = [f"It began in {self.year}.", "It began with music."]
        return {
            "_id": self.query_id,
            "text": asked,
            "answers": [gold],
            "rewrite": question,
            "answerability": "unanswerable" if is_unanswerable else "answerable",
            **({"vital_nuggets": facts} if self.fault == "incomplete" else {}),
        }

    def passages(self) -> Iterator[dict[str, Any]]:
        """Yield the gold passage, and others about the same festival."""
        of, gold = self.query_id, {"_id": f"{self.query_id}-gold", "text": self._gold()}
        yield {**gold, "document": f"{of}-whole" if self.fault == "chunk_border" else f"{of}-gold"}
        for n in range(_NOTES):
            yield {"_id": f"{of}-{n}", "text": self._note(n), "document": f"{of}-{n}"}
        if self.fault == "chunk_border":
            begins = f"The {self.subject} festival began in the year"
            yield {"_id": f"{of}-begins", "text": begins, "document": f"{of}-whole"}

    def _gold(self) -> str:
        if self.fault in {"retrieval_miss", "chunk_border"}:
            return f"{self.year}, as old records of this event say."
        if self.fault == "ranking":
            filling = " ".join(f"word{n}" for n in range(25))
            return f"{self.subject}: {filling} {self.year}."
        if self.fault == "label_suspect" and self.variant % 2:
            return f"The {self.subject} festival began long ago."
        music = " with music" if self.fault == "incomplete" else ""
        return f"The {self.subject} festival began in {self.year}{music}."

    def _note(self, n: int) -> str:
        misleads = self.fault == "distraction" or (
            self.fault == "label_suspect" and not self.variant % 2
        )
        if misleads and not n:
            return f"The {self.subject} festival began in {self.wrong_year}, some say."
        return f"The {self.subject} festival had {n + 2} boats, visitors, stalls and a parade."


@dataclass
class FakeFaults:
    """An experiment whose systems make known mistakes: a context manager while its model answers.

    Args:
        folder: an empty or missing folder; the place of data set, experiment and store.
        per_cause: queries per cause, and as many that are answered rightly.
        faults: the causes that are planted; by default all.
        settings: the context settings of the experiment. The trials that decide the causes are
            asked by `ragstone show --causes --decide`.
    """

    folder: Path
    per_cause: int = 20
    faults: Sequence[str] = FAULTS
    settings: Sequence[str] = ("retrieved(3)",)
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the experiment file in place of those written here."""

    def __post_init__(self) -> None:
        """Number the queries."""
        kinds = [(kind, n) for kind in (*self.faults, RIGHT) for n in range(self.per_cause)]
        self._queries = [_Planted(at, *kind) for at, kind in enumerate(kinds)]
        self._by_name = {name: q for q in self._queries for name in (q.subject, q.alias)}
        self._server = FakeModelServer(self.reply, fault_of=self.error)
        self._running = False

    @property
    def planted(self) -> dict[str, str]:
        """Query id -> the cause that is planted; without the queries that are answered rightly."""
        return {q.query_id: q.fault for q in self._queries if q.fault != RIGHT}

    @property
    def file(self) -> Path:
        """The experiment file; its system is `faulty`, and `second` has another generator."""
        return self.folder / "faults.yaml"

    def __enter__(self) -> Self:
        """Start the model and write the data set and the experiment."""
        self._server.__enter__()
        self._running = True
        (self.folder / "set" / "qrels").mkdir(parents=True, exist_ok=True)
        _write_lines(self.folder / "set/queries.jsonl", (q.query() for q in self._queries))
        _write_lines(
            self.folder / "set/corpus.jsonl", (p for q in self._queries for p in q.passages())
        )
        grades = ((q.query_id, int(q.fault not in _WITHOUT_GOLD)) for q in self._queries)
        judged = "".join(f"{name}\t{name}-gold\t{grade}\n" for name, grade in grades)
        (self.folder / "set/qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
        self.file.write_text(json.dumps(self._document(), indent=1))
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Stop the model, if it still answers."""
        self.stop()

    def stop(self) -> None:
        """Stop the model."""
        if self._running:
            self._server.__exit__(None, None, None)
            self._running = False

    def _document(self) -> dict[str, Any]:
        model = {"name": "chat", "model": "planted", "base_url": self._server.url}
        search = {
            "retriever": {"name": "bm25", "top_k": 20},
            "reranker": {
                "name": "llm-pointwise",
                "model": model,
                "depth": 20,
                "top_k": 20,
                "logprobs": 0,
            },
            "processor": {"name": "compression", "model": model},
        }
        user = "Festivals\n{context}\n\nQuestion: {query}"
        second = {**model, "model": "second", "user": f"Second {user}"}
        return {
            "data": "set",
            "store": str(self.folder / "store"),
            "systems": {
                "faulty": {**search, "generator": {**model, "user": user}},
                "second": {**search, "generator": second},
            },
            "settings": list(self.settings),
            "metrics": ["Match", "refusal"],
            "correct": "Match",
            "judges": [
                {"name": "sufficient-context", "model": model},
                {"name": "nuggets", "model": model},
            ],
            **self.changes,
        }

    def error(self, messages: Messages) -> str:
        """Return "400" for `messages` whose planted fault is a failure, else "ok"."""
        text = messages[-1]["content"]
        is_answer = text.startswith("Festivals")
        return "400" if is_answer and self._asked(text).fault == "failure" else "ok"

    def _asked(self, text: str) -> _Planted:
        """Return the query of a prompt."""
        found = _SUBJECT.search(text.rpartition("uestion")[2]) or _SUBJECT.search(text)
        return self._by_name[found[0] if found else ""]

    def reply(self, messages: Messages) -> str:
        """Return the fake model's reply to the prompt of `messages`."""
        text = messages[-1]["content"]
        planted = self._asked(text)
        if "Reply Yes or No" in text:
            return self._relevant(planted, text)
        if "What helps to answer" in text:
            return self._shortened(planted, text)
        if "Are the passages enough" in text:
            return "no" if planted.fault == "insufficient_context" else "yes"
        if "support (wholly" in text:
            return "1. support\n2. none"
        return self._answer(planted, text)

    def _relevant(self, planted: _Planted, text: str) -> str:
        """Find passages with the year relevant, unless the fault is in the ranking."""
        is_gold = planted.year in text or planted.wrong_year in text
        if planted.fault == "reranking":
            return "No." if is_gold else "Yes."
        return "Yes."

    def _shortened(self, planted: _Planted, text: str) -> str:
        """Keep a passage, unless the fault is in the processor: then cut it or its year."""
        if planted.fault == "processing" and planted.year in text:
            return "NOTHING" if planted.variant % 2 else "It began."
        return text

    def _answer(self, planted: _Planted, text: str) -> str:
        """Answer from the passages, or make the planted mistake."""
        context = text.rpartition("Question:")[0]
        has_context = "festival" in context or planted.year in context
        wrong = f"in {planted.wrong_year}"
        right = f"in {planted.year}"
        read = right if planted.year in context else wrong
        misled = wrong if planted.wrong_year in context else read
        if planted.fault == "label_suspect":
            return wrong
        if text.startswith("Second"):
            return right
        answers = {
            "distraction": misled,
            "reading": wrong,
            "incomplete": planted.year,
            "knowledge_conflict": wrong if has_context else right,
            "missed_refusal": wrong,
            "false_refusal": _REFUSAL,
            "undecided": wrong,
            "insufficient_context": wrong,
        }
        return answers.get(planted.fault, read)


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
