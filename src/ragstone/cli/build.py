"""`ragstone build`: make benchmarks from documents or from sets of questions and answers."""

from __future__ import annotations

import click

from ragstone.cli.build_conversations import conversations_command
from ragstone.cli.build_mirage import mirage_command
from ragstone.cli.build_testset import testset_command


@click.group("build", commands=[testset_command, conversations_command, mirage_command])
def command() -> None:
    """Build benchmarks from documents, or from sets of questions and answers.

    A benchmark is a data set in Ragstone's own layout. `rejected.parquet` in its folder has every
    rejected item with the step and the reason, and `build.json` how it was made. Replies of models
    are kept: if interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone build testset docs/ my-test-set --count 60 --model "chat(model=a)"
      ragstone build mirage my-mirage --qa qa.jsonl --corpus articles --judge "chat(model=a)"
      ragstone build conversations my-talks --corpus articles --model "chat(model=a)"
    """
