"""`ragstone show --after`: the results of older and newer queries side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import print_result, together
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.data.query_dates import QueryDates
    from ragstone.results.results import Results

after_options: Final[Callable[..., Any]] = together(
    click.option(
        "--after",
        metavar="DATE",
        help="Show the results of the queries up to a date, such as 2024-05, and after it.",
    ),
    click.option(
        "--date-label",
        default="",
        help="Label of queries, or of gold passages, with the date for --after (default: date).",
    ),
)


def print_after(
    results: Results, experiment: Path, overrides: Sequence[str], after: str, label: str
) -> None:
    """Print the results of the queries up to a date and after it."""
    from ragstone.data.query_dates import required_date
    from ragstone.results.by_date import date_table

    day = required_date(after, "--after")
    table = date_table(results, _dates(results, experiment, overrides, label), day)
    print_result(table.to_dict, table.table)


def _dates(results: Results, experiment: Path, overrides: Sequence[str], label: str) -> QueryDates:
    """Return the dates of the stored queries, or else of the gold passages of the data set."""
    from ragstone.data.load import load_dataset
    from ragstone.data.query_dates import label_dates, query_dates
    from ragstone.experiment.members import only_member, read_members

    try:
        return label_dates([*results.all_queries.values()], label, results.name)
    except DatasetError:
        members, folder = read_members(experiment, overrides)
        data = only_member(members, experiment).file.data
        return query_dates(load_dataset(data, folder=folder), label)
