"""Run and check the commands of a page: in this process, in a shell, and without running them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Final

import click
from tools.shown_blocks import ROOT

FILES: Final = ROOT / "tools" / "shown_files"
"""The folder `$FILES` of commands that pages do not show: it has what readers have of their own."""


def in_process(arguments: list[str]) -> tuple[str, int]:
    """Run a command of Ragstone in this process, which saves its start."""
    from click.testing import CliRunner

    from ragstone.cli.commands import root
    from ragstone.cli.screen import show_logs
    from ragstone.errors import RagstoneError

    logger = logging.getLogger()
    before, logger.handlers = logger.handlers, []
    try:
        show_logs()
        done = CliRunner().invoke(root, arguments, prog_name="ragstone")
    finally:
        logger.handlers = before
    output, error = done.output, done.exception
    if isinstance(error, RagstoneError):
        return f"{output}Error: {error}\n", error.exit_code
    if error and not isinstance(error, SystemExit):
        lines = traceback.format_exception(error)
        return output + "".join(lines), 1
    return output, done.exit_code


def in_shell(line: str) -> tuple[str, int]:
    """Run a line in a shell in which `python` and `ragstone` are those of this interpreter."""
    done = subprocess.run(
        ["bash", "-c", line],  # noqa: S607 - the shell of the reader
        env=shell_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode


def shell_environment() -> dict[str, str]:
    """Return the environment of a page's shells: this interpreter's programs, and `FILES`."""
    folder = str(Path(sys.executable).parent)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "FILES": str(FILES)}


def parse_command(words: list[str]) -> int:
    """Check the words of a command of Ragstone: its name, options, their values, its arguments.

    Returns the port of its server unless another is given; 0 if the command is not a server.

    Raises:
        click.UsageError: if there is no such command or option, or a value is not allowed.
    """
    from ragstone.cli.commands import root

    command: click.Command = root
    context = click.Context(root, info_name="ragstone")
    rest = list(words)
    while isinstance(command, click.Group):
        rest = _check_options(command, context, rest)
        if not rest:
            return 0
        name, found, rest = command.resolve_command(context, rest)
        if found is None:
            raise click.UsageError(f"no command {name!r}")
        command, context = found, click.Context(found, parent=context, info_name=name)
    _check_options(command, context, rest)
    serves = {"--terminal", "--help"}.isdisjoint(words)
    ports = [param.default for param in command.params if param.name == "port" and serves]
    return int(ports[0]) if ports and isinstance(ports[0], int) else 0


def _check_options(command: click.Command, context: click.Context, words: list[str]) -> list[str]:
    if isinstance(command, click.Group):
        context.allow_interspersed_args = False
        if command.invoke_without_command or "parse_args" in vars(type(command)):
            command.parse_args(context, words)
            return [*context._protected_args, *context.args]  # noqa: SLF001 - of a group, not yet resolved
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    asks_help = "--help" in words or "-h" in words
    for param in command.params:
        value = values.get(param.name or "")
        if isinstance(param.type, click.Path | click.File) or asks_help:
            continue
        if param.name in values and not param.is_eager:
            param.process_value(context, value)
    return list(rest)
