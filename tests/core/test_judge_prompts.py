"""Prompts of judges by name: their own, shipped translations, own files, errors and keys."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragstone.components.judges.verdict import Item
from ragstone.core.judge_prompts import (
    JudgePromptFile,
    find_judge_prompt,
    judge_of_prompt,
    own_judge_names,
    shipped_for,
    shipped_translations,
)
from ragstone.core.prompt_files import find_prompt
from ragstone.core.registry import beside, create
from ragstone.errors import ConfigError
from ragstone.types import Message, Query

MODEL = {"name": "chat", "model": "m", "base_url": "http://localhost:1/v1"}
OWN: dict[str, Any] = {"user": "Is {answer} the same as {gold}?"}
LANGUAGES = ("ar", "de", "es", "fi", "fr", "it", "ja", "ko", "pt", "ru", "th", "zh")
TRANSLATED = ("RB_llm", "RL_F", "equivalence", "idk")
QUERY = Query("q1", "Where?", ("Paris",), (Message("user", "Hi."),))
ITEM = Item(QUERY, "In Paris.", ("It is in Paris.",))


def write(folder: Path, name: str, **keys: Any) -> Path:
    """Write a prompt into the folder `prompts` of a folder."""
    path = folder / "prompts" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump({**OWN, **keys}), "utf-8")
    return path


def judge(folder: Path | None = None, name: str = "equivalence", **parameters: Any) -> Any:
    """Return a judge whose model is never called."""
    written = {"name": name, "model": MODEL, **parameters}
    return create("judges", written, where="judge", folder=folder)


def test_four_judges_are_shipped_in_thirteen_languages() -> None:
    """Each file says that no native speaker has reviewed it."""
    expected = {f"{name}.{language}" for name in TRANSLATED for language in LANGUAGES}

    assert set(shipped_translations()) == expected
    assert shipped_for("idk") == tuple(f"idk.{language}" for language in LANGUAGES)
    for name in shipped_translations():
        found = judge(name=name.rpartition(".")[0], prompt=name).found_prompt
        assert (found.file.language, found.file.reviewed) == (name.rpartition(".")[2], False)
        assert found.label() == name


def test_a_prompt_in_all_languages_has_an_own_translation(tmp_path: Path) -> None:
    """It takes its place among the shipped ones; texts that it leaves out are the judge's."""
    write(tmp_path, "equivalence.sw", judge="equivalence", language="sw")
    made = judge(tmp_path, prompt="equivalence.{language}")

    assert set(made.translated) == {*LANGUAGES, "sw"}
    assert made.translated["sw"].templates["user"] == OWN["user"]
    assert made.templates["sw.system"] == made.templates["system"]
    assert made.named_prompt["languages"][0] == "en"
    assert (made.named_prompt["reviewed"], made.named_prompt["own"]) == (False, True)
    with pytest.raises(ConfigError, match=r"'pairwise' is in one language"):
        judge(name="pairwise", prompt="pairwise.{language}")


def test_an_own_file_may_have_the_name_of_the_judge(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is read if the parameter names it, with a notice; digits follow its name."""
    path = write(tmp_path, "equivalence")
    with caplog.at_level(logging.WARNING):
        made = judge(tmp_path, prompt="equivalence")

    assert caplog.messages == [f"{path} takes the place of the shipped prompt 'equivalence'"]
    assert made.named_prompt["label"].startswith("equivalence~")
    assert str(made) == "equivalence"


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("equivalense.de", "unknown prompt of the judge 'equivalence':.*mean 'equivalence.de'"),
        ("idk.de", "is of the judge 'idk', not of 'equivalence'; those of .*equivalence.de"),
        ("concise", "unknown prompt of the judge 'equivalence': 'concise', and there is no file"),
        ("others", "is of the judge 'idk', not of 'equivalence'"),
        ("../mine", "is not a name; write its texts into prompts/NAME.yaml"),
        (["idk", "idk.de"], "key 'prompt': input should be a valid string"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_known_ones(
    tmp_path: Path, prompt: Any, message: str
) -> None:
    """A prompt of another judge or of a generator is refused."""
    write(tmp_path, "others", judge="idk")
    with pytest.raises(ConfigError, match=message):
        judge(tmp_path, prompt=prompt)


def test_a_generator_refuses_the_prompt_of_a_judge(tmp_path: Path) -> None:
    """The message names the judge."""
    write(tmp_path, "mine", judge="idk")
    with beside(tmp_path), pytest.raises(ConfigError, match="a prompt of the judge 'idk'"):
        find_prompt("mine")


def test_own_prompts_name_their_judge(tmp_path: Path) -> None:
    """A file without a judge, or one that cannot be read, is not listed as a judge's."""
    write(tmp_path, "mine", judge="idk")
    write(tmp_path, "free")
    (tmp_path / "prompts" / "bad.yaml").write_text("user: [\n", "utf-8")
    with beside(tmp_path):
        assert own_judge_names() == {"mine": "idk"}
        assert [judge_of_prompt(n) for n in ("mine", "free", "bad", "idk.de", "idk")] == [
            *("idk", "", "", "idk", ""),
        ]
        default = JudgePromptFile(judge="idk", user="{answer}?")
        assert find_judge_prompt("mine", "idk", default).file.user == OWN["user"]
