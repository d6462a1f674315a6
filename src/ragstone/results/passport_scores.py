"""The scores of every query in a passport, so that it can be a baseline without its store.

    "scores": [{"system": "mine", "setting": "system", "queries": ["q1", "q2"],
                "clusters": {"q1": "c1"}, "metrics": {"F1": [0.5, ["failed", "time-out"]]}}]

A metric has one value per query, in their order: a number, the status and the reason of a query
without one, or null for a query that the metric was not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ragstone.core.schemas import scores_to_table, table_to_scores
from ragstone.errors import ConfigError
from ragstone.evaluation.evaluation import Evaluation
from ragstone.statistics.failures import Scale, summarise_scores
from ragstone.statistics.summary import clusters_of
from ragstone.types import Score

KEY: Final = "scores"
_STATUSES: Final = ("failed", "unscored", "not_applicable")


def passport_scores(evaluations: Mapping[tuple[str, str], Evaluation]) -> list[dict[str, Any]]:
    """Return the scores of every query, from (system, setting) -> evaluation."""
    return [
        {"system": system, "setting": setting, **_columns(evaluation)}
        for (system, setting), evaluation in evaluations.items()
    ]


def _columns(evaluation: Evaluation) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {}
    for score in table_to_scores(evaluation.table):
        value = [score.status, score.reason] if score.value is None else score.value
        metrics.setdefault(score.metric, {})[score.query_id] = value
    queries = list(dict.fromkeys(query_id for held in metrics.values() for query_id in held))
    return {
        "queries": queries,
        "metrics": {name: [held.get(query) for query in queries] for name, held in metrics.items()},
        "clusters": dict(evaluation.clusters),
    }


def scored_parts(passport: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the systems and the settings of the scores; raise `ConfigError` without any."""
    entries = passport[KEY]
    if (
        not isinstance(entries, list)
        or not entries
        or not all(isinstance(e, dict) for e in entries)
    ):
        raise ConfigError("the passport has no readable scores", key=KEY)
    named = [[str(entry.get(name, "")) for entry in entries] for name in ("system", "setting")]
    systems, settings = (list(dict.fromkeys(names)) for names in named)
    return systems, settings


def passport_evaluation(passport: Mapping[str, Any], system: str, setting: str) -> Evaluation:
    """Return the scores of one system under one setting, from a passport that has them.

    Raises:
        ConfigError: the scores are malformed.
    """
    wanted = {"system": system, "setting": setting}
    try:
        (entry,) = (entry for entry in passport[KEY] if wanted.items() <= entry.items())
        clusters = {str(query): str(cluster) for query, cluster in entry["clusters"].items()}
        queries = list(map(str, entry["queries"]))
        held = {m: list(_scores(m, queries, values)) for m, values in entry["metrics"].items()}
        scales = {m: _scale(passport["metrics"].get(m, {})) for m in held}
        summaries = {m: _summary(scores, scales[m], clusters) for m, scores in held.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"the passport has no readable scores of {system!r}: {error}") from error
    return Evaluation(
        summaries,
        scores_to_table([score for scores in held.values() for score in scores]),
        clusters=clusters,
        scales=scales,
        corpus_digest=str(passport["data"].get("corpus_digest") or ""),
    )


def _scores(metric: str, queries: Sequence[str], values: Sequence[Any]) -> Iterator[Score]:
    for query_id, value in zip(queries, values, strict=True):
        if isinstance(value, list):
            status, reason = value
            if status not in _STATUSES:
                raise ValueError(f"status {status!r} of query {query_id!r}")
            yield Score(query_id, metric, None, status, str(reason))
        elif value is not None:
            yield Score(query_id, metric, float(value))


def _scale(entry: Mapping[str, Any]) -> Scale:
    bounds = entry.get("range")
    return Scale(
        None if bounds is None else (bounds[0], bounds[1]), entry.get("direction", "higher")
    )


def _summary(scores: Sequence[Score], scale: Scale, clusters: Mapping[str, str]) -> Any:
    values, statuses = [s.value for s in scores], [s.status for s in scores]
    groups = clusters_of([s.query_id for s in scores], clusters)
    return summarise_scores(values, statuses, scale, clusters=groups)
