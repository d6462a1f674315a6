"""Parts of systems and judges that were trained, and the queries that their training has seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ragstone.results.publishable import publishable

TRAINED: Final = "\N{DOUBLE DAGGER}"
"""Beside every number of a system that has seen queries in its training."""


@dataclass(frozen=True)
class TrainedPart:
    """A part that `ragstone train` made."""

    system: str
    """The system, or the judge."""
    step: str
    """The step of the system, such as `generator`; `judge` for a judge."""
    kind: str = ""
    """generator, writer, judge, reranker or embedder."""
    base: str = ""
    base_digest: str = ""
    method: str = ""
    digest: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Names and digests of the data, and the number of queries of each split."""
    seen: int = 0
    """Queries whose text, document or conversation was in the training."""
    asked: int = 0
    """Queries that the part is measured on."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without a path of this machine."""
        found: dict[str, Any] = publishable(asdict(self))
        return found

    @property
    def sentence(self) -> str:
        """How many of the queries its training has seen."""
        whose = (
            f"judge {self.system}" if self.step == "judge" else f"the {self.step} of {self.system}"
        )
        share = self.seen / self.asked if self.asked else 0.0
        return (
            f"{TRAINED} {whose} was trained on the questions or documents of {self.seen:,} of "
            f"{self.asked:,} queries ({share:.1%}): its numbers do not show how it answers unseen "
            "ones; use sample.queries with the test part of its training"
        )


def trained_sentences(parts: Iterable[TrainedPart]) -> Iterator[str]:
    """Yield a sentence per part whose training has seen queries."""
    return (one.sentence for one in parts if one.seen)


def parts_of_system(parts: Iterable[TrainedPart], system: str) -> tuple[TrainedPart, ...]:
    """Return the trained parts of a system, and those of the judges."""
    return tuple(one for one in parts if one.system == system or one.step == "judge")


def trained_systems(parts: Iterable[TrainedPart]) -> frozenset[str]:
    """Return the systems whose numbers are marked: a part of each has seen queries."""
    return frozenset(one.system for one in parts if one.seen and one.step != "judge")
