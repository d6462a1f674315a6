"""Answers with grades of people, in five public layouts, for the check of a judge."""

from __future__ import annotations

import csv
import gzip
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ragstone.components.judges.verdict import Item
from ragstone.core.regular_files import check_regular
from ragstone.data.readers.rows import json_document, json_rows
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.types import Message, Query

MTRAG_RATINGS: Final = ("faithfulness", "appropriateness", "naturalness", "completeness")
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
_NQ_GRADES: Final = {
    "def_correct_predictions": (1.0, "yes"),
    "poss_correct_predictions": (0.5, ""),
    "def_incorrect_predictions": (0.0, "no"),
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item and people's grade of it."""

    item: Item
    value: float
    """From 0 to 1, over all raters."""
    label: str = ""
    """The verdict in a judge's words, if people chose among a few words."""
    raters: tuple[float, ...] = ()
    """Each rater's value."""
    system: str = ""
    """The system that answered."""
    cluster: str = ""
    """Items that depend on each other: answers to one question, turns of one conversation."""


@dataclass(frozen=True)
class HumanSet:
    """Graded answers, and the judge with the same question."""

    name: str
    items: tuple[Labelled, ...]
    judge: str
    question: str
    """The question that people answered."""
    values: Mapping[str, tuple[float | None, ...]]
    """Further values of the data, such as the scores of published metrics."""

    def sample(self, limit: int, seed: int) -> HumanSet:
        """Return a random sample of at most `limit` items."""
        import numpy as np

        if limit >= len(self.items):
            return self
        drawn = sorted(np.random.default_rng(seed).permutation(len(self.items))[:limit].tolist())
        values = {name: tuple(column[i] for i in drawn) for name, column in self.values.items()}
        return replace(self, items=tuple(self.items[i] for i in drawn), values=values)


def read_human_set(written: str, **options: str) -> HumanSet:
    """Return the graded answers of a folder.

    Args:
        written: a folder with the files of a layout, or `layout:folder`.
        options: options of the layout: `language` for truthfulqa (en, es), `rating` for mtrag.

    Raises:
        ConfigError: the layout is unknown, or does not have an option.
        DatasetError: a file is missing or malformed, or has no grades.
    """
    name, colon, path = written.partition(":")
    if not colon:
        name, path = _layout(Path(written)), written
    if name not in LAYOUTS:
        raise ConfigError(f"unknown layout {name!r}{did_you_mean(name, LAYOUTS)}")
    try:
        return LAYOUTS[name][1](Path(path), **options)
    except TypeError as error:
        raise ConfigError(f"{name} does not have the options {sorted(options)}") from error
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error}") from error
    except (KeyError, ValueError, IndexError, csv.Error) as error:
        raise DatasetError(f"{path} does not have the layout {name}: {error!r}") from error


def read_truthfulqa(path: Path, language: str = "en") -> HumanSet:
    """Read 300 model answers per language, judged true or not (TruthfulQA, multilingual)."""
    file = path / f"human_judgements.{language}.csv"
    if not file.exists():
        raise DatasetError(f"there is no file {file}; the languages are en and es")
    items = []
    check_regular(file)
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            question, _, system = row["id"].partition("__")
            gold = tuple(filter(None, row["correct_answers"].split("\n")))
            answer = row["model_answer"].strip().removeprefix("A:").strip()
            item = Item(Query(row["id"], row["question"], gold), answer)
            true = row["truthfulness"].strip().casefold() == "yes"
            items.append(_chosen(item, "yes" if true else "no", system, question))
    return HumanSet("truthfulqa", tuple(items), "equivalence", "is the answer true?", {})


def read_begin(path: Path) -> HumanSet:
    """Read responses that people call fully attributable to their knowledge or not (BEGIN dev)."""
    items = []
    for name in ("wow", "cmu"):
        file = path / f"begin_dev_{name}.tsv.gz"
        check_regular(file)
        with gzip.open(file, "rt", encoding="utf-8", newline="") as rows:
            reader = csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
            for number, row in enumerate(reader):
                query = Query(f"{name}-{number}", row["message"], labels={"source": name})
                item = Item(query, row["response"], (row["knowledge"],))
                label = "yes" if row["begin_label"] == "Fully attributable" else "no"
                items.append(_chosen(item, label, row["model_name"], row["knowledge"]))
    question = "does the knowledge bear out all of the response?"
    return HumanSet("begin", tuple(items), "RL_F", question, {})


def read_ragchecker(path: Path) -> HumanSet:
    """Read pairs of answers with two people's preferences, -2 to 2 (RAGChecker's meta-evaluation).

    The answer is model 2's, the other one is model 1's; `values` has RAGChecker's difference.
    """
    own = {row["instance_id"]: row for row in json_document(path / "baseline_ragchecker.json.gz")}
    found: dict[int, list[dict[str, Any]]] = {}
    for row in json_document(path / "human_labeled_data.json.gz"):
        found.setdefault(row["instance_id"], []).append(row)
    items, differences = [], []
    for number, rows in found.items():
        first = rows[0]
        query = Query(
            f"{number}", first["query"], (first["gt_answer"],), labels={"domain": first["dataset"]}
        )
        item = Item(query, first["model2"]["response"], other=first["model1"]["response"])
        raters = tuple((row["overall_label"] + 2) / 4 for row in rows)
        mean = statistics.fmean(raters)
        label = "tie" if mean == 0.5 else "win" if mean > 0.5 else "loss"  # noqa: PLR2004 - the middle of the scale
        system, other = (first[one]["model_name"] for one in ("model2", "model1"))
        items.append(Labelled(item, mean, label, raters, f"{system} / {other}", first["query"]))
        one, two = (own[number][m]["ragchecker"]["overall_label"] for m in ("model1", "model2"))
        differences.append(two - one)
    values = {"RAGChecker": tuple(differences)}
    return HumanSet("ragchecker", tuple(items), "pairwise", "which answer is better?", values)


def read_nq_open(path: Path) -> HumanSet:
    """Read predictions that people called right or wrong (EfficientQA dev, full release)."""
    items = []
    files = [path] if path.is_file() else sorted(path.glob("*efficientqa*.jsonl*"))
    for file in files:
        for number, row in json_rows(file):
            for field, (value, label) in _NQ_GRADES.items():
                for place, answer in enumerate(row.get(field) or ()):
                    query_id, gold = f"{number}-{field}-{place}", tuple(row["answer"])
                    item = Item(Query(query_id, row["question"], gold), answer)
                    items.append(Labelled(item, value, label, cluster=str(number)))
    if not items:
        raise DatasetError(
            f"{path} has no verdicts of people: none of its lines has the fields "
            f"{', '.join(_NQ_GRADES)}; use the full release of EfficientQA dev"
        )
    return HumanSet("nq_open", tuple(items), "equivalence", "is the prediction right?", {})


def read_mtrag(path: Path, rating: str = "faithfulness") -> HumanSet:
    """Read mtRAG's human evaluations: 159 tasks, three answers each, two or three raters.

    `rating` is one of `MTRAG_RATINGS` or "win-rate".
    """
    file = next(path.rglob("reference_subset_with_human_evaluations.json.gz"), None)
    if file is None:
        raise DatasetError(f"{path} has no reference_subset_with_human_evaluations.json.gz")
    allowed = (*MTRAG_RATINGS, "win-rate")
    if rating not in allowed:
        raise ConfigError(f"unknown rating {rating!r}{did_you_mean(rating, allowed)}")
    document = json_document(file)
    tasks = {task["task_id"]: task for task in document["tasks"]}
    texts = {one["document_id"]: one["text"] for one in document["documents"]}
    rated = [row for row in document["evaluations"] if row["annotations"].get(rating)]
    items = [_mtrag_item(row, tasks[row["task_id"]], texts, rating) for row in rated]
    columns = {
        name: tuple(_stored(row, field) for row in rated) for name, field in MTRAG_METRICS.items()
    }
    judge = "RL_F" if rating == "faithfulness" else "RB_llm"
    return HumanSet("mtrag", tuple(items), judge, f"people's {rating}", columns)


def _mtrag_item(
    row: Mapping[str, Any], task: Mapping[str, Any], texts: Mapping[str, str], rating: str
) -> Labelled:
    *before, last = task["input"]
    conversation = row["task_id"].partition("<::>")[0]
    query = Query(
        row["task_id"],
        last["text"],
        tuple(target["text"] for target in task["targets"]),
        tuple(Message(one["speaker"], one["text"]) for one in before),
        labels={
            "answerability": task["Answerability"][0],
            "conversation": conversation,
            "collection": task["Collection"],
        },
    )
    shown = tuple(texts[c["document_id"]] for c in task["contexts"] if c["document_id"] in texts)
    given = [float(one["value"]) for one in row["annotations"][rating].values()]
    raters = tuple(v / 100 if rating == "win-rate" else (v - 1) / 3 for v in given)
    item = Item(query, row["model_response"], shown)
    return Labelled(item, statistics.fmean(raters), "", raters, row["model_id"], conversation)


def _stored(row: Mapping[str, Any], field: str) -> float | None:
    stored = list(row["annotations"].get(field, {}).values())
    return float(stored[0]["value"]) if stored else None


def _chosen(item: Item, label: str, system: str, cluster: str) -> Labelled:
    value = float(label == "yes")
    return Labelled(item, value, label, (value,), system, cluster)


def _layout(path: Path) -> str:
    for name, (pattern, _) in LAYOUTS.items():
        if path.is_dir() and next(path.glob(pattern), None) is not None:
            return name
    known = ", ".join(f"{name} ({pattern})" for name, (pattern, _) in LAYOUTS.items())
    raise DatasetError(f"{path} has none of the known graded sets: {known}")


LAYOUTS: Final[Mapping[str, tuple[str, Callable[..., HumanSet]]]] = {
    "truthfulqa": ("human_judgements.*.csv", read_truthfulqa),
    "ragchecker": ("human_labeled_data.json.gz", read_ragchecker),
    "begin": ("begin_dev_*.tsv.gz", read_begin),
    "nq_open": ("*efficientqa*.jsonl*", read_nq_open),
    "mtrag": ("**/reference_subset_with_human_evaluations.json.gz", read_mtrag),
}
"""Layout -> pattern of a file of the layout, and its reader."""
