"""Answers from a file: a system can be measured without running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragstone.components.generators.own_reply import read_confidence, read_sources, read_usage
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.fingerprint import digest_file
from ragstone.core.registry import locate
from ragstone.data.readers.reported_steps import read_steps
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading
from ragstone.errors import ConfigError, DatasetError
from ragstone.protocols import Generator, Services
from ragstone.types import Prediction, Task


@dataclass(frozen=True)
class Recorded(Generator):
    """Answers from a file of JSON lines, plain or `.gz`, one object per query.

        {"query_id": "q1", "answer": "In 1912.", "passage_ids": ["p7", "p2"]}

    The other fields of a reply (docs/calls.md), such as `contexts` and `usage`, are read if the
    line has them. `setting` restricts a line to one context setting. An `answer` of null, with a
    `reason`, is a failure of the system. A query without a line is a failure too. Other fields are
    ignored.

    Args:
        path: path of the file; searched for beside the experiment file first.
    """

    path: Path = field(metadata=NOT_IN_CACHE_KEY)
    may_retrieve = True

    def __post_init__(self) -> None:
        """Find the file, or raise `ConfigError`."""
        object.__setattr__(self, "path", locate(Path(self.path)))
        if not self.path.is_file():
            raise ConfigError(f"recorded answers: no file {self.path}")

    @cached_property
    def content_revision(self) -> str:
        """SHA-256 of the file."""
        return digest_file(self.path)

    @cached_property
    def answers(self) -> Mapping[tuple[str, str], Prediction]:
        """(query_id, setting) -> prediction; the setting is "" if the line names none."""
        found: dict[tuple[str, str], Prediction] = {}
        lines: dict[tuple[str, str], int] = {}
        for number, row in json_rows(self.path):
            with reading(self.path, number):
                key, prediction = _read(row)
                if key in found:
                    raise FieldError(
                        f"a second answer for query {key[0]!r} (the first is in line "
                        f"{lines[key]}); keep one of the two"
                    )
            found[key], lines[key] = prediction, number
        if not found:
            raise DatasetError(f"{self.path}: no answers; expected one JSON object per line")
        return found

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Yield one prediction per task, in order.

        Raises:
            DatasetError: a line of the file is malformed, or no task has an answer.
        """
        if tasks and not any(self._find(task) for task in tasks):
            known = next(iter(self.answers))[0]
            raise DatasetError(
                f"{self.path} answers none of the {len(tasks)} queries; its ids look like "
                f"{known!r}, the data set's like {tasks[0].query.query_id!r}"
            )
        reason = f"no answer recorded in {self.path.name}"
        for task in tasks:
            found = self._find(task) or Prediction(task.query.query_id, None, reason)
            yield Outcome(found, found.reason, retry=found.answer is None)

    def _find(self, task: Task) -> Prediction | None:
        query_id = task.query.query_id
        own = self.answers.get((query_id, task.context.setting))
        return own or self.answers.get((query_id, ""))


def _read(row: Row) -> tuple[tuple[str, str], Prediction]:
    """Return the key and the prediction of a line; raise `FieldError` for a wrong field."""
    query_id = row.take_id("query_id")
    setting = row.take_text("setting", optional=True)
    failed = "answer" in row and row["answer"] is None
    sources = read_sources(row)
    prediction = Prediction(
        query_id,
        None if failed else row.take_text("answer"),
        reason=str(row.get("reason") or "recorded as a failure") if failed else "",
        passage_ids=sources.passage_ids,
        contexts=sources.contexts,
        confidence=read_confidence(row),
        steps=read_steps(row),
        **read_usage(row),
    )
    return (query_id, setting), prediction
