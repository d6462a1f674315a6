"""Reference pages of the command line, from the tree of commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from tools.site.page_text import code, escaped, linked, page, table

from ragstone.cli.commands import COMMANDS, root

ROOT: Final = Path(__file__).resolve().parents[2]
UP: Final = "../../"


def commands() -> Iterator[tuple[tuple[str, ...], click.Context]]:
    """Yield each command and subcommand with its path below `ragstone`, in order of the help."""
    yield from _below((), click.Context(root, info_name="ragstone"))


def _below(
    path: tuple[str, ...], context: click.Context
) -> Iterator[tuple[tuple[str, ...], click.Context]]:
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            found = context.command.get_command(context, name)
            if found is not None and not found.hidden:
                inner = click.Context(found, info_name=name, parent=context)
                yield (*path, name), inner
                yield from _below((*path, name), inner)


def command_pages() -> dict[str, str]:
    """Return the page of every command, and the index."""
    listed = list(commands())
    found = {_file(path): _page(path, context) for path, context in listed}
    rows = [
        (f"[`ragstone {' '.join(path)}`]({_name(path)}.md)", escaped(_summary(path, context)))
        for path, context in listed
    ]
    found["reference/commands/index.md"] = page(
        "# Commands",
        f"[What the commands are for]({UP}commands.md), with their JSON. Exit codes: "
        f"[experiment files]({UP}experiment-file.md#exit-codes).",
        table(("command", "purpose"), rows),
    )
    return found


def _name(path: tuple[str, ...]) -> str:
    return "-".join(path)


def _file(path: tuple[str, ...]) -> str:
    return f"reference/commands/{_name(path)}.md"


def _summary(path: tuple[str, ...], context: click.Context) -> str:
    if len(path) == 1:
        return COMMANDS[path[0]][1]
    return _paragraphs(context.command.help or "")[0]


def _paragraphs(text: str) -> list[str]:
    return [part.strip("\n") for part in re.split(r"\n[ \t]*\n", text.replace("\f", ""))]


def _page(path: tuple[str, ...], context: click.Context) -> str:
    command = context.command
    lines = _paragraphs(command.help or "")
    pieces = [context.command_path, *command.collect_usage_pieces(context)]
    parameters = [p for p in command.get_params(context) if not getattr(p, "hidden", False)]
    arguments = [p for p in parameters if isinstance(p, click.Argument)]
    options = [p for p in parameters if isinstance(p, click.Option)]
    groups = command.list_commands(context) if isinstance(command, click.Group) else []
    return page(
        f"# ragstone {' '.join(path)}",
        linked(lines[0], UP),
        f"```console\n$ {' '.join(pieces)}\n```",
        *map(_help, lines[1:]),
        table(("subcommand",), ([f"[`{one}`]({_name((*path, one))}.md)"] for one in groups)),
        "## Arguments" if arguments else "",
        table(("argument", "required", "values"), map(_argument, arguments)),
        "## Options",
        table(
            ("option", "value", "default", "meaning"),
            [_option(p, context) for p in options],
        ),
        "## See also",
        _see_also(path, with_json=any("--json" in p.opts for p in options)),
    )


def _help(paragraph: str) -> str:
    """Return a paragraph of a help text; one that click leaves alone is code."""
    if "\b" not in paragraph:
        return linked(paragraph, UP)
    lines = [line.rstrip() for line in paragraph.splitlines() if line.strip(" \b\n")]
    head = lines[0].strip().rstrip(":")
    if head in {"Example", "Examples"}:
        body = "\n".join(f"$ {line.strip()}" for line in _joined(lines[1:]))
        return f"## {head}\n\n```console\n{body}\n```"
    return "```text\n" + "\n".join(lines) + "\n```"


def _joined(lines: list[str]) -> list[str]:
    """Return the lines of examples; one that is indented further goes on with the line before."""
    least = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    found: list[str] = []
    for line in lines:
        if found and len(line) - len(line.lstrip()) > least:
            found[-1] += f"\n    {line.strip()}"
        else:
            found.append(line)
    return found


def _argument(argument: click.Argument) -> tuple[str, str, str]:
    values = "any number" if argument.nargs == -1 else str(argument.nargs)
    return code(argument.human_readable_name), "yes" if argument.required else "no", values


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str, str]:
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag or option.count else code(_metavar(option, context))
    several = " May be given several times." if option.multiple else ""
    return names, value, _default(option), linked(option.help or "", UP) + several


def _metavar(option: click.Option, context: click.Context) -> str:
    if isinstance(option.type, click.Choice):
        return ", ".join(map(str, option.type.choices))
    if isinstance(option.type, click.IntRange | click.FloatRange):
        kind = "INTEGER" if isinstance(option.type, click.IntRange) else "FLOAT"
        return f"{kind}{_range(option.type)}"
    return option.make_metavar(context)


def _range(bounds: click.IntRange | click.FloatRange) -> str:
    """Return the bounds of a number, as they are read after its kind."""
    found = []
    if bounds.min is not None:
        found.append(f" {'>' if bounds.min_open else '>='} {bounds.min}")
    if bounds.max is not None:
        found.append(f" {'<' if bounds.max_open else '<='} {bounds.max}")
    return ",".join(found)


def _default(option: click.Option) -> str:
    if option.required:
        return "required"
    value: Any = option.to_info_dict()["default"]
    if value is None or value == "" or value in ((), []):
        return ""
    if option.is_flag and option.secondary_opts:
        return code(option.opts[0] if value else option.secondary_opts[0])
    if option.is_flag:
        return "on" if value is True else ""
    return code(", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value))


def _see_also(path: tuple[str, ...], *, with_json: bool) -> str:
    """Return the links of the command's row in docs/commands.md."""
    purpose, shape = _rows()[path[0]]
    found = [f"- Guide: {link}" for link in _links(purpose)]
    if with_json:
        found += [f"- Shape of `--json`: {link}" for link in _links(shape) or _section(path[0])]
    if len(path) > 1:
        found.append(f"- [`ragstone {' '.join(path[:-1])}`]({_name(path[:-1])}.md)")
    found.append(f"- [All commands]({UP}commands.md)")
    return "\n".join(dict.fromkeys(found))


def _rows() -> dict[str, tuple[str, str]]:
    """Return command -> its purpose and its JSON, from the table of docs/commands.md."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `ragstone (\w+)` \| (.*) \| (.*?) \|$", text, re.MULTILINE)
    return {name: (purpose, shape) for name, purpose, shape in rows}


def _links(text: str) -> list[str]:
    return [
        f"[{words}]({UP}{target})" for words, target in re.findall(r"\[([^]]+)\]\(([^)]+)\)", text)
    ]


def _section(command: str) -> list[str]:
    return [f"[commands]({UP}commands.md#ragstone-{command})"]
