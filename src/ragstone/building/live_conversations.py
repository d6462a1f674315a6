"""Conversations of simulated users with a live system, and their measures.

    talks = LiveBuilder(system, writer, judge, personas, LivePlan(count=20)).build()

Each user has a goal, a question with a known answer. The conversation ends if a judge calls an
answer right, or if the user's patience ends. A failed turn is a value with a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from ragstone.building.conversation_seeds import drawn_passages
from ragstone.building.dialogue import AnsweringSystem, DialoguePlan, TurnDraft, real_shape, shape
from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.funnel import Funnel
from ragstone.building.reply_parsing import repeats
from ragstone.building.simulated_user import MOVES, Persona, take_message
from ragstone.building.strategies import STRATEGIES
from ragstone.components.judges.verdict import Item, VerdictJudge
from ragstone.components.live_reply import LiveReply
from ragstone.components.metrics.refusal import refusal
from ragstone.core import limits
from ragstone.core.schemas import queries_to_table
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import judgements
from ragstone.errors import DatasetError
from ragstone.statistics.summary import Summary, summarise
from ragstone.types import Label, Message, Passage, Query

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Services

TRANSCRIPTS: Final = "transcripts.jsonl"
_RIGHT: Final = 0.5
FRIENDLY: Final = (
    "simulated users are known to be too friendly: they write clearly, follow the subject and "
    "accept answers that people question. Compare with conversations of people (--real SOURCE) "
    "before you trust a level; differences between systems are safer"
)


@dataclass
class TalkTurn:
    """One turn: the user's message, and the system's reply or why there is none."""

    number: int
    move: str
    message: str = ""
    answer: str | None = None
    status: str = ""
    """`answered`, `refused`, `empty` or `failed`."""
    reason: str = ""
    reached: bool | None = None
    """Whether the judge calls the answer right for the goal; None without a verdict."""
    repeated_message: bool = False
    repeated_answer: bool = False

    @property
    def judged(self) -> bool:
        """Whether the judge is asked about the answer."""
        return self.status == "answered"


@dataclass
class Talk:
    """A conversation of one simulated user."""

    item_id: str
    persona: Persona
    draft: Draft
    """The question that the user wants answered, with its answer, or why there is none."""
    turns: list[TalkTurn] = field(default_factory=list)
    problem: str = ""
    """Why the user's model gave no usable message."""

    @property
    def goal(self) -> Query:
        """The goal as a query with its gold answer."""
        return Query(self.item_id, self.draft.question, (self.draft.answer,))

    @property
    def text(self) -> str:
        """The goal, or the passage that it was to be about."""
        about = self.draft.passages[0].full_text[: limits.MAX_EXCERPT_CHARACTERS]
        return self.draft.question or about

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        return any(turn.reached for turn in self.turns)

    @property
    def ended(self) -> bool:
        """Whether the goal is reached, the patience ends, or the user's model failed."""
        return self.reached or bool(self.problem) or len(self.turns) >= self.persona.patience

    @property
    def outcome(self) -> float | None:
        """1 if the goal is reached, 0 if not; None if no turn was decided.

        A turn is decided if the system replied and the judge gave a verdict.
        """
        undecided = not any(turn.reached is not None for turn in self.turns)
        return None if undecided else float(self.reached)

    def history(self, before: int) -> tuple[Message, ...]:
        """Return the messages before a turn; failed answers are left out."""
        found = []
        for turn in self.turns[: before - 1]:
            found.append(Message("user", turn.message))
            if turn.answer:
                found.append(Message("agent", turn.answer))
        return tuple(found)

    def query(self, turn: TalkTurn) -> Query:
        """Return a turn as a query without a gold answer."""
        labels: dict[str, Label] = {
            "conversation": self.item_id,
            "turn": turn.number,
            "persona": self.persona.name,
            "asked": turn.move,
            "goal": self.goal.text,
            **({"status": turn.status} if turn.status else {}),
        }
        history = self.history(turn.number)
        return Query(f"{self.item_id}::{turn.number}", turn.message, (), history, labels=labels)

    def document(self) -> dict[str, Any]:
        """Return the conversation as plain data."""
        return {
            "conversation_id": self.item_id,
            "persona": self.persona.name,
            "goal": self.goal.text,
            "gold_answers": list(self.goal.gold_answers),
            "reached": self.outcome,
            "turns": [asdict(turn) for turn in self.turns],
            "problem": self.problem,
        }


@dataclass(frozen=True)
class MadeTalks:
    """The conversations with a live system."""

    system: AnsweringSystem
    funnel: Funnel
    talks: list[Talk]
    real: Dataset | None = None
    """Conversations of people, to compare with."""

    @property
    def dataset(self) -> Dataset:
        """The users' turns, each after the system's own answers; without gold answers."""
        queries = [one.query(turn) for one in self.talks for turn in one.turns]
        return Dataset(
            "live-conversations", queries_to_table(queries), self.system.corpus, judgements({})
        )

    @property
    def metrics(self) -> dict[str, Summary]:
        """Metric -> its mean with n, failures and interval; turns are clustered by conversation."""
        turns = [(one.item_id, turn) for one in self.talks for turn in one.turns]
        names = [name for name, _ in turns]

        def share(of: str) -> Summary:
            given = [None if t.status == "failed" else float(t.status == of) for _, t in turns]
            return summarise(given, clusters=names)

        reached = [turn.number for one in self.talks for turn in one.turns if turn.reached]
        repeated = [None if t.status == "failed" else float(t.repeated_answer) for _, t in turns]
        return {
            "goal reached": summarise([one.outcome for one in self.talks]),
            "turns until the goal": summarise(
                [float(n) for n in reached],
                bounds=None,
                not_applicable=len(self.talks) - len(reached),
            ),
            "turns": summarise([float(len(one.turns)) for one in self.talks], bounds=None),
            "turn answered": share("answered"),
            "turn refused": share("refused"),
            "answer repeated": summarise(repeated, clusters=names),
            "message repeated": summarise(
                [float(t.repeated_message) for _, t in turns], clusters=names
            ),
        }

    @property
    def about(self) -> dict[str, Any]:
        """The metrics, the failures by reason and the shape of the conversations, as plain data."""
        turns = [turn for one in self.talks for turn in one.turns]
        failures = Counter(turn.reason for turn in turns if turn.status == "failed")
        simulated = shape([[one.query(turn) for turn in one.turns] for one in self.talks])
        real = {} if self.real is None else {"real": real_shape(self.real)}
        return {
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "failures": dict(failures.most_common()),
            "personas": dict(Counter(one.persona.name for one in self.talks)),
            "shape": simulated,
            **real,
            "warnings": [] if self.real is not None else [FRIENDLY],
        }

    @property
    def files(self) -> dict[str, bytes]:
        """The conversations with statuses, reasons and verdicts, one JSON line each."""
        rows = (orjson.dumps(one.document()) for one in self.talks)
        return {TRANSCRIPTS: b"\n".join(rows) + b"\n" * bool(self.talks)}


@dataclass(frozen=True)
class LiveBuilder:
    """Simulated users and the system that they talk to.

    Args:
        system: the live system.
        writer: the model that plays the users, and that writes their goals from passages.
        judge: whether an answer is right for the goal, given its known answer.
        personas: the users, in turn.
        corpus: the passages that goals are written from.
        plan: number of conversations and seed; the length is each persona's patience.
    """

    system: AnsweringSystem
    writer: QueryWriter
    judge: VerdictJudge
    personas: Sequence[Persona]
    corpus: Corpus
    plan: DialoguePlan = field(default_factory=DialoguePlan)
    funnel: Funnel = field(default_factory=Funnel)

    @property
    def services(self) -> Services:
        """The services that make the model calls."""
        return self.writer.services

    @property
    def marked_by(self) -> None:
        """No judge: the data set has no judgements."""
        return

    def build(self, seeds: Dataset | None = None, real: Dataset | None = None) -> MadeTalks:
        """Return the conversations, with goals from a data set, or else from the corpus.

        Args:
            seeds: a data set whose queries with gold answers are the goals; if None, a model
                writes them from passages.
            real: conversations of people, to compare with.

        Raises:
            DatasetError: there is no goal, or `real` has no conversation.
        """
        if real is not None:
            real_shape(real)
        size = limits.BUILD_CONVERSATIONS
        batches = self.funnel.until_limit("conversation", self.begun(seeds), self._talk, size=size)
        finished = [one for batch in batches for one in batch]
        with_goal = self.funnel.keep("goal", finished, lambda one: one.draft.reason_alone)
        started = self.funnel.keep(
            "user message", with_goal, lambda one: "" if one.turns else one.problem
        )
        kept = self.funnel.keep("conversation", started, {})
        # The conversations come after their parts in the list of steps.
        self.funnel.stages["conversation"] = self.funnel.stages.pop("conversation")
        return MadeTalks(self.system, self.funnel, kept, real)

    def begun(self, seeds: Dataset | None = None) -> list[Talk]:
        """Return the conversations before their first turn, without a call.

        Goals from passages are not written yet.
        """
        if seeds is None:
            language = self.writer.prompts.language
            drawn = drawn_passages(self.corpus, self.plan, self.funnel, language)
            drafts = [Draft("goal", "fact_single", (passage,)) for passage in drawn]
        else:
            drafts = _given_goals(seeds, self.plan)
        return [
            Talk(f"c{n + 1}", self.personas[n % len(self.personas)], draft)
            for n, draft in enumerate(drafts)
        ]

    def calls(self, seeds: Dataset | None = None) -> int:
        """Return the largest number of model calls, with one call of the system per turn."""
        # A message, the system's answer and a verdict per turn; a call per goal from a passage.
        talks = self.begun(seeds)
        return sum(3 * one.persona.patience + (not one.draft.question) for one in talks)

    def _talk(self, batch: Sequence[Talk]) -> list[Talk]:
        """Return conversations after all their turns, which go on together."""
        open_goals = [one.draft for one in batch if not one.draft.question]
        STRATEGIES["single"].write(open_goals, self.writer)
        while going := [one for one in batch if not (one.draft.reason or one.ended)]:
            asked = self._ask(going)
            replies = self.system.reply([o.query(t) for o, t in asked], self.services)
            for (one, turn), reply in zip(asked, replies, strict=True):
                _take(one, turn, reply)
            self._judge([(one, turn) for one, turn in asked if turn.judged])
        return list(batch)

    def _ask(self, going: Sequence[Talk]) -> list[tuple[Talk, TalkTurn]]:
        """Return the next turn of each conversation with its message, typing errors included."""
        drafts, turns = [], []
        for one in going:
            number = len(one.turns) + 1
            move = one.persona.move(number, f"{self.plan.seed} {one.item_id}")
            draft = TurnDraft(
                *("talk", move, one.draft.passages),
                history=one.history(number),
                persona=one.persona.description,
                goal=one.goal.text,
                move=MOVES[move],
                answer=one.draft.answer,
            )
            drafts.append(draft)
            turns.append(TalkTurn(number, move))
        self.writer.step("user_turn", drafts, take_message)
        asked = []
        for one, turn, draft in zip(going, turns, drafts, strict=True):
            if draft.reason:
                one.problem = draft.reason_alone
                continue
            seed = f"{self.plan.seed} {one.item_id} {turn.number}"
            turn.message = one.persona.typed(draft.question, seed)
            turn.repeated_message = repeats(turn.message, [t.message for t in one.turns])
            one.turns.append(turn)
            asked.append((one, turn))
        return asked

    def _judge(self, asked: Sequence[tuple[Talk, TalkTurn]]) -> None:
        items = [Item(one.goal, turn.answer) for one, turn in asked]
        verdicts = self.judge.verdicts(items, self.services)
        for (_, turn), verdict in zip(asked, verdicts, strict=True):
            turn.reached = None if verdict.value is None else verdict.value >= _RIGHT
            if verdict.value is None:
                turn.reason = f"no verdict on the goal: {verdict.reason}"


def _given_goals(seeds: Dataset, plan: DialoguePlan) -> list[Draft]:
    """Return a random sample of the queries with a gold answer and without a history."""
    given = [n for n, q in enumerate(seeds.queries) if q.gold_answers and not q.history]
    if not given:
        raise DatasetError(
            f"the data set {seeds.name!r} has no query with a gold answer and without a history; a "
            "simulated user needs goals whose answers are known"
        )
    drawn = seeds.select(given).sample(plan.count, plan.seed).queries
    none = (Passage("", ""),)
    return [Draft("goal", "given", none, question=q.text, answer=q.gold_answers[0]) for q in drawn]


def _take(one: Talk, turn: TalkTurn, reply: LiveReply) -> None:
    """Record a reply: answered, refused, empty, or failed with its reason."""
    given = reply.prediction
    if given.answer is None:
        turn.status, turn.reason = "failed", given.reason or "the system gave no answer"
        return
    turn.answer = given.answer
    turn.status = "empty" if not given.answer.strip() else "answered"
    if refusal(given.answer):
        turn.status = "refused"
    turn.repeated_answer = repeats(given.answer, [t.answer for t in one.turns[:-1] if t.answer])
    if not turn.judged:
        turn.reached = False
