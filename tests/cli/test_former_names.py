"""Former names of commands and options work, with a notice on stderr, and are not in the help."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.fakes.made_results import made_results

from ragstone.cli import root
from ragstone.cli.options import AliasCommand, AliasGroup

COMMANDS = {
    "data labels": "data label-stats",
    "data generated": "data compare-generated",
    "data worth": "data suitability",
}
OPTIONS = [
    ("run x.yaml --plan", "--probe=3", "--sample-calls=3"),
    ("run x.yaml", "--cached-only", "--replay"),
    ("rank run.trec qrels.tsv MRR", "--document-mark=_", "--document-separator=_"),
    ("judge check equivalence", "--on=folder", "--data=folder"),
    ("judge check equivalence --data folder", "--attack", "--prompt-injection"),
    ("judge check equivalence --data folder", "--rating=x", "--property=x"),
    ("judge probe equivalence --data folder", "--rating=x", "--property=x"),
    ("judge correlate", "--on=folder", "--data=folder"),
    ("judge correlate", "--rating=x", "--property=x"),
    ("judge correlate", "--svg=a.svg", "--chart=a.svg"),
    ("data generate source target", "--mix=summary=2", "--label-mix=summary=2"),
    ("data label-stats source", "--svg=a.svg", "--chart=a.svg"),
    ("data compare-generated .", "--svg=a.svg", "--chart=a.svg"),
]


def commands(group: click.Group = root, *before: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the path and the object of every command below a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield " ".join((*before, name)), found
        if isinstance(found, click.Group):
            yield from commands(found, *before, name)


def run(*arguments: str) -> Result:
    """Run the command line; errors are raised."""
    return CliRunner().invoke(root, arguments, catch_exceptions=False, standalone_mode=False)


def parsed(line: str, option: str) -> dict[str, object]:
    """Return the parameters of a command line with one more option."""
    path, found = max((p for p in commands() if line.startswith(p[0])), key=lambda p: len(p[0]))
    arguments = [*line.removeprefix(path).split(), option]
    return found.make_context(path, arguments).params


@pytest.mark.parametrize(("line", "former", "today"), OPTIONS)
def test_a_former_option_has_the_effect_of_its_new_name(
    line: str, former: str, today: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The notice is on stderr and names both."""
    expected = parsed(line, today)
    assert capsys.readouterr() == ("", "")

    assert parsed(line, former) == expected
    name, now = former.partition("=")[0], today.partition("=")[0]
    assert capsys.readouterr() == ("", f"note: {name} is now called {now}\n")


def test_every_former_name_is_tested() -> None:
    """The tables above contain the former names of all commands."""
    held = dict(commands())
    renamed = [
        f
        for found in held.values()
        if isinstance(found, AliasCommand)
        for f in found.former.items()
    ]
    groups = [(path, found) for path, found in held.items() if isinstance(found, AliasGroup)]

    listed = [(former.partition("=")[0], today.partition("=")[0]) for _, former, today in OPTIONS]
    assert sorted(listed) == sorted(renamed)
    assert {
        f"{path} {former}": f"{path} {today}"
        for path, group in groups
        for former, today in group.former.items()
    } == COMMANDS


@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_a_former_command_prints_the_same(json_option: list[str]) -> None:
    """Standard output and JSON are those of the new name; stderr has the notice."""
    new = run("data", "label-stats", "sample", *json_option)
    old = run("data", "labels", "sample", *json_option)

    assert old.stdout == new.stdout != ""
    assert new.stderr == ""
    assert old.stderr == "note: labels is now called label-stats\n"
    assert not json_option or json.loads(old.stdout)


def test_the_other_former_commands_run(tmp_path: Path) -> None:
    """`data worth` reads an experiment's results, `data generated` the summary of a folder."""
    results = made_results(tmp_path / "store")
    file = tmp_path / "made.yaml"
    file.write_text(
        f"name: {results.name}\nstore: {tmp_path / 'store'}\ndata: sample\n"
        "systems: {a: {retriever: bm25, generator: gold}}\nsettings: [none]\nmetrics: [Match]\n"
    )

    assert run("data", "worth", str(file)).stdout == run("data", "suitability", str(file)).stdout
    for name in ("generated", "compare-generated"):
        with pytest.raises(Exception, match=r"summary\.json"):
            run("data", name, str(tmp_path))


OWN_TODAY = {"conversations": {"--mix"}, "testset": {"--mix"}}
"""Command -> options that have a former name of another command."""


def test_help_shows_new_names_only() -> None:
    """No help text contains a former name, or begins with `Of`."""
    former = [name for line in COMMANDS for name in [line.rpartition(" ")[2]]]
    options = [option.partition("=")[0] for _, option, _ in OPTIONS]
    for path, found in commands():
        text = run(*path.split(), "--help").stdout
        names = [name for name in options if re.search(rf"(?<!\S){name}\b(?!-)", text)]
        assert set(names) <= OWN_TODAY.get(path.split()[-1], set()), path
        assert not [name for name in former if re.search(rf"^  {name}  ", text, re.MULTILINE)]
        helps = [found.help or "", *(getattr(p, "help", None) or "" for p in found.params)]
        assert not [text for text in helps if text.strip().startswith("Of")]
        undocumented = [p.name for p in found.params if isinstance(p, click.Option) and not p.help]
        assert not undocumented, path
