"""`ragstone prompts` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.prompts import command
from ragstone.core.prompt_files import shipped_names
from ragstone.errors import ConfigError


def invoke(*arguments: str) -> str:
    """Return the output of the command."""
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_list_has_shipped_and_own_prompts(tmp_path: Path) -> None:
    """Own prompts are those beside the experiment file."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.yaml").write_text("user: '{context} {query}'\n", "utf-8")

    listed = json.loads(invoke("--folder", str(tmp_path), "--json"))
    assert [one["name"] for one in listed] == [*shipped_names(), "mine"]
    assert [one["name"] for one in listed if one["own"]] == ["mine"]
    assert [one["name"] for one in listed if one["traits"]["max_words"]] == ["mtrag-like"]
    shown = invoke("--folder", str(tmp_path))
    assert "mine (own)" in shown
    assert all(name in shown for name in shipped_names())


def test_translations_are_languages_of_their_prompt(tmp_path: Path) -> None:
    """The list has one line per prompt; a translation is shown by its name."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "concise.sw.yaml").write_text("user: '{context} {query}'\n", "utf-8")
    shown = invoke("--folder", str(tmp_path))
    assert "instruction.ja" not in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("concise ")]
    assert line.endswith("en, ar, de, es, fi, fr, it, ja, ko, pt, ru, sw, th, zh")
    listed = {one["name"]: one for one in json.loads(invoke("--json"))}
    assert len(listed["cited"]["languages"]) == 13
    assert listed["cited"]["reviewed"] is None

    shown = invoke("instruction.ja")
    assert shown.startswith("instruction.ja (shipped, ja, not reviewed by a native speaker)\n")
    one = json.loads(invoke("instruction.ja", "--json"))
    assert (one["reviewed"], one["language"]) == (False, "ja")
    assert one["traits"]["refusal"] in one["system"]
    assert "ja.system:\n" in invoke("instruction.{language}")
    several = json.loads(invoke("idk.{language}", "--json"))
    assert several["texts"]["de.user"].startswith("Sagt die Antwort")
    assert several["languages"][:2] == ["en", "ar"]


def test_an_unreadable_prompt_hides_no_other(tmp_path: Path) -> None:
    """The list names its file and why; to show it is an error."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "bad.yaml").write_bytes(b"user: '\xff {query}'\n")
    (tmp_path / "prompts" / "typo.yaml").write_text("usr: '{query}'\n", "utf-8")
    listed = json.loads(invoke("--folder", str(tmp_path), "--json"))
    errors = {one["name"]: one["error"] for one in listed if "error" in one}
    assert len(listed) == len(shipped_names()) + len(errors)
    assert sorted(errors) == ["bad", "typo"]
    assert "did you mean 'user'" in errors["typo"]
    assert f"bad: {errors['bad']}" in invoke("--folder", str(tmp_path))
    with pytest.raises(ConfigError, match=r"typo\.yaml"):
        invoke("typo", "--folder", str(tmp_path))


def test_one_prompt_is_shown_with_its_texts() -> None:
    """As text, and as JSON with the keys of a file."""
    assert "answer_after:\nAnswer:" in invoke("chain-of-thought")
    shown = json.loads(invoke("chain-of-thought", "--json"))
    assert shown["traits"]["answer_after"] == "Answer:"
    assert set(shown["closed_book"]) == {"system", "user"}


def test_two_prompts_are_compared() -> None:
    """Equal texts are left out."""
    assert "+ Reply with the answer alone" in invoke("diff", "instruction", "concise")
    found = json.loads(invoke("diff", "instruction", "concise", "--json"))
    assert (found["a"], found["b"]) == ("instruction", "concise")
    assert "user" not in [one["key"] for one in found["differences"]]
    assert "nothing differs" in invoke("diff", "concise", "concise")


@pytest.mark.parametrize("arguments", [["diff"], ["diff", "a"], ["a", "b"]])
def test_other_arguments_are_wrong_usage(arguments: list[str]) -> None:
    """The message says what is expected."""
    result = CliRunner().invoke(command, arguments)
    assert (result.exit_code, "the name of a prompt, or: diff A B" in result.output) == (2, True)


def test_an_unknown_prompt_is_named() -> None:
    """With the nearest one."""
    with pytest.raises(ConfigError, match="did you mean 'concise'"):
        invoke("concis")


def test_prompts_of_judges_are_listed(tmp_path: Path) -> None:
    """Below those of generators, or alone; own ones are those that name a judge."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.yaml").write_text("judge: idk\nuser: '{answer}?'\n", "utf-8")
    (tmp_path / "prompts" / "bad.yaml").write_text("judge: idk\nusr: ''\n", "utf-8")
    (tmp_path / "prompts" / "far.yaml").write_text("judge: j.py:Mine\nuser: '{x}'\n", "utf-8")
    folder = ("--folder", str(tmp_path))

    shown = invoke(*folder)
    assert shown.index("concise") < shown.index("Prompts of judges:") < shown.index("idk")
    assert "mine (own)" in shown
    assert "bad: " in shown
    assert "concise" not in invoke(*folder, "--judges")
    listed = {one["name"]: one for one in json.loads(invoke(*folder, "--judges", "--json"))}
    assert {"equivalence", "critiques", "RL_F.zh", "mine", "far"} <= set(listed)
    assert "did you mean 'user'" in listed["bad"]["error"]
    assert (listed["mine"]["own"], listed["mine"]["judge"]) == (True, "idk")
    assert listed["mine"]["texts"]["user"] == "{answer}?"
    assert listed["mine"]["texts"]["system"] == listed["idk"]["texts"]["system"]
    assert (listed["idk.de"]["language"], listed["idk.de"]["reviewed"]) == ("de", False)
    assert "mine" not in [one["name"] for one in json.loads(invoke(*folder, "--json"))]


def test_a_prompt_of_a_judge_is_shown_and_compared(tmp_path: Path) -> None:
    """An own prompt of a generator comes before a judge's of that name, unless --judges."""
    assert "Is the answer right?" in invoke("equivalence")
    assert json.loads(invoke("idk.fr", "--json"))["judge"] == "idk"
    compared = invoke("diff", "RB_llm", "RB_llm.ja")
    assert "- Rate the answer from 1 to 10" in compared
    assert "form:\n+ " in compared
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "support.yaml").write_text("user: '{context} {query}'\n", "utf-8")
    folder = ("--folder", str(tmp_path))
    assert "closed_book" in invoke("support", *folder)
    with pytest.raises(ConfigError, match=r"unknown prompt of a judge: 'idk\.sw'"):
        invoke("idk.sw", "--judges")
    with pytest.raises(ConfigError, match="did you mean 'concise'"):
        invoke("concis", *folder)
