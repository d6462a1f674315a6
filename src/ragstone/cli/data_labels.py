"""`ragstone data labels`, `label`, `agreement`, `worth`: what kinds of queries a set holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import json_option, load_results, print_json

if TYPE_CHECKING:
    from ragstone.analysis.agreement import Agreement
    from ragstone.analysis.labelling import Confusion
    from ragstone.analysis.statistics import Summary
    from ragstone.analysis.worth import Worth


@click.command("labels")
@click.argument("sources", nargs=-1, required=True)
@click.option("--label", default="taxonomy", show_default=True, help="Which label to count.")
@json_option
def labels_command(sources: tuple[str, ...], label: str, *, as_json: bool) -> None:
    """Show how the queries of data sets are spread over a label, side by side.

    A SOURCE is a data set, or a file of labels that `ragstone data label` or an annotator wrote.

    \b
    Examples:
      ragstone data labels sample
      ragstone data labels sample my-set --label answerability
      ragstone data labels my-set-labels.jsonl other-labels.jsonl
    """
    from ragstone.analysis.labelling import composition

    held = {source: _labels_of(source, label) for source in sources}
    found = {source: composition(values) for source, values in held.items()}
    if as_json:
        print_json({s: {k: _plain(v) for k, v in rows.items()} for s, rows in found.items()})
        return
    names = sorted({name for rows in found.values() for name in rows})
    lines = [[name, *(_share(rows.get(name)) for rows in found.values())] for name in names]
    lines.append(["queries", *(f"{len(values):,}" for values in held.values())])
    click.echo(_table([label, *sources], lines))


def _labels_of(source: str, label: str) -> list[str]:
    from ragstone.construct.labels import dataset_labels, read_labels
    from ragstone.datasets.loading import load_dataset
    from ragstone.errors import DatasetError

    path = Path(source)
    if path.is_file() and path.name.endswith((".jsonl", ".csv", ".tsv")):
        return list(read_labels(path).values())
    found = dataset_labels(load_dataset(source), label)
    if not found:
        raise DatasetError(
            f"{source}: no query has the label {label!r}; name another one with --label, or let a "
            f"model give it: ragstone data label {source} -o labels.jsonl"
        )
    return found


@click.command("label")
@click.argument("source")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE")
@click.option("--taxonomy", default="know-your-rag", show_default=True, help="Name or YAML file.")
@click.option("--model", default="local", show_default=True, help="As a generator is written.")
@click.option("--limit", type=int, help="Label a random sample of so many queries.")
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
@click.option("--explain/--no-explain", default=True, help="Whether the model gives its reason.")
@click.option(
    "--calls", type=click.Path(path_type=Path), default=Path("ragstone-store/calls.sqlite")
)
def label_command(  # noqa: PLR0917 - click passes every option
    source: str,
    output: Path,
    taxonomy: str,
    model: str,
    limit: int | None,
    seed: int,
    calls: Path,
    *,
    explain: bool,
) -> None:
    """Let a model label the queries of a data set by a taxonomy, with their gold passages.

    Replies are kept call by call in the file --calls: the same command goes on where it stopped.

    \b
    Examples:
      ragstone data label sample -o labels.jsonl --limit 30
      ragstone data label my-set -o types.jsonl --taxonomy mtrag-question-types
      ragstone data label my-set -o labels.jsonl --model "chat(model=my-model)"
    """
    import orjson

    from ragstone.calls import Calls
    from ragstone.construct.labels import Labeller, gold_items
    from ragstone.datasets.loading import load_dataset

    labeller = Labeller(
        model=model, taxonomy=taxonomy, explain=explain, max_tokens=300 if explain else 48
    )
    dataset = load_dataset(source)
    items = gold_items(dataset.sample(limit, seed) if limit else dataset)
    with Calls.at(_made(calls)) as asked:
        verdicts = labeller.verdicts(items, asked)
    rows = [
        {"query_id": v.item_id, "label": v.label, "status": v.status, "reason": v.reason}
        for v in verdicts
    ]
    output.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    failed = sum(v.status == "failed" for v in verdicts)
    left_out = sum(v.status == "not_applicable" for v in verdicts)
    labelled = len(verdicts) - failed - left_out
    click.echo(
        f"{labelled:,} queries labelled, {failed:,} failed, {left_out:,} without passage: {output}"
    )


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@click.command("agreement")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--model",
    "models",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="A file of labels given by a model; may be repeated.",
)
@click.option("--field", default="label", show_default=True, help="The field that holds the label.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the majority's labels there."
)
@json_option
def agreement_command(
    files: tuple[Path, ...],
    models: tuple[Path, ...],
    field: str,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Say how far annotators agree: FILES hold one annotator's labels each.

    Each annotator, and each model, is compared with the majority of the other annotators by
    Fleiss' kappa (Know Your RAG, section 4); items without a majority are set aside.

    \b
    Example:
      ragstone data agreement ann.csv ben.csv eve.csv --model labels.jsonl -o majority.jsonl
    """
    import orjson

    from ragstone.analysis.labelling import against_others, confusion, majority
    from ragstone.construct.labels import read_labels

    people = {path.stem: read_labels(path, field) for path in files}
    machines = {path.stem: read_labels(path, field) for path in models}
    agreed = majority(people)
    rows = against_others(people, machines)
    matrices = {name: confusion(agreed.labels, held) for name, held in machines.items()}
    if output:
        lines = ({"query_id": i, "label": label} for i, label in agreed.labels.items())
        output.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    if as_json:
        print_json(
            {
                "majority": len(agreed.labels),
                "set_aside": list(agreed.set_aside),
                "against_others": rows,
                "confusion": matrices,
            }
        )
        return
    click.echo(
        f"{len(agreed.labels):,} items have a majority, {len(agreed.set_aside):,} have none\n"
    )
    head = ["annotator", "n", "kappa with the others", *(f"{m} in their place" for m in machines)]
    click.echo(
        _table(
            head,
            [
                [row.annotator, str(row.kappa.n), _kappa(row.kappa)]
                + [_kappa(row.models[m]) + _lower(row.shortfall(m)) for m in machines]
                for row in rows
            ],
        )
    )
    for name, matrix in matrices.items():
        click.echo("\n" + "\n".join(_matrix(name, matrix)))


def _matrix(name: str, matrix: Confusion) -> Iterator[str]:
    told = "-" if matrix.accuracy is None else f"{matrix.accuracy:.3f}"
    yield f"{name}: rows are the majority's labels, columns the model's; accuracy {told}"
    yield _table(
        ["", *matrix.columns],
        [[row, *map(str, c)] for row, c in zip(matrix.rows, matrix.counts, strict=True)],
    )


@click.command("worth")
@click.argument("experiments", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--metric", help="Which metric; by default the one that says what is correct.")
@json_option
def worth_command(experiments: tuple[Path, ...], metric: str | None, *, as_json: bool) -> None:
    """Say which data sets are worth using, from the results of experiments on them.

    Compares answers without context, with gold context and with retrieved context: what context
    gains, and what a model knew without it. Each EXPERIMENT must have run the setting `none`.

    \b
    Example:
      ragstone data worth nq.yaml mirage.yaml
    """
    found = [row for path in experiments for row in _worth_rows(path, metric)]
    if as_json:
        print_json(found)
        return
    head = ["data", "system", "metric", "no context", "gold", "gain of gold", "retrieved", "known"]
    click.echo(_table([*head, "advice"], [_worth_line(row) for row in found]))
    for row in found:
        click.echo(f"\n{row.dataset}, {row.system}: {row.advice}; {row.reason}.")


def _worth_rows(path: Path, metric: str | None) -> list[Worth]:
    from ragstone.analysis.worth import worth
    from ragstone.errors import ConfigError

    results = load_results(path, ())
    name = metric or str(results.record["file"]["correct"])
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    for trial in results.trials:
        if name not in trial.scores:
            known = ", ".join(trial.scores) or "none"
            raise ConfigError(f"{path} has no metric {name!r}; it has: {known}")
        values = {i: score.value for i, score in trial.scores[name].items()}
        scores.setdefault(trial.system, {})[trial.setting] = values
    data = str(results.record["data"]["name"])
    return [
        worth(data, system, name, held, clusters=results.clusters)
        for system, held in scores.items()
    ]


def _worth_line(row: Worth) -> list[str]:
    gain = row.gold_gain
    told = "-" if gain is None else f"{gain.difference:+.3f}{_interval(gain.interval)}"
    best = max(row.retrieved.items(), key=lambda pair: pair[1].mean or 0.0, default=None)
    shown = "-" if best is None else f"{best[0]} {_mean(best[1])}"
    cells = [row.dataset, row.system, row.metric, _mean(row.closed_book), _mean(row.gold), told]
    return [*cells, shown, _mean(row.known), row.advice]


def _mean(summary: Summary | None) -> str:
    if summary is None or summary.mean is None:
        return "-"
    return f"{summary.mean:.3f}{_interval(summary.interval)}"


def _share(summary: Summary | None) -> str:
    return "-" if summary is None or not summary.mean else _mean(summary)


def _kappa(agreement: Agreement) -> str:
    if agreement.value is None:
        return "-"
    return f"{agreement.value:.3f}{_interval(agreement.interval)}"


def _lower(share: float | None) -> str:
    return "" if share is None else f" ({share:.0%} lower)"


def _interval(held: tuple[float, float] | None) -> str:
    return "" if held is None else f" [{held[0]:.3f}, {held[1]:.3f}]"


def _plain(summary: Summary) -> Mapping[str, Any]:
    return {"share": summary.mean, "n": summary.n, "interval": summary.interval}


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    return tabulate(lines, headers=head, disable_numparse=True, stralign="left")
