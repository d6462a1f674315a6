"""`ragstone train`: own generators, question writers, judges, rerankers and embedders."""

from __future__ import annotations

import click

from ragstone.cli.train_gains import gains_command
from ragstone.cli.train_generator import generator_command
from ragstone.cli.train_judge import judge_command
from ragstone.cli.train_merge import merge_command
from ragstone.cli.train_retrieval import embedder_command, reranker_command
from ragstone.cli.train_writer import writer_command


@click.group("train")
def command() -> None:
    """Train a model on a data set, and measure what it gained.

    Each command reads a training file (docs/train.md). A killed training is resumed by the same
    command.
    """


command.add_command(generator_command)
command.add_command(writer_command)
command.add_command(merge_command)
command.add_command(reranker_command)
command.add_command(embedder_command)
command.add_command(judge_command)
command.add_command(gains_command)
