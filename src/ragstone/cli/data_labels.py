"""`ragstone data labels`, `label`, `worth`: the kinds of queries of a data set, and its worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import (
    calls_option,
    chart_option,
    json_option,
    load_results,
    print_json,
    text_table,
)
from ragstone.core import limits
from ragstone.results.wording import ABSENT, interval_text, mean_text

if TYPE_CHECKING:
    from ragstone.statistics.dataset_suitability import Worth
    from ragstone.statistics.paired import Difference
    from ragstone.statistics.summary import Summary


@click.command("labels")
@click.argument("sources", nargs=-1, required=True)
@click.option("--label", default="taxonomy", show_default=True, help="Label to count.")
@chart_option("Draw the shares into this file")
@json_option
def labels_command(
    sources: tuple[str, ...], label: str, chart: Path | None, *, as_json: bool
) -> None:
    """Show the distribution of a label over the queries of data sets, side by side.

    A SOURCE is a data set, or a file of labels by `ragstone data label` or an annotator.

    \b
    Examples:
      ragstone data labels sample
      ragstone data labels sample my-set --label answerability --chart composition.svg
      ragstone data labels my-set-labels.jsonl other-labels.jsonl
    """
    from ragstone.building.label_files import label_sets
    from ragstone.results.charts.means import composition_chart
    from ragstone.results.charts.render import write_chart
    from ragstone.statistics.label_agreement import composition

    sets = {source: label_sets(source, label) for source in sources}
    found = {source: composition(list(values.values())) for source, values in sets.items()}
    if chart:
        write_chart(composition_chart(label, found), chart)
    if as_json:
        print_json({s: {k: _plain(v) for k, v in rows.items()} for s, rows in found.items()})
        return
    names = sorted({name for rows in found.values() for name in rows})
    lines = [[name, *(_mean(rows.get(name)) for rows in found.values())] for name in names]
    lines.append(["queries", *(f"{len(values):,}" for values in sets.values())])
    click.echo(text_table([label, *sources], lines))
    if any(len(labels) > 1 for values in sets.values() for labels in values.values()):
        click.echo("\nShares of the queries; a query may have several labels.")


@click.command("label")
@click.argument("source")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE")
@click.option(
    "--taxonomy",
    "taxonomies",
    multiple=True,
    default=("know-your-rag",),
    show_default=True,
    help="Taxonomy by name or as a YAML file; may be repeated.",
)
@click.option("--model", default="local", show_default=True, help="Generator spec of the model.")
@click.option("--limit", type=int, help="Label a random sample of this many queries.")
@click.option("--seed", default=0, show_default=True, help="Seed of the sample.")
@click.option("--explain/--no-explain", default=True, help="Whether the model gives its reason.")
@calls_option
def label_command(  # noqa: PLR0917 - click passes every option
    source: str,
    output: Path,
    taxonomies: tuple[str, ...],
    model: str,
    limit: int | None,
    seed: int,
    calls: Path,
    *,
    explain: bool,
) -> None:
    """Label the queries of a data set, with their gold passages, by a model and by taxonomies.

    If interrupted, run the same command again to resume. A query has one label, or a list if the
    taxonomy allows several.

    \b
    Examples:
      ragstone data label sample -o labels.jsonl --limit 30
      ragstone data label my-set -o types.jsonl --taxonomy mtrag-question-types
      ragstone data label my-set -o both.jsonl --taxonomy know-your-rag --taxonomy my-kinds.yaml
      ragstone data label my-set -o labels.jsonl --model "chat(model=my-model)"
    """
    import orjson

    from ragstone.building.label_files import written
    from ragstone.building.labels import Labeller, gold_items
    from ragstone.calls.client import Calls
    from ragstone.data.load import load_dataset
    from ragstone.protocols import Services

    tokens = limits.EXPLAINED_LABEL_TOKENS if explain else limits.LABEL_TOKENS
    labellers = [
        Labeller(model=model, taxonomy=taxonomy, explain=explain, max_tokens=tokens)
        for taxonomy in taxonomies
    ]
    dataset = load_dataset(source)
    items = gold_items(dataset.sample(limit, seed) if limit else dataset)
    if limit and limit > len(items):
        click.echo(
            f"the data set has {len(items):,} queries, fewer than {limit:,}: all are labelled"
        )
    with Calls.at(calls) as opened:
        services = Services(calls=opened)
        found = {each.taxonomy_name: each.verdicts(items, services) for each in labellers}
    output.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in written(found)))
    for name, verdicts in found.items():
        failed = sum(v.status == "failed" for v in verdicts)
        left_out = sum(v.status == "not_applicable" for v in verdicts)
        click.echo(
            f"{name}: {len(verdicts) - failed - left_out:,} queries labelled, {failed:,} failed, "
            f"{left_out:,} without passage: {output}"
        )


@click.command("worth")
@click.argument("experiments", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--metric", help="Metric to compare (default: the experiment's correctness metric).")
@json_option
def worth_command(experiments: tuple[Path, ...], metric: str | None, *, as_json: bool) -> None:
    """Report which data sets are worth using, from the results of experiments on them.

    Compares answers without context, with gold context and with retrieved context: the gain from
    context, and the model's knowledge without it. Each EXPERIMENT must have run the setting `none`.

    \b
    Example:
      ragstone data worth nq.yaml mirage.yaml
    """
    found = [row for path in experiments for row in _worth_rows(path, metric)]
    if as_json:
        print_json(found)
        return
    head = ["data", "system", "metric", "n", "no context", "gold", "gain", "retrieved", "gain"]
    click.echo(text_table([*head, "known", "advice"], [_worth_line(row) for row in found]))
    for row in found:
        click.echo(f"\n{row.dataset}, {row.system}: {row.advice}; {row.reason}.")


def _worth_rows(path: Path, metric: str | None) -> list[Worth]:
    from ragstone.errors import ConfigError
    from ragstone.statistics.dataset_suitability import worth

    results = load_results(path, ())
    name = metric or results.record.correctness_metric
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    for trial in results.trials:
        if name not in trial.scores:
            known = ", ".join(trial.scores) or "none"
            raise ConfigError(f"{path} has no metric {name!r}; it has: {known}")
        values = {i: score.value for i, score in trial.scores[name].items()}
        scores.setdefault(trial.system, {})[trial.setting] = values
    data = str(results.record.data.name)
    return [
        worth(data, system, name, by_setting, clusters=results.clusters)
        for system, by_setting in scores.items()
    ]


def _worth_line(row: Worth) -> list[str]:
    best = max(row.retrieved.items(), key=lambda pair: pair[1].mean or 0.0, default=None)
    found = ["-", "-"]
    if best is not None:
        found = [f"{best[0]} {_mean(best[1])}", _gain(row.retrieval_gain.get(best[0]))]
    gold = [_mean(row.gold), _gain(row.gold_gain)]
    cells = [row.dataset, row.system, row.metric, f"{row.closed_book.n:,}", _mean(row.closed_book)]
    return [*cells, *gold, *found, _mean(row.known), row.advice]


def _gain(gain: Difference | None) -> str:
    return "-" if gain is None else f"{gain.difference:+.3f}{interval_text(gain.interval)}"


def _mean(summary: Summary | None) -> str:
    return ABSENT if summary is None else mean_text(summary)


def _plain(summary: Summary) -> Mapping[str, Any]:
    return {"share": summary.mean, "n": summary.n, "interval": summary.interval}
