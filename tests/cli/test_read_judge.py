"""Judges of a file: one, several, by name; fields are replaced if a judge has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.cli.judge_labels import judge_source
from ragstone.cli.read_judge import read_judge, read_judges
from ragstone.errors import ConfigError


def test_judges_of_a_file(tmp_path: Path) -> None:
    """All, those of a name, or an error that lists the way out."""
    file = tmp_path / "judges.yaml"
    file.write_text("judges: [equivalence, {name: idk, repeats: 1}]\n")

    assert [str(one) for one in read_judges(str(file), None, {})] == ["equivalence", "idk"]
    assert str(read_judge(str(file), "idk", {})) == "idk"
    (forced,) = read_judges("equivalence", None, {"max_tokens": 7, "nothing": 1})
    assert forced.max_tokens == 7  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="has 2 judges: name one with --judge"):
        read_judge(str(file), None, {})
    with pytest.raises(ConfigError, match="did you mean 'idk'"):
        read_judges(str(file), "ikd", {})


def test_a_file_without_judges_is_refused(tmp_path: Path) -> None:
    """The message names the key."""
    file = tmp_path / "judges.yaml"
    file.write_text("judges: []\n")

    with pytest.raises(ConfigError, match="has no judges: write them under `judges`"):
        read_judges(str(file), None, {})


def test_a_list_of_prompts_is_a_judge_per_prompt(tmp_path: Path) -> None:
    """They are named as the metrics of an experiment are, or together by the component."""
    file = tmp_path / "exp.yaml"
    file.write_text(
        "judges: [{name: idk, prompt: [idk, idk.de]}, {name: RB_llm, prompt: [RB_llm.de]}]\n"
    )

    every = [str(one) for one in read_judges(str(file), None, {})]
    assert every == ["idk", "idk(prompt=idk.de)", "RB_llm(prompt=RB_llm.de)"]
    assert str(read_judge(str(file), "idk", {})) == "idk"
    assert str(read_judge(str(file), "idk(prompt=idk.de)", {})) == "idk(prompt=idk.de)"
    assert str(read_judge(str(file), "RB_llm", {})) == "RB_llm(prompt=RB_llm.de)"
    with pytest.raises(ConfigError, match=r"--judge: idk, idk\(prompt=idk.de\), RB_llm"):
        read_judge(str(file), None, {})


def test_the_judge_of_a_labelled_experiment_is_found_by_its_metric(tmp_path: Path) -> None:
    """Another judge is read from its own specification."""
    file = tmp_path / "exp.yaml"
    file.write_text("judges: [{name: idk, prompt: [idk, idk.de]}]\n")

    assert judge_source(str(file), "idk(prompt=idk.de)") == (str(file), "idk(prompt=idk.de)")
    assert judge_source(str(file), "idk") == (str(file), "idk")
    assert judge_source(str(file), "RB_llm") == ("RB_llm", None)
