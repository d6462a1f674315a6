"""Files of scores, one line per query and metric, and files of clusters of queries.

`ragstone score --per-query` and `ragstone rank --per-query` write files of scores.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast, get_args

from ragstone.data.readers.rows import FieldError, Row, decoded, json_object, parsed, show
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.types import Prediction, Query, Score, Status

CLUSTER_LABELS: Final = ("conversation", "document")
"""Labels whose queries are not independent of each other, the most common first."""

_TABLES: Final = frozenset({".csv", ".tsv", ".parquet", ".xlsx"})
"""Suffixes of files whose rows are no JSON lines."""


@dataclass(frozen=True, slots=True)
class ScoreRows:
    """The scores of a file, and the texts behind them if its lines carry any."""

    scores: list[Score]
    queries: dict[str, Query]
    predictions: dict[str, Prediction]


def read_scores(path: Path) -> list[Score]:
    """Return the scores of a JSON lines file: `query_id`, `metric`, `value`, `status`, `reason`.

    `value` is a finite number (true and false count as 1 and 0) or null. The default of `status` is
    `scored` for a number and `failed` for null.

    Raises:
        DatasetError: the file does not exist, a line is malformed, a query has two values of a
            metric, or the lines are of several systems or settings.
    """
    return read_score_rows(path).scores


def read_score_rows(path: Path) -> ScoreRows:
    """Return the scores as `read_scores` does, and the texts of the same lines.

    The texts of a query are those of its first line that has any of `query`, `gold_answers`,
    `answer` and `passage_ids`; a value of another type is not a text and is left out.
    """
    found: dict[tuple[str, str], Score] = {}
    queries: dict[str, Query] = {}
    predictions: dict[str, Prediction] = {}
    if path.suffix.lower() in _TABLES:
        raise DatasetError(
            f"{path}: a file of scores has JSON lines; write it with the suffix .jsonl: "
            f"ragstone export e.yaml --to scores -o {path.stem}.jsonl"
        )
    known: dict[str, str] = {}
    for number, (score, row) in parsed(path, _score_and_rest):
        _refuse_second(path, number, row, known)
        if found.setdefault((score.query_id, score.metric), score) is not score:
            raise DatasetError(
                f"{path}, line {number}: query {show(score.query_id)} has a second value for "
                f"{score.metric}; keep one"
            )
        if score.query_id not in queries and {"query", "gold_answers"} & row.keys():
            queries[score.query_id] = _query_of(score.query_id, row)
        if score.query_id not in predictions and {"answer", "passage_ids"} & row.keys():
            predictions[score.query_id] = _prediction_of(score, row)
    if not found:
        raise DatasetError(f"{path} contains no score; each line needs query_id, metric and value")
    return ScoreRows(list(found.values()), queries, predictions)


def _refuse_second(path: Path, number: int, row: Row, known: dict[str, str]) -> None:
    """Raise `DatasetError` if a line is of another system or setting than those before.

    Rankings have no setting: "" belongs to every setting of its system.
    """
    for field in ("system", "setting"):
        value = row.get(field)
        if isinstance(value, str) and value and known.setdefault(field, value) != value:
            raise DatasetError(
                f"{path}, line {number}: the scores of {field} {show(value)} follow those of "
                f"{show(known[field])}; keep the lines of one {field}, or name the experiment in "
                "place "
                "of the file, as e.yaml:SYSTEM:SETTING"
            )


def _query_of(query_id: str, row: Row) -> Query:
    return Query(
        query_id, "".join(_texts(row.get("query"))), tuple(_texts(row.get("gold_answers")))
    )


def _prediction_of(score: Score, row: Row) -> Prediction:
    answer, ids = row.get("answer"), row.get("passage_ids")
    return Prediction(
        score.query_id,
        answer if isinstance(answer, str) else None,
        reason=score.reason,
        passage_ids=tuple(_texts(ids)) if isinstance(ids, list) else None,
    )


def _texts(value: object) -> list[str]:
    """Return the texts in a list, or a single text; [] for a value of another type."""
    listed = value if isinstance(value, list) else [value]
    return [text for text in listed if isinstance(text, str)]


def _score_and_rest(line: bytes) -> tuple[Score, Row]:
    """Return the score of a line, and its other fields."""
    row = json_object(line)
    query_id, metric = row.take_id("query_id"), row.take_text("metric")
    if "value" not in row:
        raise FieldError("the field 'value' is missing; write null if there is no value")
    value = row.pop("value")
    if value is not None and (type(value) not in (int, float, bool) or not math.isfinite(value)):
        raise FieldError(f"the field 'value' must be a finite number or null, found {show(value)}")
    status = row.pop("status", None) or ("failed" if value is None else "scored")
    if status not in get_args(Status) or (status == "scored") != (value is not None):
        raise FieldError(
            f"status {show(status)} with value {show(value)}: 'scored' has a value, 'failed', "
            "'unscored' "
            "and 'not_applicable' have none"
        )
    reason = row.take_text("reason", optional=True)
    number = None if value is None else float(value)
    return Score(query_id, metric, number, cast("Status", status), reason), row


def read_clusters(path: Path) -> dict[str, str]:
    """Return query id -> cluster of a file with one query per line.

    A line is a query id, a tab and a cluster, or a JSON object with `query_id` and `cluster`.

    Raises:
        DatasetError: the file does not exist, a line is malformed, or a query has two clusters.
    """
    is_json = path.suffix in (".jsonl", ".json") or path.name.endswith(".jsonl.gz")
    found: dict[str, str] = {}
    for number, (query_id, cluster) in parsed(path, _json_cluster if is_json else _tab_cluster):
        if found.setdefault(query_id, cluster) != cluster:
            raise DatasetError(
                f"{path}, line {number}: query {show(query_id)} is in cluster "
                f"{show(found[query_id])} "
                f"already, found {show(cluster)}"
            )
    if not found:
        raise DatasetError(
            f"{path} contains no cluster; each line is a query id, a tab and a cluster", path=path
        )
    return found


def _json_cluster(line: bytes) -> tuple[str, str]:
    row = json_object(line)
    return row.take_id("query_id"), row.take_text("cluster")


def _tab_cluster(line: bytes) -> tuple[str, str]:
    query_id, _, cluster = decoded(line).partition("\t")
    if not (query_id and cluster) or "\t" in cluster:
        raise FieldError(f"expected a query id, a tab and a cluster, found {show(decoded(line))}")
    return query_id, cluster


def clusters_by_id(query_ids: Collection[str]) -> dict[str, str]:
    """Return query id -> conversation if every id has the form conversation::turn, else {}.

    >>> clusters_by_id(["c1::1", "c1::2"]), clusters_by_id(["c1::1", "q2"])
    ({'c1::1': 'c1', 'c1::2': 'c1'}, {})
    """
    if not all("::" in query_id for query_id in query_ids):
        return {}
    return {query_id: query_id.rpartition("::")[0] for query_id in query_ids}


def clusters_by_label(queries: Iterable[Query], label: str = "") -> tuple[str, dict[str, str]]:
    """Return a label, and query id -> its value for the queries that have it.

    Without `label`: the first of `CLUSTER_LABELS` that a query has, or ("", {}).

    Raises:
        ConfigError: no query has the label.

    >>> clusters_by_label([Query("a", "When?", labels={"conversation": "c1", "turn": 2})])
    ('conversation', {'a': 'c1'})
    """
    known_queries = list(queries)
    known = {name for query in known_queries for name in query.labels}
    if label and label not in known:
        raise ConfigError(f"no query has the label {label!r}{did_you_mean(label, known)}")
    chosen = label or next((name for name in CLUSTER_LABELS if name in known), "")
    return chosen, {q.query_id: str(q.labels[chosen]) for q in known_queries if chosen in q.labels}
