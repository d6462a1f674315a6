"""Answers from a file: a system can be measured without running it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.fingerprint import digest_file, fingerprint
from ragstone.core.registry import locate
from ragstone.data.readers.answer_lines import has_own_rows, read_answer_lines
from ragstone.data.readers.answer_rows import SystemRows, query_id_of, read_answer_rows
from ragstone.data.readers.rows import json_rows
from ragstone.data.readers.table_columns import tell
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

    Any other table of answers is read as by `ragstone score` (docs/data.md): CSV, Parquet, rows of
    ragas and of other tools. A row without an id answers the query with its text.

    Args:
        path: path of the file; searched for beside the experiment file first.
        system: read only the rows of this system, which a column names.
        columns: role -> column of a table, if the name of the column does not show its role.
        format: name of the tool that wrote the table, such as ragas; "" to recognise it.
    """

    # All but the path are part of the revision.
    path: Path = field(metadata=NOT_IN_CACHE_KEY)
    system: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    columns: Mapping[str, str] = field(default_factory=dict, metadata=NOT_IN_CACHE_KEY)
    format: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    may_retrieve = True

    def __post_init__(self) -> None:
        """Find the file, or raise `ConfigError`."""
        object.__setattr__(self, "path", locate(Path(self.path)))
        if not self.path.is_file():
            raise ConfigError(f"recorded answers: no file {self.path}")

    @cached_property
    def content_revision(self) -> str:
        """SHA-256 of the file, and of the parameters that select its rows and columns."""
        digest = digest_file(self.path)
        chosen = [self.system, dict(self.columns), self.format]
        return fingerprint([digest, *chosen]) if any(chosen) else digest

    @property
    def _has_own_rows(self) -> bool:
        return not self.columns and not self.format and has_own_rows(self.path)

    @cached_property
    def _table(self) -> SystemRows:
        """The rows of the system in a table that is not JSON lines of the form above."""
        table = read_answer_rows(self.path, self.columns, format_name=self.format)
        if note := table.columns.note(self.path, in_file=True):
            tell(note, self.path.absolute())
        if not self.system and len(table.systems) > 1:
            raise ConfigError(
                f"{self.path} has the answers of {', '.join(map(repr, table.systems))}; name one "
                f"with system: {next(iter(table.systems))}"
            )
        return table.of(self.system or next(iter(table.systems)))

    @cached_property
    def answers(self) -> Mapping[tuple[str, str], Prediction]:
        """(query_id, setting) -> prediction; the setting is "" if the line names none."""
        if not self._has_own_rows:
            return {(query_id, ""): p for query_id, p in self._table.predictions.items()}
        return read_answer_lines(self.path, system=self.system)

    @cached_property
    def _by_text(self) -> Mapping[str, Prediction]:
        """Text of a query -> prediction, of the rows of a table that have no id."""
        if self._has_own_rows:
            return {}
        return {
            query.text: self._table.predictions[query.query_id]
            for query in self._table.queries
            if query.query_id == query_id_of(query.text)
        }

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
        own = self.answers.get((query_id, task.context.setting)) or self.answers.get((query_id, ""))
        if own is None and (same := self._by_text.get(task.query.text)) is not None:
            return dataclasses.replace(same, query_id=query_id)
        return own


def systems_in(path: Path) -> list[str]:
    """Return the systems in a file of answers; [""] if no column names them."""
    if has_own_rows(path):
        return list(dict.fromkeys(str(row.get("system") or "") for _, row in json_rows(path)))
    return list(read_answer_rows(path).systems)
