"""Influence of each shown passage on an answer: answers without it, beside those with all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.core.tables import TextTable
from ragstone.results.wording import ABSENT, interval_text, number
from ragstone.statistics.proportions import share_interval


@dataclass(frozen=True, slots=True)
class ContextAnswers:
    """The answers to one query with one context."""

    answers: tuple[str | None, ...]
    """None for an answer that failed."""
    labels: tuple[bool | None, ...]
    """Whether each answer is right; None if no rule calls it right or wrong."""
    similarities: tuple[float | None, ...]
    """ROUGE-L of each answer against the original one."""

    @property
    def failures(self) -> int:
        """Number of answers that failed."""
        return self.answers.count(None)

    @property
    def n(self) -> int:
        """Number of answers that are right or wrong."""
        return len(self._known)

    @property
    def right(self) -> float | None:
        """Share of right answers; None without a label."""
        return sum(self._known) / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the share over repeats; None with fewer than two answers."""
        return share_interval(sum(self._known), self.n) if self.n > 1 else None

    @property
    def similarity(self) -> float | None:
        """Mean similarity to the original answer, without failed answers."""
        known = [one for one in self.similarities if one is not None]
        return sum(known) / len(known) if known else None

    @property
    def _known(self) -> list[bool]:
        return [one for one in self.labels if one is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("right", "interval", "n", "failures", "similarity")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, slots=True)
class PassageInfluence:
    """The influence of one passage: the answers without it."""

    place: int
    """The place of the passage in the context, from 1."""
    passage_id: str
    gold: bool
    without: ContextAnswers | None
    """The answers without it; None if they were not asked for."""


@dataclass(frozen=True, slots=True)
class AnswerInfluence:
    """The influence of each shown passage on the answer to one query."""

    system: str
    setting: str
    original: str | None
    """The answer of the experiment."""
    repeats: int | None
    """Answers per context; None if they are as many as in the experiment."""
    whole: ContextAnswers | None
    """The answers with all passages; None if they were not asked for."""
    passages: tuple[PassageInfluence, ...]
    calls: int
    """Model calls that were made now; kept replies are not among them."""
    reason: str = ""
    """Why some passages were not left out; "" if all were."""

    def effect(self, one: PassageInfluence) -> float | None:
        """Return the share of right answers with all passages minus that without one."""
        found = self._shares(one)
        return None if found is None else found[0][0] - found[1][0]

    def interval(self, one: PassageInfluence) -> tuple[float, float] | None:
        """Return the 95 % interval of the effect over repeats; None without repeats.

        Newcombe's of a difference of two shares (Statistics in Medicine 17, 1998).
        """
        found = self._shares(one)
        if found is None or found[0][1] is None or found[1][1] is None:
            return None
        (whole, (low, high)), (without, (least, most)) = found
        effect = whole - without
        below = math.hypot(whole - low, most - without)
        above = math.hypot(high - whole, without - least)
        return max(-1.0, effect - below), min(1.0, effect + above)

    def _shares(self, one: PassageInfluence) -> Any:
        pair = (self.whole, one.without)
        if any(each is None or each.right is None for each in pair):
            return None
        return [(each.right, each.interval) for each in pair if each is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the key `influence` of `ragstone why --json`."""
        names = ("system", "setting", "original", "repeats", "calls", "reason")
        return {
            **{name: getattr(self, name) for name in names},
            "whole": None if self.whole is None else self.whole.to_dict(),
            "passages": [
                {
                    "place": one.place,
                    "passage_id": one.passage_id,
                    "gold": one.gold,
                    "effect": self.effect(one),
                    "interval": self.interval(one),
                    "without": None if one.without is None else one.without.to_dict(),
                }
                for one in self.passages
            ],
        }

    def __str__(self) -> str:
        """Return the table of passages as text."""
        rows = [
            [one.place, one.passage_id, "gold" if one.gold else "", *self._cells(one)]
            for one in self.passages
        ]
        headers = ["place", "passage", "", "right without", "effect", "similarity", "failed"]
        title = f"Influence of each passage ({self.system} under {self.setting})"
        return str(TextTable(headers, rows, title, below=list(self._below())))

    def _cells(self, one: PassageInfluence) -> Sequence[object]:
        if one.without is None:
            return ["not asked", ABSENT, ABSENT, ABSENT]
        effect = self.effect(one)
        shown = ABSENT if effect is None else f"{effect:+.3f}{interval_text(self.interval(one))}"
        return [_right(one.without), shown, number(one.without.similarity), one.without.failures]

    def _below(self) -> Iterator[str]:
        if self.whole is not None:
            yield f"right with all passages: {_right(self.whole)}"
        yield "effect: share of right answers with all passages minus that without this one"
        yield "similarity: ROUGE-L of the answer without the passage against the original answer"
        if self.reason:
            yield f"some were not asked: {self.reason}"


def _right(found: ContextAnswers) -> str:
    """Return the share of right answers, and of how many."""
    if found.right is None:
        return "not known"
    return f"{number(found.right)}{interval_text(found.interval)} of {found.n:,}"
