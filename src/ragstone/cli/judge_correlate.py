"""`ragstone judge correlate`: correlations of metrics with a judge or with human ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import chart_option, json_option, print_json

if TYPE_CHECKING:
    from ragstone.results.results import Results

Column = list[float | None]


@dataclass(frozen=True)
class Columns:
    """The columns to correlate, with one place per answer."""

    metrics: Mapping[str, Column]
    against: Mapping[str, Column]
    groups: Sequence[str]
    clusters: Sequence[str]
    raters: Sequence[Sequence[float]] = ()


@click.command(
    "correlate",
    epilog="""\b
Examples:
  ragstone judge correlate experiment.yaml --against equivalence
  ragstone judge correlate experiment.yaml --against RB_llm --by kind --chart heat.svg
  ragstone judge correlate --on ../mtrag --rating win-rate --by system
  ragstone judge correlate --on ../mtrag --rating win-rate --balance RB_llm
""",
)
@click.argument("experiment", required=False, type=click.Path(path_type=Path))
@click.option("--on", "data", default="", help="Folder of graded answers with stored metrics.")
@click.option("--rating", default="", help="Human rating of mtrag.")
@click.option("--against", default="", help="Judge or metric with which the others are correlated.")
@click.option("--by", default="", help="One row per value of this label, or of `system`.")
@click.option(
    "--kind",
    type=click.Choice(["spearman", "pearson", "kendall"]),
    default="spearman",
    show_default=True,
    help="Correlation coefficient.",
)
@click.option("--balance", default="", help="Metric whose values all get the same total weight.")
@chart_option("Draw the heat map into this file")
@json_option
def command(
    *,
    experiment: Path | None,
    data: str,
    rating: str,
    against: str,
    by: str,
    kind: str,
    balance: str,
    chart: Path | None,
    as_json: bool,
) -> None:
    """Correlate every metric with a judge of EXPERIMENT, or with people's grades."""
    from ragstone.errors import ConfigError, did_you_mean
    from ragstone.results.charts.heat_map import correlation_chart
    from ragstone.results.charts.render import write_chart
    from ragstone.statistics.judge_quality import rater_correlation
    from ragstone.statistics.metric_correlations import (
        correlation_table,
        correlations,
        inverse_frequency,
    )

    if (experiment is None) == (not data):
        raise ConfigError("give an experiment file, or graded answers with --on")
    columns = _of_people(data, rating, by) if data else _of_run(experiment or Path(), against, by)
    weights = None
    if balance:
        known = {**columns.metrics, **columns.against}
        if balance not in known:
            raise ConfigError(f"--balance {balance!r}{did_you_mean(balance, known)}")
        weights = inverse_frequency(
            [None if value is None else round(value, 2) for value in known[balance]]
        )
    rows = correlations(
        columns.metrics,
        columns.against,
        groups=columns.groups if by else None,
        kind=kind,  # type: ignore[arg-type]  # click has checked it
        weights=weights,
        clusters=columns.clusters,
    )
    ceiling = rater_correlation(columns.raters) if columns.raters else None
    if chart is not None:
        write_chart(correlation_chart(rows), chart)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows], "ceiling": ceiling})
        return
    click.echo(correlation_table(rows))
    if ceiling is not None:
        click.echo(f"one rater with the others: {ceiling:.2f}")


def _of_people(data: str, rating: str, by: str) -> Columns:
    from ragstone.errors import DatasetError
    from ragstone.evaluation.human_grades import read_human_set

    graded = read_human_set(data, **({"rating": rating} if rating else {}))
    if not graded.values:
        raise DatasetError(f"{graded.name} has no scores of metrics; mtrag and ragchecker do")
    return Columns(
        {name: list(column) for name, column in graded.values.items()},
        {rating or graded.question: [one.value for one in graded.items]},
        [
            one.system if by == "system" else str(one.item.query.labels.get(by))
            for one in graded.items
        ],
        [one.cluster for one in graded.items],
        [one.raters for one in graded.items],
    )


def _of_run(experiment: Path, against: str, by: str) -> Columns:
    from ragstone.errors import ConfigError, did_you_mean
    from ragstone.experiment.experiment import load_experiment
    from ragstone.results.results import Results

    loaded = load_experiment(experiment)
    results = Results.load(loaded.store, loaded.file.name)
    names = list(dict.fromkeys(name for trial in results.trials for name in trial.scores))
    if against not in names:
        raise ConfigError(f"--against {against!r}{did_you_mean(against, names)}")
    return _columns(results, names, against, by)


def _columns(results: Results, names: Sequence[str], against: str, by: str) -> Columns:
    found: dict[str, Column] = {name: [] for name in names}
    groups, clusters = [], []
    for trial in results.trials:
        for query_id in trial.predictions:
            labels = results.queries[query_id].labels
            groups.append(trial.system if by == "system" else str(labels.get(by)))
            clusters.append(results.clusters[query_id])
            for name in names:
                score = trial.scores.get(name, {}).get(query_id)
                found[name].append(None if score is None else score.value)
    others = {name: column for name, column in found.items() if name != against}
    return Columns(others, {against: found[against]}, groups, clusters)
