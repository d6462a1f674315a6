"""The command line: one file a command, imported when that command is called."""

from __future__ import annotations

import importlib
import sys
from typing import Final

import click

from ragstone.core import limits
from ragstone.errors import RagstoneError
from ragstone.version import __version__

COMMANDS: Final = {
    "run": ("ragstone.cli.run", "Run an experiment, or go on with it."),
    "show": ("ragstone.cli.show", "Show an experiment's tables in the terminal."),
    "report": ("ragstone.cli.report", "Write an experiment's report as one HTML file."),
    "export": ("ragstone.cli.export", "Write results in the forms of other tools."),
    "rank": ("ragstone.cli.rank", "Score a ranking against relevance judgements."),
    "score": ("ragstone.cli.score", "Score recorded answers; no model needed."),
    "compare": ("ragstone.cli.compare", "Compare systems, honest about what is significant."),
    "data": ("ragstone.cli.data", "Look at, check and convert data sets."),
    "judge": ("ragstone.cli.judge", "Check a judge against people's grades."),
    "calls": ("ragstone.cli.calls", "List, export and prune the model calls that are kept."),
    "models": ("ragstone.cli.models", "List the bundled models, fetch and check their files."),
    "components": ("ragstone.cli.components", "List what is installed, with every parameter."),
    "doctor": ("ragstone.cli.doctor", "Say what is missing on this machine and how to get it."),
    "config": ("ragstone.cli.config", "Print the JSON Schema of an experiment file."),
}
"""Name -> (module, one line of help): `ragstone --help` imports none of them."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        loaded: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": limits.HELP_COLUMNS,
    },
)
@click.version_option(__version__, prog_name="ragstone")
def root() -> None:
    """Measure retrieval-augmented generation: how good, why it fails, what is real.

    \b
    Examples:
      ragstone run examples/demo.yaml            the demo, with real models on this machine
      ragstone show examples/demo.yaml           its tables again
      ragstone report examples/demo.yaml -o report.html
    """


def main() -> None:
    """Run the command line; our own errors are printed without a traceback."""
    try:
        # Outside standalone mode click hands back what a command exits with.
        exit_code = root(prog_name="ragstone", standalone_mode=False)
        sys.exit(exit_code if isinstance(exit_code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nStopped. What was finished is kept: the same command goes on.", err=True)
        sys.exit(130)
    except RagstoneError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output (head, say) has gone: nothing more to say, and no failure.
        sys.stderr.close()
        sys.exit(0)
