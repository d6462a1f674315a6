"""Frozen records for single queries: query, passage, ranking, context, prediction, score.

Larger data are Arrow tables (`ragstone.core.schemas`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from reprlib import Repr
from typing import Any, Final, Literal, Self, TypeAlias

Label: TypeAlias = str | int | float | bool | tuple[str, ...]
"""The value of one label; extra fields of a data set become labels."""

Role: TypeAlias = Literal["user", "agent"]
Origin: TypeAlias = Literal["gold", "noise", "retrieved", "injected", "foreign"]
Status: TypeAlias = Literal["scored", "not_applicable", "failed", "unscored"]
"""Status of a score: `failed` if the system gave nothing to score, `unscored` if the metric or the
judge failed on the system's output, `not_applicable` if the metric is undefined for the query."""
FailureKind: TypeAlias = Literal["failed", "filtered", "tool_calls", "unreadable"]
AnswerStatus: TypeAlias = Literal["answered", "empty", "cut"] | FailureKind
ANSWER_STATUSES: Final = (
    *("answered", "empty", "cut"),
    *("filtered", "tool_calls", "unreadable", "failed"),
)
"""Every status of an answer; the last four have no answer."""

_SHORT: Final = Repr()
_SHORT.maxlevel = _SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 3
_SHORT.maxstring = _SHORT.maxother = 60
_LINE_CHARACTERS: Final = 199


def brief(record: object, *facts: str) -> str:
    """Return `Name(fact, fact)` on one line of fewer than 200 characters.

    >>> brief(Ranking(), "'bm25'", "3 passages")
    "Ranking('bm25', 3 passages)"
    """
    text = " ".join(f"{type(record).__name__}({', '.join(facts)})".split())
    return text if len(text) <= _LINE_CHARACTERS else f"{text[: _LINE_CHARACTERS - 4]}...)"


def one_line(record: Any) -> str:
    """Return the repr of a dataclass on one line: long values cut, default values left out."""
    given = ((f, getattr(record, f.name)) for f in fields(record) if f.repr)
    shown = (f"{f.name}={_SHORT.repr(value)}" for f, value in given if not _is_default(f, value))
    return brief(record, *shown)


def _is_default(of: Any, value: object) -> bool:
    made = of.default if of.default_factory is MISSING else of.default_factory()
    # The type comes first: an array does not compare to one truth value.
    return type(value) is type(made) and value == made


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance of a conversation's history."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """The question `text` of the id `query_id`, with earlier messages, gold answers and `labels`.

    A turn of a conversation is a query with the earlier turns as its `history` and with the labels
    `conversation` and `turn` (from 1).
    """

    query_id: str
    text: str
    gold_answers: tuple[str, ...] = ()
    """Acceptable answers, the preferred one first; empty if none exists or none is known."""
    history: tuple[Message, ...] = ()
    rewrite: str = ""
    """The self-contained form of `text`, if the data set has one."""
    labels: Mapping[str, Label] = field(default_factory=dict)

    __repr__ = one_line

    @property
    def turn(self) -> int | None:
        """The number of the turn in its conversation, from 1; None if the query is not a turn."""
        turn = self.labels.get("turn")
        return turn if isinstance(turn, int) else None

    def has_labels(self, wanted: Mapping[str, Any]) -> bool:
        """Return whether each label has the value, or one of the listed values, that is wanted.

        >>> query = Query("q", "Who?", labels={"domain": "places"})
        >>> query.has_labels({"domain": ["people", "places"]}), query.has_labels({"turn": 1})
        (True, False)
        """
        return all(
            self.labels.get(label) in (value if isinstance(value, list) else [value])
            for label, value in wanted.items()
        )


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation `conversation_id`: its `turns` in order, each a query."""

    conversation_id: str
    turns: tuple[Query, ...]
    labels: Mapping[str, Label] = field(default_factory=dict)
    """Labels with the same value for all turns, without `conversation` and `turn`."""

    __repr__ = one_line

    @classmethod
    def of(cls, queries: Iterable[Query]) -> list[Self]:
        """Return the conversations among some queries, in order of their first turns.

        A query belongs to a conversation if it has the labels `conversation` and `turn`.

        >>> turns = [Query("a", "When?", labels={"conversation": "c1", "turn": 1}), Query("b", "?")]
        >>> [(c.conversation_id, len(c.turns)) for c in Conversation.of(turns)]
        [('c1', 1)]
        """
        found: dict[str, list[Query]] = {}
        for query in queries:
            if {"conversation", "turn"} <= query.labels.keys():
                found.setdefault(str(query.labels["conversation"]), []).append(query)
        for turns in found.values():
            turns.sort(key=lambda query: query.turn or 0)
        return [cls(name, tuple(turns), _shared_labels(turns)) for name, turns in found.items()]


def _shared_labels(turns: Sequence[Query]) -> dict[str, Label]:
    return {
        name: value
        for name, value in turns[0].labels.items()
        if name not in {"conversation", "turn"} and all(q.labels.get(name) == value for q in turns)
    }


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable unit of text: `passage_id`, `title` ("" for none), `text` and `labels`."""

    passage_id: str
    text: str
    title: str = ""
    document_id: str = ""
    """The document that the passage is from; empty if the passage is the document."""
    labels: Mapping[str, Label] = field(default_factory=dict)

    __repr__ = one_line

    @property
    def full_text(self) -> str:
        """Title and text on two lines, as retrievers and generators see a passage."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Document:
    """A text that passages are cut from, or its part: `document_id`, `title` and `text`."""

    document_id: str
    text: str
    title: str = ""
    labels: Mapping[str, Label] = field(default_factory=dict)
    """Labels of every passage of the document."""
    offset: int = 0
    """Characters of the document before the text."""
    complete: bool = True
    """Whether nothing else of the document is known."""

    __repr__ = one_line

    def passage(self, start: int, end: int) -> Passage:
        """Return the passage from character `start` up to `end` of the text.

        Its id and its labels `start` and `end` contain its position in the document.

        >>> passage = Document("d", "Lisbon is on the Tagus.").passage(0, 6)
        >>> passage.passage_id, passage.text, passage.labels
        ('d-0-6', 'Lisbon', {'start': 0, 'end': 6})
        """
        first, last = self.offset + start, self.offset + end
        return Passage(
            f"{self.document_id}-{first}-{last}",
            self.text[start:end],
            self.title,
            self.document_id,
            {**self.labels, "start": first, "end": last},
        )


@dataclass(frozen=True, slots=True)
class Search:
    """The search text of a query."""

    query_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """One place in a ranking; ranks count from 1."""

    passage_id: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query's passages, best first: `passage_ids` and as many `scores` (any numbers).

    >>> list(Ranking(["b", "a"], [2.0, 1.5]))[0]
    ScoredPassage(passage_id='b', score=2.0, rank=1)
    """

    passage_ids: Sequence[str] = ()
    scores: Sequence[float] = ()

    __repr__ = one_line

    def __len__(self) -> int:
        """Return the number of passages ranked."""
        return len(self.passage_ids)

    def __iter__(self) -> Iterator[ScoredPassage]:
        """Yield the places from rank 1 on."""
        pairs = zip(self.passage_ids, self.scores, strict=True)
        return (ScoredPassage(p, float(s), rank) for rank, (p, s) in enumerate(pairs, start=1))


@dataclass(frozen=True, slots=True)
class GoldPassages:
    """The passages that are relevant to a query according to the qrels, best grade first."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class NoisePassages:
    """Passages that are not relevant to a query, the most misleading first."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class RetrievedPassages:
    """Passages that a retriever returned for a query, best first; a separate type from gold."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """A query with the passages for its context, by their origin."""

    query: Query
    gold: GoldPassages
    noise: NoisePassages
    retrieved: RetrievedPassages


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """A passage as shown to the generator, with its origin."""

    passage_id: str
    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Context:
    """The `passages` shown for the query `query_id` under the setting `setting`, in order."""

    query_id: str
    setting: str
    passages: tuple[ContextPassage, ...] = ()

    __repr__ = one_line

    @property
    def passage_ids(self) -> tuple[str, ...]:
        """Ids of the passages, in the order shown."""
        return tuple(passage.passage_id for passage in self.passages)


@dataclass(frozen=True, slots=True)
class Task:
    """The input of a generator: a query and its context."""

    query: Query
    context: Context

    __repr__ = one_line


def tasks_of(queries: Iterable[Query], contexts: Mapping[str, Context]) -> list[Task]:
    """Return each query with its context, which is empty if it is not known."""
    return [Task(q, contexts.get(q.query_id) or Context(q.query_id, "")) for q in queries]


@dataclass(frozen=True, slots=True)
class Hop:
    """A search `query` of a system under test; its `tokens` and `seconds` are None if unknown."""

    query: str
    passages: tuple[Passage, ...] = ()
    """Passages that it found: `Passage(id, "")` without text, `Passage("", text)` without id."""
    tokens: int | None = None
    seconds: float | None = None

    __repr__ = one_line


@dataclass(frozen=True, slots=True)
class Reported:
    """Parts of a reply that only a system under test reports."""

    contexts: tuple[Passage, ...] | None = None
    confidence: float | None = None
    cost: float | None = None
    seconds: float | None = None
    steps: tuple[Hop, ...] | None = None

    __repr__ = one_line


@dataclass(frozen=True, slots=True)
class Prediction:
    """A system's `answer` to the query `query_id`, or None with the `reason` of the failure."""

    query_id: str
    answer: str | None
    reason: str = ""
    call_key: str = ""
    """Key of the model call in the call log; empty if no model was called."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    """Tokens of the reply, and `tokens_in` those of the prompt; None if they are not reported."""
    seconds: float | None = None
    """Latency of the call in seconds, when it was made."""
    cost: float | None = None
    """In the currency of the price table; None if the price is unknown."""
    passage_ids: tuple[str, ...] | None = None
    """Passages that the system itself retrieved; None if it does not report them."""
    dropped: str = ""
    """History and passages left out because the prompt would not fit."""
    contexts: tuple[Passage, ...] | None = None
    """Passages that it answered from, a text without an id as `Passage("", text)`; or None."""
    confidence: float | None = None
    """Probability, from 0 to 1, that the system itself gives its answer."""
    status: AnswerStatus = "answered"
    """Class of the reply. A status that does not fit is corrected: a missing answer is `failed` or
    the given kind of failure, a blank one is `empty`, or `cut` at its maximum length."""
    steps: tuple[Hop, ...] | None = None
    """Searches that the system itself made, in order; None if it does not report them."""
    tokens_reasoning: int | None = None
    """Tokens of reasoning among `tokens_out`; None if they are not reported."""
    sentences: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """The answer's sentences with the places (from 1) of the passages that each cites, if the
    system reports them apart from the text."""
    queued: float | None = None
    """Seconds that the call waited in this process before it was sent; None if it is not known."""

    __repr__ = one_line

    def __post_init__(self) -> None:
        """Correct the status, and turn plain texts of `contexts` into passages."""
        if self.contexts is not None:
            given = (Passage("", c) if isinstance(c, str) else c for c in self.contexts)
            object.__setattr__(self, "contexts", tuple(given))
        fitting: tuple[str, ...] = ANSWER_STATUSES[3:]
        if self.answer is not None:
            # An answer of another type is refused later, with the name of its component.
            blank = isinstance(self.answer, str) and not self.answer.strip()
            fitting = ("empty" if blank else "answered", "cut")
        if self.status not in fitting:
            object.__setattr__(self, "status", "failed" if self.answer is None else fitting[0])


@dataclass(frozen=True, slots=True)
class Score:
    """The `value` in the range of `metric` for `query_id`, or None with `status` and `reason`."""

    query_id: str
    metric: str
    value: float | None
    status: Status = "scored"
    reason: str = ""

    __repr__ = one_line


ChatMessage: TypeAlias = tuple[str, str]
"""Role ("system", "user" or "assistant") and text."""
