"""Refusals: how many answerable queries a system answers, and how many of its answers are wrong.

The figures are over the answerable queries. To refuse a query that the data set labels unanswerable
is right: those queries are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.components.metrics.parse import metric_stem
from ragstone.core import limits
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.statistics.selective import Selective, selective
from ragstone.statistics.summary import clusters_of
from ragstone.types import Query

METRICS: Final = ("idk", "refusal")
"""Stems of the metrics whose value 1 means a refusal, the better one first."""
CONFIDENCE: Final = "confidence"
"""Name of a metric of your own that orders the answers of a curve, in place of the confidence that
the system states."""
UNANSWERABLE: Final = "unanswerable"
_NEGATIVE: Final = frozenset({"false", "no", "0"})
ANSWERABLE: Final = frozenset({"answerable", "partial", ""})
"""Values of the label `answerability` whose queries should be answered."""


@dataclass(frozen=True)
class RefusalRow:
    """Refusals of one system under one setting."""

    system: str
    setting: str
    metric: str
    """The metric that finds refusals."""
    ordered: bool
    """Whether the answers have a confidence, which orders the curve."""
    found: Selective
    """Over the answerable queries."""
    refused: int
    """Answerable queries that the system refused."""
    failed: int
    """Answerable queries without an answer."""
    unanswerable: int
    """Unanswerable queries with an answer or a refusal."""
    rightly_refused: int
    """Unanswerable queries that the system refused."""
    left_out: Mapping[str, int]
    """Reason why queries are in none of these numbers -> number of queries."""


def refusal_rows(results: StoredResults) -> list[RefusalRow]:
    """Return the refusals of every system under every setting.

    Empty if no metric finds refusals, or without a rule for correct answers.
    """
    if results.correctness is None:
        return []
    metric = results.correctness.metric
    first = [trial.first for trial in results.trials]
    measured = [t for t in first if metric in t.scores and refusal_metric(t)]
    bare = _without_value(results, metric) if measured else {}
    return [_row(results, trial, bare[trial.setting]) for trial in measured]


def refusal_metric(trial: TrialResults) -> str:
    """Return the metric that finds refusals, or ""."""
    stems = {metric_stem(name): name for name in reversed(list(trial.scores))}
    return next((stems[stem] for stem in METRICS if stem in stems), "")


def _without_value(results: StoredResults, metric: str) -> dict[str, frozenset[str]]:
    """Return setting -> queries that the correctness metric does not apply to.

    Failed answers have no such status, so the queries are those of all systems.
    """
    found: dict[str, frozenset[str]] = {}
    for trial in results.trials:
        scores = trial.first.scores.get(metric, {}).values()
        bare = {score.query_id for score in scores if score.status == "not_applicable"}
        found[trial.setting] = found.get(trial.setting, frozenset()) | bare
    return found


def _row(results: StoredResults, trial: TrialResults, bare: frozenset[str]) -> RefusalRow:
    metric = refusal_metric(trial)
    refused, right = trial.values(metric), results.correct_answers(trial)
    given = {q: p.answer is not None for q, p in trial.predictions.items()}
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    values: dict[str, float | None] = {}
    for query_id, answered in given.items():
        label = answerability(results.queries[query_id])
        declined = answered and refused.get(query_id) == 1
        if answered and refused.get(query_id) is None:
            left_out[f"no value of {metric}"] += 1
        elif label == UNANSWERABLE:
            counts["unanswerable"] += answered
            counts["rightly"] += declined
            left_out.update({} if answered else {"unanswerable, without an answer": 1})
        elif label not in ANSWERABLE:
            left_out[f"answerability is {label}"] += 1
        elif query_id in bare or (answered and not declined and right.get(query_id) is None):
            left_out[f"no value of {results.record.correctness_metric}"] += 1
        else:
            values[query_id] = right[query_id] if answered and not declined else None
            counts["refused"] += declined
            counts["failed"] += not answered
    confidence = _confidence(trial, values)
    return RefusalRow(
        system=trial.system,
        setting=trial.setting,
        metric=metric,
        ordered=any(one is not None for one in confidence),
        found=selective(
            list(values.values()),
            confidence,
            clusters=clusters_of(values, results.clusters),
        ),
        refused=counts["refused"],
        failed=counts["failed"],
        unanswerable=counts["unanswerable"],
        rightly_refused=counts["rightly"],
        left_out=dict(left_out),
    )


def _confidence(trial: TrialResults, query_ids: Iterable[str]) -> list[float | None]:
    """Return the value of the metric `confidence`, or else the confidence that systems state."""
    if CONFIDENCE in trial.scores:
        return [trial.values(CONFIDENCE).get(query_id) for query_id in query_ids]
    return [trial.predictions[query_id].confidence for query_id in query_ids]


def answerability(query: Query) -> str:
    """Return the label `answerability` of a query in lower case; "" without one.

    A label `answerable` with a negative value counts as unanswerable.

    >>> answerability(Query("q", "?", labels={"answerable": False}))
    'unanswerable'
    """
    if "answerability" not in query.labels:
        negative = str(query.labels.get("answerable", "")).lower() in _NEGATIVE
        return UNANSWERABLE if negative else ""
    return str(query.labels["answerability"]).lower()


def refusals_document(results: StoredResults) -> list[dict[str, Any]]:
    """Return the rows as plain data, numbers unrounded (key `refusals`)."""
    return [_document(row) for row in refusal_rows(results)]


def _document(row: RefusalRow) -> dict[str, Any]:
    kept = {key: value for key, value in asdict(row).items() if key != "found"}
    return kept | {
        "coverage": row.found.coverage.to_dict(),
        "selective_accuracy": row.found.accuracy.to_dict(),
        "area": row.found.area,
        "curve": row.found.curve(limits.RISK_POINTS),
    }
