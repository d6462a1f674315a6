"""Writing mtRAG's forms: conversations, retrieval tasks, and MTRAGEval's tasks A, B and C.

`ragstone.data.readers.mtrag` reads all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.readers.mtrag import is_standalone
from ragstone.data.readers.mtrag_turns import ABSENT, domain_of, plain_value
from ragstone.data.writers.folder import json_line, judgement_lines, write_lines
from ragstone.errors import DatasetError
from ragstone.types import Context, Label, Message, Passage, Prediction, Query, Ranking

TaskForm: TypeAlias = Literal["a", "b", "c"]
"""MTRAGEval's task: a is retrieval, b is answering from gold passages, c is both."""

Item = TypeVar("Item", Query, Passage)

_TAG: Final = "|user|: "
_MANY: Final = "question_type"
_DERIVED: Final = frozenset({"gold_passages"})
"""Labels that the reader always computes."""
_DIMENSIONS: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    _MANY: ("Question Type", lambda text: "-".join(map(str.capitalize, text.split("-")))),
    "multi_turn": ("Multi-Turn", str.capitalize),
    "answerability": ("Answerability", str.upper),
}
"""Label -> mtRAG's name for it, and the function that writes a value."""
_PLACED: Final = frozenset({"conversation", "turn", "collection"})


@dataclass(frozen=True)
class Submission:
    """A system's output by query id: rankings, contexts shown to it, and answers."""

    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    contexts: Mapping[str, Context] = field(default_factory=dict)
    predictions: Mapping[str, Prediction] = field(default_factory=dict)


def write_mtrag(dataset: Dataset, folder: Path) -> list[Path]:
    """Write conversations, retrieval tasks in three query forms with qrels, and the corpora.

    `MtragReader` reads the folder. Raises `DatasetError` if a turn of a conversation is missing, or
    if one of the files exists.
    """
    files: dict[Path, Iterable[bytes]] = {
        folder / "conversations/conversations.jsonl": map(json_line, conversation_rows(dataset))
    }
    for domain, queries in _by_domain(dataset.queries).items():
        relevant = [query for query in queries if _gold(dataset, query.query_id)]
        for form, texts in query_forms(relevant).items():
            rows = ({"_id": q.query_id, "text": t} for q, t in zip(relevant, texts, strict=True))
            files[folder / f"queries/{domain}_{form}.jsonl"] = map(json_line, rows)
        ids = [query.query_id for query in queries]
        judged = [(i, p, grade) for i in ids for p, grade in dataset.qrels.get(i, {}).items()]
        files[folder / f"qrels/{domain}.tsv"] = judgement_lines(judged)
    for domain, passages in _by_domain(dataset.corpus).items():
        files[folder / f"corpus/{domain}.jsonl"] = map(json_line, map(_corpus_row, passages))
    return write_lines(files)


def query_forms(queries: Sequence[Query]) -> dict[str, list[str]]:
    """Return mtRAG's three query files: last turn, all user turns, rewrite, with speaker tags."""
    user_turns = [[*(m.text for m in q.history if m.role == "user"), q.text] for q in queries]
    return {
        "lastturn": [_TAG + query.text for query in queries],
        "questions": ["\n".join(_TAG + text for text in texts) for texts in user_turns],
        "rewrite": [_TAG + (query.rewrite or query.text) for query in queries],
    }


def write_tasks(
    dataset: Dataset, path: Path, form: TaskForm, submitted: Submission | None = None
) -> Path:
    """Write MTRAGEval's tasks, one per query: as input, or with a system's output.

    The contexts of form a are the first ten passages of the ranking, of form b the gold passages
    (those that the system was shown, if it answered), of form c the passages shown to the system.
    Raises `DatasetError` if the file exists.
    """
    output = submitted or Submission()
    rows = (_task(dataset, query, form, output) for query in dataset.queries)
    return write_lines({path: map(json_line, rows)})[0]


def conversation_rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield one row per conversation, in mtRAG's published form."""
    turns: dict[str, list[Query]] = {}
    for query in dataset.queries:
        if "conversation" not in query.labels:
            raise DatasetError(
                f"query {query.query_id!r} is not a turn of a conversation; --to mtrag accepts "
                f"conversations only, --to mtrageval any queries"
            )
        turns.setdefault(str(query.labels["conversation"]), []).append(query)
    for conversation, queries in turns.items():
        yield {
            "conversation_id": conversation,
            "Collection": str(queries[0].labels.get("collection") or ""),
            "messages": list(_messages(dataset, conversation, queries)),
        }


def _messages(
    dataset: Dataset, conversation: str, queries: Sequence[Query]
) -> Iterator[dict[str, Any]]:
    for number, query in enumerate(queries, start=1):
        if query.labels.get("turn") != number:
            raise DatasetError(
                f"conversation {conversation!r}: turn {number} is missing (found turn "
                f"{query.labels.get('turn')}); a conversation must be complete"
            )
        labels = published_labels(query)
        others = labels.pop("labels", {})
        message = {
            "speaker": "user",
            "text": query.text,
            "task_id": query.query_id,
            "enrichments": labels,
        }
        rewrite = {"rewrite": query.rewrite} if query.rewrite else {}
        yield {**message, **rewrite, **({"labels": others} if others else {})}
        following = queries[number].history if number < len(queries) else ()
        text = _answer(query, following)
        if text:
            differing = () if query.gold_answers == (text,) else query.gold_answers
            yield {
                "speaker": "agent",
                "text": text,
                **({"answers": differing} if differing or not query.gold_answers else {}),
                "contexts": [
                    {**_shown(passage), "feedback": {"relevant": {"qrels": {"value": "yes"}}}}
                    for passage in _gold(dataset, query.query_id)
                ],
            }


def _answer(query: Query, following: Sequence[Message]) -> str:
    """Return the agent's message in the next turn's history, or else the gold answer."""
    place = len(query.history) + 1
    if len(following) > place:
        return following[place].text
    return query.gold_answers[0] if query.gold_answers else ""


def _task(dataset: Dataset, query: Query, form: TaskForm, output: Submission) -> dict[str, Any]:
    ranking = output.rankings.get(query.query_id)
    contexts = {
        "a": _ranked(dataset, ranking),
        "b": _gold_contexts(dataset, query.query_id, output.contexts.get(query.query_id)),
        "c": _shown_contexts(output.contexts.get(query.query_id), ranking),
    }
    row = {
        **task_row(query),
        "contexts": list(contexts[form]),
        "targets": [{"speaker": "agent", "text": text} for text in query.gold_answers],
    }
    prediction = output.predictions.get(query.query_id)
    if form == "a" or prediction is None:
        return row
    return {**row, "predictions": [predicted(prediction)]}


def task_row(query: Query) -> dict[str, Any]:
    """Return the input fields of a task: id, messages, labels."""
    messages = [*query.history, Message("user", query.text)]
    placed = {"conversation_id": query.labels["conversation"]} if _is_turn(query) else {}
    return {
        **placed,
        "task_id": query.query_id,
        "task_type": "rag",
        "Collection": _collection(query),
        "input": [{"speaker": message.role, "text": message.text} for message in messages],
        **published_labels(query),
        **({"rewrite": query.rewrite} if query.rewrite else {}),
        **({"turn": query.labels["turn"]} if _is_turn(query) else {}),
    }


def _is_turn(query: Query) -> bool:
    return {"conversation", "turn"} <= query.labels.keys()


def predicted(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction in MTRAGEval's form; a failure has an empty text and its reason."""
    if prediction.answer is None:
        return {"text": "", "failed": prediction.reason}
    return {"text": prediction.answer}


def published_labels(query: Query) -> dict[str, Any]:
    """Return labels under mtRAG's names if it has one, and the others as `labels`."""
    found: dict[str, Any] = {}
    others: dict[str, Label] = {}
    for name, value in query.labels.items():
        if name in _PLACED or (name == "domain" and _implies_domain(query)):
            continue
        if _is_dimension(name, value):
            title, written = _DIMENSIONS[name]
            found[title] = [written(str(text)) for text in _listed(value)]
        elif name not in _DERIVED and not _follows(name, query):
            others[name] = value
    return {**found, "labels": others} if others else found


def _follows(name: str, query: Query) -> bool:
    """Return whether the reader computes the value of a label from the rewrite."""
    if name != "standalone" or not query.rewrite:
        return False
    return query.labels[name] is is_standalone(query, query.rewrite)


def _implies_domain(query: Query) -> bool:
    """Return whether the domain follows from the collection's name."""
    return domain_of(str(query.labels.get("collection", ""))) == query.labels.get("domain")


def _is_dimension(name: str, value: Label) -> bool:
    """Return whether a label is equal after being written and read under mtRAG's name."""
    values = _listed(value)
    return (
        name in _DIMENSIONS
        and isinstance(value, tuple) == (name == _MANY)
        and len(values) > 0
        and all(isinstance(v, str) and v == plain_value(v) and v not in ABSENT for v in values)
    )


def _listed(value: Label) -> Sequence[str | float]:
    return value if isinstance(value, tuple) else (value,)


def _collection(query: Query) -> str:
    return str(query.labels.get("collection") or query.labels.get("domain") or "")


def _ranked(dataset: Dataset, ranking: Ranking | None) -> Iterator[dict[str, Any]]:
    for place in list(ranking or ())[: limits.MTRAG_CONTEXTS]:
        yield {**_shown(dataset.corpus[place.passage_id]), "score": place.score}


def _gold_contexts(
    dataset: Dataset, query_id: str, context: Context | None
) -> Iterator[dict[str, Any]]:
    """Yield the gold passages, those of the context alone if it shows some of them only."""
    grades = dataset.qrels.get(query_id, {})
    for passage in _gold(dataset, query_id):
        if context is None or passage.passage_id in context.passage_ids:
            yield {**_shown(passage), "score": grades[passage.passage_id]}


def _shown_contexts(context: Context | None, ranking: Ranking | None) -> Iterator[dict[str, Any]]:
    scores = {place.passage_id: place.score for place in ranking or ()}
    for rank, passage in enumerate(context.passages if context else (), start=1):
        yield {
            "document_id": passage.passage_id,
            "text": passage.text,
            # MTRAGEval's checker requires a score of every passage, gold passages included.
            "score": scores.get(passage.passage_id, 1 / rank),
            "origin": passage.origin,
        }


def _gold(dataset: Dataset, query_id: str) -> list[Passage]:
    grades = dataset.qrels.get(query_id, {})
    return [dataset.corpus[passage_id] for passage_id, grade in grades.items() if grade > 0]


def _shown(passage: Passage) -> dict[str, Any]:
    return {
        "document_id": passage.passage_id,
        "text": with_title(passage),
        "title": passage.title,
    }


def with_title(passage: Passage) -> str:
    """Return a passage's text below its title line, in mtRAG's form.

    Without a title there is no such line, except before a text that begins with an empty line.
    """
    titled = passage.title or passage.text.startswith("\n")
    return f"{passage.title}\n{passage.text}" if titled else passage.text


def _by_domain(items: Iterable[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(str(item.labels.get("domain", "all")), []).append(item)
    return found


def _corpus_row(passage: Passage) -> dict[str, Any]:
    labels = {name: value for name, value in passage.labels.items() if name != "domain"}
    return {
        "_id": passage.passage_id,
        "title": passage.title,
        "text": with_title(passage),
        **({"document": passage.document_id} if passage.document_id else {}),
        **labels,
    }
