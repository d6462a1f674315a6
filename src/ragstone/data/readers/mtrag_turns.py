"""mtRAG's rows as turns: a conversation has several, a generation task is one.

A *task* (Katsis et al., mtRAG, 2025, section 4.4) is a turn with its history: the user message is
the query, the earlier messages are the history, the agent's next message is the gold answer. Errors
contain the conversation and the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ragstone.core.schemas import labels_from_json
from ragstone.data.readers.rows import FieldError, Row, show, within
from ragstone.types import Label, Message, Passage, Query, Role

Irregular: TypeAlias = Literal["error", "keep"]
"""Whether a conversation that does not alternate user and agent is an error or kept."""

SEPARATOR: Final = "<::>"
"""Between conversation and turn in mtRAG's task ids; its sample file has `::`."""

_SPEAKERS: Final[Mapping[str, Role]] = {"user": "user", "agent": "agent", "assistant": "agent"}
_TASK_ID: Final = re.compile(r"(?P<conversation>.+)(?:<::>|::)(?P<turn>[0-9]{1,18})", re.DOTALL)
_DOMAIN: Final = re.compile(r"mt-rag-(?:ibm)?([a-z]+)(?:-beir)?-elser-.*")
_DIMENSIONS: Final = {
    "Question Type": "question_type",
    "Multi-Turn": "multi_turn",
    "Answerability": "answerability",
    "answerability": "answerability",
}
"""mtRAG's dimensions of a turn -> labels."""
_PLACES: Final = frozenset({"conversation_id", "turn", "Turn"})
ABSENT: Final = frozenset({"", "n/a"})
"""Values of a dimension that does not apply."""
_OWN: Final = frozenset(
    {
        *("task_id", "conversation_id", "turn", "Turn", "task_type", "dataset", "input", "targets"),
        *("author", "editor", "reviewer", "status", "id"),
        *("contexts", "enrichments", "Collection", "collection", "domain", "qrels", "predictions"),
        *("rewrite", "labels", "messages", "speaker", "text", "timestamp"),
        *_DIMENSIONS,
    }
)


class Turn(NamedTuple):
    """One turn of a conversation, with the passages in its row."""

    query: Query
    gold: tuple[str, ...]
    """Ids of the passages that the annotators judged relevant."""
    passages: tuple[Passage, ...]
    """Passages whose texts are in the row."""

    @property
    def domain(self) -> str:
        """The label `domain`, or ""."""
        return str(self.query.labels.get("domain", ""))


def domain_of(collection: str) -> str:
    """Return mtRAG's short name of a collection's domain, or the collection's own name.

    >>> domain_of("mt-rag-ibmcloud-elser-512-100-20240502"), domain_of("my-set")
    ('cloud', 'my-set')
    """
    match = _DOMAIN.fullmatch(collection)
    return match[1] if match else collection


def split_task_id(task_id: str) -> tuple[str, int]:
    """Return conversation and turn of a task id; the last separator counts.

    >>> split_task_id("a::b<::>3")
    ('a::b', 3)
    """
    match = _TASK_ID.fullmatch(task_id)
    if match is None:
        raise FieldError(
            f"the task_id {show(task_id)} contains no turn; write conversation{SEPARATOR}turn, "
            "such as "
            f"'c1{SEPARATOR}3'"
        )
    return match["conversation"], int(match["turn"])


def conversation_turns(row: Row, conversation: str, irregular: Irregular) -> Iterator[Turn]:
    """Yield the turns of one conversation, each with its history."""
    with within(f"conversation {show(conversation)}"):
        rows = [Row.of(message) for message in row.take_list("messages")]
        spoken = list(_spoken(rows, irregular))
        shared = {**_shared_labels(row, conversation), **_rest(row)}
        voted = any(_votes(context) for message in rows for context in _contexts(message))
    number = 0
    for place, message in enumerate(spoken):
        if message.role != "user":
            continue
        number += 1
        answer = spoken[place + 1] if place + 1 < len(spoken) else None
        answered = answer is not None and answer.role == "agent"
        with within(f"conversation {show(conversation)}, turn {number}"):
            source = rows[place + 1] if answered else Row()
            shown = _contexts(source)
            found = [passage_of(context) for context in shown]
            labels = {**shared, **_dimensions(rows[place]), **_rest(rows[place]), "turn": number}
            if isinstance(original := source.get("original_text"), str):
                labels["original_response"] = original
            query = Query(
                id_text(rows[place], "task_id") or f"{conversation}{SEPARATOR}{number}",
                message.text,
                _answers(answer, source) if answer is not None and answered else (),
                tuple(spoken[:place]),
                Row(rows[place]).take_text("rewrite", optional=True),
                labels,
            )
            # Synthetic conversations have no votes; their relevant passages are those of the agent.
            gold = [
                passage.passage_id
                for passage, context in zip(found, shown, strict=True)
                if not voted or _is_relevant(context)
            ]
        yield Turn(query, tuple(gold), tuple(passage for passage in found if passage.text))


def _answers(message: Message, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the acceptable answers of an agent's row, or else its message."""
    listed = Row(row).take_texts("answers")
    return (message.text,) if listed is None else tuple(listed)


def task_turn(row: dict[str, Any], irregular: Irregular) -> Turn:
    """Return the turn of a generation task.

    A task whose id and fields contain no turn is a single query: it has neither of the labels
    `conversation` and `turn`.
    """
    task_id = Row(row).take_id("task_id")
    placed = SEPARATOR in task_id or not row.keys().isdisjoint(_PLACES)
    conversation, number = split_task_id(task_id) if placed else (task_id, 1)
    place = (
        f"conversation {show(conversation)}, turn {number}" if placed else f"task {show(task_id)}"
    )
    with within(place):
        if placed:
            _check_place(row, conversation, number)
        spoken = list(_spoken([Row.of(m) for m in Row(row).take_list("input")], irregular))
        if not spoken or spoken[-1].role != "user":
            raise FieldError("the field 'input' must end with a message of the user")
        passages = list(map(passage_of, _contexts(row)))
        listed = Row(row).take_texts("qrels")
        labels = {**_shared_labels(row, conversation), **_dimensions(row), "turn": number}
        kept = {k: v for k, v in labels.items() if placed or k not in ("conversation", "turn")}
        query = Query(
            task_id,
            spoken[-1].text,
            tuple(target.take_text("text") for target in _objects(row, "targets")),
            tuple(spoken[:-1]),
            Row(row).take_text("rewrite", optional=True),
            {**kept, **_rest(row)},
        )
        gold = listed if listed is not None else [p.passage_id for p in passages]
        return Turn(query, tuple(gold), tuple(p for p in passages if p.text))


def _spoken(rows: Sequence[dict[str, Any]], irregular: Irregular) -> Iterator[Message]:
    """Yield the messages; raise `FieldError` if they are not a dialogue."""
    turn, before = 0, ""
    for row in rows:
        role = _SPEAKERS.get(str(row.get("speaker")))
        turn += role == "user"
        with within(f"turn {max(turn, 1)}"):
            if role is None:
                raise FieldError(
                    f"the field 'speaker' must be 'user' or 'agent', found "
                    f"{show(row.get('speaker'))}"
                )
            text = Row(row).take_text("text")
            if not text.strip():
                raise FieldError(f"the {role}'s message is empty; fill it or remove the turn")
            if irregular == "error" and (role == before or (role == "agent" and not turn)):
                problem = "twice in a row" if before else "before the user"
                raise FieldError(
                    f"the {role} speaks {problem}; correct the conversation, or read it as it is "
                    f"with irregular: keep"
                )
        before = role
        yield Message(role, text)


def _check_place(row: Mapping[str, Any], conversation: str, number: int) -> None:
    """Raise `FieldError` if the fields of a task contradict its id."""
    for name, expected in (("conversation_id", conversation), ("turn", number), ("Turn", number)):
        found = row.get(name)
        if found is not None and str(found) != str(expected):
            raise FieldError(
                f"the field {name!r} is {show(found)}, but the task_id contains {show(expected)}"
            )


def _shared_labels(row: Mapping[str, Any], conversation: str) -> dict[str, Label]:
    named = id_text(row, "Collection") or id_text(row, "collection")
    collection = named or _collection(row)
    labels: dict[str, Label] = {"conversation": conversation}
    if collection and collection != _object(row, "labels").get("domain"):
        labels |= {"collection": collection, "domain": domain_of(collection)}
    elif isinstance(row.get("domain"), str):
        labels["domain"] = domain_of(row["domain"])
    return labels


def _collection(row: Mapping[str, Any]) -> str:
    """Return the collection of a conversation."""
    collection = _object(_object(row, "retriever"), "collection")
    return id_text(collection, "name") or id_text(row, "domain")


def _dimensions(row: Mapping[str, Any]) -> dict[str, Label]:
    """Return the labels for answerability, question types and multi-turn type, if given."""
    given = {**row, **_object(row, "enrichments")}
    labels: dict[str, Label] = {}
    for name, label in _DIMENSIONS.items():
        value = given.get(name)
        listed = [value] if isinstance(value, str) else value or []
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise FieldError(f"the dimension {name!r} must be a list of texts, found {show(value)}")
        values = tuple(plain for item in listed if (plain := plain_value(item)) not in ABSENT)
        if values:
            labels[label] = values if label == "question_type" else values[0]
    return labels


def plain_value(value: str) -> str:
    """Return a dimension's value in the form of a label.

    >>> plain_value("Follow Up"), plain_value("ANSWERABLE")
    ('follow-up', 'answerable')
    """
    return value.strip().lower().replace(" ", "-")


def _rest(row: Mapping[str, Any]) -> dict[str, Label]:
    """Return further labels: the other plain fields, and the fields of `labels`."""
    plain = {
        name: value
        for name, value in row.items()
        if name not in _OWN and isinstance(value, str | int | float | bool)
    }
    return plain | labels_from_json(Row(_object(row, "labels")).take_labels())


def passage_of(context: Mapping[str, Any]) -> Passage:
    """Return the passage in a row of `contexts` or `documents`."""
    fields = Row(context)
    title = fields.take_text("title", optional=True)
    text = without_title(fields.take_text("text", optional=True), title)
    return Passage(fields.take_id("document_id"), text, title)


def without_title(text: str, title: str) -> str:
    r"""Return a passage's text without mtRAG's title line.

    >>> without_title("Moon\nIt is round.", "Moon"), without_title("\nIt is round.", "")
    ('It is round.', 'It is round.')
    """
    return text.removeprefix(f"{title}\n")


def _is_relevant(context: Mapping[str, Any]) -> bool:
    """Return whether the last vote of the annotators is "yes".

    This rule reproduces mtRAG's published qrels for all of its 777 retrieval tasks; the rule "any
    yes" reproduces 702.
    """
    last = max(_votes(context), key=_moment, default=None)
    return last is not None and str(last.get("value")).lower() == "yes"


def _votes(context: Mapping[str, Any]) -> list[Row]:
    return [Row.of(vote) for vote in _object(_object(context, "feedback"), "relevant").values()]


def _moment(vote: Mapping[str, Any]) -> tuple[bool, Any]:
    """Return what orders votes by time; a time is a number, or a text such as 2026-01-01."""
    moment = vote.get("timestamp") or 0
    if not isinstance(moment, str | int | float):
        raise FieldError(f"the field 'timestamp' must be a number or text, found {show(moment)}")
    return isinstance(moment, str), moment


def _contexts(row: Mapping[str, Any]) -> list[Row]:
    return _objects(row, "contexts")


def _objects(row: Mapping[str, Any], name: str) -> list[Row]:
    """Return a list of objects; [] if it is absent or null."""
    with within(f"the field {name!r}"):
        return [Row.of(item) for item in Row(row).take_list(name, optional=True)]


def _object(row: Mapping[str, Any], name: str) -> Row:
    """Return an object within a row; {} if it is absent or null."""
    value = row.get(name)
    if value is None or value == "":
        return Row()
    with within(f"the field {name!r}"):
        return Row.of(value)


def id_text(row: Mapping[str, Any], name: str) -> str:
    """Return an id, which may be a whole number; "" if it is absent or null."""
    value = row.get(name)
    if value is None or value == "":
        return ""
    return Row({name: str(value) if type(value) is int else value}).take_id(name)
