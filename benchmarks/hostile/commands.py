"""The commands of the campaign: each row on a terminal, without one, and with `--json`."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.hostile.assistant import replies
from benchmarks.hostile.inputs import (
    QUERIES,
    SYSTEMS,
    answer,
    bases,
    experiments,
    prepare,
    query_id,
    trained,
)
from benchmarks.hostile.rows import ENDLESS, FIRST, ROWS, WARM
from benchmarks.hostile.terminals import Said, beside, said_by
from benchmarks.hostile.texts import FILE, LABEL, NAME, controls_in, json_problem

NO_MESSAGE = ("Traceback", "Exception ignored")


@dataclass(frozen=True)
class Found:
    """What a command line printed in one way."""

    command: str
    row: str
    way: str
    """"terminal", "pipe", "terminal, --json" or "pipe, --json"; "error" of a tool of `mcp`."""
    code: int
    problems: list[str]
    said: str


def leaves() -> dict[str, Any]:
    """Return the commands of the command line by their names; groups that do nothing are none."""
    import click

    from ragstone.cli import root

    def inside(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None
                yield from inside(found, (*words, name))
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join(words), command

    context = click.Context(root)
    return dict(inside(root, ()))


def filled(row: str, folder: Path, number: int) -> tuple[str, ...]:
    """Return the arguments of a row."""
    names = {
        "QUERY": query_id(5),
        "MODEL": (folder / "model.txt").read_text(),
        "NUMBER": str(number),
    }
    names |= {f"SYSTEM{place}": name for place, name in enumerate(SYSTEMS)}
    names |= {
        "TRAINED": trained("generator"),
        "OUT": f"out{number}-{FILE}",
        "NAME": NAME,
        "FILE": FILE,
        "LABEL": LABEL,
    }
    if "CALL" in row:
        names["CALL"] = first_call(folder)
    words = re.compile("|".join(names))
    return tuple(words.sub(lambda found: names[found[0]], one) for one in row.split())


def first_call(folder: Path) -> str:
    """Return the key of a kept call."""
    said = said_by(("calls", "export", "store"), folder, terminal=False)
    return str(json.loads(said.out.splitlines()[0])["key"])


def judged(name: str, row: str, way: str, said: Said) -> Found:
    """Return what is wrong with an output."""
    terminal = way.startswith("terminal")
    problems = [
        f"{where}: {found}"
        for where, text in (("output", said.out), ("standard error", said.errors))
        if (found := controls_in(text, terminal=terminal))
    ]
    whole = said.out + said.errors
    problems += [f"{word}: {whole[-500:]!r}" for word in NO_MESSAGE if word in whole]
    if "json" in way and not terminal and said.out.strip() and (wrong := json_problem(said.out)):
        problems.append(wrong)
    return Found(name, row, way, said.code, problems, whole[-20_000:])


def run_rows(
    folder: Path, only: tuple[str, ...], known: Mapping[tuple[str, str], Found]
) -> Iterator[Found]:
    """Run each row in each way, but those that are known to be right."""
    number, found_commands = len(known), leaves()
    for name, rows in ROWS.items():
        ways = ["terminal", "pipe"]
        if any("--json" in one.opts for one in found_commands[name].params):
            ways += ["terminal, --json", "pipe, --json"]
        for row, way in itertools.product(rows, ways):
            found = known.get((row, way))
            if found is None or found.problems:
                if only and not name.startswith(only):
                    continue
                number += 1
                given = filled(row, folder, number) + (("--json",) if "json" in way else ())
                terminal = way.startswith("terminal")
                # A training that has ended would only be read.
                shutil.rmtree(folder / trained(name.split()[-1]), ignore_errors=True)
                said = said_by(given, folder, terminal=terminal, endless=name in ENDLESS)
                found = judged(name, row, way, said)
            yield found


def tools(folder: Path, only: tuple[str, ...]) -> Iterator[Found]:
    """Let an assistant ask each tool of `mcp`."""
    if only and not "mcp".startswith(only):
        return
    for place, reply in enumerate(replies(folder)):
        way = "error" if reply.is_error else "pipe, --json"
        said = Said(int(reply.is_error), reply.text)
        yield judged("mcp", f"mcp: {place} {reply.tool}", way, said)


def warm_up(folder: Path) -> None:
    """Run some commands that start no thread in this process: the forks have what they imported."""
    from ragstone.cli.commands import run

    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for row in WARM:
            sys.argv = ["ragstone", *filled(row, folder, 0)]
            run()


def import_training() -> None:
    """Import what trainings need; it starts no thread."""
    from peft import LoraConfig  # noqa: F401
    from sentence_transformers import SentenceTransformer  # noqa: F401
    from transformers import BertModel, BertTokenizerFast, LlamaForCausalLM  # noqa: F401


def fake_model() -> Iterator[str]:
    """Yield the address of a model whose answers are hostile."""
    from ragstone.testing import FakeModelServer

    with FakeModelServer(answer=answer) as server:
        yield server.url


def make_inputs(folder: Path, url: str, queries: int = QUERIES, *, small: bool = False) -> None:
    """Write the inputs and run what the rows read, unless an earlier campaign did.

    A small campaign runs one experiment.
    """
    leaves()  # imports all commands, which the forks then have
    os.environ["RAGSTONE_DATABASE"] = ""
    if (folder / "model.txt").exists():
        experiments(folder, url)  # the model has another address now
        return
    prepare(folder, url, queries)
    with beside(bases(folder)):
        pass
    for row in FIRST[:1] if small else FIRST:
        done = said_by(filled(row, folder, 0), folder, terminal=False)
        if done.code:
            raise SystemExit(f"{row}: {done.out[-600:]} {done.errors[-900:]}")


def commands(folder: Path, only: tuple[str, ...] = (), queries: int = QUERIES) -> Iterator[Found]:
    """Run the rows on the inputs, with a fake model; the folder keeps what was found."""
    kept = folder / "found.jsonl"
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = {(one.row, one.way): one for one in (Found(**json.loads(line)) for line in lines)}
    with beside(fake_model()) as url:
        make_inputs(folder, url, queries, small=bool(only))
        if not only:
            warm_up(folder)
        if not only or "train".startswith(only) or any(one.startswith("train") for one in only):
            import_training()
        for one in itertools.chain(run_rows(folder, only, known), tools(folder, only)):
            if known.get((one.row, one.way)) != one:
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(one)) + "\n")
                sys.stderr.write(f"{one.command} {one.way}: {one.code}\n")
                sys.stderr.write(f"    {one.said[-200:]!a}\n" if one.code else "")
                sys.stderr.writelines(f"  !! {problem!a}\n" for problem in one.problems)
            yield one
