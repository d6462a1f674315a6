"""Parsing of replies, reasons to reject them, and your own prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.building.prompts import Prompts, load_prompts
from ragstone.building.reply_parsing import (
    Rejected,
    read_line,
    read_pair,
    read_question,
    read_statements,
)
from ragstone.errors import ConfigError


def test_your_own_prompts_have_the_same_variables(tmp_path: Path) -> None:
    """A missing or unknown variable is an error before any call."""
    path = tmp_path / "prompts.yaml"
    path.write_text("language: German\ntheme: 'Worum geht es?\n\n  {passage}'\n")
    assert load_prompts(path).language == "German"

    path.write_text("theme: 'Worum geht es?'\n")
    with pytest.raises(ConfigError, match=r"'theme': the variable \{passage\} is missing"):
        load_prompts(path)
    path.write_text("thema: x\n")
    with pytest.raises(ConfigError, match="did you mean 'theme'"):
        load_prompts(path)
    assert load_prompts(None) == Prompts()


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("> The mill is old.\n> The mill is red.", ("The mill is old.", "The mill is red.")),
        ("<think>- not this one here.</think>\n- The mill is old.", ("The mill is old.",)),
        ("```\n1) The mill is old.\n```", ("The mill is old.",)),
        ("- Fact 1: The mill is old.\n- Yes.", ("The mill is old.",)),
        ("The mill is old.\nThe mill is red.", ("The mill is old.", "The mill is red.")),
    ],
)
def test_statements_are_read_from_any_list(reply: str, expected: tuple[str, ...]) -> None:
    """Markers, fences, thoughts and leads are removed."""
    assert read_statements(reply, "") == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"question": "Who built it?", "answer": "Ann"}', ("Who built it?", "Ann")),
        (
            'Sure! ```json\n{"question": "Who built it?", "answer": "Ann"}\n```',
            ("Who built it?", "Ann"),
        ),
        ("Question: Who built it?\nAnswer: Ann\n", ("Who built it?", "Ann")),
        ("**Question:** Who built it?\n\n**Answer:** Ann", ("Who built it?", "Ann")),
    ],
)
def test_pairs_are_read_from_json_and_from_lines(reply: str, expected: tuple[str, str]) -> None:
    """Both forms give question and answer."""
    assert read_pair(reply, "") == expected


@pytest.mark.parametrize(
    "question",
    ["According to the passage, who is it?", "What does this text describe?",
     "What is the answer to this question?", "Tell me.", "", "?",
     "Who " + "and who " * 40 + "is it?", "I don't know?"],
)  # fmt: skip
def test_questions_that_a_stranger_could_not_ask_are_rejected(question: str) -> None:
    """Questions about the passage, endless ones, empty ones and other texts are rejected."""
    with pytest.raises(Rejected):
        read_question(question, "")


def test_runaway_texts_are_rejected() -> None:
    """Small models repeat the same words."""
    with pytest.raises(Rejected, match="repeats its own words"):
        read_question("What was the lamp of 1959, and what was the lamp of 1959?", "")
    with pytest.raises(Rejected, match="the answer repeats its own words"):
        read_pair('{"question": "Who was it?", "answer": "' + "He was a smith. " * 3 + '"}', "")


def test_a_pair_in_a_broken_object_is_read() -> None:
    """Two complete texts are a pair, with any bracket after them; a truncated one is not."""
    assert read_pair('{"question": "Who built it?", "answer": "Ann"]', "") == (
        "Who built it?",
        "Ann",
    )
    with pytest.raises(Rejected):
        read_pair('{"question": "Who built it?", "answer": "An', "")


def test_a_reply_of_one_line_is_its_first_line() -> None:
    """A theme is one line, and the lines around it are ignored."""
    assert read_line("Theme: **Old mills**\nI hope this helps.", "") == "Old mills"
