"""The two kinds of metric, and the name that every metric goes by.

A metric is a frozen dataclass: its fields are the options that its name shows in parentheses, `k`
is the cutoff after the `@`. Importing this module loads no array library.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


GOLD_ANSWERS: Final = frozenset({"gold_answers"})


@dataclass(frozen=True)
class RankingMetric:
    """A metric of one query's ranking against its qrels."""

    k: int | None = None

    requires: ClassVar[frozenset[str]] = frozenset({"qrels"})
    version: ClassVar[int] = 1
    name: ClassVar[str]
    cutoff: ClassVar[str] = "required"
    """Whether the name carries a cutoff: "required", "optional" or "none"."""
    synonyms: ClassVar[dict[str, str]] = {}
    """Other spellings of a variant: "paper" stands for the form that a paper published."""

    def __post_init__(self) -> None:
        """Refuse a cutoff that is missing, out of place or not positive."""
        if self.k is None and self.cutoff == "required":
            raise ConfigError(f"{self.name} needs a cutoff, such as {self.name}@10")
        if self.k is not None and self.cutoff == "none":
            raise ConfigError(f"{self.name} takes no cutoff; write {self.name} without @{self.k}")
        if self.k is not None and self.k < 1:
            raise ConfigError(f"the cutoff of {self.name}@{self.k} must be 1 or more")

    def __str__(self) -> str:
        """Return the canonical name."""
        return canonical_name(self)

    @property
    def depth(self) -> int:
        """The cutoff, or a depth that no ranking reaches."""
        return self.k if self.k is not None else 2**31

    def values(self, ranks: RankingBatch) -> Values:
        """Return one value per query of `ranks`, between 0 and 1."""
        raise NotImplementedError


@dataclass(frozen=True)
class AnswerMetric:
    """A metric of one query's answer, mostly against its gold answers."""

    requires: ClassVar[frozenset[str]] = GOLD_ANSWERS
    version: ClassVar[int] = 1
    name: ClassVar[str]
    cutoff: ClassVar[str] = "none"
    synonyms: ClassVar[dict[str, str]] = {}

    def __str__(self) -> str:
        """Return the canonical name."""
        return canonical_name(self)

    def check(self) -> None:
        """Raise `MissingDependency` or `ModelFileError` where it cannot be computed here."""

    def values(self, pairs: AnswerBatch) -> Values:
        """Return one value per pair, between 0 and 1."""
        raise NotImplementedError

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return position -> reason for the pairs that this metric says nothing about."""
        return {}


def canonical_name(metric: RankingMetric | AnswerMetric) -> str:
    """Return name, options that differ from their defaults, and cutoff."""
    options = [
        f"{field.name}={_plain(getattr(metric, field.name))}"
        for field in fields(metric)
        if field.name != "k" and getattr(metric, field.name) != field.default
    ]
    listed = f"({','.join(options)})" if options else ""
    k = getattr(metric, "k", None)
    return f"{metric.name}{listed}" + ("" if k is None else f"@{k}")


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
