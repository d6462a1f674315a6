"""`ragstone data label`, `label-stats` and `suitability`: labels of queries, advice on data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli
from ragstone.cli.screen import tell
from ragstone.core import limits
from ragstone.core.tables import TextTable
from ragstone.results.wording import ABSENT, interval_text, mean_text

if TYPE_CHECKING:
    from ragstone.building.label_examples import FewShots
    from ragstone.building.label_pairs import LabelPair
    from ragstone.building.labels import Labeller
    from ragstone.building.trained_labels import TrainedLabeller
    from ragstone.components.judges.verdict import Item
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
@click.option(
    "--pairs", is_flag=True, help="SOURCE is a file of JSON lines with `query` and `context`."
)
@click.option("--run", type=cli.FILE, help="Label each query with each passage of this TREC run.")
@click.option("--depth", default=5, type=cli.POSITIVE, help="Passages of --run per query.")
@click.option(
    "--examples", type=cli.FILE, help="JSON lines with people's labels, shown to the model first."
)
@click.option("--shots", default=4, type=cli.POSITIVE, help="Maximum number of --examples shown.")
@click.option("--plan", is_flag=True, help="Print the number of calls and tokens, and stop.")
@cli.json_option
def label_command(
    *,
    source: str,
    output: Path,
    taxonomies: tuple[str, ...],
    model: str,
    seed: int,
    calls: Path,
    explain: bool,
    plan: bool,
    examples: Path | None,
    shots: int,
    **chosen: Any,
) -> None:
    """Label the queries of SOURCE with a model.

    The model reads a taxonomy, and each query with its gold passages, or with other contexts:
    --pairs and --run label any pair of a query and a context. A query gets one label, or a list if
    the taxonomy allows several. If interrupted, run the same command again to resume. If --model
    is the output folder of `ragstone train judge`, that classifier gives its own labels.

    \b
    Examples:
      ragstone data label sample -o labels.jsonl --limit 30
      ragstone data label my-set -o labels.jsonl --model my-classifier
      ragstone data label my-set -o types.jsonl --taxonomy mtrag-question-types
      ragstone data label my-set -o both.jsonl --taxonomy know-your-rag --taxonomy my-kinds.yaml
      ragstone data label my-set -o labels.jsonl --model "chat(model=my-model)"
      ragstone data label my-set -o found.jsonl --run run.trec --depth 3
      ragstone data label pairs.jsonl --pairs -o labels.jsonl --examples people.jsonl --shots 4
    """
    from ragstone.building.label_examples import FewShots
    from ragstone.building.label_files import label_rows
    from ragstone.building.label_pairs import pair_rows
    from ragstone.calls.client import Calls
    from ragstone.components.judges.verdict import Cost
    from ragstone.protocols import Services

    items, gold, pairs = _items(source, seed, **chosen)
    tokens = limits.EXPLAINED_LABEL_TOKENS if explain else limits.LABEL_TOKENS
    settings = {"model": model, "explain": explain, "max_tokens": tokens}
    few = None if examples is None else FewShots(examples, gold, shots, seed)
    labellers = _trained(model, few) or [_labeller(name, settings, few) for name in taxonomies]
    facts = _label_plan(labellers, items)
    if plan:
        cli.print_result(lambda: facts, lambda: _plan_text(facts))
        return
    with Calls.at(calls) as opened:
        services = Services(calls=opened)
        found = {each.taxonomy_name: each.verdicts(items, services) for each in labellers}
    rows = label_rows(found)
    cli.write_json_lines(output, pair_rows(pairs, rows) if pairs else rows)
    counts = {name: Counter(str(v.status) for v in held) for name, held in found.items()}
    used = sum((verdict.cost for held in found.values() for verdict in held), Cost())
    spent = {"calls": used.calls, "tokens_in": used.tokens_in, "tokens_out": used.tokens_out}
    cli.print_result(
        lambda: {**facts, "spent": spent, "labelled": counts, "file": output},
        lambda: "\n".join(_label_lines(counts, facts, output, "pairs" if pairs else "queries")),
    )


def _items(
    source: str,
    seed: int,
    *,
    pairs: bool,
    run: Path | None,
    depth: int,
    limit: int | None,
) -> tuple[list[Item], dict[str, Item], list[LabelPair]]:
    """Return the items to label, the queries with their gold passages by id, and the pairs."""
    from ragstone.building.label_pairs import read_pairs, run_pairs, sampled
    from ragstone.building.labels import gold_items
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.trec import read_run

    if pairs and run:
        raise click.UsageError("--pairs and --run both choose the contexts: leave one of them out")
    if pairs:
        found = sampled(read_pairs(Path(source)), limit, seed)
        return [pair.item for pair in found], {}, found
    whole = load_dataset(source)
    gold = {item.item_id: item for item in gold_items(whole)}
    if limit and limit > len(gold):
        tell(f"the data set has {len(gold):,} queries, fewer than {limit:,}: all are labelled")
    dataset = whole.sample(limit, seed) if limit else whole
    if run:
        found = run_pairs(dataset, read_run(run), depth)
        return [pair.item for pair in found], gold, found
    return [gold[query.query_id] for query in dataset.queries], gold, []


def _labeller(taxonomy: str, settings: dict[str, Any], few: FewShots | None) -> Labeller:
    """Return the labeller by a taxonomy, with its examples."""
    from ragstone.building.labels import Labeller

    plain = Labeller(taxonomy=taxonomy, **settings)
    return replace(plain, examples=few.of(plain.labels, plain.taxonomy_name)) if few else plain


def _trained(model: str, few: FewShots | None) -> list[Labeller | TrainedLabeller]:
    """Return the labeller of a trained classifier; [] if `model` is not one."""
    from ragstone.building.trained_labels import TrainedLabeller
    from ragstone.models.text_classifier import is_classifier

    if not is_classifier(model):
        return []
    source = click.get_current_context().get_parameter_source("taxonomies")
    if few or source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError(
            f"--model {model} is a trained classifier with labels of its own: leave out "
            "--taxonomy and --examples"
        )
    return [TrainedLabeller(model)]


def _label_plan(
    labellers: Sequence[Labeller | TrainedLabeller], items: Sequence[Item]
) -> dict[str, Any]:
    """Return the calls, and the tokens that the examples add to each."""
    return {
        "items": len(items),
        "calls": sum(one.without_call(item) is None for one in labellers for item in items),
        "examples": {one.taxonomy_name: len(one.examples) for one in labellers},
        "example_tokens_per_call": {one.taxonomy_name: one.example_tokens for one in labellers},
    }


def _plan_text(facts: Mapping[str, Any]) -> str:
    lines = [
        f"at most {facts['calls']:,} calls for {facts['items']:,} items",
        *_example_lines(facts),
    ]
    return "\n".join(lines)


def _example_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per taxonomy with examples: their tokens in each call."""
    for name, count in facts["examples"].items():
        if count:
            more = facts["example_tokens_per_call"][name]
            yield f"{name}: {count:,} examples add about {more:,} tokens to each call"


def _label_lines(
    counts: Mapping[str, Mapping[str, int]], facts: Mapping[str, Any], output: Path, what: str
) -> Iterator[str]:
    for name, of in counts.items():
        yield (
            f"{name}: {of['scored']:,} {what} labelled, {of['failed']:,} failed, "
            f"{of['not_applicable']:,} without a gold passage or shown as examples: {output}"
        )
    yield from _example_lines(facts)


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
