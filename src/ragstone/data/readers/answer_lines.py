"""Answers in JSON lines of Ragstone's own form, one object per query.

    {"query_id": "q1", "answer": "In 1912.", "passage_ids": ["p7", "p2"]}

An `answer` of null, with a `reason`, is a failure. `setting` and `system` name the answer's source.
The module `reported` describes the other fields; `context` is another name of `contexts`, and
either may be one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.data.readers.answer_rows import SystemRows, recorded_context, with_passages_of_steps
from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.foreign_formats import format_of
from ragstone.data.readers.foreign_rows import item_text
from ragstone.data.readers.reported import read_reported
from ragstone.data.readers.rows import FieldError, Row, has_end, json_rows, row_error, show
from ragstone.data.readers.table_columns import NAMES
from ragstone.errors import DatasetError
from ragstone.types import Prediction

SCORED: Final = ("query_id", "answer", "context", "contexts", "setting", "reason")
"""Fields of `ragstone score`; a name close to one of them is an error."""

_ANSWER: Final = frozenset({"answer"})


def has_own_rows(path: Path) -> bool:
    """Return whether a file is JSON lines of this form; else it is a table."""
    if not has_end(path, ".jsonl"):
        return False
    _, first = next(iter(json_rows(path)), (0, Row()))
    has_ids = "query_id" in first or not first.keys() & set(NAMES["text"])
    has_answers = "answer" in first or not first.keys() & set(NAMES["answer"])
    return has_ids and has_answers and format_of([first]) is None


def read_answer_lines(
    path: Path, *, system: str = "", fields: tuple[str, ...] = ()
) -> dict[tuple[str, str], Prediction]:
    """Return (query_id, setting) -> prediction; the setting is "" if the line names none.

    Args:
        path: the file, plain or `.gz`.
        system: read only the lines of this system.
        fields: names of fields; another field with a name close to one of them is an error.

    Raises:
        DatasetError: a malformed line, no line at all, or two answers of one query and setting.
    """
    found: dict[tuple[str, str], Prediction] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, row in json_rows(path):
        if system and row.get("system") != system:
            continue
        try:
            check_names(row, fields)
            key, prediction = read_answer(row)
            _refuse_second(key[0], lines.get(key))
        except FieldError as error:
            raise row_error(path, number, error) from error
        found[key], lines[key] = prediction, number
    if not found:
        raise DatasetError(
            f'{path} contains no answers; each line is an object such as {{"query_id": "q1", '
            '"answer": "In 1912."}'
        )
    return found


def read_answers(path: Path, setting: str = "") -> SystemRows:
    """Return the answers of a file and their contexts, to be scored; the queries are elsewhere.

    Args:
        path: the file, plain or `.gz`.
        setting: read only the lines of this context setting.

    Raises:
        DatasetError: a malformed line, no line of the setting, or two answers for one query.
    """
    found = SystemRows()
    for (query_id, own), prediction in read_answer_lines(path, fields=SCORED).items():
        if setting not in ("", own):
            continue
        if query_id in found.predictions:
            raise DatasetError(
                f"{path}: query {show(query_id)} has answers of several settings; name one with "
                "--setting"
            )
        found.predictions[query_id] = with_passages_of_steps(prediction)
        if context := recorded_context(found.predictions[query_id]):
            found.contexts[query_id] = context
    if not found.predictions:
        raise DatasetError(f"{path} contains no answer of the setting {setting!r}")
    return found


def _refuse_second(query_id: str, line: int | None) -> None:
    if line is not None:
        raise FieldError(
            f"a second answer for query {show(query_id)} (the first is in line {line}); keep one "
            "of "
            "the two"
        )


def read_answer(row: Row) -> tuple[tuple[str, str], Prediction]:
    """Return the key and the prediction of a line; raise `FieldError` for a wrong field."""
    query_id = row.take_id("query_id")
    if row.keys() == _ANSWER and type(row["answer"]) is str:  # as most files have
        return (query_id, ""), Prediction(query_id, row["answer"])
    setting = row.take_text("setting", optional=True)
    failed = "answer" in row and row["answer"] is None
    shown = row.get("contexts", row.get("context"))
    if shown is not None:
        shown = [shown] if isinstance(shown, str) else shown
        row["contexts"] = list(map(_with_text, shown)) if isinstance(shown, list) else shown
    prediction = Prediction(
        query_id,
        None if failed else row.take_text("answer"),
        reason=str(row.get("reason") or "recorded as a failure") if failed else "",
        **read_reported(row),
    )
    return (query_id, setting), prediction


def _with_text(item: Any) -> Any:
    """Return a passage with the text that other tools write to a field such as `page_content`."""
    text = item_text(item)
    return {"text": text, **item} if isinstance(item, Mapping) and isinstance(text, str) else item
