"""People's ratings in InspectorRAGet's JSON, such as mtRAG's human evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ragstone.data.readers.inspector_raget import AnswerRating, Inspection, read_inspection
from ragstone.data.readers.rated_set import RatedSet, RatedText, joined_sets
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import DatasetError

MTRAG_RATINGS: Final = ("faithfulness", "appropriateness", "naturalness", "completeness")
"""mtRAG's properties on its scale from 1 to 4."""
WIN_RATE: Final = "win-rate"
"""mtRAG's share of the comparisons that a rater let an answer win, from 0 to 100."""
MTRAG_METRICS: Final = {
    "RL_F": "rl_f",
    "RB_llm": "rb_llm",
    "RB_agg": "rb_agg",
    "Bert-KPrec": "Bert-KPrec",
    "Bert-Rec": "Bert-Rec",
    "ROUGE-L": "RougeL",
    "not declined wrongly": "conditional_idk",
}
"""Metric -> its name in mtRAG's files."""
_ALGORITHMS: Final = frozenset({"system", "composite"})
"""Raters of InspectorRAGet's files that are not people."""


def read_inspections(paths: Sequence[Path]) -> RatedSet:
    """Return people's ratings, the answers and the stored metrics of files of InspectorRAGet.

    Raises:
        DatasetError: a file has no rating by people.
    """
    return joined_sets([_read(path) for path in paths])


def _read(path: Path) -> RatedSet:
    held = read_inspection(path)
    ratings = tuple(
        HumanRating(
            RatedItem(one.query_id, one.system), one.metric, one.rater, one.value, path=path
        )
        for one in held.ratings
        if one.rater not in _ALGORITHMS
    )
    if not ratings:
        raise DatasetError(f"{path} has no rating by people, only values of metrics", path=path)
    texts = dict(_texts(held))
    properties = dict.fromkeys(one.property for one in ratings)
    return RatedSet(
        "mtrag",
        ratings,
        texts,
        {name: scale for name, scale in _scales(held) if name in properties},
        _metrics(one for one in held.ratings if one.rater in _ALGORITHMS),
        {
            query.query_id: str(query.labels["conversation"])
            for query in held.queries.values()
            if "conversation" in query.labels
        },
        {name: "RL_F" if name == "faithfulness" else "RB_llm" for name in properties},
        shares=frozenset({WIN_RATE} & properties.keys()),
        first="faithfulness",
    )


def _texts(held: Inspection) -> Iterator[tuple[RatedItem, RatedText]]:
    """Yield each answer with the passages that were shown to its system."""
    texts = {one["document_id"]: one["text"] for one in held.document.get("documents") or ()}
    shared = {
        task["task_id"]: _shown(task.get("contexts") or (), texts)
        for task in held.document["tasks"]
    }
    for row in held.document["evaluations"]:
        query_id = row["task_id"]
        answer = held.predictions[row["model_id"]][query_id]
        shown = _shown(row["contexts"], texts) if "contexts" in row else shared[query_id]
        query = held.queries[query_id]
        item = RatedItem(query_id, row["model_id"])
        yield item, RatedText(query, answer.answer, shown, problem=answer.reason)


def _shown(contexts: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> tuple[str, ...]:
    found = (one.get("text") or texts.get(one["document_id"]) for one in contexts)
    return tuple(filter(None, found))


def _scales(held: Inspection) -> Iterator[tuple[str, RatingScale]]:
    """Yield the scales that the file declares, by its values or by its range."""
    for metric in held.document["metrics"]:
        values = [one.get("numeric_value") for one in metric.get("values") or ()]
        ends = [v for v in values or (metric.get("range") or ())[:2] if isinstance(v, int | float)]
        if ends and min(ends) < max(ends):
            yield str(metric["name"]), RatingScale(float(min(ends)), float(max(ends)))


def _metrics(values: Iterator[AnswerRating]) -> dict[str, dict[RatedItem, float]]:
    """Return metric -> item -> value, mtRAG's metrics under the names of Ragstone."""
    names = {field: name for name, field in MTRAG_METRICS.items()}
    found: dict[str, dict[RatedItem, float]] = {name: {} for name in MTRAG_METRICS}
    for one in values:
        of = found.setdefault(names.get(one.metric, one.metric), {})
        of[RatedItem(one.query_id, one.system)] = one.value
    return {name: held for name, held in found.items() if held}
