"""Rows of received traces: listed, filtered, and made into a data set.

A trace is converted when its rows are asked for, and again if more of its spans arrived since.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, get_args

import orjson

from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.readers.traces.conversion import TraceConverter
from ragstone.data.readers.traces.received import ReceivedSpans
from ragstone.data.readers.traces.span import TraceSpan
from ragstone.errors import ConfigError, DatasetError

Outcome: TypeAlias = Literal["answered", "unanswered", "no-row"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_OUTCOMES: Final = {
    "answered": "row IS NOT NULL AND answer IS NOT NULL",
    "unanswered": "row IS NOT NULL AND answer IS NULL",
    "no-row": "row IS NULL",
}
_NANOSECONDS: Final = 1e9


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Which rows are wanted; "" accepts all.

    Args:
        text: part of the query, the answer, the reason or the trace's id, in any case.
        system: name of the service.
        outcome: `answered`, `unanswered`, or `no-row` for traces that make no row.
        since: earliest start, as a date or a time in ISO's form.
        until: first start that is too late, in the same form.
    """

    text: str = ""
    system: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""

    def condition(self) -> tuple[str, list[Any]]:
        """Return the condition in SQL, and its values.

        Raises:
            ConfigError: a value has a form that is not known.
        """
        parts, values = ["1"], list[Any]()
        if self.text:
            escaped = self.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            columns = ("query", "answer", "reason", "trace_id")
            likes = [f"{name} LIKE ? ESCAPE '\\'" for name in columns]
            parts.append(f"({' OR '.join(likes)})")
            values += [f"%{escaped}%"] * len(columns)
        if self.system:
            parts.append("system = ?")
            values.append(self.system)
        if self.outcome:
            if self.outcome not in _OUTCOMES:
                raise ConfigError(
                    f"the outcome {self.outcome!r} is not known; "
                    f"choose one of {', '.join(OUTCOMES)}"
                )
            parts.append(_OUTCOMES[self.outcome])
        for name, sign in (("since", ">="), ("until", "<")):
            if written := getattr(self, name):
                parts.append(f"start {sign} ?")
                values.append(_nanoseconds(name, written))
        return " AND ".join(parts), values

    def query(self) -> dict[str, str]:
        """Return the fields that are set, as parameters of an address."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name))}


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A query of a trace, or a trace that makes no row."""

    trace_id: str
    number: int
    """Number of the query in its trace, from 1; 0 if the trace makes no row."""
    system: str
    query: str
    answer: str | None
    reason: str
    """Why there is no answer, or no row."""
    start: int
    """Time in nanoseconds since 1970."""
    seconds: float
    spans: int


class ReceivedRows:
    """The rows of received traces.

    Args:
        received: their spans.
    """

    def __init__(self, received: ReceivedSpans) -> None:
        self.received = received

    def counts(self) -> dict[str, int]:
        """Return the numbers of spans and traces that are kept."""
        found = self.received.select(
            "SELECT (SELECT count(*) FROM spans), (SELECT count(*) FROM traces)"
        )
        spans, traces = found[0] if found else (0, 0)
        return {"spans": spans, "traces": traces}

    def systems(self) -> list[str]:
        """Return the names of the services, sorted."""
        self.convert()
        return [s for (s,) in self.received.select("SELECT DISTINCT system FROM found ORDER BY 1")]

    def count(self, wanted: TraceFilter) -> int:
        """Return the number of rows that a filter accepts."""
        self.convert()
        condition, values = wanted.condition()
        found = self.received.select(f"SELECT count(*) FROM found WHERE {condition}", values)  # noqa: S608 - values are parameters
        return int(found[0][0]) if found else 0

    def listed(self, wanted: TraceFilter, offset: int, number: int) -> list[FoundTrace]:
        """Return some of the rows that a filter accepts, the latest first."""
        self.convert()
        condition, values = wanted.condition()
        names = ", ".join(f.name for f in fields(FoundTrace))
        statement = (
            f"SELECT {names} FROM found WHERE {condition} "  # noqa: S608 - values are parameters
            "ORDER BY start DESC, trace_id, number LIMIT ? OFFSET ?"
        )
        return [
            FoundTrace(*row) for row in self.received.select(statement, [*values, number, offset])
        ]

    def rows(self, wanted: TraceFilter) -> Iterator[dict[str, Any]]:
        """Yield the rows that a filter accepts, by time, as for `ragstone traces convert`."""
        self.convert()
        condition, values = wanted.condition()
        namer = TraceConverter(())
        found = self.received.select(
            f"SELECT row FROM found WHERE row IS NOT NULL AND {condition} "  # noqa: S608 - values are parameters
            "ORDER BY start, trace_id, number",
            values,
        )
        for (row,) in found:
            yield namer.named(orjson.loads(row))

    def convert(self) -> None:
        """Convert the traces of which spans arrived since they were last converted."""
        statement = "SELECT trace_id FROM traces WHERE is_read = 0"
        unread = [trace_id for (trace_id,) in self.received.select(statement)]
        for start in range(0, len(unread), limits.MAX_KEYS_PER_QUERY):
            part = unread[start : start + limits.MAX_KEYS_PER_QUERY]
            with self.received.changing() as connection:
                for trace_id in part:
                    rows = self._converted(trace_id)
                    connection.execute("DELETE FROM found WHERE trace_id = ?", (trace_id,))
                    connection.executemany(
                        "INSERT INTO found VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
                    )
                    connection.execute(
                        "UPDATE traces SET is_read = 1 WHERE trace_id = ?", (trace_id,)
                    )

    def _converted(self, trace_id: str) -> list[tuple[Any, ...]]:
        """Return the rows of the table `found` for a trace."""
        size = self.received.size(trace_id)
        spans = self.received.spans(trace_id)
        start = min((span.start for span in spans), default=0)
        system = next((span.system for span in spans if span.system), "")
        seconds = _seconds(spans)
        if size > limits.MAX_TRACE_SPANS:
            reason = f"the trace has more than {limits.MAX_TRACE_SPANS:,} spans, the maximum"
            return [(trace_id, 0, system, "", None, reason, start, seconds, size, None)]
        converter = TraceConverter(())
        rows = list(converter.rows_of(spans))
        if not rows:
            reason = next(iter(converter.found.without_row), "")
            return [(trace_id, 0, system, "", None, reason, start, seconds, size, None)]
        return [
            (
                *(trace_id, number, row.get("system", ""), row["query"], row["answer"]),
                *(row.get("reason", ""), start, row["usage"].get("seconds", 0.0), size),
                orjson.dumps(row),
            )
            for number, row in enumerate(rows, start=1)
        ]


def traced_dataset(rows: Iterator[dict[str, Any]], name: str) -> Dataset:
    """Return the data set of the queries of some rows, and of the passages that they retrieved.

    A query that was asked several times is one query. It has no gold answer, because an answer of
    a system is none.

    Raises:
        DatasetError: there is no row.
    """
    queries, passages = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
    for row in rows:
        query_id = row["query_id"].partition("#")[0]
        labels = {name: row[name] for name in ("system", "trace_id") if row.get(name)}
        queries.setdefault(query_id, {"query_id": query_id, "text": row["query"], **labels})
        for passage in (one for step in row.get("steps", ()) for one in step["passages"]):
            if passage.get("id") and passage.get("text"):
                known = {"passage_id": passage["id"], "text": passage["text"]}
                passages.setdefault(passage["id"], known)
    if not queries:
        raise DatasetError("no trace of this view makes a row; choose other filters")
    return Dataset.from_records(queries=queries.values(), passages=passages.values(), name=name)


def _seconds(spans: list[TraceSpan]) -> float:
    if not spans:
        return 0.0
    return max(0.0, (max(s.end for s in spans) - min(s.start for s in spans)) / _NANOSECONDS)


def _nanoseconds(name: str, written: str) -> int:
    try:
        moment = dt.datetime.fromisoformat(written)
    except ValueError as error:
        raise ConfigError(
            f"{name} must be a date or a time such as 2026-11-23 or 2026-11-23T10:00, "
            f"found {written!r}"
        ) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return int(moment.timestamp() * _NANOSECONDS)
