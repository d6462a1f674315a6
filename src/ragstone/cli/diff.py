"""`ragstone diff`: the differences of two passports or experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.options import json_option, print_result
from ragstone.errors import ConfigError


@click.command("diff")
@click.argument("a")
@click.argument("b")
@json_option
def command(a: str, b: str) -> None:
    """List the differences of two passports, in the order in which they could matter.

    A and B are passports, reports, or experiment files, whose stored results are compared;
    e.yaml@DATE or e.yaml@RELEASE is an earlier run. The order is: data, prompts, models, parts and
    parameters, code, packages, seeds, calls, answers, numbers.

    \b
    Examples:
      ragstone diff monday.json tuesday.json
      ragstone diff passport.json demo --json
      ragstone diff e.yaml@2026-10-01 e.yaml
    """
    from ragstone.results.passport_diff import diff_passports

    found = diff_passports(_passport(a), _passport(b))
    print_result(found.to_dict, lambda: found)


def _passport(written: str) -> dict[str, Any]:
    from ragstone.experiment.score_sources import ScorePlace, results_of_experiment
    from ragstone.results.passport_file import read_passport

    place = ScorePlace.parse(written)
    if not place.is_experiment:
        return read_passport(Path(written))
    results, part = results_of_experiment(place)
    if part:
        raise ConfigError(
            f"{place} is a part of an experiment; whole ones are compared: {place.path} or "
            f"{place.path}@DATE"
        )
    return results.passport()
