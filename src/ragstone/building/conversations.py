"""Synthetic conversations in mtRAG's manner: a model is the user, an agent retrieves and answers.

    builder = ConversationBuilder(corpus, agent, writer, judges, DialoguePlan(count=20))
    made = builder.build()

A turn is written, answered from retrieved passages and labelled before the next one. The relevant
passages of a turn are those that a judge calls supporting. Section 9 and appendix G of mtRAG
(2025); docs/build.md names the choices that it leaves open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ragstone.building.controls import LEAST_INFORMED, accuracy_of, called, controls
from ragstone.building.conversation_seeds import drawn_passages, first_messages
from ragstone.building.dialogue import (
    FIRST,
    AnsweringSystem,
    DialoguePlan,
    SyntheticTalk,
    SyntheticTurn,
    TurnDraft,
    count_turns,
    crossed,
    real_shape,
    shape,
    too_short,
)
from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.funnel import Funnel
from ragstone.building.reply_parsing import (
    Rejected,
    check_new,
    check_not_given,
    checked_answer,
    read_question,
)
from ragstone.components.judges.llm_base import ModelJudge
from ragstone.components.judges.verdict import Item, VerdictJudge
from ragstone.components.live_reply import LiveReply
from ragstone.components.metrics.refusal import refusal
from ragstone.core import limits
from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import judgements
from ragstone.data.taxonomy import SEPARATOR
from ragstone.protocols import Services
from ragstone.types import Passage

if TYPE_CHECKING:
    from ragstone.statistics.judge_quality import Accuracy

Turns: TypeAlias = Sequence[tuple[SyntheticTalk, SyntheticTurn]]


@dataclass(frozen=True)
class TurnJudges:
    """The judges of a turn, each by one model or several."""

    support: ModelJudge
    """Whether a passage supports the agent's answer."""
    sufficient: VerdictJudge
    """Whether the passages answer a turn that the agent declined."""
    types: VerdictJudge | None = None
    """Labels the question types; None leaves the label out."""


@dataclass(frozen=True)
class MadeConversations:
    """Conversations, kept and rejected, and how they came about."""

    corpus: Corpus
    funnel: Funnel
    kept: list[SyntheticTalk]
    controls: list[tuple[bool, bool]] = field(default_factory=list)
    """The judge's labels of passages with a known label, in all conversations."""
    real: Dataset | None = None
    """Conversations of people, to compare with."""

    @property
    def files(self) -> dict[str, bytes]:
        """No further files: the data set has every turn."""
        return {}

    @property
    def dataset(self) -> Dataset:
        """The data set: the kept conversations, the whole corpus, and the judge's labels."""
        pairs = [(one, turn) for one in self.kept for turn in one.turns]
        grades = {
            (one.turn_id(turn), passage_id): int(bool(label))
            for one, turn in pairs
            for passage_id, label in turn.supporting.items()
            if label is not None
        }
        queries = queries_to_table([one.query(turn) for one, turn in pairs])
        return Dataset("conversations", queries, self.corpus, judgements(grades))

    @property
    def about(self) -> dict[str, Any]:
        """Composition and shape of the conversations, and warnings, as plain data."""
        turns = [turn for one in self.kept for turn in one.turns]
        asked = crossed(turns)
        relevant = [len(turn.relevant) for turn in turns if not turn.declined]
        accuracy = accuracy_of(self.controls)
        yes, no = accuracy.true_yes, accuracy.true_no
        missed = sum(n for k, n in asked.get("unanswerable", {}).items() if k != "unanswerable")
        return {
            **({} if self.real is None else {"real": real_shape(self.real)}),
            "kinds": dict(Counter(turn.kind for turn in turns).most_common()),
            "asked_against_obtained": asked,
            "positives": {str(n): k for n, k in sorted(Counter(relevant).items())},
            "shape": shape([[one.query(turn) for turn in one.turns] for one in self.kept]),
            "without_verdict": sum(
                label is None for turn in turns for label in turn.supporting.values()
            ),
            "judge_on_controls": {"supporting": [yes.count, yes.n], "foreign": [no.count, no.n]},
            "warnings": list(_warnings(missed, asked, accuracy)),
        }


def _warnings(
    missed: int, asked: Mapping[str, Mapping[str, int]], accuracy: Accuracy
) -> Iterator[str]:
    yield (
        "synthetic conversations are easier than those of people: mtRAG found shorter ones with "
        "fewer different passages, and higher faithfulness on them"
    )
    if accuracy.informed is not None and accuracy.informed < LEAST_INFORMED:
        yes, no = accuracy.true_yes, accuracy.true_no
        yield (
            f"THE RELEVANT PASSAGES MAY BE NOISE: of passages with known labels, the judge calls "
            f"{yes.count} of {yes.n} supporting ones supporting and {no.count} of {no.n} foreign "
            "ones not supporting; use another --judge"
        )
    total = sum(asked.get("unanswerable", {}).values())
    if missed:
        yield (
            f"{missed:,} of {total:,} turns that were to be unanswerable have a supported answer, "
            "and the label answerable"
        )


@dataclass(frozen=True)
class ConversationBuilder:
    """The pipeline.

    Args:
        corpus: the passages.
        agent: retrieves and answers.
        writer: the model that plays the user.
        judges: the judges of a turn.
        plan: number, length and kinds of turns.
    """

    corpus: Corpus
    agent: AnsweringSystem
    writer: QueryWriter
    judges: TurnJudges
    plan: DialoguePlan = field(default_factory=DialoguePlan)
    funnel: Funnel = field(default_factory=Funnel)

    @property
    def services(self) -> Services:
        """The services that make the model calls."""
        return self.writer.services

    @property
    def marked_by(self) -> ModelJudge:
        """The judge whose labels are the judgements."""
        return self.judges.support

    def build(self, seeds: Dataset | None = None, real: Dataset | None = None) -> MadeConversations:
        """Return the conversations.

        Args:
            seeds: a data set whose queries are the first turns; if None, a model writes them from
                passages of the corpus.
            real: conversations of people, to compare with.

        Raises:
            DatasetError: no passage is usable, the data set of first turns has none, or `real` has
                no conversation.
        """
        if real is not None:
            real_shape(real)
        dialogues = self.begun(seeds)
        size = limits.BUILD_CONVERSATIONS
        batches = self.funnel.until_limit("conversation", dialogues, self._talk, size=size)
        finished = [one for batch in batches for one in batch]
        count_turns(self.funnel, finished)
        kept = self.funnel.keep("conversation", finished, too_short)
        # The conversations come after their turns in the list of steps.
        self.funnel.stages["conversation"] = self.funnel.stages.pop("conversation")
        pairs = [pair for one in finished for pair in one.controls]
        return MadeConversations(self.corpus, self.funnel, kept, pairs, real)

    def begun(self, seeds: Dataset | None = None) -> list[SyntheticTalk]:
        """Return the conversations before their first turn, without a call."""
        kinds = self.plan.kinds()
        drawn = drawn_passages(self.corpus, self.plan, self.funnel, self.writer.prompts.language)
        openings: list[str] = [""] * len(drawn)
        if seeds is not None:
            openings = first_messages(seeds, self.plan, self.funnel)
        return [
            SyntheticTalk(
                f"c{n + 1}",
                planned,
                source=() if opening else (drawn[n],),
                opening=opening,
                others=(*drawn[n + 1 :], *drawn[:n]),
            )
            for n, (planned, opening) in enumerate(zip(kinds, openings, strict=False))
        ]

    def calls(self, seeds: Dataset | None = None) -> int:
        """Return the largest number of calls that a build makes, without any call."""
        dialogues = self.begun(seeds)
        passages = self.agent.shows + 1
        typed = bool(self.judges.types)
        given = sum(bool(one.opening) for one in dialogues)
        turns = sum(len(one.kinds) for one in dialogues)
        # The user, the search text of a later turn, the answer, a verdict per passage; controls.
        return turns * (3 + passages + typed) + len(dialogues) - given

    def _talk(self, batch: Sequence[SyntheticTalk]) -> list[SyntheticTalk]:
        """Return conversations after all their turns, which are written together."""
        while going := [one for one in batch if not one.ended]:
            begun = [(one, self._next(one)) for one in going]
            self._ask(begun)
            for one, turn in begun:
                one.attempts.append(turn)
            self._answer(_open(begun))
            self._label(_open(begun))
        self._control([one for one in batch if one.turns and not one.turns[0].declined])
        return list(batch)

    @staticmethod
    def _next(one: SyntheticTalk) -> SyntheticTurn:
        number = len(one.turns)
        return SyntheticTurn(number + 1, one.kinds[number], one.opening if not number else "")

    def _ask(self, begun: Turns) -> None:
        """Let the user's model write the next message of each conversation."""
        drafts = []
        for one, turn in begun:
            if turn.question:
                continue
            shown = one.source if turn.kind == FIRST else one.background(turn.kind)
            draft = TurnDraft("conversation", turn.kind, shown, history=one.history)
            drafts.append((turn, draft))
        for kind in dict.fromkeys(turn.kind for turn, _ in drafts):
            own = [draft for turn, draft in drafts if turn.kind == kind]
            step = "first_turn" if kind == FIRST else kind.replace("-", "_")
            self.writer.step(step, own, _take_question)
        for turn, draft in drafts:
            turn.question = draft.question
            if draft.reason:
                turn.reject("question", draft.reason_alone)

    def _answer(self, begun: Turns) -> None:
        """Let the agent answer, and reject answers that a reference must not be."""
        replies = self.agent.reply([one.query(turn) for one, turn in begun], self.services)
        own_words = self.agent.own_words
        for (one, turn), reply in zip(begun, replies, strict=True):
            turn.rewrite = reply.search if turn.number > 1 else ""
            turn.shown = self._shown(one, turn, reply)
            turn.answer = (reply.prediction.answer or "").strip()
            turn.declined = bool(refusal(turn.answer))
            try:
                _check_answer(one, turn, reply, own_words)
            except Rejected as error:
                turn.reject("answer", str(error))

    def _shown(
        self, one: SyntheticTalk, turn: SyntheticTurn, reply: LiveReply
    ) -> tuple[Passage, ...]:
        """Return the passages of the answer's context, and the source of a first turn."""
        ids = [*reply.context.passage_ids]
        ids += [p.passage_id for p in one.source if turn.kind == FIRST]
        return tuple(self.corpus[i] for i in dict.fromkeys(ids))

    def _label(self, begun: Turns) -> None:
        """Judge which passages support each answer, and whether a declined turn has one."""
        answered = [(one, turn) for one, turn in begun if not turn.declined]
        pairs = [(one, turn, p) for one, turn in answered for p in turn.shown]
        items = [self._item(one, turn, (p,)) for one, turn, p in pairs]
        verdicts = self.judges.support.verdicts(items, self.services)
        for (_, turn, passage), verdict in zip(pairs, verdicts, strict=True):
            label = None if verdict.value is None else verdict.value > 0
            turn.supporting[passage.passage_id] = label
        for _, turn in answered:
            if not turn.relevant:
                turn.reject("support", _unsupported(turn))
        declined = [(one, turn) for one, turn in begun if turn.declined]
        items = [self._item(one, turn, turn.shown) for one, turn in declined]
        verdicts = self.judges.sufficient.verdicts(items, self.services)
        for (_, turn), verdict in zip(declined, verdicts, strict=True):
            if verdict.value is None:
                turn.reject("support", "no verdict on a declined turn")
            elif verdict.value > 0:
                turn.reject("support", "the passages answer a turn that the agent declined")
            else:
                turn.supporting = {p.passage_id: False for p in turn.shown}
        self._type(_open(begun))

    def _control(self, begun: Sequence[SyntheticTalk]) -> None:
        """Let the judge label two passages per conversation whose labels are known."""
        for one in begun:
            first = one.query(one.turns[0])
            found = controls([first], [[p for p in one.others if p not in one.turns[0].shown]])
            one.controls = called(self.judges.support, found, self.services)

    def _type(self, begun: Turns) -> None:
        if self.judges.types is None:
            return
        items = [self._item(one, turn, ()) for one, turn in begun]
        verdicts = self.judges.types.verdicts(items, self.services)
        for (_, turn), verdict in zip(begun, verdicts, strict=True):
            turn.question_types = tuple(filter(None, verdict.label.split(SEPARATOR)))

    @staticmethod
    def _item(one: SyntheticTalk, turn: SyntheticTurn, passages: Sequence[Passage]) -> Item:
        """Return a turn for a judge, as a query that can be understood alone."""
        query = one.query(turn)
        alone = replace(query, text=turn.rewrite or turn.question)
        return Item(alone, turn.answer, tuple(p.full_text for p in passages))


def _open(begun: Turns) -> list[tuple[SyntheticTalk, SyntheticTurn]]:
    return [(one, turn) for one, turn in begun if not turn.stage]


def _take_question(draft: Draft, reply: str, prompt: str) -> None:
    draft.question = read_question(reply, prompt)
    if isinstance(draft, TurnDraft):
        check_new("question", draft.question, [message.text for message in draft.history])


def _check_answer(
    one: SyntheticTalk, turn: SyntheticTurn, reply: LiveReply, own_words: str
) -> None:
    """Raise `Rejected` if the agent's answer must not be a reference."""
    if reply.prediction.answer is None:
        raise Rejected(f"the agent failed: {reply.prediction.reason}")
    if reply.prediction.status == "cut":
        raise Rejected("the answer was cut at its maximum length")
    if turn.declined:
        # A refusal may name its sources, and repeats the words of the instruction.
        if turn.kind != "unanswerable":
            raise Rejected("the agent declined a turn that was to be answerable")
        return
    checked_answer(turn.answer, own_words)
    earlier = [message.text for message in one.history if message.role == "agent"][:-1]
    check_new("answer", turn.answer, earlier, copies=False)
    check_not_given(turn.question, turn.answer)


def _unsupported(turn: SyntheticTurn) -> str:
    if not turn.shown:
        return "no passage was found"
    unread = any(label is None for label in turn.supporting.values())
    return "no passage supports the answer" + (", and some have no verdict" if unread else "")
