"""Write the man pages of all commands, from their help texts.

python tools/man.py [FOLDER]        by default build/man; then: man -l build/man/ragstone-run.1
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ragstone.cli import root
from ragstone.version import __version__


def commands(context: click.Context) -> Iterator[click.Context]:
    """Yield the context of a command and of all below it, without hidden ones."""
    yield context
    for child in _children(context):
        yield from commands(child)


def page(context: click.Context) -> str:
    """Return a command's man page, in the language of man."""
    command, name = context.command, context.command_path
    records = filter(None, (one.get_help_record(context) for one in command.get_params(context)))
    below = [(one.command_path, one.command.get_short_help_str(200)) for one in _children(context)]
    parts = [
        f'.TH "{name.upper()}" 1 "" "Ragstone {__version__}"',
        f".SH NAME\n{name.replace(' ', '-')} - {_roff(command.get_short_help_str(200))}",
        f".SH SYNOPSIS\n.B {name}\n{_roff(' '.join(command.collect_usage_pieces(context)))}",
        f".SH DESCRIPTION\n{_paragraphs(inspect.cleandoc(command.help or ''))}",
        *_terms("OPTIONS", records),
        *_terms("COMMANDS", below),
    ]
    return "\n".join(parts) + "\n"


def write_pages(folder: Path) -> list[Path]:
    """Write one page per command, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for context in commands(click.Context(root, info_name="ragstone")):
        written.append(folder / f"{context.command_path.replace(' ', '-')}.1")
        written[-1].write_text(page(context), encoding="utf-8")
    return written


def _children(context: click.Context) -> Iterator[click.Context]:
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield click.Context(command, info_name=name, parent=context)


def _terms(heading: str, records: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> list[str]:
    lines = [f".TP\n.B {_roff(term)}\n{_roff(text)}" for term, text in records]
    return [f".SH {heading}", *lines] if lines else []


def _paragraphs(text: str) -> str:
    """Return paragraphs; those that click must not wrap keep their lines."""
    shown = []
    for paragraph in re.split(r"\n\s*\n", text):
        kept = paragraph.startswith("\b")
        body = _roff(paragraph.removeprefix("\b\n"))
        shown.append(f".nf\n{body}\n.fi" if kept else body)
    return "\n.PP\n".join(shown)


def _roff(text: str) -> str:
    """Return a text in which nothing is a request or an escape of man."""
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", safe, flags=re.MULTILINE)


if __name__ == "__main__":
    print(f"{len(write_pages(Path(*sys.argv[1:2] or ['build/man'])))} pages")
