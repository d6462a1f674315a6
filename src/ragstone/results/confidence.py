"""The confidence that own systems state with their answers, compared with the right answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.core import limits
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.results.stored_tables import rows_where
from ragstone.statistics.calibration import Calibration, calibration
from ragstone.statistics.selective import Selective, selective
from ragstone.statistics.summary import clusters_of
from ragstone.types import Prediction

BINNING: Final = "equal mass"


@dataclass(frozen=True)
class ConfidenceRow:
    """The stated confidence of one system under one setting."""

    system: str
    setting: str
    found: Calibration
    selective: Selective
    """Risk against coverage, in the order of the confidence."""
    left_out: Mapping[str, int]
    """Reason why queries are in none of these numbers -> number of queries."""


def confidence_rows(results: StoredResults) -> list[ConfidenceRow]:
    """Return the calibration of every system and setting with a stated confidence.

    Empty without a rule for correct answers.
    """
    if results.correctness is None:
        return []
    return [
        _row(results, trial)
        for trial in results.trials
        if any(one.confidence is not None for one in _stated(trial))
    ]


def _stated(trial: TrialResults) -> Iterable[Prediction]:
    """Return the answers with a confidence, and perhaps others."""
    return rows_where(trial.predictions, "confidence", lambda value: value is not None)


def _row(results: StoredResults, trial: TrialResults) -> ConfidenceRow:
    right = results.correct_answers(trial)
    pairs: dict[str, tuple[float, float]] = {}
    left_out: Counter[str] = Counter()
    for query_id, prediction in trial.predictions.items():
        value = right.get(query_id)
        if prediction.answer is None:
            left_out["no answer"] += 1
        elif prediction.confidence is None:
            left_out["no confidence"] += 1
        elif value is None:
            left_out[f"no value of {results.record.correctness_metric}"] += 1
        else:
            pairs[query_id] = prediction.confidence, value
    stated, values = ([pair[place] for pair in pairs.values()] for place in (0, 1))
    clusters = clusters_of(pairs, results.clusters)
    return ConfidenceRow(
        system=trial.system,
        setting=trial.setting,
        found=calibration(stated, values, clusters=clusters),
        selective=selective(values, stated, clusters=clusters),
        left_out=dict(left_out),
    )


def confidence_document(results: StoredResults) -> list[dict[str, Any]]:
    """Return the rows as plain data, numbers unrounded (key `confidence`)."""
    return [_document(row) for row in confidence_rows(results)]


def _document(row: ConfidenceRow) -> dict[str, Any]:
    kept = {key: value for key, value in asdict(row).items() if key not in ("found", "selective")}
    found = asdict(row.found) | {"binning": BINNING}
    return {
        **kept,
        **found,
        "area": row.selective.area,
        "curve": row.selective.curve(limits.RISK_POINTS),
    }
