"""Published answers with grades of people: TruthfulQA, BEGIN, RAGChecker and EfficientQA.

Each reader takes the files of one layout, with any split and any file name.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ragstone.data.readers.rated_set import RatedSet, RatedText
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.data.readers.rows import (
    FieldError,
    Row,
    json_document,
    json_rows,
    opened,
    reading,
    show,
)
from ragstone.errors import DatasetError
from ragstone.types import Query

NQ_GRADES: Final = {
    "def_correct_predictions": 1.0,
    "poss_correct_predictions": 0.5,
    "def_incorrect_predictions": 0.0,
}
"""Field of EfficientQA -> people's value of the predictions in it."""
_PEOPLE: Final = "people"
"""The rater of a file with one grade per answer."""
_TRUTHFUL: Final = ("truthfulness", "informativeness")
_PREFERENCES: Final = {
    "overall": "overall_label",
    "correctness": "correctness_label",
    "completeness": "completeness_label",
}
"""Property -> its field in RAGChecker's file."""
_BEST: Final = 2
"""RAGChecker's labels run from -2 (the first answer is much better) to 2."""


class _Unquoted(csv.excel_tab):
    """Tabs between fields, and quotation marks that are text."""

    quoting = csv.QUOTE_NONE


def _table(path: Path, dialect: type[csv.Dialect]) -> Iterator[tuple[int, Row]]:
    """Yield the last line and the fields of each row of a delimited file."""
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        reader = csv.DictReader(text, dialect=dialect)
        for row in reader:
            yield reader.line_num, Row(row)


def read_truthfulqa(paths: Sequence[Path]) -> RatedSet:
    """Return answers of models that people called true and informative or not (TruthfulQA)."""
    ratings, texts = [], {}
    for path in paths:
        for line, row in _table(path, csv.excel):
            with reading(path, line):
                query_id, _, system = row.take_text("id").partition("__")
                gold = tuple(filter(None, row.take_text("correct_answers").split("\n")))
                answer = row.take_text("model_answer").strip().removeprefix("A:").strip()
                item = RatedItem(query_id, system)
                query = Query(query_id, row.take_text("question"), gold)
                texts[item] = RatedText(query, answer)
                given = {name: (row.get(name) or "").strip().casefold() for name in _TRUTHFUL}
                ratings += [
                    HumanRating(item, name, _PEOPLE, value, line=line, path=path)
                    for name, value in given.items()
                    if value
                ]
    yes_no = RatingScale(words=("no", "yes"))
    return RatedSet(
        "truthfulqa",
        tuple(ratings),
        texts,
        dict.fromkeys(_TRUTHFUL, yes_no),
        judges={"truthfulness": "equivalence"},
        questions={"truthfulness": "is the answer true?"},
        first="truthfulness",
    )


def read_begin(paths: Sequence[Path]) -> RatedSet:
    """Return responses that people call fully attributable to their knowledge or not (BEGIN)."""
    ratings, texts, clusters = [], {}, {}
    for path in paths:
        for number, (line, row) in enumerate(_table(path, _Unquoted)):
            with reading(path, line):
                source, knowledge = row.take_text("data_source"), row.take_text("knowledge")
                query_id = f"{source}-{number}"
                query = Query(query_id, row.take_text("message"), labels={"source": source})
                item = RatedItem(query_id, row.take_text("model_name"))
                texts[item] = RatedText(query, row.take_text("response"), (knowledge,))
                clusters[query_id] = knowledge
                value = "yes" if row.take_text("begin_label") == "Fully attributable" else "no"
                ratings.append(
                    HumanRating(item, "attributable", _PEOPLE, value, "", "", line, path)
                )
    return RatedSet(
        "begin",
        tuple(ratings),
        texts,
        {"attributable": RatingScale(words=("no", "yes"))},
        clusters=clusters,
        judges={"attributable": "RL_F"},
        questions={"attributable": "does the knowledge bear out all of the response?"},
    )


def read_ragchecker(paths: Sequence[Path]) -> RatedSet:
    """Return pairs of answers with two people's preferences (RAGChecker's meta-evaluation).

    The rated answer is model 2's, the other one model 1's; preferences are from -2 to 2. The first
    label of a pair is that of `labeller 1`, the second that of `labeller 2`. The metric
    `RAGChecker` is the difference of its own scores, from another file of the same folder.
    """
    ratings, texts, clusters = [], {}, {}
    for path in paths:
        seen: dict[str, int] = {}
        for number, content in enumerate(json_document(path), start=1):
            with reading(path, f"row {number}"):
                row = Row.of(content)
                query_id = str(row["instance_id"])
                seen[query_id] = seen.get(query_id, 0) + 1
                item, texts_of_pair = _pair(query_id, row)
                texts[item], clusters[query_id] = texts_of_pair, row["query"]
                rater = f"labeller {seen[query_id]}"
                ratings += [
                    HumanRating(item, name, rater, _label(row, field), path=path)
                    for name, field in _PREFERENCES.items()
                    if row.get(field) is not None
                ]
    return RatedSet(
        "ragchecker",
        tuple(ratings),
        texts,
        dict.fromkeys(_PREFERENCES, RatingScale(-_BEST, _BEST)),
        _own_differences(paths, texts),
        clusters,
        dict.fromkeys(_PREFERENCES, "pairwise"),
        {"overall": "which answer is better?"},
        first="overall",
    )


def _label(row: Mapping[str, Any], field: str) -> float:
    value = row[field]
    if type(value) is bool or not isinstance(value, int | float):
        raise FieldError(f"the field {field!r} must be a number, found {show(value)}")
    return float(value)


def _pair(query_id: str, row: Row) -> tuple[RatedItem, RatedText]:
    first, second = (Row.of(row[name]) for name in ("model1", "model2"))
    labels = {"domain": str(row.get("dataset", ""))}
    query = Query(query_id, row["query"], (row["gt_answer"],), labels=labels)
    item = RatedItem(query_id, second["model_name"], against=first["model_name"])
    return item, RatedText(query, second["response"], other=first["response"])


def _own_differences(
    paths: Sequence[Path], texts: Mapping[RatedItem, RatedText]
) -> dict[str, dict[RatedItem, float]]:
    """Return the differences of RAGChecker's own scores that files beside the labels have."""
    items = {item.query_id: item for item in texts}
    found: dict[RatedItem, float] = {}
    beside = {path for one in paths for path in one.parent.glob("*.json*")}
    for path in sorted(beside - set(paths)):
        with opened(path) as file:
            if b'"ragchecker"' not in file.read(1 << 20):
                continue
        content = json_document(path)
        for row in content if isinstance(content, list) else ():
            if (item := items.get(str(row.get("instance_id")))) is not None:
                one, two = (row[m]["ragchecker"]["overall_label"] for m in ("model1", "model2"))
                found[item] = two - one
    return {"RAGChecker": found} if found else {}


def read_nq_open(paths: Sequence[Path]) -> RatedSet:
    """Return predictions that people called right, possibly right or wrong (EfficientQA)."""
    ratings, texts, clusters = [], {}, {}
    for path in paths:
        stem = f"{path.name.partition('.')[0]}-" if len(paths) > 1 else ""
        for line, row in json_rows(path):
            with reading(path, line):
                gold = tuple(row.take_texts("answer") or ())
                question = row.take_text("question")
                for field, value in NQ_GRADES.items():
                    for place, answer in enumerate(row.get(field) or ()):
                        query_id = f"{stem}{line}-{field}-{place}"
                        item = RatedItem(query_id)
                        texts[item] = RatedText(Query(query_id, question, gold), answer)
                        clusters[query_id] = f"{stem}{line}"
                        ratings.append(
                            HumanRating(item, "correct", _PEOPLE, value, line=line, path=path)
                        )
    if not ratings:
        raise DatasetError(
            f"{paths[0]} has no verdicts of people: none of its lines has the fields "
            f"{', '.join(NQ_GRADES)}; use the full release of EfficientQA dev"
        )
    return RatedSet(
        "nq_open",
        tuple(ratings),
        texts,
        {"correct": RatingScale()},
        clusters=clusters,
        judges={"correct": "equivalence"},
        questions={"correct": "is the prediction right?"},
    )
