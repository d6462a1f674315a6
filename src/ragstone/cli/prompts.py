"""`ragstone prompts`: list the prompts of generators, show one, and compare two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.core.prompt_files import NamedPrompt


@click.command("prompts")
@click.argument("names", nargs=-1, metavar="[NAME | diff A B]")
@click.option(
    "--folder",
    type=FILE,
    default=Path(),
    help="Folder of the experiment file; its folder prompts contains your own prompts.",
)
@json_option
def command(names: tuple[str, ...], folder: Path) -> None:
    """List the prompts that a generator may have, show one, or compare two.

    \b
    Examples:
      ragstone prompts                             every prompt with its traits
      ragstone prompts concise                     its texts
      ragstone prompts diff instruction concise    the lines that differ
    """
    from ragstone.core.prompt_files import find_prompt, own_names, shipped_names
    from ragstone.core.registry import beside

    with beside(folder):
        if names[:1] == ("diff",) and len(names) == len(("diff", "A", "B")):
            first, second = map(find_prompt, names[1:])
            print_result(lambda: _compared(first, second), lambda: _diff_text(first, second))
        elif len(names) == 1 and names != ("diff",):
            prompt = find_prompt(names[0])
            print_result(lambda: _described(prompt), lambda: "\n".join(_lines(prompt)))
        elif not names:
            listed = dict.fromkeys([*shipped_names(), *own_names()])
            found = [_found(name) for name in listed]
            print_result(
                lambda: [*map(_described, found)], lambda: "\n".join(map(str, _table(found)))
            )
        else:
            raise click.UsageError("expected nothing, the name of a prompt, or: diff A B")


@dataclass(frozen=True)
class _Unreadable:
    """An own prompt whose file is wrong: the list names it and shows the others."""

    name: str
    problem: str


def _found(name: str) -> NamedPrompt | _Unreadable:
    from ragstone.core.prompt_files import find_prompt

    try:
        return find_prompt(name)
    except ConfigError as error:
        return _Unreadable(name, str(error))


def _described(prompt: NamedPrompt | _Unreadable) -> dict[str, Any]:
    from ragstone.core.prompt_files import traits

    if isinstance(prompt, _Unreadable):
        return {"name": prompt.name, "error": prompt.problem}
    sent = prompt.file.sent
    facts = {key: value for key, value in prompt.facts(sent).items() if key != "replaced"}
    return {
        **facts,
        "about": prompt.file.about,
        "traits": traits(prompt),
        "system": sent.system,
        "user": sent.user,
        "closed_book": {"system": sent.closed_book_system, "user": sent.closed_book_user},
        "examples": [
            {"query": one.query, "answer": one.answer, "passages": list(one.passages)}
            for one in sent.examples
        ],
    }


def _table(found: list[NamedPrompt | _Unreadable]) -> Iterator[object]:
    from ragstone.core.prompt_files import traits
    from ragstone.core.tables import TextTable

    columns = ["name", "refuses", "words", "cites", "order", "history", "examples", "language"]
    rows = []
    for prompt in found:
        if isinstance(prompt, _Unreadable):
            continue
        told = traits(prompt)
        refuses, cites = ("yes" if told[key] else "no" for key in ("refusal", "citations"))
        order = ", ".join(told["order"])
        name = f"{prompt.name} (own)" if prompt.is_own else prompt.name
        words = str(told["max_words"] or "-")
        last = told["history"], str(told["examples"]), told["language"]
        rows.append((name, refuses, words, cites, order, *last))
    yield TextTable(columns, rows)
    yield from (f"{one.name}: {one.problem}" for one in found if isinstance(one, _Unreadable))


def _lines(prompt: NamedPrompt) -> Iterator[str]:
    from ragstone.core.prompt_files import sent_texts

    file, origin = prompt.file, "own" if prompt.is_own else "shipped"
    yield click.style(prompt.label(), bold=True) + f" ({origin}, {file.language})"
    if file.about:
        yield file.about
    for key, text in sent_texts(file.sent).items():
        yield f"\n{key}:\n{text}"


def _compared(a: NamedPrompt, b: NamedPrompt) -> dict[str, Any]:
    from ragstone.core.prompt_files import sent_texts

    before, after = sent_texts(a.file.sent), sent_texts(b.file.sent)
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    rows = [{"key": key, "a": before.get(key), "b": after.get(key)} for key in changed]
    return {"a": a.label(), "b": b.label(), "differences": rows}


def _diff_text(a: NamedPrompt, b: NamedPrompt) -> str:
    from ragstone.core.prompt_files import sent_texts
    from ragstone.results.prompts import difference

    lines = list(difference(sent_texts(a.file.sent), sent_texts(b.file.sent)))
    return "\n".join([f"{a.label()} | {b.label()}", *(lines or ["nothing differs"])])
