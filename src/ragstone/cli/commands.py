"""The table of commands: one file per command, imported when the command is called."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable
from typing import Final

import click

from ragstone.cli.screen import show_logs, tell
from ragstone.core import limits
from ragstone.errors import RagstoneError
from ragstone.version import __version__

COMMANDS: Final = {
    "try": ("ragstone.cli.try_system", "Measure your own system with one command."),
    "init": ("ragstone.cli.init", "Write a first experiment file for your own system."),
    "run": ("ragstone.cli.run", "Run or resume an experiment."),
    "plan": ("ragstone.cli.plan", "Plan an experiment: how many queries show a difference."),
    "show": ("ragstone.cli.show", "Show an experiment's tables in the terminal."),
    "why": ("ragstone.cli.why", "Show how one query was answered, and why it is wrong."),
    "report": ("ragstone.cli.report", "Write an experiment's report as one HTML file."),
    "passport": ("ragstone.cli.passport", "Write everything behind the numbers as one JSON file."),
    "verify": ("ragstone.cli.verify", "Compute the numbers of a passport again."),
    "diff": ("ragstone.cli.diff", "List what differs between two passports or experiments."),
    "history": ("ragstone.cli.history", "Show a metric over releases and dates."),
    "leaderboard": ("ragstone.cli.leaderboard", "Show one table over many experiments."),
    "plot": ("ragstone.cli.plot", "Draw a chart by its name: a figure of a paper, or another."),
    "export": ("ragstone.cli.export", "Write results in the formats of other tools."),
    "rank": ("ragstone.cli.rank", "Score rankings against relevance judgements."),
    "score": ("ragstone.cli.score", "Score recorded answers against gold answers."),
    "compare": ("ragstone.cli.compare", "Compare systems, with significance tests."),
    "effects": ("ragstone.cli.effects", "Show what moves a metric: retriever, prompt, query, ..."),
    "sensitivity": ("ragstone.cli.sensitivity", "Show whether ranks depend on prompt or judge."),
    "gate": ("ragstone.cli.gate", "Decide whether a new version may replace a baseline."),
    "data": ("ragstone.cli.data", "Show, check, convert, label and generate data sets."),
    "build": ("ragstone.cli.build", "Build benchmarks from documents or QA sets."),
    "train": ("ragstone.cli.train", "Train own generators, question writers and judges."),
    "traces": ("ragstone.cli.traces", "Convert traces of a running system into rows to score."),
    "judge": ("ragstone.cli.judge", "Check, calibrate and correlate LLM judges."),
    "calls": ("ragstone.cli.calls", "List, show, export and prune kept model calls."),
    "store": ("ragstone.cli.store", "List, check and prune a store."),
    "models": ("ragstone.cli.models", "List bundled models; fetch and check their files."),
    "components": ("ragstone.cli.components", "List components with their parameters."),
    "prompts": ("ragstone.cli.prompts", "List, show and compare the prompts of generators."),
    "doctor": ("ragstone.cli.doctor", "Report missing extras and models, and how to get them."),
    "view": ("ragstone.cli.view", "Show a store as live pages in a browser on this machine."),
    "annotate": ("ragstone.cli.annotate", "Let people label, rate, compare and write on pages."),
    "mcp": ("ragstone.cli.mcp", "Serve the results of a store to an assistant, read-only."),
    "docs": ("ragstone.cli.docs", "Print a page of the documentation."),
    "config": ("ragstone.cli.config", "Print the JSON Schema of an experiment file."),
}
"""Name -> (module, one line of help): `ragstone --help` imports none of them."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        loaded: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": limits.HELP_COLUMNS,
        "show_default": True,
    },
)
@click.version_option(__version__, prog_name="ragstone")
def root() -> None:
    """Measure the quality of retrieval-augmented generation.

    \b
    Examples:
      ragstone try my_rag.py:answer qa.csv      measure your own system
      ragstone run demo                         run the demo, with models on this machine
      ragstone show demo                        print its tables
      ragstone report demo -o report.html
    """


def run(interrupted: Callable[[], bool] = lambda: False) -> int:
    """Run the command line, and return the exit code; errors of Ragstone have no traceback.

    Raises:
        KeyboardInterrupt: also if a library or a command has made another error of it.
    """
    show_logs()
    try:
        # Outside standalone mode click returns the exit code.
        exit_code = root(prog_name="ragstone", standalone_mode=False)
    except Exception as error:
        if interrupted() or isinstance(error, click.Abort):
            raise KeyboardInterrupt from error
        exit_code = _shown(error)
    if interrupted():
        raise KeyboardInterrupt
    return exit_code if isinstance(exit_code, int) else 0


def _shown(error: Exception) -> int:
    """Print an error that needs no traceback, and return its exit code; raise any other."""
    match error:
        case click.ClickException():
            shown = io.StringIO()
            error.show(shown)
            tell(shown.getvalue().rstrip("\n"))
            return error.exit_code
        case RagstoneError():
            tell(f"Error: {error}")
            if error.page and sys.stderr.isatty():
                tell(f"More: ragstone docs {error.page}")
            return error.exit_code
        case BrokenPipeError():
            # A program such as `head` closed our output early, which is not a failure.
            sys.stderr.close()
            return 0
    raise error
