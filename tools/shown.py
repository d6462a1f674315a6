"""Run what pages of the documentation show: `python tools/shown.py [--write] [--models] PAGE ...`.

Per page, in one empty folder and in the order of the page: titled blocks are written as files,
Python blocks run as one program, and commands of shell blocks run. Output that a page shows below
a command, or behind `#>` in a Python block, must be the real one; `...` stands for any text. Of a
block with a reason not to run, commands are parsed and Python is compiled.
A failure names page and line. `--write` puts the real output in the place of one that differs.
"""

from __future__ import annotations

import argparse
import ast
import io
import linecache
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Final
from unittest.mock import patch

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.shown_blocks import Block, Command, PageError, commands_of, read_blocks
from tools.shown_commands import in_process, in_shell, parse_command, shell_environment

_SHELL_SIGNS: Final = re.compile(r"[|<>;&()]")
_PROGRESS: Final = re.compile(r".+: [\d,]+ of [\d,]+, .* per second")
_PORT: Final = "9000"
"""The port of every server that a page starts; one that is free is put in its place."""
Run = Callable[[list[str]], tuple[str, int]]
"""Runs `ragstone` with arguments, and returns its output and exit code."""


def matches(shown: tuple[str, ...], output: str) -> bool:
    """Return whether an output is the one shown; `...` stands for any text, over lines too."""
    wanted = "\n".join(line.rstrip() for line in shown).strip("\n")
    found = "\n".join(_lines(output))
    pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
    return re.fullmatch(pattern, found, re.DOTALL) is not None


@dataclass
class PageRun:
    """One run of a page in the current folder, which belongs to it."""

    page: Path
    run: Run = in_process
    write: bool = False
    models: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    program: ModuleType = field(default_factory=lambda: ModuleType("shown_page"))
    started: list[subprocess.Popen[str]] = field(default_factory=list)
    rewritten: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    port: str = _PORT

    def all(self) -> Counter[str]:
        """Run every block, and return the number of blocks by what was done with them.

        Raises:
            PageError: for the first block that fails.
        """
        blocks = read_blocks(self.page)
        self.port = _free_port()
        sys.modules["shown_page"] = self.program
        try:
            with _modules_of_the_folder():
                for block in blocks:
                    self._block(block)
        finally:
            del sys.modules["shown_page"]
            for process in self.started:
                with process, suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
            if self.rewritten:
                self._rewrite()
        return self.counts

    def _block(self, block: Block) -> None:
        self.counts["blocks"] += 1
        parsed = self._only_parsed(block)
        for command in [] if parsed else block.first:
            if command.text.startswith(">>> "):
                exec(self._with_port(command.text[4:]), vars(self.program))  # noqa: S102 - part of the page
            else:
                self._run(block, command)
        if block.kind == "file":
            self._file(block)
        elif block.kind == "python":
            self._python(block)
        elif block.kind == "shell":
            for command in commands_of(block):
                self._command(block, command)
        done = "shown" if block.kind in ("yaml", "illustration") else "run"
        self.counts["not run" if parsed and done == "run" else done] += 1

    def _only_parsed(self, block: Block) -> bool:
        return bool(block.reason or (block.models and not self.models))

    def _file(self, block: Block) -> None:
        path = Path(block.title)
        if path.is_absolute() or ".." in path.parts:
            raise PageError(block.page, block.line, f"{path} is not below the page's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        again = f"\n\n{block.text}" if path.suffix == ".py" and path.exists() else ""
        text = path.read_text("utf-8") + again if again else block.text
        path.write_text(self._with_port(text), "utf-8")

    def _with_port(self, text: str) -> str:
        return re.sub(rf"\b{_PORT}\b", self.port, text)

    def _python(self, block: Block) -> None:
        name = f"<{block.page}:{block.line}>"
        source = "\n" * (block.line - 1) + self._with_port(block.text)
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        printed = io.StringIO()
        try:
            tree = ast.parse(source, name)
            with redirect_stdout(printed), patch("sys.stdin", io.StringIO()):
                if not self._only_parsed(block):
                    self._execute(tree, name)
        except Exception as error:
            lines = [e.lineno or 0 for e in traceback.extract_tb(error.__traceback__)
                     if e.filename == name]  # fmt: skip
            line = lines[-1] if lines else getattr(error, "lineno", 0) or block.line
            raise PageError(block.page, line, f"{type(error).__name__}: {error}") from error
        shown = [row[2:].removeprefix(" ") for row in block.text.splitlines() if row[:2] == "#>"]
        output = printed.getvalue()
        if shown and not self._only_parsed(block) and not matches(tuple(shown), output):
            rows = block.text.splitlines()
            first = next(n for n, row in enumerate(rows) if row[:2] == "#>")
            end = block.line + len(rows) - 1
            self._differs(
                block, (block.line + first, end), output,
                [f"#> {row}".rstrip() for row in output.rstrip().splitlines()],
            )  # fmt: skip

    def _execute(self, tree: ast.Module, name: str) -> None:
        """Run a program; of a notebook's cell the last expression is displayed."""
        last = tree.body[-1] if tree.body and self.page.suffix == ".ipynb" else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        names = vars(self.program)
        exec(compile(tree, name, "exec"), names)  # noqa: S102 - what the page shows
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307
            getattr(value, "_repr_html_", value.__repr__)()

    def _command(self, block: Block, command: Command) -> None:
        self.counts["commands"] += 1
        text = self._with_port(command.code)
        in_a_shell = bool(_SHELL_SIGNS.search(_unquoted(text)))
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise PageError(block.page, command.line, str(error)) from error
        if in_a_shell and (wrong := in_shell(f"bash -n -c {shlex.quote(text)}"))[1]:
            raise PageError(block.page, command.line, wrong[0])
        if words[:1] == ["ragstone"]:
            self._parse(block, command, words)
        if self._only_parsed(block):
            self.counts["commands parsed only"] += 1
            return
        if words[0] == "pip":
            return  # tests/docs/test_shown.py checks the extras; the wheel's check installs them
        output = self._run(block, command)
        self.counts["commands run"] += 1
        if command.output and not matches(command.output, output):
            first = command.last - len(command.output) + 1
            self._differs(block, (first, command.last), output, _lines(output))

    def _parse(self, block: Block, command: Command, words: list[str]) -> int:
        arguments = words[1:]
        for place, word in enumerate(arguments):
            if word[:1] in "|>&;" or word.endswith(";"):
                arguments = arguments[: place + word.endswith(";")]
                arguments = [each.removesuffix(";") for each in arguments]
                break
        try:
            return parse_command(arguments)
        except click.ClickException as error:
            message = error.format_message()
            raise PageError(block.page, command.line, f"{command.text}: {message}") from error

    def _run(self, block: Block, command: Command) -> str:
        """Run a command, and return its output.

        Raises:
            PageError: if it fails.
        """
        text = self._with_port(command.code)
        usual = 0
        if text.startswith("ragstone ") and text[-1] != "&":
            usual = self._parse(block, command, shlex.split(text))
        output, code = self._served(text, usual) if usual else self._output(text)
        if code:
            raise PageError(block.page, command.line, f"exit code {code}: {output[-1500:]}")
        return output.replace(self.port, _PORT) if self.port != _PORT else output

    def _output(self, text: str) -> tuple[str, int]:
        if text.endswith(" &"):
            stdout = self._start(text.removesuffix("&")).stdout
            return stdout.readline() if stdout else "", 0  # a server's line when it is ready
        if text.startswith("ragstone ") and not _SHELL_SIGNS.search(_unquoted(text)):
            return self.run(shlex.split(text)[1:])
        return in_shell(text)

    def _served(self, text: str, usual: int) -> tuple[str, int]:
        """Run a server until it prints its address, on a free port in place of the usual one."""
        port = _free_port()
        process = self._start(f"{text} --no-browser --port {port}")
        lines = list[str]()
        while process.stdout and (line := process.stdout.readline()):
            lines.append(line)
            if "http://" in line:
                process.terminate()
                process.wait()
                return "".join(lines).replace(f":{port}/", f":{usual}/"), 0
        return "".join(lines), process.wait() or 1

    def _start(self, text: str) -> subprocess.Popen[str]:
        """Start a program of a shell."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {text}"],  # noqa: S607 - the shell of the reader
            env={**shell_environment(), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def _differs(self, block: Block, place: tuple[int, int], output: str, rows: list[str]) -> None:
        if not self.write:
            raise PageError(block.page, place[0], f"the output is another:\n{output}")
        self.rewritten[place] = rows

    def _rewrite(self) -> None:
        lines = self.page.read_text("utf-8").splitlines()
        for (first, last), rows in sorted(self.rewritten.items(), reverse=True):
            lines[first - 1 : last] = rows
        self.page.write_text("\n".join(lines) + "\n", "utf-8")


def _lines(output: str) -> list[str]:
    """Return the lines of an output without progress, which only a slow machine reports."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    return [line for line in lines if not _PROGRESS.match(line)]


def _unquoted(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", text)


def _free_port() -> str:
    """Return a free port of four digits, so that tables keep their width."""
    for port in range(int(_PORT), 10_000):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return str(port)
    raise OSError("no free port of four digits")


@contextmanager
def _modules_of_the_folder() -> Iterator[None]:
    """Find modules in the current folder, and forget them at the end."""
    folder = os.getcwd()  # noqa: PTH109 - sys.path has texts
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in sys.modules.keys() - before:
            module = sys.modules[name]
            if str(getattr(module, "__file__", None) or "").startswith(folder):
                del sys.modules[name]


def run_page(
    page: Path, folder: Path, *, run: Run = in_process, write: bool = False, models: bool = False
) -> Counter[str]:
    """Run a page in a folder, and return its counts.

    Raises:
        PageError: for the first block that fails.
    """
    before = Path.cwd()
    os.chdir(folder)
    try:
        return PageRun(page, run, write, models).all()
    finally:
        os.chdir(before)


def main(arguments: list[str]) -> int:
    """Run pages, print their counts, and return 1 if one fails."""
    parser = argparse.ArgumentParser(description="Run what pages show.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="write the real output into the pages")
    parser.add_argument("--models", action="store_true", help="ask and train real models")
    parser.add_argument("--processes", action="store_true", help="each command as a process")
    given = parser.parse_args(arguments)
    total, failed = Counter[str](), 0
    run: Run = (
        (lambda words: in_shell(shlex.join(["ragstone", *words])))
        if given.processes
        else in_process
    )
    for page in given.pages:
        with tempfile.TemporaryDirectory(prefix="ragstone-shown-") as folder:
            try:
                counts = run_page(
                    page.resolve(), Path(folder), run=run, write=given.write, models=given.models
                )
            except PageError as error:
                failed += 1
                print(f"FAILED {error}")
                continue
        total += counts
        print(f"{page}: {_sentence(counts)}")
    print(f"{len(given.pages)} pages, {failed} failed: {_sentence(total)}")
    return int(failed > 0)


def _sentence(counts: Counter[str]) -> str:
    names = (
        "blocks",
        "run",
        "not run",
        "shown",
        "commands",
        "commands run",
        "commands parsed only",
    )
    return ", ".join(f"{counts[name]} {name}" for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
