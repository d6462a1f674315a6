"""`ragstone data generate` and `compare-generated`: make test sets from a corpus, compare them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli import options as cli
from ragstone.cli.model_calls import open_services
from ragstone.core import limits
from ragstone.core.tables import TextTable

if TYPE_CHECKING:
    from ragstone.building.compare_generated import GeneratedSet
    from ragstone.building.generate import Checks, Generated
    from ragstone.data.corpus import Corpus


def named_numbers(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    """Return name -> number from `name=number` parts, comma-separated or in several options."""
    found = {}
    for part in (part for value in values for part in value.split(",") if part.strip()):
        name, equals, number = part.partition("=")
        try:
            found[name.strip()] = float(number) if equals else 1.0
        except ValueError:
            raise click.BadParameter(f"{part!r} is not of the form name=number") from None
    return found


threshold_option: Final = click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    callback=named_numbers,
    help="Minimum ratings (1 to 5) of a kept query, such as stand_alone=3,findable=4.",
)


@click.command("generate", cls=cli.AliasCommand, former={"--mix": "--label-mix"})
@click.argument("source")
@click.argument("target", type=cli.FILE, metavar="TARGET_FOLDER")
@click.option("--strategy", default="statements", help="Strategy that writes the queries.")
@click.option("--count", default=30, help="Number of queries to keep.")
@click.option(
    "--label-mix",
    "mix",
    multiple=True,
    callback=named_numbers,
    help="Shares of the labels, such as fact_single=2,summary=1 (default: equal shares).",
)
@cli.model_option
@click.option("--label/--no-label", "labels", default=True, help="Let a model label each query.")
@click.option(
    "--critique/--no-critique",
    "critiques",
    default=False,
    help="Let a model rate each query by eight critiques; --threshold implies it.",
)
@threshold_option
@click.option("--judge", help="Model that labels and rates (default: --model).")
@click.option("--prompts", type=cli.FILE, help="YAML file with your own prompts.")
@click.option("--examples/--no-examples", default=True, help="Show the model an example per step.")
@click.option("--sample", type=int, help="Use a random sample of this many passages.")
@cli.seed_option
@click.option("--per-passage", default=1, help="Maximum queries per passage.")
@click.option(
    "--rounds",
    type=cli.POSITIVE,
    help="Maximum number of rounds; each replaces the queries that the previous one rejected "
    "(default: until three in a row keep no further query).",
)
@click.option("--max-tokens", default=limits.WRITER_TOKENS, help="Maximum tokens per reply.")
@cli.json_option
def generate_command(source: str, target: Path, **options: Any) -> None:
    """Make a test set from the passages of SOURCE.

    The test set has queries, answers and relevant passages. Its file `items.jsonl` lists every
    item, kept or rejected, with passage, statement, prompts, replies and reason. If interrupted,
    run the same command again to resume.

    \b
    Strategies:
      statements   theme, facts, summaries or conclusions, then a question for one of them
      single       question and answer from one prompt
      evolution    a simple question made harder, or more specific
      adversarial  near misses without an answer; passages with a changed fact
      multi-hop    questions that need two passages which share a rare name
      comparison   questions that compare things of two such passages
      false-premise, underspecified, multi-turn   as their names
      mixed        all kinds, as `ragstone build testset`
      writer(model=FOLDER)   a model of `ragstone train writer`, one call per query

    \b
    Examples:
      ragstone data generate sample my-test-set --count 20 --sample 30
      ragstone data generate my-set out --label-mix fact_single=2,summary=1 --critique \\
          --threshold stand_alone=3 --model "chat(model=my-model)"
    """
    from ragstone.building.write import check_folder, write_generated

    check_folder(target)
    made, corpus = _generated(source, target, options)
    files = write_generated(made, corpus, target)
    summary, size, found = made.summary(), options["sample"] or 0, len(corpus)
    note = f"the corpus has {found:,} passages, fewer than {size:,}: all are used"
    notes = [note] if size > found else []
    names = ", ".join(path.name for path in files)
    cli.print_result(
        lambda: {**summary, "files": files, "notes": notes},
        lambda: "\n".join([*notes, *_lines(summary), f"\n{names} in {target}"]),
    )


def _generated(source: str, target: Path, options: Mapping[str, Any]) -> tuple[Generated, Corpus]:
    from dataclasses import fields, replace

    from ragstone.building.draft import QueryWriter
    from ragstone.building.generate import GenerationPlan, generate
    from ragstone.building.prompts import load_prompts
    from ragstone.components.llm import resolve_llm
    from ragstone.data.load import load_dataset

    plan = GenerationPlan(
        **{f.name: options[f.name] for f in fields(GenerationPlan) if f.name in options}
    )
    prompts = load_prompts(options["prompts"])
    if not options["examples"]:
        prompts = replace(prompts, examples={})
    checks = checks_by(
        options["judge"] or options["model"],
        labels=options["labels"],
        critiques=bool(options["critiques"] or plan.thresholds),
    )
    model = resolve_llm(options["model"], where="--model")
    corpus = _sampled(load_dataset(source).corpus, options["sample"], plan.seed)
    with open_services(target) as services:
        writer = QueryWriter(model, services, prompts, options["max_tokens"])
        return generate(corpus, plan, writer, checks), corpus


def checks_by(model: str, *, labels: bool, critiques: bool) -> Checks:
    """Return the checks of written queries by a model: its labels, its ratings."""
    from ragstone.building.generate import Checks
    from ragstone.building.labels import Labeller
    from ragstone.components.judges.critiques import Critiques

    judging: dict[str, Any] = {
        "model": model,
        "least_parse_rate": 0.0,
        "explain": False,
        "max_tokens": limits.RATING_TOKENS,
    }
    return Checks(
        Labeller(**judging) if labels else None, Critiques(**judging) if critiques else None
    )


def _sampled(corpus: Corpus, size: int | None, seed: int) -> Corpus:
    import random

    if size is None or size >= len(corpus):
        return corpus
    places = sorted(random.Random(seed).sample(range(len(corpus)), size))  # noqa: S311 - no secret
    return type(corpus).from_passages([corpus.at(place) for place in places])


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    kept, wanted = summary["kept"], summary["wanted"]
    yield (
        f"{sum(kept.values()):,} queries kept of {summary['tried']:,} tried, "
        f"{sum(wanted.values()):,} wanted; {summary['calls']:,} calls to write them, "
        f"{summary['tokens']:,} tokens"
    )
    refused = ", ".join(f"{why} ({n:,})" for why, n in summary["passages_refused"].items())
    usable = f"{summary['passages_usable']:,} usable passages"
    yield f"{usable}; not usable: {refused}" if refused else usable
    names = dict.fromkeys([*wanted, *kept])
    rows = [[name, wanted.get(name, 0), kept.get(name, 0)] for name in names]
    yield f"\n{TextTable(['label', 'wanted', 'kept'], rows)}"
    yield from (f"short of {label}: {why}" for label, why in summary["shortfall"].items())
    if summary["rejected"]:
        yield "\nRejected"
        rejected = list(summary["rejected"].items())
        shown = limits.SHOWN_REJECTION_REASONS
        yield from (f"{count:>7,}  {reason}" for reason, count in rejected[:shown])
        if len(rejected) > shown:
            yield f"         and {len(rejected) - shown:,} more reasons, see items.jsonl"
    if summary["ratings"]:
        yield "\nMean ratings (1 to 5) of all rated queries\n" + rating_table(summary)


def rating_table(summary: Mapping[str, Any]) -> str:
    """Return the mean ratings of a summary, one row per label, with their counts."""
    ratings = summary["ratings"]
    read = summary.get("ratings_read", {})
    names = list(dict.fromkeys(name for means in ratings.values() for name in means))
    rows = [
        [label, *(_rating(means.get(n), read.get(label, {}).get(n)) for n in names)]
        for label, means in ratings.items()
    ]
    return str(TextTable(["label", *names], rows))


def _rating(mean: float | None, count: int | None) -> str:
    return "-" if mean is None else f"{mean:.2f}" + ("" if count is None else f" ({count})")


@click.command("compare-generated", cls=cli.AliasCommand, former=cli.FORMER_CHART)
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@cli.chart_option
@cli.json_option
def compare_generated_command(folders: tuple[Path, ...], chart: Path | None) -> None:
    """Compare generated test sets.

    Prints the kept items, labels, ratings and cost per kept item of each of the FOLDERS.

    \b
    Example:
      ragstone data compare-generated by-statements by-single-prompt --chart compared.svg
    """
    from ragstone.building.compare_generated import comparison_chart, read_generated
    from ragstone.results.charts.render import write_chart

    found = [read_generated(folder) for folder in folders]
    if chart:
        write_chart(comparison_chart(found), chart)
    head = ["test set", "strategy", "model", "tried", "kept", "calls per kept", "tokens per kept"]
    head.append("with labels and ratings")
    costs = TextTable(head, [_cost_line(one.name, one.summary) for one in found])
    cli.print_result(
        lambda: [{"name": one.name, **one.summary} for one in found],
        lambda: "\n".join([str(costs), *(text for one in found for text in _tables(one))]),
    )


def _tables(one: GeneratedSet) -> Iterator[str]:
    crossed = one.summary["asked_against_obtained"]
    names = sorted({name for counts in crossed.values() for name in counts})
    title = f"\n{one.name}: requested (rows) and obtained (columns) labels"
    rows = [[asked, *(counts.get(n, 0) for n in names)] for asked, counts in crossed.items()]
    yield str(TextTable(["requested", *names], rows, title))
    if one.summary["ratings"]:
        yield f"\n{one.name}: mean ratings\n{rating_table(one.summary)}"


def _cost_line(name: str, summary: Mapping[str, Any]) -> list[str]:
    names = ("calls_per_kept", "tokens_per_kept", "tokens_per_kept_in_all")
    costs = [summary.get(name) for name in names]
    counts = [f"{summary['tried']:,}", f"{sum(summary['kept'].values()):,}"]
    shown = ["-" if cost is None else f"{cost:,.1f}" for cost in costs]
    return [name, summary["strategy"], summary["model"], *counts, *shown]
