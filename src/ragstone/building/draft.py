"""Drafts of test queries: their sources, the calls that made them, and why they are rejected."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from ragstone.building.few_shot import KINDS
from ragstone.building.prompts import Prompts
from ragstone.building.reply_parsing import Rejected, check_no_example, check_whole
from ragstone.calls.types import Failure, Outcome, Request
from ragstone.components.judges.verdict import Cost
from ragstone.components.llm import LlmBackend
from ragstone.core import limits
from ragstone.protocols import Services
from ragstone.types import Label, Message, Passage, Query

TURNS: Final = (
    *("first_turn", "follow_up", "clarification", "topic_shift", "unanswerable", "user_turn"),
)
"""Steps that write a user's turn of a conversation."""
_ONE_LINE: Final = {
    "theme": 24,
    "counterfactual": 32,
    **dict.fromkeys(("question", "near_miss", "underspecified", *TURNS), 64),
}
"""Step -> maximum number of tokens of a reply of one line."""
_LISTS: Final = frozenset({"facts", "summaries", "conclusions"})
_QUESTIONS: Final = frozenset({"question", "near_miss", "underspecified", *TURNS} - {"user_turn"})
_WHOLE: Final = frozenset({"writer"})
"""Steps whose reply ends with the answer, which nothing else marks as complete."""
_ASKING: Final = _QUESTIONS | {
    "single",
    "reasoning",
    "constraint",
    "multi_hop",
    "comparison",
    "false_premise",
    "dependent_turn",
}
"""Steps whose reply has the question in its final words."""
_WRITTEN: Final = ("theme", "statement", "question", "rewrite", "answer")
_WITHOUT_ANSWER: Final = frozenset({"unanswerable", "underspecified"})
_CUT: Final = frozenset({"length", "max_tokens"})


@dataclass(frozen=True, slots=True)
class DraftCall:
    """One call in the making of a draft."""

    name: str
    prompt: str
    reply: str
    call_key: str
    tokens_in: int = 0
    tokens_out: int = 0
    example: str = ""
    """Key of the example before the prompt; empty if there was none."""


@dataclass
class Draft:
    """One query about one passage or several."""

    strategy: str
    asked_label: str
    """The label that the query should have."""
    passages: tuple[Passage, ...]
    theme: str = ""
    facts: tuple[str, ...] = ()
    statement: str = ""
    """The source of the question; for statement extraction also its answer."""
    question: str = ""
    answer: str = ""
    history: tuple[Message, ...] = ()
    """The earlier turns, if the query is one of a conversation."""
    rewrite: str = ""
    """The self-contained form of a turn."""
    turns: int = 3
    """Turns of the conversation, if one is written."""
    style: str = ""
    """Who asks, or how; part of the prompts that ask for a question."""
    obtained_label: str = ""
    """The labeller's label; `asked_label` if there is no labeller."""
    ratings: dict[str, float] = field(default_factory=dict)
    """Critique -> rating from 1 to 5; unreadable ratings are left out."""
    reason: str = ""
    """Why the draft is rejected; empty if it is not."""
    notes: list[str] = field(default_factory=list)
    """Remarks for a reader of the file of items."""
    made_passages: tuple[Passage, ...] = ()
    """Passages that were written for the query and belong in the corpus."""
    further: tuple[Passage, ...] = ()
    """Other passages of the corpus that contain the answer, too."""
    labels: dict[str, Any] = field(default_factory=dict)
    steps: list[DraftCall] = field(default_factory=list)
    judging: Cost = field(default_factory=Cost)
    """Cost of labels and ratings."""

    @property
    def item_id(self) -> str:
        """A digest of strategy, label, passages, question and answer."""
        parts = [self.strategy, self.asked_label, *(p.passage_id for p in self.passages)]
        text = "\n".join([*parts, self.question, self.answer])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def reason_alone(self) -> str:
        """The reason without the name of the step in front."""
        return self.reason.partition(": ")[2] or self.reason

    @property
    def values(self) -> dict[str, str]:
        """The variables of prompts."""
        first, *others = [passage.full_text for passage in self.passages]
        return {
            **{name: getattr(self, name) for name in ("theme", "statement", "question", "answer")},
            "passage": first,
            "first": first,
            "second": "".join(others[:1]),
            "facts": "\n".join(f"- {fact}" for fact in self.facts),
            "link": self.labels.get("link", ""),
            "history": "\n".join(
                f"{message.role}: {message.text}"
                for message in (
                    *self.history,
                    Message("user", self.question),
                    Message("agent", self.answer),
                )
            ),
        }

    @property
    def relevant(self) -> tuple[Passage, ...]:
        """The passages that answer the query: those made for it, or else its sources."""
        without = self.asked_label in _WITHOUT_ANSWER
        return () if without else (*(self.made_passages or self.passages), *self.further)

    @property
    def text(self) -> str:
        """The question, in the self-contained form if there is one."""
        return self.rewrite or self.question

    def query(self) -> Query:
        """Return the query of the data set."""
        labels: Mapping[str, Label] = {
            "taxonomy": self.obtained_label or self.asked_label,
            "asked_label": self.asked_label,
            "strategy": self.strategy,
            "answerability": label
            if (label := self.asked_label) in _WITHOUT_ANSWER
            else "answerable",
            **({"asked_by": self.style} if self.style else {}),
            **self.labels,
            **self._place_in_conversation,
        }
        gold = (self.answer,) if self.answer else ()
        return Query(self.item_id, self.question, gold, self.history, self.rewrite, labels)

    @property
    def _place_in_conversation(self) -> dict[str, Label]:
        turn = len(self.history) // 2 + 1
        return {"conversation": self.item_id, "turn": turn} if self.history else {}

    def row(self, model: str) -> dict[str, Any]:
        """Return the draft's row in the file of items."""
        return {
            "item_id": self.item_id,
            "kept": not self.reason,
            "model": model,
            **{one.name: getattr(self, one.name) for one in fields(self)},
            "passages": [{"passage_id": p.passage_id, "text": p.full_text} for p in self.passages],
            "made_passages": [
                {"passage_id": p.passage_id, "text": p.text} for p in self.made_passages
            ],
            "further": [passage.passage_id for passage in self.further],
        }


Read = Callable[[Draft, str, str], None]
"""Reads a reply into a draft, given the instruction's own words; may raise `Rejected`."""


@dataclass(frozen=True)
class QueryWriter:
    """A model that writes test queries, step by step."""

    model: LlmBackend
    services: Services
    prompts: Prompts = field(default_factory=Prompts)
    max_tokens: int = limits.WRITER_TOKENS
    """Maximum length of a reply; some steps need one line and have a lower limit."""
    note: str = ""
    """A sentence at the end of each prompt, such as the language of the replies."""

    def step(
        self,
        name: str,
        drafts: Sequence[Draft],
        read: Read,
        kind: Callable[[Draft], str] = lambda _: "",
    ) -> None:
        """Ask the model about each draft that is not rejected, and read its reply.

        Rejected drafts are skipped. `read` reads the reply into the draft; `kind` returns the label
        that the prompt asks for, if the prompt has the variable `kind`.
        """
        live = [draft for draft in drafts if not draft.reason]
        kinds = [kind(draft) for draft in live]
        keys = [f"{name}/{label}" if label else name for label in kinds]
        prompts = [
            self.prompts.render(name, **draft.values, kind=KINDS.get(label, ""))
            + self._ending(name, draft)
            for draft, label in zip(live, kinds, strict=True)
        ]
        self._ask(name, live, keys, prompts, read)

    def send(
        self, name: str, drafts: Sequence[Draft], prompt: Callable[[Draft], str], read: Read
    ) -> None:
        """Send a trained model its own prompt about each draft that is not rejected."""
        live = [draft for draft in drafts if not draft.reason]
        self._ask(name, live, [name] * len(live), list(map(prompt, live)), read)

    def _ask(
        self,
        name: str,
        live: Sequence[Draft],
        keys: Sequence[str],
        prompts: Sequence[str],
        read: Read,
    ) -> None:
        limit = min(self.max_tokens, _ONE_LINE.get(name, self.max_tokens))
        backend = self.model.with_sampling(max_tokens=limit, stop=())
        requests = [
            Request((*self.prompts.shown(key), ("user", prompt)), backend.sampling)
            for key, prompt in zip(keys, prompts, strict=True)
        ]
        outcomes = backend.ask(requests, self.services, title=f"writing: {name}")
        for draft, key, prompt, outcome in zip(live, keys, prompts, outcomes, strict=True):
            self._take(draft, (name, key), prompt, outcome, read)

    def _ending(self, name: str, draft: Draft) -> str:
        asked_by = (
            f"Word it as this person would: {draft.style}"
            if draft.style and name in _ASKING
            else ""
        )
        return "".join(f"\n\n{text}" for text in (asked_by, self.note) if text)

    def _take(
        self, draft: Draft, named: tuple[str, str], prompt: str, outcome: Outcome, read: Read
    ) -> None:
        """Record one call, and read its reply or the reason for its failure."""
        name, key = named
        shown = key if key in self.prompts.examples else ""
        if isinstance(outcome, Failure):
            draft.steps.append(DraftCall(name, prompt, "", outcome.key, example=shown))
            draft.reason = f"{name}: the call failed: {outcome.reason}"
            return
        used = outcome.tokens_in or 0, outcome.tokens_out or 0
        draft.steps.append(DraftCall(name, prompt, outcome.text, outcome.key, *used, shown))
        text = outcome.text
        if outcome.finish_reason in _CUT:
            draft.notes.append(f"{name}: the reply was cut")
            if name in _WHOLE:
                draft.reason = f"{name}: the reply was cut"
                return
            if name in _LISTS:
                # The last line is incomplete.
                text = text.rpartition("\n")[0] or text
        example = self.prompts.examples.get(key, {}).values()
        own_words = "\n".join([str(getattr(self.prompts, name, "")), *example])
        try:
            read(draft, text, own_words)
            written = "\n".join(getattr(draft, name) for name in _WRITTEN)
            sources = [passage.full_text for passage in draft.passages]
            check_no_example(written, self.prompts.example_names, sources)
            if outcome.finish_reason in _CUT and name in _QUESTIONS:
                check_whole(draft.question)
        except Rejected as error:
            draft.reason = f"{name}: {error}"
