"""A generator in the place of a reader's own model."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone import Context, Prediction, Query


@dataclass(frozen=True)
class FirstWord:
    """Answers with the first word of the first passage, or with a guess if there is none."""

    guess: str = "Lima"

    def generate(self, query: Query, context: Context) -> Prediction:
        """Return the answer to a query."""
        words = (
            context.passages[0].text.splitlines()[-1].split() if context.passages else [self.guess]
        )
        return Prediction(query.query_id, words[0])
