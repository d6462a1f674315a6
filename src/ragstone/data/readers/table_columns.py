"""The meaning of a table's columns: named by the user, or guessed from usual names."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from ragstone.data.readers.rows import Row
from ragstone.errors import ConfigError, did_you_mean

_LOG: Final = logging.getLogger(__name__)
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "query_id": ("query_id", "_id", "id", "qid", "question_id"),
    "text": ("query", "question", "user_input", "text", "input", "query_text"),
    "gold_answers": (
        "gold_answers",
        "gold_answer",
        "answers",
        "reference",
        "references",
        "ground_truth",
        "ground_truths",
        "expected_answer",
        "expected_output",
        "reference_answer",
    ),
    "contexts": ("contexts", "context", "retrieved_contexts", "retrieval_context"),
    "passage_ids": ("passage_ids", "retrieved_context_ids"),
    "steps": ("steps",),
    "answer": ("answer", "response", "actual_output", "generated_answer", "prediction"),
    "system": ("system",),
}
"""Role -> usual names of its column, in lower case, Ragstone's own first."""


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table by their role."""

    of: Mapping[str, str]
    """Role -> column."""
    guessed: Mapping[str, str]
    """Role -> column, if neither the user nor Ragstone's own name decides."""
    format: str = ""
    """The tool that writes such rows; "" for a plain table."""
    is_format_guessed: bool = False

    def named(self, row: Mapping[str, object]) -> Row:
        """Return a row with the names of roles; other columns keep their names."""
        roles = {column: role for role, column in self.of.items()}
        return Row({roles.get(column, column): value for column, value in row.items()})

    def note(self, path: Path, *, in_file: bool = False) -> str:
        """Return the guesses, and how to pin them; "" if nothing was guessed.

        Args:
            path: the file.
            in_file: pin it in an experiment file, and not with options.
        """
        if not self.guessed and not self.is_format_guessed:
            return ""
        listed = ", ".join(f"{role}={column}" for role, column in self.guessed.items())
        told = [
            f"the format is {self.format}" if self.is_format_guessed else "",
            f"the columns were guessed: {listed}" if listed else "",
        ]
        return f"{path.name}: {'; '.join(filter(None, told))}; pin {self._pins(in_file)}"

    def _pins(self, in_file: bool) -> str:
        named = self.format if self.is_format_guessed else ""
        if in_file:
            columns = ", ".join(f"{role}: {column}" for role, column in self.guessed.items())
            parts = [f"format: {named}" if named else "", f"columns: {{{columns}}}" * bool(columns)]
            return f"it beside the path, {{path: ..., {', '.join(filter(None, parts))}}}"
        columns = ",".join(f"{role}={column}" for role, column in self.guessed.items())
        parts = [f"--format {named}" if named else "", f"--columns {shlex.quote(columns)}"]
        return f"it with {' '.join(filter(None, parts[: 1 + bool(columns)]))}"


@lru_cache(maxsize=256)
def tell(note: str, _path: Path) -> None:
    """Log the guesses about a file, once per process: several steps read the same file."""
    _LOG.warning("%s", note)


def find_columns(
    names: Collection[str],
    given: Mapping[str, str | None],
    where: Path,
    usual: Mapping[str, tuple[str, ...]] = NAMES,
) -> TableColumns:
    """Return the column of each role that a table has.

    Args:
        names: the columns of the table.
        given: role -> column, as the user wrote it; None if no column has the role.
        where: the file, for errors.
        usual: role -> usual names of its column.

    Raises:
        ConfigError: an unknown role or column, or two columns that may have one role.
    """
    for role, column in given.items():
        if role not in usual:
            raise ConfigError(f"columns: unknown role {role!r}{did_you_mean(role, usual)}")
        if column is not None and column not in names:
            hint = did_you_mean(column, names)
            raise ConfigError(f"columns: {where} has no column {column!r} for {role}{hint}")
    found, guessed = {role: name for role, name in given.items() if name}, dict[str, str]()
    for role, fitting in _candidates(names, given, usual):
        if len(fitting) > 1:
            pins = " or ".join(f"{role}={name}" for name in fitting)
            raise ConfigError(
                f"{where}: the columns {' and '.join(map(repr, fitting))} may both be {role}; name "
                f"one with --columns {pins} (in an experiment file, columns: "
                f"{{{role}: {fitting[0]}}})"
            )
        found[role] = fitting[0]
        if fitting[0] != NAMES.get(role, (role,))[0]:
            guessed[role] = fitting[0]
    return TableColumns(found, guessed)


def _candidates(
    names: Collection[str], given: Mapping[str, str | None], usual: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each role that is not given, with the columns that may have it.

    The only other field of an object, `inputs.*`, counts if no column has one of the usual names.
    """
    free = [name for name in names if name not in given.values()]
    exact = {
        role: [name for name in free if {name, _plain(name)} & set(candidates)]
        for role, candidates in usual.items()
        if role not in given
    }
    used = {name for fitting in exact.values() for name in fitting}
    for role, fitting in exact.items():
        whole = tuple(one[:-1] for one in usual[role] if one.endswith(".*"))
        others = [name for name in free if name.startswith(whole) and name not in used]
        if fitting or others:
            yield role, fitting or others


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def parse_columns(written: str) -> dict[str, str]:
    """Return role -> column of `role=column,role=column`.

    >>> parse_columns("text=question,gold_answers=ground_truth")
    {'text': 'question', 'gold_answers': 'ground_truth'}

    Raises:
        ConfigError: a part has another form.
    """
    return dict(_pairs(written))


def _pairs(written: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, written.split(",")):
        role, equals, column = part.partition("=")
        if not equals or not column.strip():
            raise ConfigError(
                f"columns: {part!r} is not of the form ROLE=COLUMN; the roles are "
                f"{', '.join(NAMES)}"
            )
        # `query` is Ragstone's own name of the column of texts.
        yield "text" if role.strip() == "query" else role.strip(), column.strip()
