"""The dates of queries: of the query itself, or of the passages that answer it.

A date that is not exact counts from its beginning: 2024 is 2024-01-01. So a query that is called
newer than a date is certainly newer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.text.dates import dates as dates_in

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.types import Query

DATE_LABELS: Final = (
    *("date", "created", "created_at", "published", "published_at", "publication_date"),
    *("date_published", "updated", "updated_at", "last_modified", "modified", "timestamp"),
)
"""Labels that have a date, the first that is present counts."""
UNDATED: Final = "neither the query nor a gold passage has a date"
_PARTIAL: Final = re.compile(r"\s*(\d{4})(?:-(\d\d?))?(?:-(\d\d?)(?:[T\s].*)?)?\s*", re.DOTALL)


@dataclass(frozen=True)
class QueryDates:
    """The dates of the queries of a data set."""

    label: str
    """The label that has the dates."""
    dates: Mapping[str, date]
    """Query id -> the newest date of the query and of its gold passages."""
    undated: Mapping[str, str]
    """Query id -> why it has no date."""

    def after(self, day: date) -> dict[str, bool]:
        """Return query id -> whether it is newer than a day, for queries with a date."""
        return {query_id: found > day for query_id, found in self.dates.items()}


def read_date(value: object) -> date | None:
    """Return the date of a label's value, or None if it is none.

    >>> read_date("2024-05-01T10:00:00Z"), read_date(2024), read_date("5 May 2024")
    (datetime.date(2024, 5, 1), datetime.date(2024, 1, 1), datetime.date(2024, 5, 5))
    >>> read_date("soon")
    """
    match = _PARTIAL.fullmatch(str(value))
    if match is None:
        return next(iter(dates_in(str(value))), None)
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def required_date(written: str, where: str) -> date:
    """Return the date that a user wrote; `ConfigError` names `where` if it is none."""
    found = read_date(written)
    if found is None:
        raise ConfigError(f"{where}: {written!r} is not a date; write it as 2024-05-01 or 2024-05")
    return found


def query_dates(dataset: Dataset, label: str = "") -> QueryDates:
    """Return the dates of the queries of a data set.

    Args:
        dataset: the data set.
        label: label of queries or passages that has the date; "" for the first of `DATE_LABELS`.

    Raises:
        DatasetError: no query and no gold passage has a date.
    """
    gold = {
        query_id: [p for p, grade in grades.items() if grade > 0 and p in dataset.corpus]
        for query_id, grades in dataset.qrels.items()
    }
    relevant = {passage_id for held in gold.values() for passage_id in held}
    passages = {p: dataset.corpus[p].labels for p in relevant}
    names = _names_of([*(q.labels for q in dataset.queries), *passages.values()])

    def values(query: Query, name: str) -> list[object]:
        held = (query.labels, *(passages[p] for p in gold.get(query.query_id, ())))
        return [labels[name] for labels in held if name in labels]

    return _dated(dataset.queries, values, label, names, dataset.name)


def label_dates(queries: Sequence[Query], label: str, source: str) -> QueryDates:
    """Return the dates of queries by their own labels alone; see `query_dates`."""

    def values(query: Query, name: str) -> list[object]:
        return [query.labels[name]] if name in query.labels else []

    return _dated(queries, values, label, _names_of(q.labels for q in queries), source)


def _dated(
    queries: Sequence[Query],
    values: Callable[[Query, str], list[object]],
    label: str,
    names: Sequence[str],
    source: str,
) -> QueryDates:
    for name in (label,) if label else DATE_LABELS:
        dates, undated = {}, {}
        for query in queries:
            written = values(query, name)
            found = [day for value in written if (day := read_date(value)) is not None]
            if found:
                dates[query.query_id] = max(found)
            else:
                undated[query.query_id] = f"{written[0]!r} is not a date" if written else UNDATED
        if dates:
            return QueryDates(name, dates, undated)
    if label:
        raise DatasetError(
            f"{source}: no query and no gold passage has a date in the label {label!r}"
            f"{did_you_mean(label, names)}; write dates as 2024-05-01"
        )
    raise DatasetError(
        f"{source}: no query and no gold passage has a date: none of the labels "
        f"{', '.join(DATE_LABELS)} has one. Name another label with --date-label, or add a field "
        'such as "date": "2024-05-01" to the lines of queries.jsonl or corpus.jsonl'
    )


def _names_of(listed: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for labels in listed for name in labels))
