"""Schemes: the questions that people answer about an item, from a YAML file or the task's own.

name: sentiment
ask: How does the user feel?
questions:
  - name: mood
    text: The user is ...
    options:
      - {value: calm, words: no complaint}
      - {value: angry}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

from pydantic import ConfigDict

from ragstone.errors import ConfigError
from ragstone.web import limits

TaskName: TypeAlias = Literal[
    "conversation", "labels", "support", "ratings", "pairwise", "nuggets", "causes", "validation"
]  # fmt: skip
Rated: TypeAlias = Literal["item", "answer", "passage", "part", "pair", "turn"]
"""The subject of a question: the item, or each answer, passage, part, turn or the pair of it."""
AnswerKind: TypeAlias = Literal["choice", "choices", "text", "parts"]
"""choice: one option; choices: any number of options; text: a text, which may be prefilled; parts:
a list of texts that are marked in the answer, written, split and removed."""
KEYS: Final = "1234567890abcdef"
"""The keys of the options of a question, in their order."""
Each: TypeAlias = Literal["passage", "query"]
"""Unit of a data set that becomes an item: each query with each judged passage, or each query."""
_FORBID: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Option:
    """A possible answer to a question."""

    __pydantic_config__: ClassVar = _FORBID

    value: str | int | float
    words: str = ""
    """Its meaning, in a few words."""
    name: str = ""
    """How a button shows it; the value if it is empty."""

    @property
    def shown(self) -> str:
        """The text of its button."""
        return self.name or str(self.value)


@dataclass(frozen=True)
class Question:
    """A question about an item or about each of its parts of one kind."""

    __pydantic_config__: ClassVar = _FORBID

    name: str
    """The property in the ratings form, such as `faithfulness`."""
    text: str = ""
    of: Rated = "item"
    kind: AnswerKind = "choice"
    options: tuple[Option, ...] = ()
    """In the order of their keys 1, 2, 3; of a scale, the lowest first."""
    optional: bool = False
    start: Literal["", "query", "answer"] = ""
    """The start of a text field: the text of the query or its first gold answer."""

    def __post_init__(self) -> None:
        if self.kind in ("choice", "choices") and not self.options:
            raise ConfigError(f"the question {self.name!r} has no options", key=self.name)
        if len(self.options) > limits.SCHEME_OPTIONS:
            raise ConfigError(
                f"the question {self.name!r} has {len(self.options)} options; at most "
                f"{limits.SCHEME_OPTIONS} have keys of their own; split it into two questions",
                key=self.name,
            )
        values = [str(one.value) for one in self.options]
        if len(set(values)) < len(values):
            raise ConfigError(f"the question {self.name!r} has an option twice", key=self.name)

    @property
    def keys(self) -> dict[str, Option]:
        """Key -> option."""
        return dict(zip(KEYS, self.options, strict=False))

    @property
    def numeric(self) -> bool:
        """Whether its options are numbers, the points of a scale."""
        return bool(self.options) and all(not isinstance(o.value, str) for o in self.options)

    def is_label(self, value: Any) -> bool:
        """Whether a value can be a label; None, which removes one, always can.

        >>> asked = Question("support", options=(Option("yes"), Option("no")))
        >>> asked.is_label("yes"), asked.is_label("perhaps"), asked.is_label(["yes"])
        (True, False, False)
        """
        if value is None:
            return True
        if self.kind == "text":
            return isinstance(value, str)
        if self.kind == "choice":
            return self._is_option(value)
        if not isinstance(value, list):
            return False
        return all(_is_part(o) if self.kind == "parts" else self._is_option(o) for o in value)

    def _is_option(self, value: Any) -> bool:
        return not isinstance(value, bool) and any(value == one.value for one in self.options)


def _is_part(value: Any) -> bool:
    """Whether a value is a statement: a text, or its id and its text."""
    if not isinstance(value, dict):
        return isinstance(value, str)
    return value.keys() == {"id", "text"} and all(isinstance(v, str) for v in value.values())


@dataclass(frozen=True)
class Scheme:
    """The questions about an item, with the guidelines for answering them."""

    __pydantic_config__: ClassVar = _FORBID

    name: str
    questions: tuple[Question, ...]
    ask: str = ""
    """The heading of the page."""
    guidelines: str = ""
    shows_gold: bool = True
    """Whether the gold answers are shown, and marked in the passages."""
    each: Each = "passage"

    def __post_init__(self) -> None:
        names = [one.name for one in self.questions]
        if not names:
            raise ConfigError(f"the scheme {self.name!r} has no questions", key="questions")
        if len(set(names)) < len(names):
            raise ConfigError(f"the scheme {self.name!r} has a question twice", key="questions")

    @property
    def writes_parts(self) -> bool:
        """Whether people mark or write the parts themselves."""
        return any(one.kind == "parts" for one in self.questions)

    def question(self, name: str) -> Question | None:
        """Return a question by its name."""
        return next((one for one in self.questions if one.name == name), None)
