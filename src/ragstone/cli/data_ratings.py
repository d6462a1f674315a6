"""`ragstone data ratings`: agreement of people who rated, their means by system, correlations."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from ragstone.cli.joined_options import joined_filters, where_option
from ragstone.cli.judge_labels import scale_option
from ragstone.cli.options import json_option, print_result
from ragstone.errors import ConfigError


@click.command("ratings")
@click.argument("sources", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME",
    help="Show only this property; may be repeated.",
)
@click.option("--data", metavar="DATA", help="Data set of the rated queries, for their labels.")
@click.option(
    "--by", metavar="LABEL", help="Repeat the tables for each value of this label or `rater`."
)
@where_option
@click.option(
    "--all",
    "all_of",
    metavar="NAME,...",
    help="Properties whose harmonic mean by each rater is shown as All (default: faithfulness, "
    "appropriateness, naturalness and completeness, if they are rated).",
)
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
@scale_option
@click.option(
    "--balance",
    metavar="METRIC",
    default="",
    help="Metric whose values all count the same in weighted correlations (default: the ratings).",
)
@click.option("--seed", default=0, help="Seed of the resampled intervals.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE.html",
    help="Also write the tables and charts to this page.",
)
@json_option
def ratings_command(
    *,
    sources: tuple[str, ...],
    properties: tuple[str, ...],
    data: str | None,
    where: tuple[str, ...],
    all_of: str | None,
    combine: Literal["median", "mean"],
    level: Literal["interval", "ordinal"],
    page: Path | None,
    **options: Any,
) -> None:
    """Show how far people's ratings agree, and the mean of each system by property.

    Each FILE has people's ratings as JSON lines, or is a file or folder in a published layout:
    truthfulqa, ragchecker, begin, nq_open or mtrag (any file of InspectorRAGet). It is known by
    its fields; LAYOUT:FILE names the layout. Pairs of answers give win rates. Metrics that a file
    stores are correlated with its ratings. Intervals are 95 % over conversations or queries.

    \b
    Examples:
      ragstone data ratings ann.jsonl ben.jsonl --data my-set --by kind
      ragstone data ratings mtrag:evaluations.json.gz --where answerability=answerable
      ragstone data ratings ragchecker:labels.json.gz --html ratings.html
    """
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.rated_layouts import read_rated
    from ragstone.data.readers.rated_set import joined_sets
    from ragstone.evaluation.rated_data import chosen_by, with_dataset
    from ragstone.results.ratings_page import write_ratings
    from ragstone.results.ratings_report import make_ratings

    names = tuple(filter(None, (name.strip() for name in (all_of or "").split(","))))
    if page is not None and page.suffix.lower() not in {".html", ".htm"}:
        raise ConfigError(f"--html {page}: the page is an .html file")
    rated = joined_sets([read_rated(one) for one in sources])
    if data is not None:
        rated = with_dataset(rated, load_dataset(data))
    filters = joined_filters(where, ())
    rated = chosen_by(rated.only((*properties, *names) if properties else ()), filters)
    given: dict[str, Any] = {"combine": combine, "level": level, "where": filters, "all_of": names}
    found = make_ratings(rated, **given, **options)
    if page is not None:
        write_ratings(found, page)
    print_result(found.to_dict, lambda: found)
