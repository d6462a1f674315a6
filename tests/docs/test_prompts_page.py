"""The page on prompts: its tables, its example and its JSON are those of the code."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

from click.testing import CliRunner

from ragstone.cli import root
from ragstone.core import limits
from ragstone.core.judge_prompts import JUDGES, JudgePromptFile
from ragstone.core.prompt_files import PromptFile, find_prompt, shipped_names, traits
from ragstone.core.prompt_translations import (
    LANGUAGES,
    answer_language_of,
    language_file,
    languages,
)
from ragstone.core.registry import beside, create

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "prompts.md").read_text("utf-8")


def test_the_table_has_the_traits_of_the_shipped_prompts() -> None:
    """Every prompt has a row, and each trait that a program can tell is as in the row."""
    rows = re.findall(r"^\| `([\w-]+)`(?: \(default\))? \| (.+) \|$", PAGE, re.MULTILINE)
    table = {name: cells.split(" | ") for name, cells in rows if name in shipped_names()}

    assert set(table) == set(shipped_names())
    for name, (refuses, length, order, cites, examples, history, language, answer) in table.items():
        found = traits(find_prompt(name))
        assert refuses.startswith("yes") == bool(found["refusal"]), name
        assert re.findall(r"\d+", length) == re.findall(r"\d+", str(found["max_words"])), name
        assert order == ", ".join(found["order"]), name
        assert cites.startswith("yes") == found["citations"], name
        assert (examples, language) == (str(found["examples"]), found["language"]), name
        assert history == found["history"], name
        mark = found["answer_after"]
        assert answer == (f"after `{mark}`" if mark else "the reply"), name


def test_the_table_of_languages_has_every_translation() -> None:
    """Of generators and of judges, and the sentences that ask for a language."""
    (table,) = re.findall(
        r"\| prompt \| languages besides English \|\n\|[- |]+\n(.*?)\n\n", PAGE, re.DOTALL
    )
    of_generators, of_judges = table.splitlines()
    names, codes = (
        re.findall(r"`([\w-]+)`", cell) for cell in of_generators.strip("| ").split(" | ")
    )
    assert (sorted(shipped_names()), list(languages(LANGUAGES))) == (names, codes)
    assert re.findall(r"`([\w-]+)`", of_judges) == [*language_file(JUDGES, "ja").prompts]
    assert list(languages(JUDGES)) == codes
    for shown, sentences in zip(
        ("query", "named"),
        re.findall(r"^\| `(?:query|named)` \| (.+) \| (.+) \|$", PAGE, re.MULTILINE),
        strict=True,
    ):
        english, japanese = (getattr(answer_language_of(code), shown) for code in ("en", "ja"))
        assert sentences == (english.replace("{language}", "Japanese"), japanese)


def test_the_example_is_a_prompt(tmp_path: Path) -> None:
    """It can be read, and the table of keys names every key."""
    (block,) = re.findall(r"```yaml\n(version: 2\n.*?)```", PAGE, re.DOTALL)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "desk.yaml").write_text(block, "utf-8")
    with beside(tmp_path):
        found = find_prompt("desk")

    assert (found.label(), len(found.file.examples)) == ("desk@2", 1)
    own, judges = map(_keys, PAGE.partition("| key |")[2].split("| key |"))
    assert own | {"judge"} == {field.name for field in fields(PromptFile)}
    assert judges == {field.name for field in fields(JudgePromptFile)}
    assert f"{limits.MAX_PROMPT_CHARACTERS:,} characters" in PAGE


def test_the_example_is_a_prompt_of_a_judge(tmp_path: Path) -> None:
    """Its variables are those of the judge."""
    (block,) = re.findall(r"```yaml\n(judge: equivalence\n.*?)```", PAGE, re.DOTALL)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "unit.yaml").write_text(block, "utf-8")
    made = create("judges", "equivalence(prompt=unit)", where="judge", folder=tmp_path)
    assert made.named_prompt["label"] == "unit@2"


def _keys(table: str) -> set[str]:
    """Return the keys in the first column of a table at the beginning of a text."""
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", table, re.MULTILINE)
    return {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}


def test_the_commands_print_the_keys_shown() -> None:
    """The list, one prompt, the comparison of two, and the entry of a passport."""
    blocks = [json.loads(one) for one in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    facts, shown, of_judge, compared = blocks

    one = json.loads(CliRunner().invoke(root, ["prompts", "concise", "--json"]).output)
    assert list(one) == list(shown)
    assert list(one["traits"]) == list(shown["traits"])
    prompt = find_prompt("concise")
    assert list(prompt.facts()) == list(facts)
    judges = json.loads(CliRunner().invoke(root, ["prompts", "idk.de", "--json"]).output)
    assert (list(judges), list(judges["texts"])) == (list(of_judge), list(of_judge["texts"]))
    arguments = ["prompts", "diff", "instruction", "concise", "--json"]
    found = json.loads(CliRunner().invoke(root, arguments).output)
    assert list(found) == list(compared)
    assert list(found["differences"][0]) == list(compared["differences"][0])
