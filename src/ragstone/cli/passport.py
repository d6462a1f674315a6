"""`ragstone passport`: everything behind an experiment's numbers as one JSON file."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.options import (
    experiment_arguments,
    json_option,
    load_results,
    print_result,
    warn_of_attempt,
)


@click.command("passport")
@experiment_arguments
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write (default: NAME-passport.json).",
)
@click.option(
    "--scores",
    is_flag=True,
    help="Include the scores of every query, so that gate and compare need no store.",
)
@json_option
def command(
    *, experiment: Path, overrides: tuple[str, ...], output: Path | None, scores: bool
) -> None:
    """Write the passport of an experiment: its data, parts, code, calls and numbers as JSON.

    The file has no credentials and no paths of this machine, so it can be published. Anyone with
    the store can check it with `ragstone verify`. KEY=VALUE replaces a value of the experiment
    file; only `name` and `store` have an effect.

    \b
    Examples:
      ragstone passport demo
      ragstone passport demo -o passport.json
      ragstone passport released.yaml -o baseline.json --scores
    """
    from ragstone.results.passport_file import write_passport

    results = load_results(experiment, overrides)
    warn_of_attempt(results)
    passport = results.passport(scores=scores)
    path = write_passport(passport, output or Path(f"{results.name}-passport.json"))
    size, checksum = path.stat().st_size, passport["checksum"]
    facts = {"passport": path, "bytes": size, "name": results.name, "checksum": checksum}
    print_result(lambda: facts, lambda: f"{path} ({size:,} bytes, checksum {checksum[:12]})")
