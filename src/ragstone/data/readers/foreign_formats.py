"""The layouts of rows that other tools write: how each is recognised, and the roles of its columns.

A format is one entry of `FORMATS`. The names of its columns are paths: `inputs.question` is a field
of the object `inputs`, or a column with this name; `answer[].text` is a field of the items of a
list; `inputs.*` is the only other field of an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.data.readers import foreign_rows as rows
from ragstone.data.readers.foreign_rows import Numbered, has_path, value_at
from ragstone.data.readers.nuggets import ASSIGNMENTS, assigned_row
from ragstone.data.readers.rows import Row, reading
from ragstone.data.readers.table_columns import NAMES
from ragstone.data.readers.trec_rag import trec_row
from ragstone.errors import ConfigError, did_you_mean

PLAIN: Final = "plain"
"""Name of the format of a table that no other tool wrote."""


@dataclass(frozen=True)
class ForeignFormat:
    """The rows of another tool."""

    name: str
    needs: tuple[tuple[str, ...], ...]
    """A row of the format has one path of each group."""
    columns: Mapping[str, tuple[str, ...]]
    """Role -> usual names of its column, as of a plain table."""
    opened: tuple[str, ...] = ()
    """Columns whose objects are opened: the field `question` of `inputs` is `inputs.question`."""
    rows_at: tuple[str, ...] = ()
    """Paths of the list of rows in a JSON document."""
    labels: tuple[str, ...] | None = None
    """Beginnings of the names of columns that become labels; None: all other columns do."""
    prepare: Callable[[Row], Row] = rows.unchanged
    """Changes a row after its objects are opened."""
    gather: Callable[[Iterable[Numbered]], Iterator[Numbered]] = rows.one_by_one
    """Makes one row per answer of the rows of the file."""

    def read(self, found: Iterable[Numbered], source: Path) -> Iterator[Numbered]:
        """Yield the rows with opened objects, and without columns that are not labels.

        Raises:
            DatasetError: a row is malformed; with the source and the number of the row.
        """
        known = [name for names in self.columns.values() for name in names]
        with reading(source, self.name):
            for number, row in self.gather(map(rows.without_added, found)):
                with reading(source, number):
                    opened = self.prepare(rows.with_opened(row, self.opened))
                yield number, Row({n: v for n, v in opened.items() if self._keeps(n, known)})

    def _keeps(self, name: str, known: list[str]) -> bool:
        is_label = self.labels is None or name.startswith(self.labels)
        return is_label or any(rows.fits(name, one) for one in (*known, *rows.ADDED))


_IDS: Final = NAMES["query_id"]
_ASKED: Final = ("question", "query", "input", "user_input", "text", "messages", "*")
_ANSWERED: Final = ("answer", "output", "response", "result", "text", "content", "messages", "*")
_SHOWN: Final = ("contexts", "context", "documents", "source_documents", "retrieved_contexts")


def _within(name: str, fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}.{field}" for field in fields)


_PROMPTFOO: Final = {
    "text": _within("vars", _ASKED),
    "gold_answers": (*_within("vars", NAMES["gold_answers"]), "vars.expected", "asserted"),
    "contexts": (*_within("vars", _SHOWN), *_within("response.metadata", _SHOWN)),
    "answer": ("response.output", *_within("response.output", _ANSWERED[:-1])),
    "system": ("system",),
}

FORMATS: Final = (
    ForeignFormat(
        name="ragas",
        needs=(
            ("user_input",),
            ("response", "reference", "retrieved_contexts", "reference_contexts"),
        ),
        columns={
            "query_id": ("query_id",),
            "text": ("user_input",),
            "gold_answers": ("reference",),
            "context": ("reference_contexts",),
            "contexts": ("retrieved_contexts",),
            "passage_ids": ("retrieved_context_ids",),
            "answer": ("response",),
            "system": ("system",),
        },
        prepare=rows.ragas_row,
    ),
    ForeignFormat(
        name="ragas-0.1-test-set",
        needs=(("question",), ("evolution_type", "question_type"), ("episode_done",)),
        columns={
            "text": ("question",),
            "gold_answers": ("ground_truth", "answer"),
            "context": ("contexts", "context", "ground_truth_context"),
        },
        labels=("evolution_type", "question_type"),
    ),
    ForeignFormat(
        name="ragas-0.1",
        needs=(("question",), ("contexts",), ("ground_truth", "ground_truths")),
        columns={
            "query_id": _IDS,
            "text": ("question",),
            "gold_answers": ("ground_truth", "ground_truths"),
            "contexts": ("contexts",),
            "answer": ("answer",),
            "system": ("system",),
        },
    ),
    ForeignFormat(
        name="deepeval",
        needs=(
            ("input",),
            ("actual_output", "expected_output", "actualOutput", "expectedOutput"),
        ),
        columns={
            "text": ("input",),
            "gold_answers": ("expected_output", "expectedOutput"),
            "context": ("context",),
            "contexts": ("retrieval_context", "retrievalContext"),
            "answer": ("actual_output", "actualOutput"),
            "system": ("system",),
        },
        rows_at=("testRunData.testCases", "testCases", "test_cases", "goldens"),
        labels=("tags", "name", "comments"),
        prepare=rows.deepeval_row,
    ),
    ForeignFormat(
        name="promptfoo",
        needs=(("vars", "testCase.vars"), ("provider",), ("response", "error")),
        columns=_PROMPTFOO,
        opened=("vars", "response"),
        rows_at=("results.results", "results"),
        labels=("vars.",),
        prepare=rows.promptfoo_row,
        gather=rows.promptfoo_results,
    ),
    ForeignFormat(
        name="promptfoo-table",
        needs=(("Status",), ("Grader Reason",)),
        columns=_PROMPTFOO,
        labels=("vars.",),
        gather=rows.promptfoo_cells,
    ),
    ForeignFormat(
        name="langsmith-runs",
        needs=(
            ("inputs", "inputs.*"),
            (
                *("reference_outputs", "reference_outputs.*", "reference", "reference.*"),
                *("reference_example_id", "example_id", "run_type"),
            ),
        ),
        columns={
            "query_id": ("reference_example_id", "example_id"),
            "text": _within("inputs", _ASKED),
            "gold_answers": (
                *_within("reference_outputs", _ANSWERED),
                *_within("reference", _ANSWERED),
            ),
            "contexts": _within("outputs", _SHOWN),
            "answer": _within("outputs", _ANSWERED),
            "system": ("system", "session_name"),
        },
        opened=("inputs", "outputs", "reference_outputs", "reference"),
        labels=("metadata", "tags"),
        prepare=rows.langsmith_row,
    ),
    ForeignFormat(
        name="langsmith-examples",
        needs=(("inputs", "inputs.*"), ("outputs", "outputs.*")),
        columns={
            "query_id": ("id", "example_id"),
            "text": _within("inputs", _ASKED),
            "gold_answers": _within("outputs", _ANSWERED),
            "context": _within("inputs", _SHOWN),
        },
        opened=("inputs", "outputs"),
        labels=("metadata", "split"),
        prepare=rows.langsmith_row,
    ),
    ForeignFormat(
        name="langchain",
        needs=(
            tuple(
                f"{name}[].{field}"
                for name in ("context", "source_documents")
                for field in ("page_content", "kwargs.page_content")
            ),
        ),
        columns={
            "query_id": _IDS,
            "text": ("input", "question", "query"),
            "gold_answers": NAMES["gold_answers"],
            "contexts": ("context", "source_documents"),
            "answer": ("answer", "result"),
            "system": ("system",),
        },
        prepare=rows.langchain_row,
    ),
    ForeignFormat(
        name="llama-index",
        needs=(("query",), ("reference_answer",), ("reference_contexts", "query_by")),
        columns={
            "text": ("query",),
            "gold_answers": ("reference_answer",),
            "context": ("reference_contexts",),
        },
        rows_at=("examples",),
        labels=(),
    ),
    ForeignFormat(
        name="llama-index-responses",
        needs=(("source_nodes",), ("response",)),
        columns={
            "query_id": _IDS,
            "text": ("query", "question", "query_str"),
            "gold_answers": (*NAMES["gold_answers"], "reference_answer"),
            "contexts": ("source_nodes",),
            "answer": ("response",),
            "system": ("system",),
        },
        labels=(),
    ),
    ForeignFormat(
        name="llama-index-embedding-pairs",
        needs=(("queries",), ("corpus",), ("relevant_docs",)),
        columns={"query_id": ("query_id",), "text": ("text",), "context": ("context",)},
        labels=(),
        gather=rows.embedding_pairs,
    ),
    ForeignFormat(
        name="open-rag-eval",
        needs=(("query",), ("passage",), ("generated_answer",)),
        columns={
            "query_id": ("query_id",),
            "text": ("query",),
            "contexts": ("contexts",),
            "answer": ("generated_answer",),
            "system": ("system",),
        },
        gather=rows.answers_of_passages,
    ),
    ForeignFormat(
        name="trec-rag",
        needs=(("answer[].text",), ("references",), ("run_id", "metadata.run_id")),
        columns={
            "query_id": ("topic_id", *_within("metadata", ("topic_id", "narrative_id"))),
            "text": ("topic", *_within("metadata", ("topic", "narrative", "title"))),
            "contexts": ("segments",),
            "passage_ids": ("references",),
            "answer": ("answer",),
            "system": ("run_id", "metadata.run_id"),
        },
        opened=("metadata",),
        labels=(),
        prepare=trec_row,
    ),
    ForeignFormat(
        name="nuggetizer",
        needs=(("qid",), ("nuggets[].assignment",), ("answer_text",)),
        columns={
            "query_id": ("qid",),
            "text": ("query",),
            "answer": ("answer_text",),
            "system": ("run_id",),
        },
        labels=tuple(ASSIGNMENTS.values()),
        prepare=assigned_row,
    ),
)
"""The formats that are recognised; the first one that fits counts."""


def format_of(head: Iterable[Mapping[str, Any]], named: str = "") -> ForeignFormat | None:
    """Return the format of a file's first rows; None if they are those of a plain table.

    Args:
        head: the rows.
        named: name of the format, as the user wrote it; "" to recognise it.

    Raises:
        ConfigError: no format has this name.
    """
    if named:
        known = {one.name: one for one in FORMATS}
        if named not in known and named != PLAIN:
            names = (*known, PLAIN)
            raise ConfigError(
                f"format: unknown format {named!r}{did_you_mean(named, names)}; known are "
                f"{', '.join(names)}"
            )
        return known.get(named)
    seen = list(head)
    return next((one for one in FORMATS if _fits(one, seen)), None)


def _fits(one: ForeignFormat, head: list[Mapping[str, Any]]) -> bool:
    return all(any(has_path(row, path) for row in head for path in paths) for paths in one.needs)


def rows_in(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the rows in the JSON document of a format; None if it is of no format."""
    for one in FORMATS:
        for path in one.rows_at:
            found = value_at(document, path)
            if isinstance(found, list):
                head = [row for row in found[:1] if isinstance(row, Mapping)]
                if _fits(one, head):
                    return found
        if one.gather is rows.embedding_pairs and _fits(one, [document]):
            return [document]
    return None
