"""`ragstone judge correlate`: correlations of metrics with a judge or with human ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ragstone.cli import options as cli
from ragstone.cli.judge_labels import (
    FORMER_RATING,
    labelled_answers,
    labels_option,
    rating_options,
)
from ragstone.errors import ConfigError, DatasetError, did_you_mean

if TYPE_CHECKING:
    from ragstone.evaluation.human_grades import HumanSet
    from ragstone.statistics.metric_correlations import Kind

Column = list[float | None]


class CorrelatedColumns(NamedTuple):
    """The columns to correlate, with one place per answer."""

    metrics: Mapping[str, Column]
    against: Mapping[str, Column]
    groups: Sequence[str]
    clusters: Sequence[str]
    raters: Sequence[Sequence[float]] = ()


@click.command(
    "correlate",
    cls=cli.AliasCommand,
    former={"--on": "--data", **cli.FORMER_CHART, **FORMER_RATING},
)
@click.argument("experiment", required=False, type=cli.FILE)
@click.option("--data", help="File or folder of answers graded by people, with stored metrics.")
@labels_option
@rating_options
@click.option("--against", help="Judge or metric with which the others are correlated.")
@click.option(
    "--by",
    help="Also correlate within each value of this label, `system` or factor of the data, such as "
    "`language`.",
)
@click.option(
    "--kind",
    type=click.Choice(["spearman", "pearson", "kendall"]),
    default="spearman",
    help="Correlation coefficient.",
)
@click.option("--balance", help="Weight answers so that each value of this metric counts the same.")
@cli.chart_option
@cli.json_option
def command(
    *,
    experiment: Path | None,
    data: str | None,
    labels: Path | None,
    against: str | None,
    by: str | None,
    kind: Kind,
    balance: str | None,
    chart: Path | None,
    **options: Any,
) -> None:
    """Correlate metrics with a judge or with people.

    Give an experiment file with --against or with people's ratings of its answers (--labels), or
    answers graded by people with --data. The data sets of a campaign are read together.

    \b
    Examples:
      ragstone judge correlate experiment.yaml --against equivalence
      ragstone judge correlate experiment.yaml --against RB_llm --by language --chart heat.svg
      ragstone judge correlate experiment.yaml --labels ratings.jsonl --property helpfulness
      ragstone judge correlate --data ../mtrag --property win-rate --by system
      ragstone judge correlate --data ../mtrag --property win-rate --balance RB_llm
    """
    from ragstone.results.charts.heat_map import correlation_chart
    from ragstone.results.charts.render import write_chart
    from ragstone.statistics import metric_correlations as statistics
    from ragstone.statistics.judge_quality import rater_correlation

    if bool(experiment) == bool(data) or (labels and (against or not experiment)):
        raise ConfigError(
            "give either an experiment file with --against or --labels, or graded answers with "
            "--data"
        )
    if labels is None and experiment:
        columns = _of_run(experiment, against or "", by)
    else:
        columns = _of_people(_graded(experiment, labels, data, options), options["rating"], by)
    weights = _weights(columns, balance) if balance else None
    rows = statistics.correlations(
        columns.metrics,
        columns.against,
        groups=columns.groups if by else None,
        kind=kind,
        weights=weights,
        clusters=columns.clusters,
    )
    if chart is not None:
        write_chart(correlation_chart(rows), chart)
    ceiling = rater_correlation(columns.raters) if columns.raters else None
    note = "" if ceiling is None else f"\none rater with the others: {ceiling:.2f}"
    cli.print_result(
        lambda: {"rows": rows, "ceiling": ceiling},
        lambda: f"{statistics.correlation_table(rows)}{note}",
    )


def _weights(columns: CorrelatedColumns, balance: str) -> list[float]:
    """Return weights with which each value of a metric counts the same."""
    from ragstone.statistics.metric_correlations import inverse_frequency

    known = {**columns.metrics, **columns.against}
    if balance not in known:
        raise ConfigError(f"--balance: no metric {balance!r}{did_you_mean(balance, known)}")
    return inverse_frequency([None if v is None else round(v, 2) for v in known[balance]])


def _graded(
    experiment: Path | None, labels: Path | None, data: str | None, options: dict[str, Any]
) -> HumanSet:
    from ragstone.evaluation.human_grades import read_human_set

    if experiment and labels:
        return labelled_answers(cli.load_results(experiment, ()), labels, **options)
    given = {key: value for key, value in options.items() if value}
    return read_human_set(data or "", **given)


def _of_people(graded: HumanSet, rating: str | None, by: str | None) -> CorrelatedColumns:
    if not graded.values:
        raise DatasetError(
            f"{graded.name} has no scores of metrics for the rated items; use ratings of an "
            "experiment's answers, mtrag or ragchecker"
        )
    return CorrelatedColumns(
        {name: list(column) for name, column in graded.values.items()},
        {rating or graded.question: [one.value for one in graded.items]},
        [
            one.system if by == "system" else str(one.item.query.labels.get(by or ""))
            for one in graded.items
        ],
        [one.cluster for one in graded.items],
        [one.raters for one in graded.items],
    )


def _of_run(experiment: Path, against: str, by: str | None) -> CorrelatedColumns:
    from ragstone.cli.judged_answers import KeptAnswers

    answers = KeptAnswers(cli.load_all_results(experiment, ()))
    if against not in answers.entries:
        wrong = f"--against {against!r}" if against else "--against is missing, or --labels"
        raise ConfigError(f"{wrong}{did_you_mean(against, answers.entries)}")
    columns = {name: answers.column(name) for name in answers.entries}
    groups = answers.groups(by) if by else []
    return CorrelatedColumns(columns, {against: columns.pop(against)}, groups, answers.clusters)
