"""`ragstone config`: the JSON Schema of an experiment file, for editors."""

from __future__ import annotations

import click

from ragstone.cli.options import print_json


@click.group("config")
def command() -> None:
    """Describe experiment files for editors and other programs."""


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of an experiment file.

    \b
    Example:
      ragstone config schema > experiment.schema.json
    """
    from ragstone.experiment.config import ExperimentFile

    print_json(ExperimentFile.model_json_schema())
