"""Metrics broken down by a label, for each system and setting.

Settings are compared on the same queries. A setting that keeps all gold passages within k (mtRAG's
reference+RAG) restricts all settings to queries with few gold passages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.components.context_settings.attacks import ORIGIN, attack_in
from ragstone.components.metrics.attack_success import AttackSuccess
from ragstone.core import limits
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.answer_language import answer_groups
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.results.stored_tables import rows_where
from ragstone.statistics.breakdown import TURNS, UNLABELLED, breakdown, groups_of
from ragstone.statistics.summary import Summary
from ragstone.text.language_names import LANGUAGE

COLLECTIONS: Final = "collections"
"""The label in the place of a query's collection."""
ATTACKS: Final = "attacks"
"""The label in the place of the kind of attack that is planted in a context."""
ANSWER_LANGUAGE: Final = "answer_language"
"""The label in the place of the language of an answer."""
EQUALLY: Final = "(each equal)"
"""The row of the mean over collections, each with the same weight."""
PLACES: Final = frozenset({"conversation", "conversation_file", "collection"})
"""Labels that identify the origin of a query, which is not a category."""


@dataclass(frozen=True)
class LabelTable:
    """One metric by one label."""

    label: str
    metric: str
    columns: tuple[tuple[str, str], ...]
    """(system, setting); the setting is empty for ranking metrics."""
    rows: tuple[tuple[str, Mapping[tuple[str, str], Summary]], ...]
    """(value, column -> mean)."""


def label_table(results: StoredResults, label: str, metric: str) -> LabelTable:
    """Return one metric by one label.

    Raises `ConfigError` if no query has the label, or if the metric was not measured.
    """
    measured = [*results.trials, *results.rankings]
    of_trials = _of_trials(results, label)
    by_trial = any(of_trials.values())
    groups = {} if by_trial else _groups(results, label)
    scale = results.record.scale(metric)
    columns = {}
    for rows in measured:
        place, scores = (rows.system, rows.setting), rows.scores.get(metric, {})
        own = of_trials.get(place, {}) if by_trial else groups
        if found := breakdown(scores, own, results.clusters, scale):
            columns[place] = {group.value: group.summary for group in found}
            groups = groups | own
    if not columns:
        known = {name for rows in measured for name in rows.scores}
        raise ConfigError(f"no system was measured by {metric!r}{did_you_mean(metric, known)}")
    found_rows = [
        (value, {column: means[value] for column, means in columns.items() if value in means})
        for value in sorted(groups, key=lambda value: value == UNLABELLED)
    ]
    if label == COLLECTIONS and results.collections:
        found_rows.append(
            (EQUALLY, {column: _equally(list(m.values())) for column, m in columns.items()})
        )
    return LabelTable(label, metric, tuple(columns), tuple(row for row in found_rows if row[1]))


def _of_trials(results: StoredResults, label: str) -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return (system, setting) -> groups of a label whose value depends on context or answer."""
    if label == ATTACKS:
        return {(t.system, t.setting): _attacks(t) for t in results.trials}
    if label == ANSWER_LANGUAGE:
        return {(t.system, t.setting): answer_groups(results, t) for t in results.trials}
    return {}


def _groups(results: StoredResults, label: str) -> dict[str, list[str]]:
    """Return value of a label, or collection -> query ids."""
    if label == LANGUAGE and not any(LANGUAGE in one.labels for one in results.queries.values()):
        raise ConfigError(
            "the languages of the queries are neither stated nor recognised; give 'language' in "
            "'data', or pip install 'ragstone[lang]', and run the experiment again",
            key=LANGUAGE,
        )
    if label != COLLECTIONS or not results.collections:
        return groups_of(results.queries.values(), label)
    found: dict[str, list[str]] = {}
    for query_id, name in results.collections.items():
        found.setdefault(name, []).append(query_id)
    return dict(sorted(found.items()))


def _equally(means: Sequence[Summary]) -> Summary:
    """Return the mean of the collections' means, each with the same weight; no interval."""
    known = [summary.mean for summary in means if summary.mean is not None]
    return Summary(
        math.fsum(known) / len(known) if known else None,
        sum(summary.n for summary in means),
        failed=sum(summary.failed for summary in means),
        not_applicable=sum(summary.not_applicable for summary in means),
        unscored=sum(summary.unscored for summary in means),
        policy=means[0].policy,
    )


def _attacks(trial: TrialResults) -> dict[str, list[str]]:
    """Return kind of attack -> ids of the queries whose context has one."""
    found: dict[str, list[str]] = {}
    for context in rows_where(trial.built, "origins", lambda given: ORIGIN in given):
        if attack := attack_in(context):
            found.setdefault(attack.kind, []).append(context.query_id)
    return dict(sorted(found.items()))


def attack_tables(results: StoredResults) -> list[LabelTable]:
    """Return success and correct answers by kind of attack; empty if no attack is planted."""
    attacked = [trial for trial in results.trials if _attacks(trial)]
    measured = {metric for trial in attacked for metric in trial.scores}
    names = dict.fromkeys([AttackSuccess.name, results.record.answer_metric])
    return [label_table(results, ATTACKS, name) for name in names if name in measured]


def attack_rows(results: StoredResults) -> list[dict[str, Any]]:
    """Return one row per kind of attack, system, setting and metric (`attacks`)."""
    found = (row for table in attack_tables(results) for row in label_document(table))
    return [{"attack": row.pop("value"), **row} for row in found if row.pop("label")]


def collection_tables(results: StoredResults) -> list[LabelTable]:
    """Return every metric by collection; empty if all queries search all passages."""
    measured = [*results.trials, *results.rankings] if results.collections else []
    metrics = dict.fromkeys(metric for rows in measured for metric in rows.scores)
    return [label_table(results, COLLECTIONS, metric) for metric in metrics]


def collection_rows(results: StoredResults) -> list[dict[str, Any]]:
    """Return one row per collection, system, setting and metric as plain data (`collections`)."""
    found = (row for table in collection_tables(results) for row in label_document(table))
    return [{"collection": row.pop("value"), **row} for row in found if row.pop("label")]


def label_document(table: LabelTable) -> list[dict[str, Any]]:
    """Return a table as plain data, one row per value and column (`show --by LABEL --json`)."""
    return [
        {"label": table.label, "value": value, "system": system, "setting": setting}
        | {"metric": table.metric, **asdict(summary)}
        for value, cells in table.rows
        for (system, setting), summary in cells.items()
    ]


def label_tables(results: StoredResults) -> list[LabelTable]:
    """Return the correctness metric by every label of `labels_of`, for the report."""
    metric = results.record.answer_metric
    if not any(metric in trial.scores for trial in results.trials):
        return []
    return [label_table(results, label, metric) for label in labels_of(results)]


def labels_of(results: StoredResults) -> list[str]:
    """Return the labels that divide the queries into 2 to 24 groups, turns first."""
    queries = list(results.queries.values())
    names = dict.fromkeys(name for query in queries for name in query.labels)
    if "turn" in names:
        names = {"turn": None, TURNS: None} | names
    return [
        name
        for name in names
        if name not in PLACES and 1 < len(groups_of(queries, name)) <= limits.REPORT_LABEL_VALUES
    ]
