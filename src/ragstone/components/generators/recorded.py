"""Answers that a system gave earlier, from a file: any system can be measured without it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import orjson

from ragstone.calls.client import Calls
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import digest_file
from ragstone.core.registry import locate
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Prediction, Task


@dataclass(frozen=True)
class Recorded:
    """Answers from a file of JSON lines (`.gz` too), one object a query.

        {"query_id": "q1", "answer": "In 1912.", "passage_ids": ["p7", "p2"]}

    `passage_ids` (or `passages`, a list of ids or of objects with `passage_id`) says what the
    system retrieved, where it is known; `setting` restricts a line to one context setting; an
    `answer` of null with a `reason` is a failure of the system. A query without a line becomes a
    failure that says so. Other fields are left alone.

    Args:
        path: the file.
    """

    path: Path = field(metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1
    may_retrieve: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Find the file, beside the experiment file first, and check that it is there."""
        object.__setattr__(self, "path", locate(Path(self.path)))
        if not Path(self.path).is_file():
            raise ConfigError(f"recorded answers: no file {self.path}")

    @cached_property
    def revision(self) -> str:
        """SHA-256 of the file."""
        return digest_file(Path(self.path))

    @cached_property
    def answers(self) -> Mapping[tuple[str, str], Prediction]:
        """(query_id, setting) -> prediction; the setting is empty where a line names none."""
        found: dict[tuple[str, str], tuple[int, Prediction]] = {}
        for number, row in _rows(Path(self.path)):
            key, prediction = _read(row, f"{self.path}, line {number}")
            if key in found:
                raise DatasetError(
                    f"{self.path}, line {number}: a second answer for query {key[0]!r} (the first "
                    f"is in line {found[key][0]}); keep one of the two"
                )
            found[key] = (number, prediction)
        if not found:
            raise DatasetError(f"{self.path}: no answers; one JSON object a line is expected")
        return {key: prediction for key, (_, prediction) in found.items()}

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order; a query without an answer is a failure."""
        if tasks and not any(self._find(task) for task in tasks):
            known = next(iter(self.answers))[0]
            raise DatasetError(
                f"{self.path} answers none of the {len(tasks)} queries; its ids look like "
                f"{known!r}, the data set's like {tasks[0].query.query_id!r}"
            )
        for task in tasks:
            yield self._find(task) or Prediction(
                task.query.query_id, None, reason=f"no answer recorded in {Path(self.path).name}"
            )

    def _find(self, task: Task) -> Prediction | None:
        query_id = task.query.query_id
        own = self.answers.get((query_id, task.context.setting))
        return own or self.answers.get((query_id, ""))


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield line numbers and objects; blank lines are passed over."""
    raw = path.read_bytes()
    try:
        text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError) as error:
        raise DatasetError(f"{path}: not a whole gzip file: {error}") from error
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DatasetError(f"{path}, line {number}: not JSON: {error}") from error


def _read(row: Any, where: str) -> tuple[tuple[str, str], Prediction]:
    if not isinstance(row, dict):
        raise DatasetError(f"{where}: expected an object with query_id and answer, found {row!r}")
    query_id, answer = row.get("query_id"), row.get("answer")
    if not isinstance(query_id, str) or not query_id:
        raise DatasetError(f"{where}: 'query_id' must be text, found {query_id!r}")
    if answer is not None and not isinstance(answer, str):
        raise DatasetError(f"{where}: 'answer' must be text or null, found {answer!r}")
    if answer is None and "answer" not in row:
        raise DatasetError(f"{where}: no 'answer'; the fields are {', '.join(sorted(row))}")
    prediction = Prediction(
        query_id,
        answer,
        reason="" if answer is not None else str(row.get("reason") or "recorded as a failure"),
        tokens_in=_number(row, "tokens_in", int, where),
        tokens_out=_number(row, "tokens_out", int, where),
        seconds=_number(row, "seconds", float, where),
        cost=_number(row, "cost", float, where),
        passage_ids=_passage_ids(row, where),
    )
    return (query_id, str(row.get("setting") or "")), prediction


def _number(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DatasetError(f"{where}: {name!r} must be a number, found {value!r}")
    return kind(value)


def _passage_ids(row: Mapping[str, Any], where: str) -> tuple[str, ...] | None:
    listed = row.get("passage_ids", row.get("passages"))
    if listed is None:
        return None
    if isinstance(listed, list):
        ids = [item.get("passage_id") if isinstance(item, dict) else item for item in listed]
        texts = tuple(item for item in ids if isinstance(item, str))
        if len(texts) == len(ids):
            return texts
    raise DatasetError(
        f"{where}: 'passage_ids' must be a list of ids, or 'passages' a list of objects with "
        f"'passage_id'; found {listed!r}"
    )
