"""Options and output of the commands that build benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.model_calls import open_services
from ragstone.cli.options import FILE, POSITIVE, print_result, together
from ragstone.core.tables import TextTable

if TYPE_CHECKING:
    from ragstone.building.built import Built
    from ragstone.data.dataset import Dataset
    from ragstone.protocols import Services


@dataclass(frozen=True)
class Spending:
    """The limits of a build's model calls."""

    max_calls: int | None
    budget: float | None
    prices: Path | None

    @contextmanager
    def services(self, folder: Path) -> Iterator[Services]:
        """Yield the way to the models, with progress; replies are kept in the folder."""
        from ragstone.calls.prices import Budget, Prices

        table = Prices.read(self.prices) if self.prices else Prices()
        limited = self.max_calls is not None or self.budget is not None
        budget = Budget(self.budget, table, max_calls=self.max_calls) if limited else None
        with open_services(folder, prices=table, budget=budget) as services:
            yield services


_OPTIONS = together(
    click.option("--max-calls", type=POSITIVE, help="Maximum number of model calls."),
    click.option(
        "--budget",
        type=click.FloatRange(min=0, min_open=True),
        help="Maximum cost of the model calls; needs --prices.",
    ),
    click.option("--prices", type=FILE, help="YAML file with the prices of models."),
)


least_informed_option: Final = click.option(
    "--least-informed",
    type=click.FloatRange(-1, 1),
    default=0.5,
    help="Stop if the judge's Youden index on passages with known labels is lower.",
)


def spending_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the limits to a command, which takes them as one `Spending` called `spending`."""

    @wraps(command)
    def with_limits(
        *, max_calls: int | None, budget: float | None, prices: Path | None, **options: Any
    ) -> Any:
        return command(spending=Spending(max_calls, budget, prices), **options)

    return _OPTIONS(with_limits)


def data_origin(dataset: Dataset, source: str) -> dict[str, Any]:
    """Return the known facts about a source of a benchmark, such as its licence."""
    facts = dataset.source.origin()
    return {"name": dataset.name, "given": source, **{k: v for k, v in facts.items() if v}}


def print_built(built: Built, folder: Path) -> None:
    """Write a benchmark with its data card, and print its steps, its warnings and its files."""
    from ragstone.building.built import write_built

    files = write_built(built, folder)
    if built.dataset.query_table.num_rows:
        files += _card(folder)
    document = built.document(folder)
    print_result(lambda: document, lambda: "\n\n".join(_lines(document, files, folder)))


def _card(folder: Path) -> list[Path]:
    """Write the data card of a benchmark, with the licences of its sources."""
    from ragstone.building.card import Publication
    from ragstone.data.load import load_dataset

    publication = Publication(load_dataset(str(folder)))
    return publication.write(publication.facts(), None)


def _lines(document: dict[str, Any], files: list[Path], folder: Path) -> Iterator[str]:
    queries, passages = document["queries"], document["passages"]
    partial = document["partial"]
    yield f"{queries:,} queries and {passages:,} passages" + (
        f"; PARTIAL: {partial}" * bool(partial)
    )
    rows = [
        [one["stage"], f"{one['in']:,}", f"{one['out']:,}", _reasons(one["rejected"])]
        for one in document["stages"]
    ]
    yield str(TextTable(["step", "in", "out", "rejected"], rows))
    if metrics := document.get("metrics"):
        from ragstone.statistics.summary import Summary, summary_table

        yield str(summary_table([(name, Summary(**one)) for name, one in metrics.items()]))
    for title in ("failures", "asked_against_obtained", "shape", "real"):
        if found := document.get(title):
            yield f"{title.replace('_', ' ')}: {_counts(found)}"
    yield from document.get("warnings", ())
    yield f"{', '.join(path.name for path in files)} in {folder}"


def _counts(found: dict[str, Any]) -> str:
    """Return names with their numbers on one line; numbers within a name are in brackets."""
    return ", ".join(
        f"{name.replace('_', ' ')} "
        + (f"({_counts(one)})" if isinstance(one, dict) else "-" if one is None else f"{one:,}")
        for name, one in found.items()
    )


def _reasons(rejected: dict[str, int]) -> str:
    return ", ".join(f"{reason} ({count:,})" for reason, count in rejected.items())
