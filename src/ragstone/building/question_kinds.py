"""Writers of comparisons, false premises, underspecified questions and turns of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.multi_hop_links import linked, names
from ragstone.building.pairs import GROUNDED, check_both_needed, take_pair
from ragstone.building.reply_parsing import (
    Rejected,
    check_grounded,
    check_not_given,
    read_pair,
    read_question,
    read_turn,
)
from ragstone.text.normalise import ENGLISH, pieces
from ragstone.types import Message

_GENERAL: Final = ENGLISH | frozenset(pieces("who what when where which why how whose"))


def write_comparison(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write one question that compares something of one passage with something of the other."""
    for draft in drafts:
        draft.labels["link"] = linked(draft.passages)[0][2]
    writer.step("comparison", drafts, _take_comparison)


def _take_comparison(draft: Draft, reply: str, prompt: str) -> None:
    draft.question, draft.answer = read_pair(reply, prompt)
    # An answer such as "yes" or "the older one" has no word of a passage: the question must.
    check_both_needed(draft, draft.question)


def write_false_premise(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write a question that takes something false for granted, and the correction as its answer."""
    writer.step("false_premise", drafts, _take_false_premise)


def _take_false_premise(draft: Draft, reply: str, prompt: str) -> None:
    draft.question, draft.answer = read_pair(reply, prompt)
    check_not_given(draft.question, draft.answer)
    text = draft.passages[0].full_text
    check_grounded(draft.answer, [text], GROUNDED)
    known, asked = set(pieces(text)), _content(draft.question)
    if not asked & known:
        raise Rejected("the question has nothing of the passage")
    if not _content(draft.answer) & known - asked:
        raise Rejected("the answer corrects nothing by the passage")


def write_underspecified(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write a simple question, then the same one without the words that make it clear.

    There is no gold answer: the right reply asks for clarification. The label `specified_as` has
    the simple question, `specified_answer` its answer.
    """
    writer.step("single", drafts, take_pair, lambda _: "fact_single")
    writer.step("underspecified", drafts, _take_underspecified)


def _take_underspecified(draft: Draft, reply: str, prompt: str) -> None:
    clear, answer = draft.question, draft.answer
    short = read_question(reply, prompt)
    dropped = _content(clear) - set(pieces(short))
    if not dropped:
        raise Rejected("the question leaves nothing out")
    if added := _content(short) - set(pieces(clear)):
        raise Rejected(f"the question has new words: {', '.join(sorted(added))}")
    if kept := [name for name in names(clear) if name in short]:
        raise Rejected(f"the question still has a name: {kept[0]}")
    draft.question, draft.answer = short, ""
    draft.labels |= {"specified_as": clear, "specified_answer": answer}


def write_multi_turn(drafts: Sequence[Draft], writer: QueryWriter) -> None:
    """Write a simple question, then the next ones of a conversation; the last one is the query."""
    writer.step("single", drafts, take_pair, lambda _: "fact_single")
    for turn in range(2, max((draft.turns for draft in drafts), default=1) + 1):
        writer.step("dependent_turn", [d for d in drafts if d.turns >= turn], _take_turn)


def _take_turn(draft: Draft, reply: str, prompt: str) -> None:
    before = (*draft.history, Message("user", draft.question), Message("agent", draft.answer))
    question, rewrite, answer = read_turn(reply, prompt)
    if pieces(question) == pieces(rewrite):
        raise Rejected("the question does not depend on the conversation")
    asked = [pieces(message.text) for message in before]
    if pieces(question) in asked or pieces(rewrite) in asked or pieces(answer) in asked:
        raise Rejected("the turn repeats an earlier one")
    check_not_given(rewrite, answer)
    check_grounded(answer, [draft.passages[0].full_text], GROUNDED)
    draft.history, draft.question, draft.rewrite, draft.answer = before, question, rewrite, answer


def _content(text: str) -> set[str]:
    return set(pieces(text)) - _GENERAL
