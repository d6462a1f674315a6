"""The two protocols of metrics, and the canonical name of a metric.

A metric is a frozen dataclass: its fields are the options in the parentheses of its name, and `k`
is the cutoff after the `@`. Importing this module loads no array library.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, TypeAlias

from ragstone.core.component import IN_CACHE_KEY_IF_SET, Component
from ragstone.core.spec import Spec
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch

GOLD_ANSWERS: Final = frozenset({"gold_answers"})
UNKNOWN_CONTEXT: Final = "the context that the generator was shown is not known"
Direction: TypeAlias = Literal["higher", "lower", "neutral"]


class Scored(NamedTuple):
    """One metric's values over a batch."""

    values: Values
    """One value per position; ignored at the positions below."""
    inapplicable: Mapping[int, str] = {}
    """Position -> reason why the metric does not apply."""
    failed: Mapping[int, str] = {}
    """Position -> reason why the metric could not be computed."""
    remarks: Mapping[int, str] = {}
    """Position -> remark on a value, such as the checks that were not passed."""


class Metric(Component):
    """The declarations of all metrics."""

    verb = "values"
    name: ClassVar[str]
    requires: ClassVar[frozenset[str]]
    """The data that the metric reads, among "qrels", "gold_answers", "context", "history",
    "subtopics", "languages" and "checks"."""
    direction: ClassVar[Direction] = "higher"
    """Whether higher or lower values are better; reports mark no best value if neutral."""
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    """Lowest and highest value; None if there is no bound."""
    graded: ClassVar[bool] = True
    """Whether values other than 0 and 1 occur: a rule for correct answers then needs a threshold.
    """
    description: ClassVar[str] = ""
    """A paragraph for the readers of a report; by default the first one of the docstring."""
    cutoff: ClassVar[str] = "none"
    """Whether the name has a cutoff: "required", "optional" or "none"."""
    synonyms: ClassVar[Mapping[str, str]] = {}
    """Other spellings of a variant: "paper" is the form that a paper published."""

    def __str__(self) -> str:
        """Return the canonical name: name, options other than the defaults, and cutoff."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]  # metrics are dataclasses
        defaults = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        k = given.pop("k", None)
        options = {name: value for name, value in given.items() if value != defaults[name]}
        return str(Spec(self.name, options, k)).replace(", ", ",")

    @classmethod
    def described(cls) -> str:
        """Return the paragraph for the readers of a report."""
        first = (inspect.getdoc(cls) or "").split("\n\n")[0]
        return cls.description or " ".join(first.split())


@dataclass(frozen=True)
class RankingMetric(Metric):
    """A metric of one query's ranking against its qrels.

    Args:
        k: the cutoff: the first k passages of a ranking count; None for all.
        condensed: remove the passages that the qrels do not judge from the ranking first (Sakai,
            SIGIR 2007).
        level: ranked and judged unit: the passages; the `document`s that they are cut from, each
            at the rank of its best passage; or these documents without the ranks of their other
            passages between them (`document-bergen`, as Rau et al. 2024 count).
    """

    k: int | None = None
    condensed: bool = field(default=False, kw_only=True)
    level: Literal["passage", "document", "document-bergen"] = field(
        default="passage", kw_only=True, metadata=IN_CACHE_KEY_IF_SET
    )

    requires: ClassVar[frozenset[str]] = frozenset({"qrels"})
    cutoff: ClassVar[str] = "required"

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a cutoff that is missing, not allowed or not positive."""
        if self.k is None and self.cutoff == "required":
            raise ConfigError(f"{self.name} needs a cutoff, such as {self.name}@10")
        if self.k is not None and self.cutoff == "none":
            raise ConfigError(f"{self.name} takes no cutoff; write {self.name} without @{self.k}")
        if self.k is not None and self.k < 1:
            raise ConfigError(f"the cutoff of {self.name}@{self.k} must be 1 or more")

    @property
    def depth(self) -> int:
        """The cutoff, or a number larger than the length of any ranking."""
        return self.k if self.k is not None else 2**31

    def values(self, ranks: RankingBatch) -> Values:
        """Return one value per query of `ranks`."""
        raise NotImplementedError

    def inapplicable(self, ranks: RankingBatch) -> Mapping[int, str]:
        """Return position -> reason for the queries that the metric does not apply to."""
        return {}

    def scored(self, ranks: RankingBatch) -> Scored:
        """Return the values, and the reasons of the queries without one."""
        if self.level != "passage":
            ranks = ranks.of_documents(self.level)
        values = self.values(ranks.condensed if self.condensed else ranks)
        return Scored(values, self.inapplicable(ranks))


def ranks_documents(metric: object) -> bool:
    """Return whether a metric measures rankings of documents in place of passages."""
    return getattr(metric, "level", "passage") != "passage"


@dataclass(frozen=True)
class AnswerMetric(Metric):
    """A metric of one query's answer, mostly against its gold answers."""

    requires: ClassVar[frozenset[str]] = GOLD_ANSWERS

    def values(self, pairs: AnswerBatch) -> Values:
        """Return one value per pair."""
        raise NotImplementedError

    def beside(
        self, answers: Sequence[str | None], gold: Sequence[Sequence[str]]
    ) -> Mapping[str, float]:
        """Return figures of all answers together that are reported beside the mean."""
        return {}

    def inapplicable(self, pairs: AnswerBatch) -> Mapping[int, str]:
        """Return position -> reason for the pairs that the metric does not apply to."""
        if "context" not in self.requires:
            return {}
        missing = (i for i, context in enumerate(pairs.contexts) if context is None)
        return dict.fromkeys(missing, UNKNOWN_CONTEXT)

    def scored(self, pairs: AnswerBatch) -> Scored:
        """Return the values, and the reasons of the pairs without one."""
        return Scored(self.values(pairs), self.inapplicable(pairs))


@dataclass(frozen=True)
class BinaryMetric(RankingMetric):
    """A metric for which a passage is relevant or not.

    Args:
        rel: lowest grade of a relevant passage. A query without one has no value.
    """

    rel: int = 1

    def inapplicable(self, ranks: RankingBatch) -> Mapping[int, str]:
        """Return position -> reason for the queries without a passage of grade `rel`."""
        if self.rel <= 1:
            return {}
        reason = f"the qrels contain no passage of grade {self.rel} or more for this query"
        return {i: reason for i, n in enumerate(ranks.relevant(self.rel).tolist()) if not n}
