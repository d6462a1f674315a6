"""The analysis in an experiment file: comparisons and their metric, fixed before the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from ragstone.experiment.file_keys import FileKeys
from ragstone.statistics.paired import Correction


class AnalysisSpec(FileKeys):
    """The comparisons that decide the verdict; all others are exploratory."""

    headline: str | None = None
    """The metric of the verdict; by default that of the file."""
    comparisons: list[tuple[str, str]] = Field(default_factory=list)
    """Pairs of systems [a, b], the verdict is on b; by default all pairs."""
    baseline: str | None = None
    """Compare each other system with this one, in place of `comparisons`."""
    margin: float | None = Field(default=None, gt=0)
    """Differences within the margin on either side of 0 are equivalent."""
    correction: Correction = "holm"
    """The multiple-testing correction over all planned comparisons."""
    population: dict[str, Any] = Field(default_factory=dict)
    """Label -> value or list of values: the queries that are compared; by default all."""

    @model_validator(mode="before")
    @classmethod
    def _one_form(cls, written: Any) -> Any:
        """Read `comparisons: {baseline: NAME}` as `baseline: NAME`."""
        given = written.get("comparisons") if isinstance(written, Mapping) else None
        if not isinstance(given, Mapping):
            return written
        if set(given) != {"baseline"}:
            raise ValueError("'comparisons' is a list of pairs [a, b], or {baseline: NAME}")
        return {k: v for k, v in written.items() if k != "comparisons"} | dict(given)
