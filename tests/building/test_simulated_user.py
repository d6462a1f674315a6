"""Personas: their files, moves and typing errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.building.dialogue import TurnDraft
from ragstone.building.reply_parsing import Rejected
from ragstone.building.simulated_user import PERSONAS, Persona, load_personas, take_message
from ragstone.errors import ConfigError
from ragstone.types import Passage


def test_a_file_has_one_persona_or_several(tmp_path: Path) -> None:
    """Without a file, those of Ragstone are used."""
    path = tmp_path / "p.yaml"
    path.write_text("name: a\ndescription: Short.\ntypos: 0.5\n")
    assert load_personas(path) == (Persona("a", "Short.", typos=0.5),)
    path.write_text("- {name: a, description: A}\n- {name: b, description: B, patience: 2}\n")
    assert [one.patience for one in load_personas(path)] == [5, 2]
    assert load_personas(None) == PERSONAS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\ndescription: A\npatience: 12\n", "from 1 to 8"),
        ("name: a\ndescription: A\ntypos: 2\n", "typos must be from 0 to 1"),
        ("name: a\ndescription: A\nunclear: 0.7\nchanges: 0.7\n", "at most 1"),
        ("name: a\ndescription: A\ntypo: 0.1\n", "typo"),
        ("name: a\n", "description"),
        ("- {name: a, description: A}\n- {name: a, description: B}\n", "a name of its own"),
        ("[]\n", "at least one persona"),
    ],
)
def test_a_malformed_file_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    """The error names the key or the number."""
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_personas(path)


def test_moves_follow_their_probabilities() -> None:
    """The first message is for the goal; a persona that always changes the subject does so."""
    assert PERSONAS[2].move(1, "s") == "goal"
    assert {Persona("a", "", changes=1.0).move(n, "s") for n in (2, 3)} == {"change"}
    assert {Persona("a", "", unclear=1.0).move(n, "s") for n in (2, 3)} == {"unclear"}
    drawn = [PERSONAS[2].move(2, str(n)) for n in range(200)]
    assert {"goal", "unclear", "change"} == set(drawn)
    assert 50 < drawn.count("goal") < 110


def test_typing_errors_are_repeatable() -> None:
    """The same seed gives the same errors; letters are kept, and without typos nothing changes."""
    text = "Where does the longest river begin?"
    hurried = Persona("a", "", typos=1.0)
    assert hurried.typed(text, "1") == hurried.typed(text, "1") != text
    assert sorted(hurried.typed(text, "1")) == sorted(text)
    assert PERSONAS[0].typed(text, "1") == text


def test_a_message_must_not_contain_the_answer() -> None:
    """A user who knows the answer does not ask for it."""
    draft = TurnDraft("talk", "goal", (Passage("p", ""),), answer="Ann Hale")
    take_message(draft, "- Who built it?", "")
    assert draft.question == "Who built it?"
    with pytest.raises(Rejected, match="contains the answer to the goal"):
        take_message(draft, "- Did Ann Hale build it?", "")
