"""Reading the files of `ragstone score`: answers and gold answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.core.schemas import labels_from_json
from ragstone.data.readers.answer_rows import take_texts
from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.record_rows import QUERY_FIELDS
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Context, ContextPassage, Prediction, Query

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANSWER_FIELDS: Final = ("query_id", "answer", "context", "contexts", "setting", "reason")


@dataclass
class Answers:
    """The answers of one file, by query, and their contexts if the file contains them."""

    predictions: dict[str, Prediction] = field(default_factory=dict)
    contexts: dict[str, Context] = field(default_factory=dict)


def read_answers(path: Path, setting: str = "") -> Answers:
    """Return the answers of a JSON lines file.

    Each line has the fields `query_id` and `answer` (text, or null for a failure with its
    `reason`), and optionally `context` or `contexts` (the texts shown to the generator, or objects
    with `text`) and `setting`.

    Args:
        path: the file, plain or gzip.
        setting: read only the lines of this context setting.

    Raises:
        DatasetError: a malformed line, no line at all, or two answers for one query.
    """
    found = Answers()
    for number, row in _lines(path, setting):
        with reading(path, number):
            check_names(row, _ANSWER_FIELDS)
            prediction = _prediction(row)
            if prediction.query_id in found.predictions:
                raise FieldError(
                    f"query {prediction.query_id!r} has a second answer; keep one, or name one "
                    "context setting with --setting"
                )
            found.predictions[prediction.query_id] = prediction
            texts = take_texts(row, "contexts" if "contexts" in row else "context")
            if texts is not None:
                found.contexts[prediction.query_id] = _context(prediction.query_id, texts)
    if not found.predictions:
        only = f" of the setting {setting!r}" if setting else ""
        raise DatasetError(
            f'{path} contains no answer{only}; each line is an object such as {{"query_id": "q1", '
            '"answer": "In 1912."}'
        )
    return found


def _lines(path: Path, setting: str) -> Iterator[tuple[int, Row]]:
    for number, row in json_rows(path):
        if not setting or row.get("setting") == setting:
            yield number, row


def _prediction(row: Row) -> Prediction:
    query_id = row.take_id("query_id")
    if "answer" not in row:
        raise FieldError("the field 'answer' is missing; write null if the system failed")
    answer, reason = row["answer"], row.get("reason")
    if answer is not None and not isinstance(answer, str):
        raise FieldError(f"the field 'answer' must be text or null, found {answer!r}")
    why = "" if answer is not None else str(reason or "recorded as a failure, without a reason")
    return Prediction(query_id, answer, why)


def _context(query_id: str, texts: list[str]) -> Context:
    passages = [ContextPassage(str(i), text, "retrieved") for i, text in enumerate(texts, 1)]
    return Context(query_id, "recorded", tuple(passages))


def read_gold(path: Path) -> list[Query]:
    """Return the queries of a data set's folder, of a table of questions, or of JSON lines.

    Each line of JSON lines has the field `_id`, and optionally `answers`, `text` and labels.

    Raises:
        DatasetError: a malformed line, no line at all, or a query listed twice.
    """
    if path.is_dir() or path.name.removesuffix(".gz").endswith((".csv", ".tsv", ".parquet")):
        from ragstone.data.load import load_dataset

        return load_dataset(path).queries
    found: dict[str, Query] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            query = _query(row)
            if found.setdefault(query.query_id, query) is not query:
                raise FieldError(f"query {query.query_id!r} occurs twice; keep one of the two")
    if not found:
        raise ConfigError(
            f"--gold {path} contains no query; each line is an object such as "
            '{"_id": "q1", "answers": ["1912"]}'
        )
    return list(found.values())


def _query(row: Row) -> Query:
    check_names(row, QUERY_FIELDS)
    query_id, answers = row.take_id(), row.take_texts("answers")
    text = row.take_text("text", optional=True)
    for name in ("history", "rewrite"):
        row.pop(name, None)
    return Query(query_id, text, tuple(answers or ()), labels=labels_from_json(row.take_labels()))
