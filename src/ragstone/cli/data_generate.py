"""`ragstone data generate` and `generated`: making test sets from a corpus, comparing test sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from ragstone.cli.options import chart_option, json_option, print_json, text_table
from ragstone.core import limits


def pairs(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
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
    multiple=True,
    callback=pairs,
    help="Minimum ratings (1 to 5), as stand_alone=3,findable=4.",
)


@click.command("generate")
@click.argument("source")
@click.argument("target", type=click.Path(path_type=Path), metavar="TARGET_FOLDER")
@click.option("--strategy", default="statements", show_default=True, help="Name of a strategy.")
@click.option("--count", default=30, show_default=True, help="Number of queries to keep.")
@click.option("--mix", multiple=True, callback=pairs, help="Label shares: fact_single=2,summary=1.")
@click.option("--model", default="local", show_default=True, help="Generator spec of the model.")
@click.option("--label/--no-label", "labels", default=True, help="Label each query.")
@click.option("--critique/--no-critique", "critiques", default=False, help="Rate by 8 critiques.")
@threshold_option
@click.option("--judge", default="", help="Model that labels and rates (default: --model).")
@click.option("--prompts", type=click.Path(path_type=Path), help="YAML file with your own prompts.")
@click.option(
    "--examples/--no-examples", default=True, help="Show the model an example of each step."
)
@click.option("--sample", type=int, help="Use a random sample of this many passages.")
@click.option("--seed", default=0, show_default=True, help="Seed of samples and orders.")
@click.option("--per-passage", default=1, show_default=True, help="Maximum queries per passage.")
@click.option(
    "--rounds",
    default=limits.GENERATION_ROUNDS,
    show_default=True,
    help="Rounds that replace rejected queries.",
)
@click.option(
    "--max-tokens",
    default=limits.WRITER_TOKENS,
    show_default=True,
    help="Maximum tokens per reply.",
)
@json_option
def generate_command(source: str, target: Path, *, as_json: bool, **options: Any) -> None:
    """Make a test set from the passages of SOURCE: queries, answers, relevant passages.

    `items.jsonl` in the folder has every item, kept or rejected, with its passage, statement,
    prompts, replies and reason. If interrupted, run the same command again to resume.

    \b
    Strategies:
      statements   theme, facts, summaries or conclusions, then a question for one of them
      single       question and answer by one prompt
      evolution    a simple question made harder, or more specific
      adversarial  near misses without an answer; passages with a changed fact
      multi-hop    questions that need two passages which share a rare name

    \b
    Examples:
      ragstone data generate sample my-test-set --count 20 --sample 30
      ragstone data generate my-set out --mix fact_single=2,summary=1,reasoning=1 --critique \\
          --threshold stand_alone=3 --model "chat(model=my-model)"
    """
    from ragstone.building.write import check_folder, write_generated

    check_folder(target)
    made, corpus = _generated(source, target, options)
    files = write_generated(made, corpus, target)
    summary, size = made.summary(), options["sample"] or 0
    short = size > len(corpus)
    note = f"the corpus has {len(corpus):,} passages, fewer than {size:,}: all are used"
    if as_json:
        more = {"files": [str(path) for path in files], "notes": [note] if short else []}
        print_json(summary | more)
    else:
        click.echo("\n".join([*([note] if short else []), *_lines(summary)]))
        click.echo(f"\n{', '.join(path.name for path in files)} in {target}")


def _generated(source: str, target: Path, options: Mapping[str, Any]) -> tuple[Any, Any]:
    from dataclasses import replace

    from ragstone.building.critique_filter import check_thresholds
    from ragstone.building.draft import Writer
    from ragstone.building.generate import Plan, generate
    from ragstone.building.labels import Labeller
    from ragstone.building.prompts import load_prompts
    from ragstone.building.write import CALLS
    from ragstone.calls.client import Calls
    from ragstone.components.judges.critiques import Critiques
    from ragstone.components.llm import resolve_llm
    from ragstone.data.load import load_dataset
    from ragstone.protocols import Services

    plan = Plan(
        strategy=options["strategy"],
        count=options["count"],
        mix=options["mix"],
        seed=options["seed"],
        rounds=options["rounds"],
        per_passage=options["per_passage"],
        thresholds=options["threshold"],
    )
    check_thresholds(plan.thresholds)
    prompts = load_prompts(options["prompts"])
    if not options["examples"]:
        prompts = replace(prompts, examples={})
    judging: dict[str, Any] = {
        "model": options["judge"] or options["model"],
        "least_parse_rate": 0.0,
        "explain": False,
        "max_tokens": limits.RATING_TOKENS,
    }
    labeller = Labeller(**judging) if options["labels"] else None
    critics = Critiques(**judging) if options["critiques"] or plan.thresholds else None
    model = resolve_llm(options["model"], where="--model")
    corpus = _sampled(load_dataset(source).corpus, options["sample"], plan.seed)
    with Calls.at(target / CALLS) as calls:
        writer = Writer(model, Services(calls=calls), prompts, options["max_tokens"])
        return generate(corpus, plan, writer, labeller=labeller, critics=critics), corpus


def _sampled(corpus: Any, size: int | None, seed: int) -> Any:
    import random

    from ragstone.data.corpus import Corpus

    if size is None or size >= len(corpus):
        return corpus
    places = sorted(random.Random(seed).sample(range(len(corpus)), size))  # noqa: S311 - no secret
    return Corpus.from_passages([corpus.at(place) for place in places])


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    kept = sum(summary["kept"].values())
    yield (
        f"{kept:,} queries kept of {summary['tried']:,} tried, {sum(summary['wanted'].values()):,} "
        f"wanted; {summary['calls']:,} calls to write them, {summary['tokens']:,} tokens"
    )
    refused = ", ".join(f"{why} ({n:,})" for why, n in summary["passages_refused"].items())
    yield f"{summary['passages_usable']:,} usable passages" + (
        f"; not usable: {refused}" if refused else ""
    )
    rows = [
        [label, str(wanted), str(summary["kept"].get(label, 0))]
        for label, wanted in summary["wanted"].items()
    ]
    rows += [[n, "0", str(k)] for n, k in summary["kept"].items() if n not in summary["wanted"]]
    yield "\n" + text_table(["label", "wanted", "kept"], rows)
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
    return text_table(["label", *names], rows)


def _rating(mean: float | None, count: int | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f}" if count is None else f"{mean:.2f} ({count})"


@click.command("generated")
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@chart_option("Draw the comparison into this file")
@json_option
def generated_command(folders: tuple[Path, ...], chart: Path | None, *, as_json: bool) -> None:
    """Compare generated test sets: kept items, labels, ratings, cost per kept item.

    \b
    Example:
      ragstone data generated by-statements by-single-prompt --chart compared.svg
    """
    from ragstone.building.compare_generated import comparison_chart, read_generated
    from ragstone.results.charts.render import write_chart

    found = [read_generated(folder) for folder in folders]
    if chart:
        write_chart(comparison_chart(found), chart)
    if as_json:
        print_json([{"name": one.name, **one.summary} for one in found])
        return
    head = ["test set", "strategy", "model", "tried", "kept", "calls per kept", "tokens per kept"]
    head.append("with labels and ratings")
    click.echo(text_table(head, [_cost_line(one.name, one.summary) for one in found]))
    for one in found:
        crossed = one.summary["asked_against_obtained"]
        names = sorted({name for counts in crossed.values() for name in counts})
        rows = [
            [asked, *(str(counts.get(n, 0)) for n in names)] for asked, counts in crossed.items()
        ]
        click.echo(f"\n{one.name}: requested (rows) and obtained (columns) labels")
        click.echo(text_table(["requested", *names], rows))
        if one.summary["ratings"]:
            click.echo(f"\n{one.name}: mean ratings\n{rating_table(one.summary)}")


def _cost_line(name: str, summary: Mapping[str, Any]) -> list[str]:
    kept = sum(summary["kept"].values())
    costs = [
        summary["calls_per_kept"],
        summary["tokens_per_kept"],
        summary.get("tokens_per_kept_in_all"),
    ]
    shown = ["-" if cost is None else f"{cost:,.1f}" for cost in costs]
    counts = [f"{summary['tried']:,}", f"{kept:,}"]
    return [name, summary["strategy"], summary["model"], *counts, *shown]
