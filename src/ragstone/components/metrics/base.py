"""The two protocols of metrics, and the name that every metric goes by.

A metric is a frozen dataclass: its fields are the options that its name shows in parentheses, `k`
is the cutoff after the `@`. Importing this module loads no array library.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, TypeAlias

from ragstone.core.component import Component
from ragstone.core.spec import Spec
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch

GOLD_ANSWERS: Final = frozenset({"gold_answers"})
Direction: TypeAlias = Literal["higher", "lower", "neutral"]


class Scored(NamedTuple):
    """One metric's values over a batch."""

    values: Values
    """One value per position; that of a position below is ignored."""
    inapplicable: Mapping[int, str] = {}
    """Position -> why the metric does not apply."""
    failed: Mapping[int, str] = {}
    """Position -> why the metric could not be computed."""


class Metric(Component):
    """What all metrics declare."""

    verb = "values"
    name: ClassVar[str]
    requires: ClassVar[frozenset[str]]
    """Data that the metric reads: of "qrels", "gold_answers", "context", "history"."""
    direction: ClassVar[Direction] = "higher"
    """Which values are better; no value of a neutral metric is marked as the best."""
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    """Lowest and highest value; None if there is no bound."""
    description: ClassVar[str] = ""
    """A paragraph for the reader of a report; by default the first one of the docstring."""
    cutoff: ClassVar[str] = "none"
    """Whether the name carries a cutoff: "required", "optional" or "none"."""
    synonyms: ClassVar[Mapping[str, str]] = {}
    """Other spellings of a variant: "paper" is the form that a paper published."""

    def __str__(self) -> str:
        """Return the canonical name: name, options that differ from their defaults, and cutoff."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]  # metrics are dataclasses
        defaults = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        k = given.pop("k", None)
        options = {name: value for name, value in given.items() if value != defaults[name]}
        return str(Spec(self.name, options, k)).replace(", ", ",")

    @classmethod
    def described(cls) -> str:
        """Return the paragraph for the reader of a report."""
        first = (inspect.getdoc(cls) or "").split("\n\n")[0]
        return cls.description or " ".join(first.split())


@dataclass(frozen=True)
class RankingMetric(Metric):
    """A metric of one query's ranking against its qrels."""

    k: int | None = None

    requires: ClassVar[frozenset[str]] = frozenset({"qrels"})
    cutoff: ClassVar[str] = "required"

    def __post_init__(self) -> None:
        """Refuse a cutoff that is missing, out of place or not positive."""
        if self.k is None and self.cutoff == "required":
            raise ConfigError(f"{self.name} needs a cutoff, such as {self.name}@10")
        if self.k is not None and self.cutoff == "none":
            raise ConfigError(f"{self.name} takes no cutoff; write {self.name} without @{self.k}")
        if self.k is not None and self.k < 1:
            raise ConfigError(f"the cutoff of {self.name}@{self.k} must be 1 or more")

    @property
    def depth(self) -> int:
        """The cutoff, or a depth that no ranking reaches."""
        return self.k if self.k is not None else 2**31

    def values(self, ranks: RankingBatch) -> Values:
        """Return one value per query of `ranks`."""
        raise NotImplementedError

    def scored(self, ranks: RankingBatch) -> Scored:
        """Return the values, and the queries that have none."""
        return Scored(self.values(ranks))


@dataclass(frozen=True)
class AnswerMetric(Metric):
    """A metric of one query's answer, mostly against its gold answers."""

    requires: ClassVar[frozenset[str]] = GOLD_ANSWERS

    def values(self, pairs: AnswerBatch) -> Values:
        """Return one value per pair."""
        raise NotImplementedError

    def inapplicable(self, pairs: AnswerBatch) -> Mapping[int, str]:
        """Return position -> reason for the pairs that the metric does not apply to."""
        return {}

    def scored(self, pairs: AnswerBatch) -> Scored:
        """Return the values, and the pairs that have none."""
        return Scored(self.values(pairs), self.inapplicable(pairs))
