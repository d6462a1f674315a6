"""A budget of tokens for a context: what stands first is kept, the rest is cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from ragstone.components.generators.context_window import count_tokens
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.types import Context, ContextPassage, Task

_LAST_WORD: Final = re.compile(r"\S*\Z")


@dataclass(frozen=True)
class TokenBudget:
    """Keeps the first passages of a context that fit into so many tokens.

    Tokens are counted as a generator's `budget` counts them (four bytes of text each), so that the
    same is cut whatever the model.

    Args:
        tokens: of all passages of a context together.
        cut: what becomes of the passage that does not fit whole: `words` keeps its first words
            that do, `passages` drops it. Everything behind it is dropped.
    """

    tokens: int
    cut: Literal["words", "passages"] = "words"
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        """Check the range."""
        if self.tokens < 1:
            raise ConfigError(f"tokens must be 1 or more, found {self.tokens}")

    def process(self, tasks: Sequence[Task]) -> list[Context]:
        """Return one context per task, in order."""
        return [self._fitted(task.context) for task in tasks]

    def _fitted(self, context: Context) -> Context:
        left = self.tokens
        kept: list[ContextPassage] = []
        for passage in context.passages:
            taken = count_tokens([passage.text])
            if taken <= left:
                kept.append(passage)
                left -= taken
                continue
            start = first_words(passage.text, left) if self.cut == "words" else ""
            if start:
                kept.append(replace(passage, text=start))
            add_note("passages cut to fit the budget", int(bool(start)))
            add_note("passages dropped for want of budget", len(context.passages) - len(kept))
            break
        return replace(context, passages=tuple(kept))


def first_words(text: str, tokens: int) -> str:
    """Return the start of a text that takes so many tokens at most, up to the end of a word.

    Where a single word is longer than that (a script without spaces), it ends at a character.

    >>> first_words("A dozen words take sixteen tokens", 4)
    'A dozen words'
    """
    if count_tokens([text]) <= tokens:
        return text
    start = _first_characters(text, tokens)
    at_word = start if text[len(start) : len(start) + 1].isspace() else _LAST_WORD.sub("", start)
    return at_word.rstrip() or start.rstrip()


def _first_characters(text: str, tokens: int) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens([text[:middle]]) <= tokens else (low, middle - 1)
    return text[:low]
