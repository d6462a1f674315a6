"""The properties of a data set that are compared with another's: per conversation and per query."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.readers.mtrag_turns import ABSENT
from ragstone.data.readers.scores import clusters_by_label
from ragstone.statistics.summary import UNIT, Summary, clusters_of, summarise
from ragstone.text.dialogue_acts import ACTS, dialogue_act
from ragstone.text.language import language_of
from ragstone.types import Label, Query

Groups: TypeAlias = Mapping[str, Mapping[str, Summary]]
"""Group -> property -> its mean."""
CONVERSATIONS: Final = "conversations"
LENGTHS: Final = "lengths"
ACT: Final = "dialogue acts"
_ANSWERABILITY: Final = "answerability"
_EDITED: Final = "original_response"
"""Label with the agent's words before people edited them; mtRAG's reader sets it."""
_WITHOUT_ANSWER: Final = frozenset({"unanswerable", "conversational"})
_NOT_COMPARED: Final = frozenset({"conversation", "turn", "collection", _EDITED})
"""Labels that are places or texts."""


@dataclass(frozen=True)
class Facts:
    """A data set, with the inputs of its properties."""

    dataset: Dataset
    queries: Sequence[Query]
    clusters: Sequence[Hashable]
    """The conversation or document of each query; a query without one is its own."""
    relevant: Mapping[str, frozenset[str]]
    """Query id -> ids of the passages of relevance above 0."""

    @classmethod
    def of(cls, dataset: Dataset) -> Facts:
        """Return the facts of a data set."""
        queries = dataset.queries
        ids = [query.query_id for query in queries]
        clusters = clusters_of(ids, clusters_by_label(queries)[1]) or list[Hashable](ids)
        relevant = {
            query_id: frozenset(passage for passage, grade in grades.items() if grade > 0)
            for query_id, grades in dataset.qrels.items()
        }
        return cls(dataset, queries, clusters, relevant)

    @property
    def answerable(self) -> list[int]:
        """Places of the queries that are not labelled as without an answer."""
        return [place for place, query in enumerate(self.queries) if _is_answerable(query)]

    def acts(self) -> list[str]:
        """Return the dialogue act of each query."""
        return [dialogue_act(q.text, first=(q.turn or 1) == 1) for q in self.queries]

    def values(self, label: str) -> list[tuple[str, ...]]:
        """Return the values of a label of each query; () without it."""
        return [_labels(query).get(label, ()) for query in self.queries]


def _is_answerable(query: Query) -> bool:
    return not _WITHOUT_ANSWER.intersection(_labels(query).get(_ANSWERABILITY, ()))


def _labels(query: Query) -> dict[str, tuple[str, ...]]:
    """Return the values of the labels that are compared; `answerable` becomes `answerability`."""
    found: dict[str, tuple[str, ...]] = {}
    for label, value in query.labels.items():
        if label in _NOT_COMPARED or _is_number(value):
            continue
        if label == "answerable" and isinstance(value, bool):
            found.setdefault(_ANSWERABILITY, ("answerable" if value else "unanswerable",))
        else:
            found[label] = _texts(value)
    return found


def _texts(value: Label) -> tuple[str, ...]:
    texts = value if isinstance(value, tuple) else (str(value),)
    plain = (text.lower() if isinstance(value, bool) else text for text in texts)
    return tuple(text for text in plain if text.lower() not in ABSENT)


def properties(facts: Facts) -> dict[str, dict[str, Summary]]:
    """Return the means per conversation and per query; properties without data are left out.

    Intervals are over conversations, or else over documents or queries.
    """
    found = {CONVERSATIONS: _per_conversation(facts), LENGTHS: _per_query(facts)}
    found[ACT] = shares(facts, [(act,) for act in facts.acts()], ACTS)
    return {group: means for group, means in found.items() if means}


def _per_conversation(facts: Facts) -> dict[str, Summary]:
    conversations = facts.dataset.conversations
    edited = any(_EDITED in query.labels for query in facts.queries)
    judged = bool(facts.relevant)
    measures: dict[str, Callable[[Sequence[Query]], float] | None] = {
        "turns": len,
        "relevant passages": (lambda turns: len(_relevant(facts, turns))) if judged else None,
        "edited responses": (lambda turns: sum(_EDITED in t.labels for t in turns))
        if edited
        else None,
    }
    return {
        name: summarise([float(measure(c.turns)) for c in conversations], bounds=None)
        for name, measure in measures.items()
        if measure and conversations
    }


def _relevant(facts: Facts, turns: Iterable[Query]) -> frozenset[str]:
    found = (facts.relevant.get(turn.query_id, frozenset()) for turn in turns)
    return frozenset[str]().union(*found)


def _per_query(facts: Facts) -> dict[str, Summary]:
    every, answerable = range(len(facts.queries)), facts.answerable
    queries, relevant = facts.queries, facts.relevant
    answered = [place for place in answerable if queries[place].gold_answers]
    judged = answerable if relevant else []
    counts = {
        "words per query": [(i, len(queries[i].text.split())) for i in every],
        "words per answer": [(i, len(queries[i].gold_answers[0].split())) for i in answered],
        "relevant passages per query": [
            (i, len(relevant.get(queries[i].query_id, ()))) for i in judged
        ],
    }
    return {
        name: summarise(
            [float(value) for _, value in rows],
            clusters=[facts.clusters[place] for place, _ in rows],
            bounds=None,
        )
        for name, rows in counts.items()
        if rows
    }


def shares(
    facts: Facts, values: Sequence[Sequence[str]], names: Iterable[str]
) -> dict[str, Summary]:
    """Return the share of each name among the queries that have a value; {} if none has.

    Args:
        facts: the data set.
        values: the values of each query, several or none.
        names: the values to count.
    """
    held = [(row, cluster) for row, cluster in zip(values, facts.clusters, strict=True) if row]
    clusters = [cluster for _, cluster in held]
    return {
        name: summarise([float(name in row) for row, _ in held], clusters=clusters, bounds=UNIT)
        for name in names
        if held
    }


def languages(facts: Facts) -> list[tuple[str, ...]]:
    """Return the language of each query, recognised from all queries of its conversation."""
    texts: dict[Hashable, list[str]] = {}
    for query, cluster in zip(facts.queries, facts.clusters, strict=True):
        texts.setdefault(cluster, []).append(query.text)
    found = {cluster: language_of(" ".join(held)) for cluster, held in texts.items()}
    return [(name,) if (name := found[cluster]) else () for cluster in facts.clusters]


def compared_labels(sides: Sequence[Facts]) -> dict[str, list[str]]:
    """Return label -> its values, for the labels of texts with few values; sorted.

    >>> turns = [{"query_id": i, "text": "?", "domain": i[0]} for i in ("a1", "a2", "b1")]
    >>> compared_labels([Facts.of(Dataset.from_records(queries=turns))])
    {'domain': ['a', 'b']}
    """
    found: dict[str, set[str]] = {}
    for query in (query for side in sides for query in side.queries):
        for label, values in _labels(query).items():
            found.setdefault(label, set()).update(values)
    return {
        label: sorted(values)
        for label, values in sorted(found.items())
        if 0 < len(values) <= limits.MAX_CATEGORY_VALUES
    }


def _is_number(value: Label) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
