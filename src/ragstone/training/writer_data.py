"""What a question writer learns: labelled queries with their contexts, of one data set or several.

A generated test set has them, and so has any data set whose queries have a label, a gold answer and
a gold passage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.components.question_writer import flagged, joined
from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.table_builder import judgements
from ragstone.errors import ConfigError
from ragstone.types import Passage, Query


@dataclass(frozen=True)
class Lesson:
    """A query that a writer learns."""

    query_id: str
    prompt: str
    """The context after a flag of the label."""
    target: str
    """The question, the separator and the answer."""


@dataclass(frozen=True)
class Curriculum:
    """Which queries of a data set are learned.

    Args:
        label: the name of the queries' label.
        labels: its values that are learned.
    """

    label: str
    labels: tuple[str, ...]

    def lessons(
        self, dataset: Dataset, query_ids: Collection[str] | None = None
    ) -> tuple[list[Lesson], Counter[str]]:
        """Return what is learned of all or some queries, and reason -> queries left out.

        A context is learned once per label: with the first query of the file.
        """
        wanted = None if query_ids is None else set(query_ids)
        found: dict[tuple[str, str], Lesson] = {}
        without: Counter[str] = Counter()
        for query in dataset.queries:
            if wanted is not None and query.query_id not in wanted:
                continue
            passage = _context(dataset, query.query_id)
            value = str(query.labels.get(self.label, ""))
            if problem := self._problem(query, passage, value):
                without[problem] += 1
            elif passage and (passage.passage_id, value) in found:
                without["another query has their context and label"] += 1
            elif passage:
                prompt = flagged(value, passage.full_text)
                target = joined(query.text, query.gold_answers[0])
                found[passage.passage_id, value] = Lesson(query.query_id, prompt, target)
        return list(found.values()), without

    def _problem(self, query: Query, passage: Passage | None, value: str) -> str:
        if value not in self.labels:
            return f"their {self.label} is {value}" if value else f"they have no {self.label}"
        if query.history:
            return "they are turns of a conversation"
        if not query.gold_answers:
            return "they have no gold answer"
        return "" if passage else "they have no gold passage"


def _context(dataset: Dataset, query_id: str) -> Passage | None:
    """Return the gold passage of the best grade, the first one of the file."""
    grades = dataset.qrels.get(query_id, {})
    gold = [i for i, grade in grades.items() if grade > 0 and i in dataset.corpus]
    return dataset.corpus[max(gold, key=grades.__getitem__)] if gold else None


def named_sets(written: Any, folder: Path) -> dict[str, Dataset]:
    """Return name -> data set of the key `data`: one data set, a list, or a mapping of names.

    Raises:
        ConfigError: two data sets have one name.
        DatasetError: a data set cannot be read.
    """
    if isinstance(written, Mapping) and not {"name", "path"} & written.keys():
        return {
            str(name): replace(load_dataset(one, folder), name=str(name))
            for name, one in written.items()
        }
    listed = written if isinstance(written, list) else [written]
    found: dict[str, Dataset] = {}
    for one in listed:
        dataset = load_dataset(one, folder)
        if dataset.name in found:
            raise ConfigError(
                f"two data sets are named {dataset.name!r}; give a mapping of names to folders",
                key="data",
                value=dataset.name,
            )
        found[dataset.name] = dataset
    return found


def joined_sets(
    sets: Mapping[str, Dataset], curriculum: Curriculum
) -> tuple[Dataset, tuple[str, ...]]:
    """Return one data set of all queries that are learned, and notes on those left out.

    Query ids begin with the name of their data set if there are several. A passage keeps its id,
    so that two sets of one corpus share it, unless another passage has that id.
    """
    queries: list[Query] = []
    passages: dict[str, Passage] = {}
    grades: dict[tuple[str, str], int] = {}
    notes: list[str] = []
    for name, dataset in sets.items():
        lessons, without = curriculum.lessons(dataset)
        notes += [f"{name}: {n:,} queries were left out: {why}" for why, n in without.items()]
        learned = {lesson.query_id for lesson in lessons}
        for query in (one for one in dataset.queries if one.query_id in learned):
            query_id = f"{name}/{query.query_id}" if len(sets) > 1 else query.query_id
            queries.append(replace(query, query_id=query_id))
            for passage_id, grade in dataset.qrels[query.query_id].items():
                if passage_id in dataset.corpus:
                    kept = _add(passages, dataset.corpus[passage_id], name)
                    grades[query_id, kept] = grade
    if not queries:
        raise ConfigError(_nothing(sets, curriculum, notes), key="data")
    whole = Corpus.from_passages(list(passages.values()))
    name = "+".join(sets)
    return Dataset(name, queries_to_table(queries), whole, judgements(grades)), tuple(notes)


def _add(passages: dict[str, Passage], passage: Passage, name: str) -> str:
    known = passages.setdefault(passage.passage_id, passage)
    if known.full_text == passage.full_text:
        return known.passage_id
    own = replace(passage, passage_id=f"{name}/{passage.passage_id}")
    return passages.setdefault(own.passage_id, own).passage_id


def _nothing(sets: Iterable[str], curriculum: Curriculum, notes: Sequence[str]) -> str:
    labels = ", ".join(curriculum.labels)
    return (
        f"no query of {', '.join(sets)} can be learned: a query needs a {curriculum.label} among "
        f"{labels}, a gold answer and a gold passage. {'; '.join(notes)}. Make such a set: "
        "ragstone data generate; or name another label (label, labels)"
    )
