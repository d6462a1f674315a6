"""`ragstone data ratings`: agreement of people who rated, and their means by system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.core.tables import TextTable
from ragstone.results.wording import interval_text, number

if TYPE_CHECKING:
    from ragstone.evaluation.rated_properties import RatedProperty

Properties = Mapping[str, "RatedProperty"]


@click.command("ratings")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--combine",
    type=click.Choice(["median", "mean"]),
    default="median",
    help="How the values of several raters for an answer become one.",
)
@click.option(
    "--level",
    type=click.Choice(["interval", "ordinal"]),
    default="interval",
    help="Level of measurement of numbers, for alpha; texts are nominal.",
)
@click.option("--seed", default=0, help="Seed of the resampled intervals.")
@json_option
def ratings_command(
    files: tuple[Path, ...],
    combine: Literal["median", "mean"],
    level: Literal["interval", "ordinal"],
    seed: int,
) -> None:
    """Show how far people's ratings agree, and the mean of each system by property.

    Each FILE has people's ratings as JSON lines (docs/judges.md), or is a file of InspectorRAGet,
    such as mtRAG's human evaluations. Pairs of answers give win rates. Intervals are 95 % over
    queries.

    \b
    Examples:
      ragstone data ratings ann.jsonl ben.jsonl
      ragstone data ratings reference_subset_with_human_evaluations.json.gz --json
    """
    from ragstone.evaluation.rated_properties import rated_properties, read_rating_files

    found = rated_properties(read_rating_files(files), combine=combine, level=level, seed=seed)
    print_result(lambda: {"properties": _document(found)}, lambda: _text(found))


def _document(found: Properties) -> dict[str, Any]:
    return {
        name: {
            "n": of.n,
            "raters": list(of.raters),
            "level": of.level,
            "alpha": of.alpha.value,
            "alpha_interval": of.alpha.interval,
            "pairwise": [
                {"a": one.a, "b": one.b, "kappa": one.kappa.value, "n": one.kappa.n}
                for one in of.pairwise
            ],
            "absolute": of.absolute.mean,
            "absolute_or_high": of.high.mean if of.high else None,
            "systems": {
                system: {"mean": one.mean, "interval": one.interval, "n": one.n}
                for system, one in of.systems.items()
            },
        }
        for name, of in found.items()
    }


def _text(found: Properties) -> str:
    agreement = [
        [
            *(name, of.n, len(of.raters), of.level),
            f"{number(of.alpha.value)}{interval_text(of.alpha.interval)}",
            number(of.absolute.mean),
            number(of.high.mean) if of.high else "-",
        ]
        for name, of in found.items()
    ]
    headers = ["property", "items", "raters", "level", "alpha", "equal", "equal or high"]
    tables = [TextTable(headers, agreement, "Agreement of the raters")]
    means = [
        [name, system, one.n, f"{number(one.mean)}{interval_text(one.interval)}"]
        for name, of in found.items()
        for system, one in of.systems.items()
    ]
    if means:
        headers = ["property", "system", "n", "mean"]
        tables.append(TextTable(headers, means, "Systems (mean or win rate, 95 % interval)"))
    pairs = [
        [name, one.a, one.b, one.kappa.n, number(one.kappa.value)]
        for name, of in found.items()
        for one in of.pairwise
    ]
    if pairs:
        headers = ["property", "rater", "rater", "n", "kappa"]
        tables.append(TextTable(headers, pairs, "Pairs of raters (Cohen's kappa)"))
    return "\n\n".join(map(str, tables))
