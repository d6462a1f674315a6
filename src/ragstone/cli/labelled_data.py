"""The data of `ragstone train judge`: rated answers, or labelled queries, with people's labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from ragstone.building.label_files import LabelSets
    from ragstone.data.dataset import Dataset
    from ragstone.evaluation.human_grades import HumanSet
    from ragstone.training.classifier import ItemToLearn
    from ragstone.training.judge_recipe import JudgeRecipe

_KEYS: Final = ("ratings", "experiment", "queries", "labels")
_FORMS: Final = (
    "a layout with a path such as begin:FOLDER, {ratings: FILE}, {experiment: FILE, ratings: "
    "FILE}, a data set, or {queries: DATA SET, labels: FILE}"
)


@dataclass(frozen=True)
class LabelledData:
    """Items with people's labels."""

    name: str
    """The label."""
    items: tuple[ItemToLearn, ...]
    dataset: Dataset
    """A query per item, with the item's id, and its passages as gold."""
    usual: str
    """The input of an encoder if the training file names none."""


def read_labelled(recipe: JudgeRecipe) -> LabelledData:
    """Return the items that the key `data` names.

    Raises:
        ConfigError: `data` has another form, or `property` is missing or unknown.
        DatasetError: a file is missing or malformed, or has no such labels.
    """
    from ragstone.data.readers.rated_layouts import LAYOUTS

    written = recipe.data
    if isinstance(written, str):
        is_rated = written.partition(":")[0] in LAYOUTS
        written = {"ratings" if is_rated else "queries": written}
    if not isinstance(written, dict) or not written.keys() <= set(_KEYS):
        raise ConfigError(f"data must be {_FORMS}, found {written!r}", key="data", value=written)
    if "queries" in written and "ratings" not in written:
        return _queries(recipe, written)
    if "ratings" in written and written.keys() <= {"ratings", "experiment"}:
        return _answers(recipe, written)
    raise ConfigError(f"data must be {_FORMS}, found {written!r}", key="data", value=written)


def _answers(recipe: JudgeRecipe, written: Mapping[str, str]) -> LabelledData:
    """Return rated answers, of a published set or of an experiment."""
    from ragstone.cli.judge_labels import labelled_answers
    from ragstone.cli.options import load_results
    from ragstone.data.readers.rated_layouts import read_rated
    from ragstone.evaluation.human_grades import read_human_set

    if "experiment" in written:
        results = load_results(Path(written["experiment"]), ())
        rated = labelled_answers(results, Path(written["ratings"]), rating=recipe.property)
        name = recipe.property or "label"
    else:
        rated = read_human_set(written["ratings"], rating=recipe.property)
        name = recipe.property or read_rated(written["ratings"]).chosen("")
    if any(one.item.other for one in rated.items):
        raise ConfigError(
            f"{rated.name} has preferences between two answers; a trained judge reads one: choose "
            "another property",
            key="property",
            value=recipe.property,
        )
    items = rated_items(rated, recipe.accept)
    shown = any(one.item.passages for one in items)
    usual = "query + answer + passages" if shown else "query + gold + answer"
    return LabelledData(name, tuple(items), queries_of(items, rated.name), usual)


def rated_items(rated: HumanSet, accept: float) -> list[ItemToLearn]:
    """Return the answered items of a set with their labels; of numbers, yes from `accept` on."""
    from ragstone.training.classifier import ItemToLearn

    has_words = any(one.label for one in rated.items)
    held = rated.answered().items
    seen: Counter[str] = Counter()
    found = []
    for one in held:
        query_id = one.item.item_id
        seen[query_id] += 1
        own = query_id if seen[query_id] == 1 else f"{query_id}#{seen[query_id]}"
        number = "yes" if one.value >= accept else "no"
        raters = one.raters if has_words else tuple(float(v >= accept) for v in one.raters)
        label = one.label if has_words else number
        found.append(ItemToLearn(own, one.item, label, one.group, raters))
    return found


def queries_of(items: Sequence[ItemToLearn], name: str) -> Dataset:
    """Return a data set with a query per item, whose gold passages are those that it shows."""
    from ragstone.data.dataset import Dataset

    texts = dict.fromkeys(text for one in items for text in one.item.passages)
    ids = {text: f"p{number}" for number, text in enumerate(texts)}
    return Dataset.from_records(
        queries=[
            {"query_id": one.item_id, "text": _text(one), "conversation": one.group}
            for one in items
        ],
        passages=[{"passage_id": own, "text": text} for text, own in ids.items()],
        qrels=[
            (one.item_id, ids[text], 1)
            for one in items
            for text in dict.fromkeys(one.item.passages)
        ],
        name=name,
    )


def _text(one: ItemToLearn) -> str:
    """Return the text that shows which items are nearly equal; a rated set may have no query."""
    return one.item.query.text.strip() or (one.item.answer or "").strip() or one.item_id


def _queries(recipe: JudgeRecipe, written: Mapping[str, str]) -> LabelledData:
    """Return queries with their gold passages and a label of their own or of a file."""
    from ragstone.building.labels import gold_items
    from ragstone.data.load import load_dataset
    from ragstone.training.classifier import ItemToLearn

    dataset = load_dataset(written["queries"])
    labels, raters = _labels(recipe, written, dataset)
    groups = _groups(dataset)
    found = []
    for item in gold_items(dataset):
        given = labels.get(item.item_id, ())
        # A query with several labels has no one label to learn.
        label = given[0] if len(given) == 1 else ""
        own = tuple(raters.get(item.item_id, ()))
        found.append(ItemToLearn(item.item_id, item, label, groups[item.item_id], own))
    return LabelledData(recipe.property, tuple(found), dataset, "query")


def _labels(
    recipe: JudgeRecipe, written: Mapping[str, str], dataset: Dataset
) -> tuple[LabelSets, dict[str, list[str]]]:
    """Return query id -> labels, and query id -> the label of each person."""
    from ragstone.building.label_files import label_sets, rater_label_sets
    from ragstone.statistics.label_agreement import majority

    if not recipe.property:
        known = sorted({name for query in dataset.queries for name in query.labels})
        raise ConfigError(
            f"name the label to learn with the key property; the labels of {dataset.name} are "
            f"{', '.join(known) or 'none'}",
            key="property",
        )
    if "labels" not in written:
        return label_sets(written["queries"], recipe.property), {}
    people = rater_label_sets(written["labels"], recipe.property)
    if not people:
        return label_sets(written["labels"], recipe.property), {}
    single = {r: {q: own[0] for q, own in of.items() if len(own) == 1} for r, of in people.items()}
    given: dict[str, list[str]] = {}
    for of in single.values():
        for query_id, label in of.items():
            given.setdefault(query_id, []).append(label)
    if not given.keys() & {query.query_id for query in dataset.queries}:
        raise DatasetError(f"{written['labels']} has no label of a query of {dataset.name}")
    agreed = majority(single, least=1).labels
    return {query_id: (label,) for query_id, label in agreed.items()}, given


def _groups(dataset: Dataset) -> dict[str, str]:
    """Return query id -> its conversation, or else the document of its best passage."""
    found = {}
    for query in dataset.queries:
        gold = [i for i, grade in dataset.qrels.get(query.query_id, {}).items() if grade > 0]
        document = dataset.corpus[gold[0]].document_id if gold and gold[0] in dataset.corpus else ""
        name = query.labels.get("conversation") or document or query.query_id
        found[query.query_id] = str(name)
    return found
