"""`ragstone data contamination`: models' possible knowledge of a data set without its corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ragstone.cli import options as cli
from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.wording import interval_text, number, signed_interval

if TYPE_CHECKING:
    from datetime import date

    from ragstone.building.contamination import Contamination, Known, Sides
    from ragstone.data.dataset import Dataset
    from ragstone.data_quality.ngram_overlap import QueryOverlap
    from ragstone.protocols import Generator
    from ragstone.statistics.summary import Summary

_NOTHING: Final = (
    "nothing to measure: give --model (right without context), --corpus-text (n-grams), --after or "
    "--cutoff (dates), or several of them"
)
_GUESSED: Final = "A right answer without context is known or guessed."


@click.command("contamination")
@click.argument("source")
@click.option(
    "--model",
    "models",
    multiple=True,
    help="Model to ask without context: a generator spec, as chat(model=NAME); may be repeated.",
)
@click.option(
    "--corpus-text",
    type=click.Path(exists=True, path_type=Path),
    metavar="FOLDER",
    help="Text that models may have been trained on: .txt, .md, .jsonl, .csv or .tsv, also .gz.",
)
@click.option("--ngram", default=13, type=cli.POSITIVE, help="Words of an n-gram.")
@click.option("--after", metavar="DATE", help="Divide the queries by this date, such as 2024-05.")
@click.option(
    "--cutoff",
    "cutoffs",
    multiple=True,
    metavar="MODEL=DATE",
    help="Knowledge cut-off that a model's maker states; may be repeated.",
)
@click.option(
    "--date-label", default="", help="Label of queries or passages with the date (default: date)."
)
@click.option(
    "--keep",
    type=cli.FILE,
    metavar="TARGET_FOLDER",
    help="Write the data set with only the queries that are newer than all dates.",
)
@click.option(
    "-o", "--output", type=cli.FILE, metavar="FILE", help="Write one JSON line per query."
)
@click.option("--limit", type=cli.POSITIVE, help="Use a random sample of this many queries.")
@cli.seed_option
@click.option(
    "--calls",
    type=cli.FILE,
    default=Path("ragstone-store/calls.sqlite"),
    help="File of kept model replies.",
)
@click.option("--plan", is_flag=True, help="Print the largest number of calls, and stop.")
@cli.json_option
def contamination_command(
    *,
    source: str,
    models: tuple[str, ...],
    corpus_text: Path | None,
    ngram: int,
    after: str | None,
    cutoffs: tuple[str, ...],
    date_label: str,
    keep: Path | None,
    output: Path | None,
    limit: int | None,
    seed: int,
    calls: Path,
    plan: bool,
) -> None:
    """Measure what models may know of SOURCE before they read its corpus.

    Three measures, each optional: queries that models answer rightly without context, n-grams of
    queries and answers in a text corpus, and queries newer than a date or than a model's knowledge
    cut-off. Replies are kept: if interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone data contamination my-set --model "chat(model=a)" --model "chat(model=b)"
      ragstone data contamination my-set --corpus-text crawl/ -o overlap.jsonl
      ragstone data contamination my-set --model "chat(model=a)" --cutoff "a=2024-06"
      ragstone data contamination my-set --after 2024-06 --keep my-new-set
    """
    from ragstone.building.contamination import Contamination, answerable
    from ragstone.data.load import load_dataset
    from ragstone.data.query_dates import query_dates
    from ragstone.data.readers.text_blocks import text_files
    from ragstone.experiment.clusters import query_clusters

    days = _days(models, after, cutoffs)
    if keep is not None and not days:
        raise click.UsageError("--keep needs a date: add --after or --cutoff")
    if not models and corpus_text is None and not days:
        raise click.UsageError(_NOTHING)
    readers = _readers(models)
    dataset = load_dataset(source)
    dataset = dataset.sample(limit, seed) if limit else dataset
    dates = query_dates(dataset, date_label) if days else None
    if plan:
        count = len(models) * len(answerable(dataset))
        cli.print_result(lambda: {"calls": count}, lambda: f"at most {count:,} calls")
        return
    overlaps, words = None, 0
    if corpus_text is not None:
        overlaps, words = _overlaps(dataset, corpus_text, text_files(corpus_text), ngram)
    known = _known(dataset, readers, calls)
    clusters = query_clusters(dataset)
    found = Contamination(dataset, known, overlaps, words, dates, days, clusters)
    if output is not None:
        cli.write_json_lines(output, found.rows())
    lines = list(_lines(found))
    if keep is not None:
        lines.append(_keep(found, keep))
    cli.print_result(found.to_dict, lambda: "\n\n".join(lines))


def _days(models: Sequence[str], after: str | None, cutoffs: Sequence[str]) -> dict[str, date]:
    """Return model -> its cut-off, and "" -> the date of --after."""
    from ragstone.core.spec import parse_spec
    from ragstone.data.query_dates import required_date

    named = {
        str(parse_spec(one, where="--model").parameters.get("model", one)): one for one in models
    }
    found = {"": required_date(after, "--after")} if after else {}
    for written in cutoffs:
        model, equals, day = written.rpartition("=")
        if not equals or not model:
            raise click.BadParameter(f"{written!r} is not of the form MODEL=DATE")
        model = named.get(model, model)
        if models and model not in models:
            near = did_you_mean(model, [*named, *models])
            raise ConfigError(f"--cutoff {written}: no --model is called {model!r}{near}")
        found[model] = required_date(day, f"--cutoff {written}")
    return found


def _readers(models: Sequence[str]) -> dict[str, Generator]:
    from ragstone.core.registry import create

    return {model: create("generators", model, where="--model") for model in models}


def _known(dataset: Dataset, readers: Mapping[str, Generator], calls: Path) -> dict[str, Known]:
    """Return model -> its right answers without context."""
    from ragstone.building.contamination import answerable, asked_without_context
    from ragstone.calls.client import Calls
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by
    from ragstone.protocols import Services

    if not readers:
        return {}
    if not answerable(dataset):
        raise ConfigError(
            f"{dataset.name}: no query has a gold answer, so no answer can be right; leave --model "
            "out"
        )
    with Calls.at(calls) as opened, shown_by(open_bar):
        services = Services(calls=opened)
        for reader in readers.values():
            reader.check(services)
        return {m: asked_without_context(dataset, r, services) for m, r in readers.items()}


def _overlaps(
    dataset: Dataset, root: Path, files: Sequence[Path], size: int
) -> tuple[list[QueryOverlap], int]:
    """Return the overlap of each query with some files, and the number of their words."""
    from ragstone.data.readers.text_blocks import text_blocks
    from ragstone.data_quality.ngram_overlap import OverlapSearch

    search = OverlapSearch(dataset.queries, size)
    for path in files:
        name = path.relative_to(root) if path != root else path.name
        for line, text in text_blocks(path):
            search.read(f"{name}:{line}", text)
    return search.overlaps(), search.words_read


def _keep(found: Contamination, folder: Path) -> str:
    """Write the data set with the newer queries, and return a line on it."""
    from ragstone.data.writers.folder import write_dataset

    places = found.kept_positions()
    if not places:
        raise ConfigError("--keep: no query is newer than the dates; choose an earlier date")
    chosen = found.dataset.select(places)
    ids = set(chosen.query_table.column("query_id").to_pylist())
    write_dataset(_judged(chosen, ids), folder)
    return f"{len(places):,} of {len(found.dataset.queries):,} queries are in {folder}"


def _judged(dataset: Dataset, ids: set[str]) -> Dataset:
    """Return a data set with the judgements of some queries alone."""
    from dataclasses import replace

    from ragstone.data.corpus import rows_at

    table = dataset.qrel_table
    held = table.column("query_id").to_pylist()
    places = [place for place, query_id in enumerate(held) if query_id in ids]
    return replace(dataset, qrel_table=rows_at(table, places))


def _lines(found: Contamination) -> Iterator[str]:
    if found.known:
        yield str(_table("model", found.shares, "Right without context", [_GUESSED]))
    if found.together:
        yield str(_table("right without context", found.together, "Models together", []))
    if found.overlaps is not None:
        first = [one for one in found.overlaps if one.place][:3]
        below = [f"{one.query_id}: {one.place}" for one in first]
        title = f"Queries with an n-gram in the corpus of {found.words:,} words"
        yield str(_table("n-gram of", found.overlap_shares, title, below))
    if found.dates is not None:
        yield str(_sides_table(found.sides, found.dates.label))


def _table(head: str, shares: Mapping[str, Summary], title: str, below: Sequence[str]) -> TextTable:
    rows = [
        [name, number(one.mean) + interval_text(one.interval), f"{one.n:,}", f"{one.failed:,}"]
        for name, one in shares.items()
    ]
    return TextTable([head, "share", "n", "failed"], rows, title, below=[*below])


def _sides_table(sides: Mapping[str, Sides], label: str) -> TextTable:
    asked = any(one.before is not None for one in sides.values())
    head = ["date of", "date", "older", "newer", "undated"]
    rows = [
        [
            *(model or "--after", one.day.isoformat(), f"{one.older:,}"),
            *(f"{one.newer:,}", f"{one.undated:,}"),
            *([_mean(one.before), _mean(one.after), _gap(one)] if asked else []),
        ]
        for model, one in sides.items()
    ]
    if asked:
        head += ["right before", "right after", "difference"]
    return TextTable(head, rows, f"Queries by their date (label {label})")


def _mean(one: Summary | None) -> str:
    if one is None:
        return "-"
    failed = f", {one.failed:,} failed" if one.failed else ""
    return f"{number(one.mean)}{interval_text(one.interval)} (n {one.n:,}{failed})"


def _gap(one: Sides) -> str:
    return signed_interval(one.difference, one.interval)
