"""A test query on its way: what it is made of, every call that made it, and why it was rejected."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ragstone.building.prompts import Prompts
from ragstone.building.reply_parsing import Rejected, check_whole
from ragstone.calls.types import Endpoint, Failure, Outcome, Request, Sampling
from ragstone.components.judges.questions import Asker
from ragstone.components.judges.verdict import Cost
from ragstone.core import limits
from ragstone.types import Passage, Query

_ONE_LINE: Final = {"theme": 24, "question": 64, "near_miss": 64, "counterfactual": 32}
"""Step -> tokens of its reply at most."""
_LISTS: Final = frozenset({"facts", "summaries", "conclusions"})
_QUESTIONS: Final = frozenset({"question", "near_miss"})
_CUT: Final = frozenset({"length", "max_tokens"})


@dataclass(frozen=True, slots=True)
class Step:
    """One call that a query is owed to."""

    name: str
    prompt: str
    reply: str
    call_key: str
    tokens_in: int = 0
    tokens_out: int = 0
    example: str = ""
    """Which example was shown before the prompt; empty where there was none."""


@dataclass
class Draft:
    """One query to be written about one passage, or about several."""

    strategy: str
    asked: str
    """The label it was asked to have."""
    passages: tuple[Passage, ...]
    theme: str = ""
    facts: tuple[str, ...] = ()
    statement: str = ""
    """What the question was made from; its answer where the strategy is statement extraction."""
    question: str = ""
    answer: str = ""
    obtained: str = ""
    """The label that a labeller gave it; that asked for where there is no labeller."""
    ratings: dict[str, float] = field(default_factory=dict)
    """Critique -> rating from 1 to 5; one that could not be read is not there."""
    reason: str = ""
    """Why it is rejected; empty while it is not."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know of it, kept or not."""
    made: tuple[Passage, ...] = ()
    """Passages that were written for it and belong into the corpus."""
    labels: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    judging: Cost = field(default_factory=Cost)
    """What labelling and rating it came to."""

    @property
    def item_id(self) -> str:
        """What it is known by: equal for equal strategy, label, passages, question and answer."""
        made_of = [self.strategy, self.asked, *(p.passage_id for p in self.passages)]
        text = "\n".join([*made_of, self.question, self.answer])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def relevant(self) -> tuple[Passage, ...]:
        """The passages that answer it: those made for it, else those it was made from."""
        return () if self.asked == "unanswerable" else self.made or self.passages

    @property
    def tokens(self) -> int:
        """Tokens read and written by the model for it."""
        return sum(step.tokens_in + step.tokens_out for step in self.steps)

    def query(self) -> Query:
        """Return it as a query of a data set."""
        labels: Mapping[str, Any] = {
            "taxonomy": self.obtained or self.asked,
            "asked_label": self.asked,
            "strategy": self.strategy,
            "answerability": "unanswerable" if self.asked == "unanswerable" else "answerable",
            **self.labels,
        }
        return Query(
            self.item_id, self.question, (self.answer,) if self.answer else (), labels=labels
        )

    def row(self, model: str) -> dict[str, Any]:
        """Return all that is known of it, for the file of items."""
        return {
            "item_id": self.item_id,
            "kept": not self.reason,
            "reason": self.reason,
            "notes": self.notes,
            "strategy": self.strategy,
            "model": model,
            "asked_label": self.asked,
            "obtained_label": self.obtained,
            "question": self.question,
            "answer": self.answer,
            "theme": self.theme,
            "facts": self.facts,
            "statement": self.statement,
            "ratings": self.ratings,
            "labels": self.labels,
            "passages": [{"passage_id": p.passage_id, "text": p.full_text} for p in self.passages],
            "made_passages": [{"passage_id": p.passage_id, "text": p.text} for p in self.made],
            "steps": self.steps,
            "judging": self.judging,
        }


Ask = Callable[[Draft], str]
Read = Callable[[Draft, str, str], None]
"""What takes a draft, the reply and the instruction's own words, and raises `Rejected`."""


@dataclass(frozen=True)
class Writer:
    """A model that writes test queries, step by step."""

    endpoint: Endpoint
    calls: Asker
    prompts: Prompts = field(default_factory=Prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=limits.WRITER_TOKENS))

    def _sampling(self, name: str) -> Sampling:
        """Return how a step is asked: what is to be one line gets no more room than that."""
        most = self.sampling.max_tokens
        if name not in _ONE_LINE or (most is not None and most <= _ONE_LINE[name]):
            return self.sampling
        return replace(self.sampling, max_tokens=_ONE_LINE[name])

    def step(
        self, name: str, drafts: Sequence[Draft], ask: Ask, read: Read, example: Ask | None = None
    ) -> None:
        """Ask the model about every draft that is not rejected, and take in what it says.

        Args:
            name: of the prompt.
            drafts: those rejected already are passed over.
            ask: the prompt of a draft.
            read: what takes in the reply.
            example: the key of the example to show, where it is not the name.
        """
        live = [draft for draft in drafts if not draft.reason]
        keys = [example(draft) if example else name for draft in live]
        prompts = [ask(draft) for draft in live]
        sampling = self._sampling(name)
        requests = [
            Request((*self.prompts.shown(key), ("user", prompt)), sampling)
            for key, prompt in zip(keys, prompts, strict=True)
        ]
        outcomes = self.calls.ask(self.endpoint, requests, title=f"writing: {name}")
        for draft, key, prompt, outcome in zip(live, keys, prompts, outcomes, strict=True):
            self._take(draft, (name, key), prompt, outcome, read)

    def _take(
        self, draft: Draft, named: tuple[str, str], prompt: str, outcome: Outcome, read: Read
    ) -> None:
        """Note one call, and read what it gave or the reason why there is nothing."""
        name, key = named
        shown = key if key in self.prompts.examples else ""
        if isinstance(outcome, Failure):
            draft.steps.append(Step(name, prompt, "", outcome.key, example=shown))
            draft.reason = f"{name}: the call failed: {outcome.reason}"
            return
        used = outcome.tokens_in or 0, outcome.tokens_out or 0
        draft.steps.append(Step(name, prompt, outcome.text, outcome.key, *used, shown))
        text = outcome.text
        if outcome.finish_reason in _CUT:
            draft.notes.append(f"{name}: the reply was cut")
            if name in _LISTS:
                # The last line is torn.
                text = text.rpartition("\n")[0] or text
        own_words = [str(getattr(self.prompts, name)), *self.prompts.examples.get(key, {}).values()]
        try:
            read(draft, text, "\n".join(own_words))
            if outcome.finish_reason in _CUT and name in _QUESTIONS:
                check_whole(draft.question)
        except Rejected as error:
            draft.reason = f"{name}: {error}"
