"""A token budget for a context: the first passages are kept, the rest is cut."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from ragstone.components.generators.context_window import count_tokens
from ragstone.core.component import Outcome
from ragstone.core.step_notes import add_note
from ragstone.protocols import Processor, Services
from ragstone.types import Context, ContextPassage, Task

_LAST_WORD: Final = re.compile(r"\S*\Z")


@dataclass(frozen=True)
class TokenBudget(Processor):
    """Keeps the first passages of a context that fit into a number of tokens.

    Tokens are counted as for a generator's `budget` (four bytes of text each), so that the cut does
    not depend on the model.

    Args:
        tokens: maximum number of tokens of all passages of a context together.
        cut: treatment of the first passage that does not fit: `words` keeps its first words that
            fit, `passages` drops it. All passages after it are dropped.
    """

    tokens: int
    cut: Literal["words", "passages"] = "words"
    sizes = ("tokens",)

    def process(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Context]]:
        """Yield the context of each task, cut to the budget."""
        return (Outcome(self._fitted(task.context)) for task in tasks)

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
            add_note("passages dropped to fit the budget", len(context.passages) - len(kept))
            break
        return replace(context, passages=tuple(kept))


def first_words(text: str, tokens: int) -> str:
    """Return the longest start of a text within `tokens` tokens that ends with a whole word.

    If a single word is longer than that (a script without spaces), the start ends in the word.

    >>> first_words("A dozen words take sixteen tokens", 4)
    'A dozen words'
    """
    if count_tokens([text]) <= tokens:
        return text
    # The length of the longest start within `tokens`.
    length = bisect_right(range(len(text)), tokens, key=lambda n: count_tokens([text[: n + 1]]))
    start = text[:length]
    at_word = start if text[len(start) : len(start) + 1].isspace() else _LAST_WORD.sub("", start)
    return at_word.rstrip() or start.rstrip()
