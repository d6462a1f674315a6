"""The blocks of code that a page of the documentation shows, with what each of them is.

A fenced block is a file if it has a title (```yaml title="mine.yaml"), part of the page's program
if it is Python, lines for a shell if it has commands, and an illustration otherwise. The cells of a
notebook are one program, too. Comments directly before a block say how it runs:

<!-- not run: REASON -->  it is parsed only
<!-- with models: REASON -->  it is parsed only, unless real models are allowed
<!-- first: COMMAND -->  runs before the block: it makes what a reader has of their own; after >>>
    it is a Python statement
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PROGRAMS: Final = ("ragstone", "pip", "python", "pytest")
_FENCE: Final = re.compile(r"^( *)```(\w*) *(.*)$")
_TITLE: Final = re.compile(r'^title="([^"]+)"$')
_COMMENT: Final = re.compile(r"^ *<!-- (not run|with models|first): (.+) -->$")
_CODE: Final = re.compile(r"""(?:'[^']*'|"[^"]*"|\\.|(?<!\s)#|[^#'"\\])*""")
_SHELLS: Final = ("console", "bash", "sh")
_COMMAND: Final = re.compile(rf"^\$ |^(\w+=\S+ )*({'|'.join(PROGRAMS)}) ")


class PageError(Exception):
    """A page that cannot be read, or a block that fails: page, line and message."""

    def __init__(self, page: str, line: int, message: str) -> None:
        super().__init__(f"{page}:{line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is the line of its first line of content, from 1."""

    page: str
    line: int
    language: str
    title: str
    text: str
    comments: tuple[tuple[int, str, str], ...] = ()
    """Line, kind and text of each comment that says how the block runs."""

    @property
    def reason(self) -> str:
        """Return why the block never runs, or an empty text."""
        return self._said("not run")

    @property
    def models(self) -> str:
        """Return why the block runs only with real models, or an empty text."""
        return self._said("with models")

    @property
    def first(self) -> list[Command]:
        """Return the commands that run before the block."""
        return [Command(n, text, (), n) for n, kind, text in self.comments if kind == "first"]

    def _said(self, wanted: str) -> str:
        return next((text for _, kind, text in self.comments if kind == wanted), "")

    @property
    def kind(self) -> str:
        """Return `file`, `python`, `shell`, `yaml` or `illustration`."""
        if self.title:
            return "file"
        if self.language in ("python", "yaml"):
            return self.language
        lines = self.text.splitlines()
        if self.language in _SHELLS or (
            not self.language and lines and _COMMAND.match(lines[0].lstrip())
        ):
            return "shell"
        return "illustration"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a shell block, and the lines that the page shows as its output."""

    line: int
    text: str
    output: tuple[str, ...]
    last: int

    @property
    def words(self) -> list[str]:
        """Return the command's words; a comment at its end is left out."""
        return shlex.split(self.code)

    @property
    def code(self) -> str:
        """Return the command without a comment at its end."""
        found = _CODE.match(self.text)
        return found[0].rstrip() if found else self.text


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in their order.

    Raises:
        PageError: if a block is not closed, or its first line has more than a language and a title.
    """
    name = str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name
    if page.suffix == ".ipynb":
        return _cells(page, name)
    found: list[Block] = []
    opened: tuple[int, str, str, str] | None = None
    comments, body = list[tuple[int, str, str]](), list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened and fence and not fence[2] and not fence[3]:
            start, language, title, indent = opened
            text = "".join(f"{each.removeprefix(indent)}\n" for each in body)
            found.append(Block(name, start, language, title, text, tuple(comments)))
            opened, comments = None, []
        elif opened:
            body.append(line)
        elif fence:
            title_found = _TITLE.match(fence[3])
            if fence[3] and not title_found:
                raise PageError(name, number, f'write title="..." instead of {fence[3]!r}')
            title = title_found[1] if title_found else ""
            opened, body = (number + 1, fence[2], title, fence[1]), []
        elif stated := _COMMENT.match(line):
            comments.append((number, stated[1], stated[2]))
        elif line.strip():
            comments = []
    if opened:
        raise PageError(name, opened[0], "the block is not closed")
    return found


def _cells(notebook: Path, name: str) -> list[Block]:
    """Return the cells with code of a notebook; a source line has a line of its own in the file."""
    text = notebook.read_text("utf-8")
    starts = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith('"source": [')]
    cells = json.loads(text)["cells"]
    return [
        Block(name, start + 1, "python", "", "".join(cell["source"]) + "\n")
        for start, cell in zip(starts, cells, strict=True)
        if cell["cell_type"] == "code"
    ]


def commands_of(block: Block) -> Iterator[Command]:
    """Yield the commands of a shell block.

    With `$ ` before commands, the lines between two commands are output. Without, every line is a
    command. A backslash at the end of a line continues it.
    """
    lines = block.text.splitlines()
    prompted = any(line.startswith("$ ") for line in lines)
    place = 0
    while place < len(lines):
        start, text = place, lines[place]
        if (prompted and not text.startswith("$ ")) or not text.strip():
            place += 1
            continue
        while text.endswith("\\") and place + 1 < len(lines):
            place += 1
            text = text[:-1].rstrip() + " " + lines[place].strip()
        place += 1
        first = place
        while prompted and place < len(lines) and not lines[place].startswith("$ "):
            place += 1
        output = lines[first:place]
        while output and not output[-1]:
            output.pop()
        yield Command(
            block.line + start,
            text.removeprefix("$ "),
            tuple(output),
            block.line + first + len(output) - 1,
        )
