"""`ragstone train gains`: the same experiment before and after a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli import options as cli
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.experiment.campaign import Campaign
    from ragstone.experiment.trained_gains import TrainedGenerator
    from ragstone.results.trained_gains import TrainingGains
    from ragstone.statistics.paired import Correction
    from ragstone.training.record import TrainingRecord


@click.command("gains")
@click.argument("trained", nargs=-1, required=True, type=cli.FILE, metavar="FOLDER or FILE...")
@click.option("--with", "generator", default="local", help="Generator that runs the models.")
@click.option(
    "--data", multiple=True, metavar="[NAME=]DATA", help="Further data set; may be repeated."
)
@click.option("--setting", "settings", multiple=True, help="Context setting; may be repeated.")
@click.option("--metric", "metrics", multiple=True, help="Metric to compare; may be repeated.")
@click.option("--limit", type=cli.POSITIVE, help="Maximum number of queries per data set.")
@click.option(
    "--correction",
    type=click.Choice(["holm", "benjamini-hochberg", "none"]),
    default="holm",
    help="Multiple-testing correction of the p-values of all models together.",
)
@click.option("--store", type=cli.FILE, default=Path(".ragstone"), help="Folder of the results.")
@click.option("--plan", is_flag=True, help="Print the steps and the calls; run nothing.")
@click.option("--max-hours", type=click.FloatRange(min=0, min_open=True), help="Stop after this.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one line per gain.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--latex", type=cli.FILE, metavar="FILE", help="Write a LaTeX table to this file.")
@cli.chart_option
@cli.json_option
def gains_command(
    *,
    trained: tuple[Path, ...],
    correction: Correction,
    store: Path,
    plan: bool,
    max_hours: float | None,
    as_csv: bool,
    markdown: bool,
    latex: Path | None,
    chart: Path | None,
    **options: Any,
) -> None:
    """Measure trained generators and their bases on queries that no training read.

    Each FOLDER is the output of `ragstone train generator`, each FILE its training file. The
    experiment with and without the adapter is written to FOLDER/gains.yaml and run. Differences are
    paired by query; what became worse comes first. If a run was interrupted, run the same command
    again to resume.

    \b
    Examples:
      ragstone train gains runs/nq
      ragstone train gains t.yaml --setting none --setting gold --data ../trivia
      ragstone train gains runs/small runs/large --setting "retrieved(5)" --metric Match
      ragstone train gains runs/nq --chart gains.svg --latex gains.tex
      ragstone train gains runs/nq --with "hf(device=cuda, batch_size=16)" --plan
    """
    if as_csv and markdown:
        raise click.UsageError("--csv and --markdown print different forms; give one of them")
    from ragstone.experiment.trained_gains import GainsRequest, gains_experiment
    from ragstone.training.card import with_results

    models = _models(trained)
    request = GainsRequest(store=str(store), **options)
    # All files are checked before the first model is asked.
    campaigns = {name: gains_experiment(model, request) for name, (model, _) in models.items()}
    for campaign in campaigns.values():
        campaign.check()
    if plan:
        _print_plans(campaigns)
        return
    found = _measured(campaigns, models, correction, max_hours)
    for model, _ in models.values():
        with_results(model.folder, found.table)
    _write(found, latex, chart)
    cli.print_result(found.to_dict, lambda: _text(found, as_csv, markdown))


def _measured(
    campaigns: Mapping[str, Campaign],
    models: Mapping[str, tuple[TrainedGenerator, TrainingRecord]],
    correction: Correction,
    max_hours: float | None,
) -> TrainingGains:
    """Run all experiments, and return the gains of all models."""
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.experiment.trained_gains import FILE
    from ragstone.results.trained_gains import training_gains

    first = next(iter(campaigns.values()))
    with first.open_calls(max_hours=max_hours) as calls, shown_by(open_bar), cli.output_quiet():
        results = {name: campaign.run(calls) for name, campaign in campaigns.items()}
    facts = {
        name: {
            "base": model.base,
            "method": record.method,
            "digest": model.digest,
            "experiment": str(model.folder / FILE),
        }
        for name, (model, record) in models.items()
    }
    return training_gains(results, facts, correction)


def _print_plans(campaigns: Mapping[str, Campaign]) -> None:
    with cli.output_quiet():
        plans = {name: campaign.plan() for name, campaign in campaigns.items()}
    cli.print_result(
        lambda: {name: plan.document() for name, plan in plans.items()},
        lambda: "\n\n".join(f"{name}\n{plan.text()}" for name, plan in plans.items()),
    )


def _models(paths: Sequence[Path]) -> dict[str, tuple[TrainedGenerator, TrainingRecord]]:
    """Return name -> trained generator and its record."""
    places = [_output(path) for path in paths]
    folders = [folder for folder, _ in places]
    names = _names(folders)
    return {
        name: _model(name, folder, base) for name, (folder, base) in zip(names, places, strict=True)
    }


def _output(path: Path) -> tuple[Path, Path]:
    """Return an output folder, and the folder in which its data may be."""
    from ragstone.training.recipe import GeneratorRecipe, read_recipe

    if path.suffix.lower() not in {".yaml", ".yml"}:
        return path, Path()
    return Path(read_recipe(path, GeneratorRecipe).output).expanduser(), path.parent


def _names(folders: Sequence[Path]) -> list[str]:
    """Return the shortest ends of the paths that differ.

    Raises `ConfigError` for a folder that is given twice.
    """
    whole = [folder.absolute().parts for folder in folders]
    for place, one in enumerate(whole):
        if one in whole[:place]:
            raise ConfigError(f"the training {folders[place]} is given twice", value=folders[place])
    longest = max(map(len, whole))
    sizes = range(1, longest + 1)
    size = next(size for size in sizes if len({one[-size:] for one in whole}) == len(whole))
    return ["/".join(one[-size:]) for one in whole]


def _model(name: str, folder: Path, base: Path) -> tuple[TrainedGenerator, TrainingRecord]:
    from ragstone.experiment.trained_gains import TrainedGenerator
    from ragstone.training.training import trained

    record = trained(folder)
    if record.kind != "generator":
        raise ConfigError(
            f"{folder} has a training of a {record.kind}; gains are measured of generators, which "
            "`ragstone train generator` trains",
            path=folder,
        )
    recipe = record.recipe
    share = isinstance(recipe["test"], int | float)
    data = _found(recipe["data"] if share else recipe["test"], base)
    queries = folder / "splits" / "test.txt"
    is_listed = queries.is_file() and bool(queries.read_text(encoding="utf-8").strip())
    settings = recipe["setting"]
    model = TrainedGenerator(
        name=name,
        folder=folder,
        digest=record.digest,
        base=record.base,
        is_whole=record.method == "full",
        data=data if is_listed or not share else None,
        queries=queries if is_listed else None,
        learned=recipe["data"],
        settings=settings if isinstance(settings, list) else [settings],
        system={key: recipe[key] for key in ("retriever", "reranker") if recipe[key] is not None},
        generator={key: recipe[key] for key in ("prompt", "budget") if recipe[key]},
    )
    return model, record


def _found(data: Any, base: Path) -> Any:
    """Return a data set whose path is relative to the training file as one that is found here."""
    if isinstance(data, Mapping) and "path" in data:
        return {**data, "path": _found(data["path"], base)}
    if isinstance(data, str) and not Path(data).exists() and (base / data).exists():
        return str(base / data)
    return data


def _write(found: TrainingGains, latex: Path | None, chart: Path | None) -> None:
    from ragstone.core.atomic_files import write_document
    from ragstone.results.board.latex import text_table_latex
    from ragstone.results.charts.render import write_chart

    if latex is not None:
        write_document(latex, text_table_latex(found.table, 3).encode(), "LaTeX table")
    if chart is not None:
        write_chart(found.chart(), chart)


def _text(found: TrainingGains, as_csv: bool, markdown: bool) -> str:
    from ragstone.core.tables import to_markdown
    from ragstone.results.board.shown import csv_text

    if as_csv:
        return csv_text(found.to_arrow()).rstrip("\n")
    return to_markdown(found.parts()) if markdown else str(found)
