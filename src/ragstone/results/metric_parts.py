"""The parts that computed the metrics of an experiment, by the manifests of their steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ragstone.core.schemas import columns
from ragstone.results.reader import StoredResults


def metric_parts(
    results: StoredResults, kinds: Collection[str] = ("ranking", "answer", "judge")
) -> dict[str, Mapping[str, Any]]:
    """Return metric -> the part that computed it: its class, parameters and code.

    `kinds` are those of the metrics that are wanted.
    """
    record = results.record
    found: dict[str, Mapping[str, Any]] = {}
    for kind, folders in (
        ("ranking", [ranking.scores for ranking in record.rankings]),
        ("answer", [trial.scores for trial in record.trials]),
    ):
        names = [entry.name for entry in record.metrics if entry.kind == kind]
        for folder in folders if kind in kinds else ():
            metrics = _made_by(results, folder).get("parameters", {}).get("metrics", ())
            found.update(zip(names, metrics, strict=False))
    for trial in record.trials if "judge" in kinds else ():
        for folder in trial.verdicts:
            made = _made_by(results, folder)
            found |= dict.fromkeys(columns(results.stored_table(folder))["metric"], made)
    return {name: made for name, made in found.items() if made}


def _made_by(results: StoredResults, folder: str) -> Mapping[str, Any]:
    made: Mapping[str, Any] = results.manifests.get(folder, {}).get("made_by", {})
    return made
