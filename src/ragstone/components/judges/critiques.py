"""critiques: Know Your RAG's eight ratings of a question, its answer and its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall, JudgeReply
from ragstone.components.judges.llm_base import ModelJudge, user_template
from ragstone.components.judges.prompted import SYSTEM
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Rating
from ragstone.core.judge_prompts import JudgePromptFile
from ragstone.core.prompts import Prompt
from ragstone.errors import ConfigError, did_you_mean

SCALE: Final = Rating(1, 5)
_QUERY, _CONTEXT, _ANSWER = {"query": "question"}, {"passages": "context"}, {"answer": "answer"}

CRITIQUES: Final[dict[str, str]] = {
    "question_grounded": user_template(
        "From 1 to 5: how well can the question be answered from this context alone? 5: clearly, "
        "and in one way only. 1: not at all, or it is no question.",
        _QUERY | _CONTEXT,
    ),
    "answer_grounded": user_template(
        "From 1 to 5: how much of what the answer says can be drawn from the context? 5: all of "
        "it, beyond doubt. 1: none of it.",
        _ANSWER | _CONTEXT,
    ),
    "findable": user_template(
        "The context is one of many in a collection. From 1 to 5: how well would a search with "
        "this question find it? 5: the question names what sets this context apart. 1: it would "
        "fit a great many.",
        _QUERY | _CONTEXT,
    ),
    "stand_alone": user_template(
        "From 1 to 5: can the question be understood by somebody who sees nothing else? 5: yes, be "
        "its terms ever so technical. 1: it leans on something unseen, such as `the text`, `this "
        "document`, or an object that it does not name.",
        _QUERY,
    ),
    "question_useful": user_template(
        "The question is meant for a collection of documents. From 1 to 5: of how much use is its "
        "answer to somebody who works in that field? 5: of great use. 1: of none.",
        _QUERY,
    ),
    "context_useful": user_template(
        "The context is part of a collection that people search. From 1 to 5: how much does it "
        "tell somebody who works in that field? 5: several different facts. 1: none.",
        _CONTEXT,
    ),
    "context_clear": user_template(
        "From 1 to 5: how clear is this text? 5: whole sentences, well set, nothing missing. 1: "
        "torn off, garbled or badly set.",
        _CONTEXT,
    ),
    "not_tautological": user_template(
        "From 1 to 5: how much does the answer add to the question? 5: all of it is new. 1: it "
        "repeats what the question says already.",
        _QUERY | _ANSWER,
    ),
}
"""Critique -> user template; 5 is always the best rating."""


@dataclass(frozen=True)
class Critiques(ModelJudge):
    """Ratings from 1 to 5, each a separate metric: `critique:stand_alone` is (r - 1) / 4.

    Teixeira de Lima et al., "Know Your RAG", 2024, appendix I. The answer is the gold answer if the
    item has no answer of a system. A rating that cannot be read is left out with its reason; the
    others count.

    Args:
        critiques: names of the ratings; by default all.
    """

    critiques: tuple[str, ...] = tuple(CRITIQUES)

    name = "critiques"
    schema = SCALE
    variables = ("query", "answer", "passages")
    default_user = CRITIQUES["stand_alone"]

    def __post_init__(self) -> None:
        """Refuse unknown critiques, and a template that would replace all eight."""
        super().__post_init__()
        for name in self.critiques:
            if name not in CRITIQUES:
                raise ConfigError(f"unknown critique {name!r}{did_you_mean(name, CRITIQUES)}")
        if self.user:
            raise ConfigError("judge 'critiques' has eight templates; 'user' cannot replace them")
        _ = self.prompts

    @property
    def own_metrics(self) -> tuple[str, ...]:
        """One metric per critique."""
        return tuple(f"critique:{name}" for name in self.critiques)

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return one call per critique in place of one."""
        return len(self.critiques) * super().cost(n_queries, n_passages)

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """Critique -> its templates."""
        return {name: self.prompt_of(f"critique {name}", f"{name}_user") for name in self.critiques}

    @property
    def templates(self) -> Mapping[str, str]:
        """Name -> text that is sent: one user template per critique."""
        unused = {f"{name}_user" for name in CRITIQUES.keys() - set(self.critiques)}
        return {key: text for key, text in super().templates.items() if key not in unused}

    @classmethod
    def own_prompt(cls) -> JudgePromptFile:
        """Return the judge's own prompt: eight user templates."""
        return JudgePromptFile(judge=cls.name, system=SYSTEM, critiques=CRITIQUES)

    def applicable(self, item: Item) -> list[str]:
        """Return the critiques that the texts of the item allow."""
        present = {
            "query": bool(item.query.text.strip()),
            "answer": bool((item.answer or item.gold).strip()),
            "passages": any(text.strip() for text in item.passages),
        }
        return [
            name
            for name, prompt in self.prompts.items()
            if all(present.get(variable, True) for variable in prompt.variables)
        ]

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call if no critique applies."""
        if not self.applicable(item):
            return Verdict.settled(item, "no text that the critiques rate")
        return None

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call per critique."""
        answer = item.answer or item.gold
        values = {**self.values(item), "answer": answer}
        material = tuple(text for text in (item.query.text, answer, *item.passages) if text)
        return [
            JudgeCall(self.messages(self.prompts[name], SCALE, values), SCALE, material)
            for name in self.applicable(item)
        ]

    def verdict_of(self, item: Item, replies: Sequence[JudgeReply[Any]]) -> Verdict:
        """Return one part per readable critique, and their mean as the value."""
        by_name = dict(zip(self.applicable(item), replies, strict=True))
        parts = {
            f"critique:{name}": SCALE.share(reply.value)
            for name, reply in by_name.items()
            if reply.value is not None
        }
        reason = "; ".join(f"{name}: {r.reason}" for name, r in by_name.items() if r.reason)
        if not parts:
            return Verdict.failed(item, reason)
        mean = sum(parts.values()) / len(parts)
        return Verdict(item.item_id, mean, parts=parts, reason=reason)
