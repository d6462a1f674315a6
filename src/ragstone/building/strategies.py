"""Strategies of writing queries: how each kind of query is written, and all kinds together.

Statement extraction is that of Know Your RAG (2024), section 6: first the answer, a statement of
the passage, and then the question, from the statement alone.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.multi_hop_links import linked
from ragstone.building.pairs import GROUNDED, check_both_needed, take_pair
from ragstone.building.question_kinds import (
    write_comparison,
    write_false_premise,
    write_multi_turn,
    write_underspecified,
)
from ragstone.building.reply_parsing import (
    Rejected,
    check_grounded,
    check_not_given,
    checked_answer,
    read_line,
    read_question,
    read_statements,
)
from ragstone.components.llm import LlmBackend
from ragstone.text.normalise import pieces
from ragstone.types import Passage

Unit = tuple[Passage, ...]
"""The passages of one query."""
_SPAN_WORDS: Final = 8


def _single_passages(passages: Sequence[Passage]) -> list[Unit]:
    return [(passage,) for passage in passages]


@dataclass(frozen=True)
class Strategy:
    """A way of writing queries."""

    labels: tuple[str, ...]
    """The labels of its queries, the usual one first."""
    write: Callable[[Sequence[Draft], QueryWriter], None]
    """Writes the drafts' questions and answers, or the reasons why there are none."""
    all_units: Callable[[Sequence[Passage]], list[Unit]] = _single_passages
    steps: int = 1
    """Most calls that write one query; a conversation has one per turn."""
    parts: Mapping[str, Strategy] = field(default_factory=dict)
    """Label -> the strategy that writes its queries, if it is another one."""
    model: LlmBackend | None = None
    """The model that writes, if it is a part of the strategy."""

    def with_model(self, writer: QueryWriter) -> QueryWriter:
        """Return the writer, with the strategy's own model if it has one."""
        if self.model is None:
            return writer
        # It has learnt from passages alone: neither examples nor a language belong to it.
        prompts = replace(writer.prompts, examples={}, language="any")
        return replace(writer, model=self.model, prompts=prompts)

    def part(self, label: str) -> Strategy:
        """Return the strategy that writes the queries of a label."""
        return self.parts.get(label, self)

    def units(self, passages: Sequence[Passage], seed: int) -> list[Unit]:
        """Return the passages of each query, in random order."""
        units = self.all_units(passages)
        return random.Random(seed).sample(units, len(units))  # noqa: S311 - not a secret


def _asked_for(drafts: Sequence[Draft], label: str) -> list[Draft]:
    return [draft for draft in drafts if draft.asked_label == label]


def _write_pairs(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write question and answer by one prompt, as in cookbooks."""
    writer.step("single", drafts, take_pair, lambda draft: draft.asked_label)


def _write_statements(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write theme, facts, summaries or conclusions; then the question to one of them."""
    writer.step("theme", drafts, _take_theme)
    writer.step("facts", drafts, _take_facts)
    writer.step("summaries", _asked_for(drafts, "summary"), _take_combined)
    writer.step("conclusions", _asked_for(drafts, "reasoning"), _take_combined)
    writer.step("question", drafts, _take_question)


def _take_theme(draft: Draft, reply: str, prompt: str) -> None:
    draft.theme = read_line(reply, prompt).rstrip(".")


def _take_facts(draft: Draft, reply: str, prompt: str) -> None:
    found, problem = [], "the passage's title alone"
    title = pieces(draft.passages[0].title)
    for statement in read_statements(reply, prompt):
        if pieces(statement) == title:
            continue
        try:
            check_grounded(statement, [draft.passages[0].full_text, draft.theme], GROUNDED)
        except Rejected as error:
            problem = str(error)
        else:
            found.append(statement)
    if not found:
        raise Rejected(f"no statement of the passage: {problem}")
    draft.facts = tuple(found)
    if draft.asked_label == "fact_single":
        draft.statement = _chosen(draft, draft.facts)
    elif len(found) < 2:  # noqa: PLR2004 - a combination needs two
        raise Rejected(f"one fact is not enough for a {draft.asked_label}")


def _take_combined(draft: Draft, reply: str, prompt: str) -> None:
    new = [s for s in read_statements(reply, prompt) if s not in draft.facts]
    if not new:
        raise Rejected("the statements only repeat the facts")
    draft.statement = _chosen(draft, new)


def _take_question(draft: Draft, reply: str, prompt: str) -> None:
    draft.question, draft.answer = read_question(reply, prompt), draft.statement
    check_not_given(draft.question, draft.answer)


def _chosen(draft: Draft, statements: Sequence[str]) -> str:
    """Choose one at random, always the same one for a passage and a label."""
    seed = f"{draft.passages[0].passage_id}\n{draft.asked_label}"
    return statements[int(hashlib.sha256(seed.encode()).hexdigest(), 16) % len(statements)]


def _write_evolution(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write a simple question, then a harder one from it: with reasoning, or one more condition.

    After Evol-Instruct (Xu and others, 2023), for questions that one passage answers.
    """
    _write_simple(drafts, writer)
    writer.step("reasoning", _asked_for(drafts, "reasoning"), _take_evolved)
    writer.step("constraint", _asked_for(drafts, "fact_single"), _take_evolved)


def _write_simple(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    writer.step("single", drafts, take_pair, lambda _: "fact_single")


def _take_evolved(draft: Draft, reply: str, prompt: str) -> None:
    simple = draft.question
    draft.labels["evolved_from"] = simple
    take_pair(draft, reply, prompt)
    if draft.question.lower() == simple.lower():
        raise Rejected("the question is still the simple one")


def _write_adversarial(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write questions that the passage only seems to answer, and passages with a changed fact.

    A counterfactual passage is the passage with the answer replaced by another one of its kind. The
    query's gold answer is the new one; its label `true_answer` is the old one.
    """
    writer.step("near_miss", _asked_for(drafts, "unanswerable"), _take_near_miss)
    other = _asked_for(drafts, "counterfactual")
    _write_simple(other, writer)
    for draft in other:
        _keep_spans(draft)
    writer.step("counterfactual", other, _take_counterfactual)


def _take_near_miss(draft: Draft, reply: str, prompt: str) -> None:
    draft.question = read_question(reply, prompt)
    draft.labels["near_miss_of"] = draft.passages[0].passage_id


def _keep_spans(draft: Draft) -> None:
    if draft.reason:
        return
    if len(draft.answer.split()) > _SPAN_WORDS:
        draft.reason = f"counterfactual: the answer has more than {_SPAN_WORDS} words"
    elif draft.answer not in draft.passages[0].text:
        draft.reason = "counterfactual: the passage does not contain the answer verbatim"


def _take_counterfactual(draft: Draft, reply: str, prompt: str) -> None:
    new = checked_answer(read_line(reply, prompt), prompt).rstrip(".")
    passage, old = draft.passages[0], draft.answer
    if new.lower() == old.lower() or new in passage.text:
        raise Rejected("the other answer is also in the passage")
    if len(new.split()) > 2 * _SPAN_WORDS:
        raise Rejected(f"the other answer has more than {2 * _SPAN_WORDS} words")
    text = passage.text.replace(old, new)
    draft.made_passages = (
        replace(passage, passage_id=f"{passage.passage_id}~{draft.item_id}", text=text),
    )
    draft.labels |= {"true_answer": old, "counterfactual_of": passage.passage_id}
    draft.statement, draft.answer = text, new


def _linked_pairs(passages: Sequence[Passage]) -> list[Unit]:
    return [(one, other) for one, other, _ in linked(passages)]


def _write_multi_hop(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write one question that needs two passages with a rare name in common."""
    for draft in drafts:
        draft.labels["link"] = linked(draft.passages)[0][2]
    writer.step("multi_hop", drafts, _take_multi_hop)


def _take_multi_hop(draft: Draft, reply: str, prompt: str) -> None:
    take_pair(draft, reply, prompt)
    check_both_needed(draft, f"{draft.question} {draft.answer}")


def _write_mixed(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Let the strategy of each label write its drafts."""
    for label in dict.fromkeys(draft.asked_label for draft in drafts):
        STRATEGIES["mixed"].part(label).write(_asked_for(drafts, label), writer)


_STATED: Final = ("fact_single", "summary", "reasoning")
_ONE_KIND: Final[Mapping[str, Strategy]] = {
    "statements": Strategy(_STATED, _write_statements, steps=4),
    "single": Strategy(_STATED, _write_pairs),
    "evolution": Strategy(("reasoning", "fact_single"), _write_evolution, steps=2),
    "adversarial": Strategy(("unanswerable", "counterfactual"), _write_adversarial, steps=2),
    "multi-hop": Strategy(("multi_hop",), _write_multi_hop, _linked_pairs),
    "comparison": Strategy(("comparison",), write_comparison, _linked_pairs),
    "false-premise": Strategy(("false_premise",), write_false_premise),
    "underspecified": Strategy(("underspecified",), write_underspecified, steps=2),
    "multi-turn": Strategy(("multi_turn",), write_multi_turn),
}
_MIXED: Final = (
    "statements",
    "comparison",
    "multi-hop",
    "adversarial",
    "false-premise",
    "underspecified",
    "multi-turn",
)
_PARTS: Final = {
    label: _ONE_KIND[name]
    for name in _MIXED
    for label in _ONE_KIND[name].labels
    if label != "counterfactual"  # It changes the corpus.
}
STRATEGIES: Final[Mapping[str, Strategy]] = {
    **_ONE_KIND,
    "mixed": Strategy(tuple(_PARTS), _write_mixed, parts=_PARTS),
}
