"""`ragstone train`: own generators, question writers, judges, rerankers and embedders."""

from __future__ import annotations

import click

from ragstone.cli.train_gains import gains_command
from ragstone.cli.train_generator import generator_command


@click.group("train")
def command() -> None:
    """Train a model on a data set, and measure what it gained.

    Each command reads a training file (docs/train.md). A killed training is resumed by the same
    command.
    """


command.add_command(generator_command)
command.add_command(gains_command)
