"""`ragstone diff`: the differences of two passports or experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragstone.cli.options import FILE, json_option, load_results, print_result


@click.command("diff")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@json_option
def command(a: Path, b: Path) -> None:
    """List the differences of two passports, in the order in which they could matter.

    A and B are passports, reports, or experiment files, whose stored results are compared. The
    order is: data, prompts, models, parts and parameters, code, packages, seeds, calls, answers,
    numbers.

    \b
    Examples:
      ragstone diff monday.json tuesday.json
      ragstone diff passport.json demo --json
    """
    from ragstone.results.passport_diff import diff_passports

    found = diff_passports(_passport(a), _passport(b))
    print_result(found.to_dict, lambda: found)


def _passport(path: Path) -> dict[str, Any]:
    from ragstone.results.passport_file import read_passport

    is_experiment = path.suffix in {".yaml", ".yml"}
    return load_results(path, ()).passport() if is_experiment else read_passport(path)
