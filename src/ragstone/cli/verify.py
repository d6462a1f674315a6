"""`ragstone verify`: compute the numbers of a passport again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ragstone.cli.options import FILE, json_option, print_result


@click.command("verify")
@click.argument("passport", type=FILE, metavar="PASSPORT")
@click.option(
    "--store", type=FILE, default=Path(".ragstone"), help="Folder of the experiment's store."
)
@click.option(
    "--data",
    metavar="PATH",
    help="Path of the data set (default: the data set of the experiment file, if it is found).",
)
@json_option
def command(passport: Path, store: Path, data: str | None) -> None:
    """Compute the numbers of a passport again, and list the differences.

    PASSPORT is a file of `ragstone passport`, or a report. The scores are computed from the answers
    in the store by the installed code; no model is asked. The exit code is 1 if anything differs,
    and 2 if the passport is damaged or of other data.

    \b
    Examples:
      ragstone verify passport.json
      ragstone verify passport.json --store ../store --data ../data --json
      ragstone verify demo-report.html
    """
    from ragstone.experiment.verify import verify

    found = verify(passport, store=store, data=data)
    print_result(found.to_dict, lambda: found)
    sys.exit(0 if found.is_equal else 1)
