"""`ragstone train`: own generators, question writers, judges, rerankers and embedders."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ragstone.cli.options import output_quiet
from ragstone.cli.train_gains import gains_command
from ragstone.cli.train_generator import generator_command
from ragstone.cli.train_judge import judge_command
from ragstone.cli.train_merge import merge_command
from ragstone.cli.train_retrieval import embedder_command, reranker_command
from ragstone.cli.train_writer import writer_command
from ragstone.training.parallel import hide_other_gpus


@click.group("train")
def command() -> None:
    """Train a model on a data set, and measure what it gained.

    Each command reads a training file (docs/train.md). A killed training is resumed by the same
    command. Several processes train together if `accelerate launch` or `torchrun` starts them.
    """
    hide_other_gpus()
    if os.environ.get("RANK", "0") != "0":
        # The first process of several prints the result, and what is to be said of the data.
        click.get_current_context().with_resource(output_quiet())
        click.get_current_context().with_resource(_notes_quiet())


@contextmanager
def _notes_quiet() -> Iterator[None]:
    """Log no notes about data, such as guessed columns."""
    log = logging.getLogger("ragstone.data")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


command.add_command(generator_command)
command.add_command(writer_command)
command.add_command(merge_command)
command.add_command(reranker_command)
command.add_command(embedder_command)
command.add_command(judge_command)
command.add_command(gains_command)
