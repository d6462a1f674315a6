"""`ragstone data label`, `label-stats` and `suitability`: labels of queries, advice on data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli import options as cli
from ragstone.core import limits
from ragstone.core.tables import TextTable
from ragstone.results.wording import ABSENT, interval_text, mean_text

if TYPE_CHECKING:
    from ragstone.statistics.answer_baselines import AnswerBaselines
    from ragstone.statistics.dataset_suitability import Worth
    from ragstone.statistics.paired import Difference
    from ragstone.statistics.summary import Summary


@click.command("label-stats", cls=cli.AliasCommand, former=cli.FORMER_CHART)
@click.argument("sources", nargs=-1, required=True)
@click.option("--label", default="taxonomy", help="Label to count.")
@cli.chart_option
@cli.json_option
def label_stats_command(sources: tuple[str, ...], label: str, chart: Path | None) -> None:
    """Show the shares of a label in data sets.

    A SOURCE is a data set, or a file of labels by `ragstone data label` or an annotator.

    \b
    Examples:
      ragstone data label-stats sample
      ragstone data label-stats sample my-set --label answerability --chart composition.svg
      ragstone data label-stats my-set-labels.jsonl other-labels.jsonl
    """
    from ragstone.building.label_files import label_sets
    from ragstone.results.charts.means import composition_chart
    from ragstone.results.charts.render import write_chart
    from ragstone.statistics.label_agreement import composition

    sets = {source: label_sets(source, label) for source in sources}
    found = {source: composition(list(values.values())) for source, values in sets.items()}
    if chart:
        write_chart(composition_chart(label, found), chart)
    names = sorted({name for rows in found.values() for name in rows})
    lines = [[name, *(_mean(rows.get(name)) for rows in found.values())] for name in names]
    lines.append(["queries", *(f"{len(values):,}" for values in sets.values())])
    several = any(len(labels) > 1 for values in sets.values() for labels in values.values())
    note = ["\nShares of the queries; a query may have several labels."] if several else []
    shares = {
        source: {k: {"share": v.mean, "n": v.n, "interval": v.interval} for k, v in rows.items()}
        for source, rows in found.items()
    }
    cli.print_result(
        lambda: shares,
        lambda: TextTable([label, *sources], lines, below=note),
    )


@click.command("label")
@cli.query_options
@click.option(
    "--taxonomy",
    "taxonomies",
    multiple=True,
    default=("know-your-rag",),
    help="Taxonomy by name or as a YAML file; may be repeated.",
)
@click.option("--explain/--no-explain", default=True, help="Let the model give a reason first.")
def label_command(
    *,
    source: str,
    output: Path,
    taxonomies: tuple[str, ...],
    model: str,
    limit: int | None,
    seed: int,
    calls: Path,
    explain: bool,
) -> None:
    """Label the queries of SOURCE with a model.

    The model reads a taxonomy, and each query with its gold passages. A query gets one label, or a
    list if the taxonomy allows several. If interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone data label sample -o labels.jsonl --limit 30
      ragstone data label my-set -o types.jsonl --taxonomy mtrag-question-types
      ragstone data label my-set -o both.jsonl --taxonomy know-your-rag --taxonomy my-kinds.yaml
      ragstone data label my-set -o labels.jsonl --model "chat(model=my-model)"
    """
    from ragstone.building.label_files import label_rows
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
    cli.write_json_lines(output, label_rows(found))
    for name, verdicts in found.items():
        counts = Counter(verdict.status for verdict in verdicts)
        click.echo(
            f"{name}: {counts['scored']:,} queries labelled, {counts['failed']:,} failed, "
            f"{counts['not_applicable']:,} without a gold passage: {output}"
        )


@click.command("suitability")
@click.argument("experiments", nargs=-1, required=True, type=cli.FILE)
@click.option("--metric", help="Metric to compare (default: the experiment's correctness metric).")
@cli.json_option
def suitability_command(experiments: tuple[Path, ...], metric: str | None) -> None:
    """Report which data sets are suitable for measuring RAG.

    Each of the EXPERIMENTS is the file of an experiment that has run, with the setting `none`. Its
    answers without context are compared with those with gold and with retrieved context: how much
    the context adds, and how much the model knows without it.

    \b
    Example:
      ragstone data suitability nq.yaml mirage.yaml
    """
    held = [pair for path in experiments for pair in _suitability(path, metric)]
    found = [asdict(row) | {"baselines": baselines} for row, baselines in held]
    head = ["data", "system", "metric", "n", "no context", "gold", "gain", "retrieved", "gain"]
    head += ["known", "advice"]
    rows = [_line(row) for row, _ in held]
    reasons = [
        f"\n{row.dataset}, {row.system}: {row.advice}; {row.reason}.{_left_out(row)}"
        for row, _ in held
    ]
    reasons += [f"\n{line}" for line in dict.fromkeys(filter(None, starmap(_baseline_line, held)))]
    title = "Answered queries with a gold passage (n: those with a value without context)"
    cli.print_result(lambda: found, lambda: TextTable(head, rows, title, reasons))


def _baseline_line(row: Worth, baselines: AnswerBaselines | None) -> str:
    """Return the sentence on answers without a model, and whether gold context beats them."""
    if baselines is None:
        return ""
    low = row.gold.interval[0] if row.gold and row.gold.interval else None
    if low is None or low > baselines.majority:
        return f"{row.dataset}: {baselines}."
    return f"{row.dataset}, {row.system}: {baselines}; gold context is not clearly above that."


def _suitability(path: Path, metric: str | None) -> list[tuple[Worth, AnswerBaselines | None]]:
    from ragstone.errors import ConfigError
    from ragstone.statistics.answer_baselines import answer_baselines
    from ragstone.statistics.dataset_suitability import worth

    results = cli.load_results(path, ())
    rule = results.correctness if metric is None else None
    name = metric or (rule.metric if rule else None)
    if name is None:
        raise ConfigError(
            f"{path}: no metric calls an answer correct (`correct` in the file); name one: --metric"
        )
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    for trial in results.trials:
        if name not in trial.scores:
            known = ", ".join(trial.scores) or "none"
            raise ConfigError(f"{path} has no metric {name!r}; it has: {known}")
        scale, held = results.record.scale(name), trial.scores[name]
        values = {i: (scale.counted(score) or (None,))[0] for i, score in held.items()}
        right = results.correct_answers(trial) if rule else values
        scores.setdefault(trial.system, {})[trial.setting] = right
    data = str(results.record.data.name)
    gold = [query.gold_answers for query in results.queries.values()]
    baselines = answer_baselines(gold)
    return [
        (
            worth(
                data,
                system,
                str(rule) if rule else name,
                by_setting,
                clusters=results.clusters,
                left_out=results.without_gold,
                oracle=results.record.oracle or "",
            ),
            baselines,
        )
        for system, by_setting in scores.items()
    ]


def _left_out(row: Worth) -> str:
    return "".join(f" Left out: {n:,} queries ({why})." for why, n in row.left_out.items())


def _line(row: Worth) -> list[str]:
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
