"""A simulated user: a persona with a goal, a patience, and habits that make messages harder.

    persona = Persona("hurried", "Writes as little as possible.", patience=3, typos=0.1)

A persona file is YAML with these keys, or a list of such personas.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from pydantic import ConfigDict

from ragstone.building.dialogue import TurnDraft
from ragstone.building.draft import Draft
from ragstone.building.reply_parsing import Rejected, check_not_given, read_line
from ragstone.core import limits
from ragstone.core.own_files import read_model
from ragstone.core.parsing import read_yaml
from ragstone.errors import ConfigError

MOVES: Final = {
    "goal": "It asks for what is still missing to reach the goal.",
    "unclear": "It is about the goal, but short and vague: it leaves out what it is about.",
    "change": "It asks in passing for something else about the same subject.",
}
"""Kind of a message -> instruction to the person's model."""
_WORD: Final = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class Persona:
    """A kind of user.

    Args:
        name: short name, a label of the turns.
        description: who it is and how it writes, for the model that plays it.
        patience: largest number of turns; then the person gives up.
        typos: share of the words of four letters or more with two letters in the wrong order.
        unclear: probability that a message after the first leaves out its subject.
        changes: probability that a message after the first asks for something else.

    Raises:
        ConfigError: a number is out of its range.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    name: str
    description: str
    patience: int = 5
    typos: float = 0.0
    unclear: float = 0.0
    changes: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        most = limits.MAX_TURNS
        if not 1 <= self.patience <= most:
            raise ConfigError(
                f"persona {self.name!r}: patience must be from 1 to {most} turns, found "
                f"{self.patience}",
                key="patience",
                value=self.patience,
            )
        for name in ("typos", "unclear", "changes"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ConfigError(
                    f"persona {self.name!r}: {name} must be from 0 to 1, found {value}",
                    key=name,
                    value=value,
                )
        if self.unclear + self.changes > 1:
            raise ConfigError(
                f"persona {self.name!r}: unclear and changes together must be at most 1, found "
                f"{self.unclear} + {self.changes}"
            )

    def move(self, turn: int, seed: str) -> str:
        """Return the person's move in a turn, a key of `MOVES`; the first is for the goal."""
        drawn = random.Random(f"{seed} {turn} move").random()  # noqa: S311 - no secret
        if turn == 1 or drawn >= self.unclear + self.changes:
            return "goal"
        return "unclear" if drawn < self.unclear else "change"

    def typed(self, text: str, seed: str) -> str:
        """Return a message with the persona's typing errors.

        >>> Persona("a", "", typos=1.0).typed("Where is it found?", "1")
        'Wehre is it fonud?'
        """
        rng = random.Random(seed)  # noqa: S311 - no secret

        def swapped(match: re.Match[str]) -> str:
            word = match[0]
            if rng.random() >= self.typos:
                return word
            place = rng.randrange(1, len(word) - 1)
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]

        return _WORD.sub(swapped, text) if self.typos else text


PERSONAS: Final = (
    Persona("patient", "Polite, writes whole sentences, and asks again if something is missing."),
    Persona("hurried", "In a hurry: writes as few words as possible.", patience=3, typos=0.1),
    Persona(
        "wandering",
        "Curious and easily distracted; does not always say what is meant.",
        unclear=0.3,
        changes=0.3,
    ),
)
"""The personas that come with Ragstone."""


def load_personas(path: Path | None) -> tuple[Persona, ...]:
    """Return the personas of a YAML file; those of Ragstone without one.

    Raises:
        ConfigError: the file cannot be read, is empty, or two personas have one name.
    """
    if path is None:
        return PERSONAS
    several = isinstance(read_yaml(path, "persona"), list)
    read = read_model(path, "persona", list[Persona]) if several else None
    found = tuple(read) if read is not None else (read_model(path, "persona", Persona),)
    names = [persona.name for persona in found]
    if not found or len(set(names)) < len(names):
        raise ConfigError(f"{path}: name at least one persona, and each by a name of its own")
    return found


def take_message(draft: Draft, reply: str, prompt: str) -> None:
    """Read a simulated user's message into a draft; raise `Rejected` if it cannot be used."""
    draft.question = read_line(reply, prompt)
    if isinstance(draft, TurnDraft) and draft.answer:
        try:
            check_not_given(draft.question, draft.answer)
        except Rejected:
            raise Rejected("the message contains the answer to the goal") from None
