"""Scores without any model: of the most frequent answer, and of an answer drawn at random.

They exist if the gold answers are a small set of labels: yes and no, options, classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_LABELS: Final = 10
"""Different answers up to which they are labels."""
_QUERIES_PER_LABEL: Final = 5
"""Queries per answer from which they are labels."""


@dataclass(frozen=True, slots=True)
class AnswerBaselines:
    """The scores of a reader who has seen neither the questions nor a passage."""

    n: int
    """Number of queries with a gold answer."""
    answers: int
    """Number of different gold answers."""
    majority_answer: str
    majority: float
    """Share of the queries for which the most frequent answer is right."""
    chance: float
    """Share of right answers if each is drawn at random from the different ones."""

    def __str__(self) -> str:
        """Return one sentence."""
        return (
            f"always answering {self.majority_answer!r} is right for {self.majority:.1%} of the "
            f"{self.n:,} queries, and one of the {self.answers} answers drawn at random for "
            f"{self.chance:.1%}"
        )


def answer_baselines(gold: Iterable[Sequence[str]]) -> AnswerBaselines | None:
    """Return the baselines for the gold answers of each query; None if they are not labels.

    Answers are compared without case and outer white space. A query with several gold answers
    accepts each of them.

    >>> print(answer_baselines([["yes"]] * 6 + [["No"]] * 4))  # doctest: +ELLIPSIS
    always answering 'yes' is right for 60.0% of the 10 queries, and ... at random for 50.0%
    """
    accepted = [{answer.strip().casefold() for answer in answers} - {""} for answers in gold]
    accepted = [answers for answers in accepted if answers]
    counts = Counter(answer for answers in accepted for answer in sorted(answers))
    labels = len(counts)
    if not 1 < labels <= _LABELS or len(accepted) < _QUERIES_PER_LABEL * labels:
        return None
    answer, count = counts.most_common(1)[0]
    n = len(accepted)
    return AnswerBaselines(n, labels, answer, count / n, sum(map(len, accepted)) / labels / n)
