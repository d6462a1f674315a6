"""Conversations that are written turn by turn: their plan, their turns, and why they end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from ragstone.building.draft import Draft
from ragstone.building.funnel import Candidate, Funnel
from ragstone.building.generate import apportioned
from ragstone.components.live_reply import LiveReply
from ragstone.core import limits
from ragstone.core.prompts import show_history
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.types import Label, Message, Passage, Query

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Services

KINDS: Final = ("follow-up", "clarification", "topic-shift", "unanswerable")
"""Kinds of a turn after the first, as `--mix` names them."""
FIRST: Final = "first"
LEAST_TURNS: Final = 2
STAGES: Final = ("question", "answer", "support")
"""The steps of a turn, in order."""


class AnsweringSystem(Protocol):
    """A system that answers new queries, such as `ragstone.experiment.live_system.LiveSystem`."""

    @property
    def corpus(self) -> Corpus:
        """The passages that the system searches."""
        ...

    @property
    def shows(self) -> int:
        """Maximum number of retrieved passages behind an answer."""
        ...

    @property
    def own_words(self) -> str:
        """The texts of its prompt, which an answer must not repeat."""
        ...

    def reply(self, queries: Sequence[Query], services: Services) -> list[LiveReply]:
        """Return one reply per query, in order; one without an answer has a reason."""
        ...


@dataclass
class TurnDraft(Draft):
    """A user's turn that a model writes from a conversation."""

    history: tuple[Message, ...] = ()
    persona: str = ""
    goal: str = ""
    move: str = ""
    """The move of a simulated user in the turn, in words."""

    @property
    def values(self) -> dict[str, str]:
        """The variables of prompts."""
        shown = "\n\n".join(passage.full_text for passage in self.passages)
        own = {"persona": self.persona, "goal": self.goal, "move": self.move, "passage": shown}
        return super().values | own | {"history": show_history(self.history) or "(nothing)"}


@dataclass
class SyntheticTurn:
    """One turn: the user's message and the agent's answer, or why one of them was rejected."""

    number: int
    kind: str
    question: str = ""
    answer: str = ""
    rewrite: str = ""
    """The search text, if a model formed it from the history."""
    declined: bool = False
    """Whether the agent declines to answer."""
    shown: tuple[Passage, ...] = ()
    """The passages that the agent answered from."""
    supporting: dict[str, bool | None] = field(default_factory=dict)
    """Passage id -> the judge's label; None without a verdict."""
    question_types: tuple[str, ...] = ()
    stage: str = ""
    """The step that rejected the turn; empty if none did."""
    reason: str = ""

    @property
    def relevant(self) -> list[Passage]:
        """The passages that the judge calls supporting."""
        return [passage for passage in self.shown if self.supporting.get(passage.passage_id)]

    def reject(self, stage: str, reason: str) -> None:
        """Record the step and the reason, unless an earlier step rejected the turn."""
        if not self.stage:
            self.stage, self.reason = stage, reason

    def labels(self) -> dict[str, Label]:
        """Return the labels of the turn in the data set."""
        kind = "follow-up" if self.kind == "unanswerable" else self.kind
        return {
            "asked": self.kind,
            **({} if self.kind == FIRST else {"multi_turn": kind}),
            "answerability": "unanswerable" if self.declined else "answerable",
            **({"question_type": self.question_types} if self.question_types else {}),
        }


@dataclass
class SyntheticTalk:
    """A conversation with its plan; a rejected turn ends it."""

    dialogue_id: str
    kinds: tuple[str, ...]
    """The kind of each planned turn; the first is `first`."""
    source: tuple[Passage, ...] = ()
    """The passages that the first turn is about; empty if it is a given query."""
    opening: str = ""
    """The given query."""
    others: tuple[Passage, ...] = ()
    """Passages of other topics, for changes of topic."""
    attempts: list[SyntheticTurn] = field(default_factory=list)
    controls: list[tuple[bool, bool]] = field(default_factory=list)
    """(supports, called supporting) of passages with a known label; see `building.controls`."""

    @property
    def turns(self) -> list[SyntheticTurn]:
        """The turns that no step rejected."""
        return [turn for turn in self.attempts if not turn.stage]

    @property
    def ended(self) -> bool:
        """Whether a turn was rejected or the plan is complete."""
        return len(self.turns) < len(self.attempts) or len(self.turns) == len(self.kinds)

    @property
    def item_id(self) -> str:
        """The id of the conversation."""
        return self.dialogue_id

    @property
    def text(self) -> str:
        """The first message, or the first words of its source."""
        first = self.attempts[0].question if self.attempts else ""
        about = self.source[0].full_text if self.source else ""
        return self.opening or first or about[: limits.MAX_EXCERPT_CHARACTERS]

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages of the turns so far."""
        pairs = ((Message("user", t.question), Message("agent", t.answer)) for t in self.turns)
        return tuple(message for pair in pairs for message in pair)

    def turn_id(self, turn: SyntheticTurn) -> str:
        """Return the query id of a turn."""
        return f"{self.dialogue_id}::{turn.number}"

    def background(self, kind: str) -> tuple[Passage, ...]:
        """Return the passages behind the user's next question."""
        if kind == "topic-shift" and self.others:
            return (self.others[len(self.turns) % len(self.others)],)
        last = next((turn.relevant for turn in self.turns[::-1] if turn.relevant), [])
        return tuple(last[:LEAST_TURNS]) or self.source or self.turns[-1].shown[:1]

    def query(self, turn: SyntheticTurn) -> Query:
        """Return a turn as a query of the data set."""
        place: dict[str, Label] = {"conversation": self.dialogue_id, "turn": turn.number}
        return Query(
            self.turn_id(turn),
            turn.question,
            (turn.answer,) if turn.answer else (),
            self.history[: 2 * (turn.number - 1)],
            turn.rewrite,
            {**turn.labels(), **place},
        )


@dataclass(frozen=True)
class DialoguePlan:
    """The size and the composition of a set of conversations.

    Args:
        count: number of conversations to begin.
        turns: smallest and largest number of turns of a conversation.
        mix: kind -> share of the turns after the first.
        seed: of the draws.

    Raises:
        ConfigError: a number or a kind is not allowed.
    """

    count: int = 20
    turns: tuple[int, int] = (2, limits.MAX_TURNS)
    mix: Mapping[str, float] = field(
        default_factory=lambda: dict(zip(KINDS, (0.5, 0.15, 0.15, 0.2), strict=True))
    )
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers and the kinds."""
        low, high = self.turns
        most = limits.MAX_TURNS
        if not LEAST_TURNS <= low <= high <= most:
            given = f"{low}-{high}" if low != high else f"{low}"
            raise ConfigError(
                f"turns must be from {LEAST_TURNS} to {most}, such as 2-{most}, found {given}; in "
                "longer synthetic conversations users repeat themselves and agents invent",
                key="turns",
                value=given,
            )
        for kind in self.mix:
            if kind not in KINDS:
                raise ConfigError(
                    f"unknown kind of turn {kind!r}{did_you_mean(kind, KINDS)}; known: "
                    f"{', '.join(KINDS)}",
                    key="mix",
                    value=kind,
                )
        if self.mix and (min(self.mix.values()) < 0 or not sum(self.mix.values())):
            raise ConfigError(
                f"the shares of a mix must be 0 or more, not all 0: {dict(self.mix)}", key="mix"
            )

    def kinds(self) -> list[tuple[str, ...]]:
        """Return the kinds of the turns of each conversation: the shares hold over all of them.

        >>> DialoguePlan(count=2, turns=(2, 2), mix={"follow-up": 1, "unanswerable": 1}).kinds()
        [('first', 'unanswerable'), ('first', 'follow-up')]
        """
        rng = random.Random(self.seed)  # noqa: S311 - no secret
        lengths = [rng.randint(*self.turns) for _ in range(self.count)]
        wanted = apportioned(sum(lengths) - self.count, self.mix)
        drawn = [kind for kind, number in wanted.items() for _ in range(number)]
        rng.shuffle(drawn)
        later = iter(drawn)
        return [(FIRST, *(next(later) for _ in range(n - 1))) for n in lengths]


def count_turns(funnel: Funnel, dialogues: Iterable[SyntheticTalk]) -> None:
    """Add the turns of finished conversations to the counts of a funnel, step by step."""
    turns = [(one, turn) for one in dialogues for turn in one.attempts]
    for place, stage in enumerate(STAGES):
        entered = [(one, turn) for one, turn in turns if turn.stage not in STAGES[:place]]
        why = {one.turn_id(turn): turn.reason for one, turn in entered if turn.stage == stage}
        items = [Candidate(one.turn_id(turn), turn.question or one.text) for one, turn in entered]
        funnel.keep(stage, items, why)


def too_short(dialogue: SyntheticTalk) -> str:
    """Return why a conversation is rejected as a whole, or ""."""
    if len(dialogue.turns) >= LEAST_TURNS:
        return ""
    last = dialogue.attempts[-1].reason if dialogue.attempts else ""
    return f"fewer than {LEAST_TURNS} turns: {last}"


def shape(conversations: Sequence[Sequence[Query]]) -> dict[str, Any]:
    """Return the means by which mtRAG compares conversations of people and of models (Table 8)."""
    queries = [query for turns in conversations for query in turns]
    words = [len(query.text.split()) for query in queries]
    answers = [len(query.gold_answers[0].split()) for query in queries if query.gold_answers]
    return {
        "conversations": len(conversations),
        "turns": len(queries),
        "turns_per_conversation": _mean([len(turns) for turns in conversations]),
        "words_per_question": _mean(words),
        "words_per_answer": _mean(answers),
    }


def real_shape(real: Dataset) -> dict[str, Any]:
    """Return the shape of conversations of people; `DatasetError` if there are none."""
    if not real.conversations:
        raise DatasetError(f"the data set {real.name!r} has no conversation; --real needs some")
    return shape([one.turns for one in real.conversations])


def crossed(turns: Iterable[SyntheticTurn]) -> dict[str, dict[str, int]]:
    """Return kind asked for -> answerability obtained -> turns."""
    found: dict[str, Counter[str]] = {}
    for turn in turns:
        obtained = "unanswerable" if turn.declined else "answerable"
        found.setdefault(turn.kind, Counter())[obtained] += 1
    return {kind: dict(counts) for kind, counts in found.items()}


def _mean(numbers: Sequence[int]) -> float | None:
    return round(sum(numbers) / len(numbers), 2) if numbers else None
