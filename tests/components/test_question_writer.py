"""The form of a trained writer's prompts and replies, and its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.components.generators.transformers import Hf
from ragstone.components.question_writer import (
    FILE,
    LABELS,
    joined,
    labels_file,
    parted,
    read_labels,
    resolve_writer,
)
from ragstone.errors import ConfigError


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("Who?<a>Ann", ("Who?", "Ann")),
        (" Who \n built it? <a> Ann  Hale", ("Who built it?", "Ann Hale")),
        ("Who? <a>", ("Who?", "")),
        ("Who? Ann", None),
        ("Who? <a> Ann <a> Ann", None),
        ("", None),
    ],
)
def test_a_reply_is_parted_at_its_one_separator(reply: str, found: tuple[str, str] | None) -> None:
    """Without one, or with two, there is no question with its answer."""
    assert parted(reply) == found


def test_what_is_learned_is_what_is_read() -> None:
    """A target is read back as the question and the answer that it was made of."""
    assert parted(joined("Who built it?", "Ann Hale")) == ("Who built it?", "Ann Hale")


def test_the_labels_are_those_of_the_folder(tmp_path: Path) -> None:
    """Given ones come first; a folder without the file has those of Know Your RAG."""
    assert read_labels(tmp_path) == ()
    (tmp_path / FILE).write_text(labels_file(["easy", "hard"]), encoding="utf-8")
    assert read_labels(tmp_path) == ("easy", "hard")
    found = resolve_writer(str(tmp_path))
    assert found.labels == ("easy", "hard")
    assert isinstance(found.llm.generator, Hf)
    assert found.llm.generator.model == str(tmp_path)
    assert resolve_writer(str(tmp_path), ["hard"]).labels == ("hard",)
    assert resolve_writer({"name": "hf", "model": "a/b"}).labels == LABELS


def test_a_damaged_file_of_labels_is_an_error(tmp_path: Path) -> None:
    """The file is named."""
    (tmp_path / FILE).write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"writer\.json has no labels"):
        read_labels(tmp_path)


def test_a_writer_is_a_language_model() -> None:
    """Another generator is refused."""
    with pytest.raises(ConfigError, match="not a language model"):
        resolve_writer({"name": "gold"})
