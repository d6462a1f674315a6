"""Judges of a file: one, several, by name; fields are replaced if a judge has them."""

from __future__ import annotations

from pathlib import Path

import pytest

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
