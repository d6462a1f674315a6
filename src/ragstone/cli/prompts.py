"""`ragstone prompts`: list the prompts of generators and judges, show one, and compare two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.core.judge_prompts import JudgePromptFile
    from ragstone.core.prompt_files import NamedPrompt


@click.command("prompts")
@click.argument("names", nargs=-1, metavar="[NAME | diff A B]")
@click.option(
    "--folder",
    type=FILE,
    default=Path(),
    help="Folder of the experiment file; its folder prompts contains your own prompts.",
)
@click.option("--judges", "of_judges", is_flag=True, help="Only the prompts of judges.")
@json_option
def command(names: tuple[str, ...], folder: Path, of_judges: bool) -> None:
    """List the prompts of generators and judges, show one, or compare two.

    \b
    Examples:
      ragstone prompts                             every prompt with its traits
      ragstone prompts concise                     its texts
      ragstone prompts concise.ja                  its texts in Japanese
      ragstone prompts diff instruction concise    the lines that differ
      ragstone prompts diff idk idk.de             the same for prompts of judges
    """
    from ragstone.core.registry import beside

    find = _judge_prompt if of_judges else _prompt
    with beside(folder):
        if names[:1] == ("diff",) and len(names) == len(("diff", "A", "B")):
            first, second = map(find, names[1:])
            print_result(lambda: _compared(first, second), lambda: _diff_text(first, second))
        elif len(names) == 1 and names != ("diff",):
            prompt = find(names[0])
            print_result(lambda: _described(prompt), lambda: "\n".join(_lines(prompt)))
        elif not names:
            judges = [_found(name, _judge_prompt) for name in _judge_names()]
            found = [] if of_judges else [_found(name, _prompt) for name in _generator_names()]
            print_result(
                lambda: [*map(_described, judges if of_judges else found)],
                lambda: "\n".join(map(str, _tables(found, judges))),
            )
        else:
            raise click.UsageError("expected nothing, the name of a prompt, or: diff A B")


@dataclass(frozen=True)
class _Unreadable:
    """An own prompt whose file is wrong: the list names it and shows the others."""

    name: str
    problem: str


def _generator_names() -> list[str]:
    from ragstone.core.judge_prompts import own_judge_names
    from ragstone.core.prompt_files import own_names, shipped_names

    of_judges = own_judge_names()
    return [n for n in dict.fromkeys([*shipped_names(), *own_names()]) if n not in of_judges]


def _judge_names() -> list[str]:
    """Return the judges with a prompt, each followed by its shipped files; then own files."""
    from ragstone.core.judge_prompts import own_judge_names, shipped_for

    shipped = (name for judge in _own_prompts() for name in (judge, *shipped_for(judge)))
    return list(dict.fromkeys([*shipped, *own_judge_names()]))


def _own_prompts() -> dict[str, JudgePromptFile]:
    """Return the name of each judge with a prompt -> the prompt."""
    from ragstone.components.judges.llm_base import ModelJudge
    from ragstone.core.registry import find, known

    kinds = {name: find("judges", name, where="prompts") for name in known("judges")}
    return {n: kind.own_prompt() for n, kind in kinds.items() if issubclass(kind, ModelJudge)}


def _prompt(name: str) -> NamedPrompt[Any]:
    """Return the prompt of a generator or a judge; that of a generator comes first."""
    from ragstone.core.judge_prompts import judge_of_prompt
    from ragstone.core.prompt_files import find_prompt, own_names, shipped_names
    from ragstone.core.prompt_translations import BY_LANGUAGE

    if judge_of_prompt(name):
        return _judge_prompt(name)
    base = name.removesuffix(BY_LANGUAGE)
    is_generators = base in {*shipped_names(), *own_names()}
    return (
        _judge_prompt(name) if not is_generators and base in _own_prompts() else find_prompt(name)
    )


def _judge_prompt(name: str) -> NamedPrompt[Any]:
    """Return the prompt of a judge, with the judge's own texts for those it leaves out."""
    from ragstone.core.judge_prompts import JudgePromptFile, find_judge_prompt, judge_of_prompt
    from ragstone.core.prompt_files import unknown_prompt
    from ragstone.core.prompt_translations import BY_LANGUAGE

    own, named = _own_prompts(), judge_of_prompt(name)
    judge = named or name.removesuffix(BY_LANGUAGE)
    if judge not in {*own, named}:
        raise unknown_prompt(name, "prompt of a judge:", _judge_names())
    # A judge in a file of your own is not known here.
    return find_judge_prompt(name, judge, own.get(judge, JudgePromptFile(judge=judge)))


def _found(name: str, find: Callable[[str], NamedPrompt[Any]]) -> NamedPrompt[Any] | _Unreadable:
    try:
        return find(name)
    except ConfigError as error:
        return _Unreadable(name, str(error))


def _described(prompt: NamedPrompt[Any] | _Unreadable) -> dict[str, Any]:
    from ragstone.core.judge_prompts import JudgePromptFile
    from ragstone.core.prompt_files import traits

    if isinstance(prompt, _Unreadable):
        return {"name": prompt.name, "error": prompt.problem}
    file = prompt.file
    facts = {key: value for key, value in prompt.facts().items() if key != "replaced"}
    facts["about"] = file.about
    facts["languages"] = _languages(prompt)
    if isinstance(file, JudgePromptFile):
        return {**facts, "judge": file.judge, "texts": prompt.sent_texts}
    sent = file.sent
    return {
        **facts,
        "traits": traits(prompt),
        "system": sent.system,
        "user": sent.user,
        "closed_book": {"system": sent.closed_book_system, "user": sent.closed_book_user},
        "examples": [
            {"query": one.query, "answer": one.answer, "passages": list(one.passages)}
            for one in sent.examples
        ],
    }


def _languages(prompt: NamedPrompt[Any]) -> list[str]:
    """Return the languages of a prompt and of its translations."""
    from ragstone.core.judge_prompts import JudgePromptFile, shipped_translations
    from ragstone.core.prompt_files import own_names, shipped_names
    from ragstone.core.prompt_translations import (
        BY_LANGUAGE,
        LANGUAGES,
        names_by_language,
        translations,
    )

    of_judge = isinstance(prompt.file, JudgePromptFile)
    shipped = shipped_translations() if of_judge else translations(LANGUAGES, shipped_names())
    found = names_by_language(prompt.name.removesuffix(BY_LANGUAGE), {*shipped, *own_names()})
    return list(dict.fromkeys([prompt.file.language, *found]))


def _tables(
    generators: list[NamedPrompt[Any] | _Unreadable], judges: list[NamedPrompt[Any] | _Unreadable]
) -> Iterator[object]:
    if generators:
        yield from _table(generators)
        yield "\nPrompts of judges:"
    yield from _judge_table(judges)


def _judge_table(found: list[NamedPrompt[Any] | _Unreadable]) -> Iterator[object]:
    from ragstone.core.judge_prompts import shipped_translations
    from ragstone.core.tables import TextTable

    shipped = shipped_translations()
    rows = [
        (
            f"{one.name} (own)" if one.is_own else one.name,
            one.file.judge or one.name,
            str(one.file.version),
            ", ".join(_languages(one)),
        )
        for one in found
        if not isinstance(one, _Unreadable) and (one.is_own or one.name not in shipped)
    ]
    yield TextTable(["name", "judge", "version", "languages"], rows)
    yield from (f"{one.name}: {one.problem}" for one in found if isinstance(one, _Unreadable))


def _table(found: list[NamedPrompt[Any] | _Unreadable]) -> Iterator[object]:
    from ragstone.core.prompt_files import traits
    from ragstone.core.tables import TextTable

    columns = ["name", "refuses", "words", "cites", "order", "history", "examples", "languages"]
    rows = []
    for prompt in found:
        if isinstance(prompt, _Unreadable):
            continue
        told = traits(prompt)
        refuses, cites = ("yes" if told[key] else "no" for key in ("refusal", "citations"))
        order = ", ".join(told["order"])
        name = f"{prompt.name} (own)" if prompt.is_own else prompt.name
        words = str(told["max_words"] or "-")
        last = told["history"], str(told["examples"]), ", ".join(_languages(prompt))
        rows.append((name, refuses, words, cites, order, *last))
    yield TextTable(columns, rows)
    yield from (f"{one.name}: {one.problem}" for one in found if isinstance(one, _Unreadable))


def _lines(prompt: NamedPrompt[Any]) -> Iterator[str]:
    file, origin = prompt.file, "own" if prompt.is_own else "shipped"
    facts = prompt.facts()
    listed = ", ".join(facts.get("languages", [file.language]))
    reviewed = ", not reviewed by a native speaker" if facts["reviewed"] is False else ""
    yield click.style(prompt.label(), bold=True) + f" ({origin}, {listed}{reviewed})"
    if file.about:
        yield file.about
    for key, text in prompt.sent_texts.items():
        yield f"\n{key}:\n{text}"


def _compared(a: NamedPrompt[Any], b: NamedPrompt[Any]) -> dict[str, Any]:
    before, after = a.sent_texts, b.sent_texts
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    rows = [{"key": key, "a": before.get(key), "b": after.get(key)} for key in changed]
    return {"a": a.label(), "b": b.label(), "differences": rows}


def _diff_text(a: NamedPrompt[Any], b: NamedPrompt[Any]) -> str:
    from ragstone.results.prompts import difference

    lines = list(difference(a.sent_texts, b.sent_texts))
    return "\n".join([f"{a.label()} | {b.label()}", *(lines or ["nothing differs"])])
