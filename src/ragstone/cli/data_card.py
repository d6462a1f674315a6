"""`ragstone data card`: a data card and an MLCommons Croissant description of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, json_option, print_result, together

if TYPE_CHECKING:
    from ragstone.building.card_facts import CardFacts
    from ragstone.data_quality.finding import Finding

_statement_options: Callable[..., Any] = together(
    click.option("--title", default="", help="Title of the data set (default: its name)."),
    click.option("--description", default="", help="One or two sentences about the data set."),
    click.option("--licence", default="", help="Licence, such as CC-BY-4.0 or its URL."),
    click.option("--creator", default="", help="People or organisation that made the data set."),
    click.option("--url", default="", help="Page on which the data set is published."),
    click.option("--date", default="", help="Day of publication, such as 2026-11-26."),
    click.option("--version", default="", help="Version of the data set."),
    click.option("--citation", default="", help="Reference to cite."),
)


@click.command("card")
@click.argument("source")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FOLDER",
    help="Folder for the data and the card (default: the folder of SOURCE).",
)
@click.option(
    "--ratings",
    multiple=True,
    metavar="FILE",
    help="File of people's ratings, for their agreement; may be repeated.",
)
@click.option("--check/--no-check", default=True, help="List errors and warnings of data check.")
@_statement_options
@json_option
def card_command(
    *, source: str, output: Path | None, ratings: tuple[str, ...], check: bool, **said: str
) -> None:
    """Write a data card of SOURCE, and its description as MLCommons Croissant.

    README.md (card.md beside a README of your own) and croissant.json state files with digests,
    splits, composition, how the data set was made, agreement of people, licence and known faults.
    Unstated facts are listed as unknown. With -o, the data set is written too, in Ragstone's own
    layout, ready to publish. A rerun keeps what you stated before.

    \b
    Examples:
      ragstone data card my-mirage --licence CC-BY-SA-4.0 --creator "Our group"
      ragstone data card beir-scifact -o to-publish
      ragstone data card my-set --ratings ann.jsonl --ratings ben.jsonl
    """
    from ragstone.building.card import Publication
    from ragstone.building.card_facts import Statements
    from ragstone.data.load import load_dataset
    from ragstone.data.query_dates import required_date

    if said["date"]:
        said["date"] = required_date(said["date"], "--date").isoformat()
    publication = Publication(load_dataset(source), output, Statements(**said), ratings)
    facts = publication.facts()
    findings = _findings(publication.target) if check else None
    files = publication.write(facts, findings)
    print_result(
        lambda: {**facts.to_dict(), "files": files, "findings": _counts(findings)},
        lambda: "\n".join(_lines(facts, findings, files)),
    )


def _findings(folder: Path) -> list[Finding]:
    from ragstone.data_quality import check
    from ragstone.data_quality.lenient_reader import read_leniently

    return check(read_leniently(str(folder)))


def _counts(findings: Sequence[Finding] | None) -> Mapping[str, int] | None:
    """Return severity -> number of findings; None if there was no check."""
    from collections import Counter

    return None if findings is None else Counter(one.severity for one in findings)


def _lines(
    facts: CardFacts, findings: Sequence[Finding] | None, files: Sequence[Path]
) -> Iterator[str]:
    yield from (f"{path.stat().st_size:>13,} bytes  {path}" for path in files)
    counts = _counts(findings)
    if counts is not None:
        listed = ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in counts.items())
        yield f"data check: {listed or 'nothing found'}"
    if facts.unknown:
        options = {"licence": "--licence", "creator": "--creator", "URL": "--url"}
        ways = ", ".join(options.get(name, "--date") for name in facts.unknown)
        yield f"unknown: {', '.join(facts.unknown)}; state it with {ways}"
