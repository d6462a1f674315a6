"""The tasks, each with its own scheme, and schemes from files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ragstone.annotation.schemes import Option, Question, Scheme, TaskName
from ragstone.core.own_files import read_model
from ragstone.errors import ConfigError, did_you_mean

SUPPORT: Final = Scheme(
    "support",
    (
        Question(
            "support",
            "Does the passage answer the query?",
            options=(
                Option("yes", "the passage has the whole answer", "Yes"),
                Option("partly", "the passage has a part of the answer", "Partly"),
                Option("no", "the passage has no part of the answer", "No"),
                Option("cannot tell", "the query or the passage is unclear", "Cannot tell"),
            ),
        ),
    ),
    "Does the passage answer the query?",
    "A gold answer that occurs in a passage is no support by itself: the passage must state that "
    "it is the answer to this query.",
)
_POINTS: Final = (
    *(Option(1, name="no"), Option(2, name="partly")),
    *(Option(3, name="mostly"), Option(4, name="yes")),
)
_FANC: Final = {
    "faithfulness": "every statement is supported by the passages",
    "appropriateness": "it answers the query, in form and length",
    "naturalness": "the language is fluent",
    "completeness": "no needed fact is missing",
}
RATINGS: Final = Scheme(
    "fanc",
    tuple(Question(name, text, "answer", options=_POINTS) for name, text in _FANC.items()),
    "Rate each answer on four scales.",
)
PAIRWISE: Final = Scheme(
    "pairwise",
    (
        Question(
            "better",
            "Which answer is better?",
            "pair",
            options=(
                Option("a", "the left answer is better", "Left"),
                Option("tie", "both good or both bad", "Tie"),
                Option("b", "the right answer is better", "Right"),
            ),
        ),
    ),
    "Which answer is better?",
)
LABELS: Final = Scheme(
    "relevance",
    (
        Question(
            "relevance",
            "How relevant is the passage to the query?",
            options=(
                Option(0, "not about the query", "not relevant"),
                Option(1, "about the subject, without an answer", "related"),
                Option(2, "a part of the answer, or an unclear one", "partly"),
                Option(3, "the answer, clearly", "fully"),
            ),
        ),
    ),
    "How relevant is the passage to the query?",
)
_QUESTION_TYPES: Final = {
    "factoid": "one fact, such as a name, a number or a date",
    "explanation": "why or how something is so",
    "summarization": "the main points about a subject",
    "how-to": "the steps of doing something",
    "comparative": "how two or more things differ",
    "opinion": "a judgement, a recommendation or a preference",
    "keyword": "a few search words without a sentence",
    "composite": "two or more questions",
    "troubleshooting": "something does not work, and a remedy is asked for",
    "non-question": "a statement, thanks or a greeting that asks nothing",
}
CONVERSATION: Final = Scheme(
    "conversation",
    (
        Question(
            "answerability",
            "Can the query be answered from the passages?",
            "turn",
            options=(
                Option("answerable", "the passages have the whole answer"),
                Option("partial", "the passages have a part of the answer", "partly answerable"),
                Option("unanswerable", "the passages have no part of the answer"),
                Option("conversational", "it asks nothing: thanks or a greeting"),
            ),
        ),
        Question(
            "question_type",
            "Types of the query",
            "turn",
            "choices",
            tuple(Option(value, words) for value, words in _QUESTION_TYPES.items()),
        ),
        Question(
            "multi_turn",
            "How does the query follow from earlier turns?",
            "turn",
            options=(
                Option("follow-up", "it continues the subject"),
                Option("clarification", "it asks about the last answer, or corrects it"),
                Option("topic-shift", "it begins another subject", "new topic"),
            ),
        ),
        Question(
            "standalone",
            "Can the query be understood without earlier turns?",
            "turn",
            options=(Option("yes", name="stands alone"), Option("no", name="needs the history")),
            optional=True,
        ),
    ),
    "Write a conversation with the agent.",
    "Ask as a person would who needs to know. Mark every passage. Correct an answer that is wrong, "
    "incomplete or not supported by the passages.",
)
"""The labels of a turn are mtRAG's."""
OWN: Final[dict[TaskName, Scheme]] = {
    "support": SUPPORT, "ratings": RATINGS, "pairwise": PAIRWISE, "labels": LABELS,
    "conversation": CONVERSATION,
}  # fmt: skip
"""Task -> its own scheme."""


def scheme_of(task: TaskName, written: str, folder: Path) -> Scheme:
    """Return the scheme that a project names: a file beside it, a name, or "" for the task's own.

    Raises `ConfigError` if there is no such scheme.
    """
    if not written:
        return OWN[task]
    if written.endswith((".yaml", ".yml")):
        return read_model(folder / written, "scheme", Scheme)
    known = {one.name: one for one in OWN.values()}
    if written not in known:
        near = did_you_mean(written, known)
        raise ConfigError(f"there is no scheme {written!r}{near}", key="scheme", value=written)
    return known[written]
