"""InspectorRAGet's JSON: tasks, answers of several systems, ratings by metrics and people.

mtRAG publishes its evaluations in this form, and InspectorRAGet's viewer opens it. The content of a
file is stored unchanged, so that writing it again loses nothing; properties give access to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast, get_args

import orjson

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.mtrag_answers import context_of
from ragstone.data.readers.mtrag_turns import Turn, passage_of, task_turn
from ragstone.data.readers.rows import FieldError, Row, json_document, show, within
from ragstone.data.table_builder import qrels
from ragstone.data.writers.folder import write_lines
from ragstone.errors import DatasetError
from ragstone.types import Context, Prediction, Query, Score, Status

_PARTS: Final = ("models", "metrics", "tasks", "evaluations")


@dataclass(frozen=True, slots=True)
class AnswerRating:
    """The rating of one answer by one person or algorithm."""

    query_id: str
    system: str
    metric: str
    rater: str
    """A person's id, or `system` / `composite` for an algorithm."""
    value: float


@dataclass(frozen=True)
class Inspection:
    """A file of InspectorRAGet.

    Args:
        document: the content of the file.
    """

    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The title of the evaluation."""
        return str(self.document.get("name") or "evaluation")

    @cached_property
    def systems(self) -> list[str]:
        """Ids of the systems, in order."""
        return [str(model["model_id"]) for model in self.document["models"]]

    @cached_property
    def metrics(self) -> dict[str, str]:
        """Metric -> "human" or "algorithm"."""
        return {str(m["name"]): str(m["author"]) for m in self.document["metrics"]}

    @cached_property
    def _turns(self) -> list[Turn]:
        return [_turn(task) for task in self.document["tasks"]]

    @cached_property
    def queries(self) -> dict[str, Query]:
        """Task id -> the task as a query."""
        return {turn.query.query_id: turn.query for turn in self._turns}

    @cached_property
    def dataset(self) -> Dataset:
        """The tasks as queries, the documents as corpus, the tasks' contexts as gold passages."""
        turns = self._turns
        passages = [passage_of(row) for row in self.document.get("documents") or ()]
        known, judged = {passage.passage_id for passage in passages}, qrels()
        for turn, task in zip(turns, self.document["tasks"], strict=True):
            absent = [passage_id for passage_id in turn.gold if passage_id not in known]
            if absent:
                raise DatasetError(
                    f"{self.name}: task {show(turn.query.query_id)} names the passage "
                    f"{show(absent[0])}, "
                    f"which is not among the documents; add it there"
                )
            grades = task.get("grades") or dict.fromkeys(turn.gold, 1)
            for passage_id, grade in grades.items():
                if passage_id in known:
                    judged.add((turn.query.query_id, passage_id, grade))
        table = queries_to_table([turn.query for turn in turns])
        return Dataset(self.name, table, Corpus.from_passages(passages), judged.finish())

    @cached_property
    def predictions(self) -> dict[str, dict[str, Prediction]]:
        """System -> query id -> answer."""
        found: dict[str, dict[str, Prediction]] = {system: {} for system in self.systems}
        for row in self.document["evaluations"]:
            query_id, failed = row["task_id"], row.get("failed")
            answer = None if isinstance(failed, str) else row["model_response"]
            found[row["model_id"]][query_id] = Prediction(query_id, answer, failed or "")
        return found

    @cached_property
    def contexts(self) -> dict[str, dict[str, Context]]:
        """System -> query id -> the passages shown to it; answers without contexts are left out."""
        found: dict[str, dict[str, Context]] = {system: {} for system in self.systems}
        for row in self.document["evaluations"]:
            if "contexts" in row:
                setting = str(row.get("setting") or "recorded")
                context = context_of(row["task_id"], row["contexts"], setting)
                found[row["model_id"]][row["task_id"]] = context
        return found

    @cached_property
    def ratings(self) -> list[AnswerRating]:
        """All ratings of the answers; ratings that are not numbers are left out."""
        return [
            AnswerRating(row["task_id"], row["model_id"], metric, rater, float(value))
            for row in self.document["evaluations"]
            for metric, given in row["annotations"].items()
            for rater, rating in given.items()
            if (value := _number(rating.get("value"))) is not None
        ]

    def scores(self, system: str, metric: str) -> list[Score]:
        """Return a metric's scores of a system: the mean over raters.

        An answer without a value has the status and reason of the file, or is a failure.
        """
        values: dict[str, list[float]] = {}
        for rating in self.ratings:
            if (rating.system, rating.metric) == (system, metric):
                values.setdefault(rating.query_id, []).append(rating.value)
        return [
            _score(row, metric, values.get(row["task_id"], []))
            for row in self.document["evaluations"]
            if row["model_id"] == system
        ]


def read_inspection(path: Path) -> Inspection:
    """Return a file of InspectorRAGet, plain or `.gz`.

    Raises `DatasetError` if a part is missing, or an evaluation names an unknown task or system.
    """
    document = json_document(path)
    if type(document) is not dict or not all(type(document.get(part)) is list for part in _PARTS):
        raise DatasetError(
            f"{path} is not an InspectorRAGet file: expected a JSON object with the lists "
            f"{', '.join(_PARTS)}"
        )
    try:
        _check(document)
    except FieldError as error:
        raise DatasetError(f"{path}: {error}") from error
    return Inspection(document)


def write_inspection(inspection: Inspection, path: Path) -> Path:
    """Write a file of InspectorRAGet and return its path; raise `DatasetError` if it exists."""
    content = orjson.dumps(inspection.document, option=orjson.OPT_INDENT_2)
    return write_lines({path: [content]})[0]


def _check(document: Mapping[str, Any]) -> None:
    systems = {model.get("model_id") for model in map(Row.of, document["models"])}
    for metric in map(Row.of, document["metrics"]):
        if not {"name", "author"} <= metric.keys():
            raise FieldError(f"a metric needs 'name' and 'author', found {show(metric)}")
    tasks = {task.get("task_id") for task in map(Row.of, document["tasks"])}
    seen = set()
    for number, row in enumerate(map(Row.of, document["evaluations"]), start=1):
        with within(f"evaluation {number}"):
            place = (Row(row).take_text("task_id"), Row(row).take_text("model_id"))
            Row(row).take_text("model_response")
            Row.of(row.get("annotations"))
            if place[0] not in tasks:
                raise FieldError(f"there is no task {show(place[0])}")
            if place[1] not in systems:
                raise FieldError(
                    f"there is no model {show(place[1])}; there are {show(document['models'])}"
                )
            if place in seen:
                raise FieldError(
                    f"a second answer of {show(place[1])} to task {show(place[0])}; keep one"
                )
            seen.add(place)


def _turn(task: dict[str, Any]) -> Turn:
    try:
        return task_turn(task, "keep")
    except FieldError as error:
        raise DatasetError(f"task {show(task.get('task_id'))}: {error}") from error


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _score(row: Mapping[str, Any], metric: str, values: list[float]) -> Score:
    query_id = row["task_id"]
    if values:
        return Score(query_id, metric, sum(values) / len(values))
    unknown = ("failed", "the file contains no value")
    status, reason = (row.get("unscored") or {}).get(metric) or unknown
    kind = cast("Status", status if status in get_args(Status) else "failed")
    return Score(query_id, metric, None, kind, str(reason))
