"""The pytest plugin: the fixture `ragstone`, with which a test is a gate.

    def test_rag(ragstone):
        ragstone.gate("new.yaml", baseline="old.yaml", metrics="F1", margin=0.02)

pytest loads this file in every run, so nothing else of the package is imported before a test calls
the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from ragstone.evaluation.gate_result import GateResult
    from ragstone.evaluation.scored_systems import Scores
    from ragstone.results.results import Results


class PytestGate:
    """The fixture: a gate fails its test if the new version is worse, with the reasons."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def gate(
        self,
        new: Scores,
        *,
        baseline: Scores,
        metrics: str | list[str],
        margin: float | list[float],
        undecided: Literal["fail", "pass", "skip"] = "fail",
        **options: Any,
    ) -> GateResult:
        """Return the verdict; fail the test if it is `worse`.

        Args:
            new: the new version: a place as on the command line (`e.yaml`, `e.yaml:SYSTEM`,
                `scores.jsonl`), or scores as in `ragstone.gate`. An experiment that has no finished
                run is run.
            baseline: the version to compare it with, in the same forms.
            metrics: a metric or several.
            margin: the largest loss that is acceptable, of all metrics or one of each.
            undecided: outcome of an undecided gate: a failed test, a passed one, or a skipped one.
            options: as in `ragstone.gate`, such as `looks`; with places also `run` and `store`.

        Raises:
            ConfigError: a wrong name or option, or a baseline of other data.
            RagstoneError: the run failed.
        """
        if undecided not in {"fail", "pass", "skip"}:
            raise ValueError(f"undecided is {undecided!r}; allowed: fail, pass, skip")
        found = _gate(new, baseline, metrics=metrics, margin=margin, **options)
        self._request.node.user_properties.append(("ragstone gate", found.headline))
        if found.verdict == "worse" or (found.verdict == "undecided" and undecided == "fail"):
            pytest.fail(str(found), pytrace=False)
        if found.verdict == "undecided" and undecided == "skip":
            pytest.skip(found.headline)
        return found

    def evaluate(self, system: Any, data: Any, *arguments: Any, **options: Any) -> Results:
        """Return the results of a system on a data set: `ragstone.evaluate`."""
        import ragstone

        return ragstone.evaluate(system, data, *arguments, **options)


@pytest.fixture
def ragstone(request: pytest.FixtureRequest) -> PytestGate:
    """Gate a new version: `ragstone.gate(new, baseline=old, metrics="F1", margin=0.02)`."""
    return PytestGate(request)


def _gate(new: Scores, baseline: Scores, **options: Any) -> GateResult:
    from os import PathLike, fspath

    from ragstone.evaluation.gate import gate
    from ragstone.experiment.gated import gate_places
    from ragstone.experiment.score_sources import STORE, read_sources

    sides = [fspath(side) if isinstance(side, PathLike) else side for side in (new, baseline)]
    if all(isinstance(side, str) for side in sides):
        return gate_places(str(sides[0]), str(sides[1]), **options)
    store = options.pop("store", STORE)
    new, baseline = (
        read_sources([side], store)[0].scores if isinstance(side, str) else side for side in sides
    )
    return gate(new, baseline=baseline, **options)
