"""The schemes that come with Ragstone."""

from __future__ import annotations

from typing import Final

from ragstone.annotation.schemes import Option, Question, Scheme

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
    "A gold answer that occurs in a passage is not support by itself: the passage must state that "
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
_FIVE: Final = tuple(Option(point) for point in range(1, 6))
RATINGS: Final = Scheme(
    "fanc",
    tuple(Question(name, text, "answer", options=_POINTS) for name, text in _FANC.items()),
    "Rate each answer on four scales.",
)
RATINGS_5: Final = Scheme(
    "fanc-1-5",
    tuple(Question(name, text, "answer", options=_FIVE) for name, text in _FANC.items()),
    "Rate each answer on four scales from 1 (no) to 5 (yes).",
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
NUGGETS: Final = Scheme(
    "nuggets",
    (
        Question(
            "nugget",
            "Mark or write each statement that can be checked by itself; split long ones.",
            kind="parts",
        ),
        Question(
            "importance",
            "Must a good answer have it?",
            "part",
            options=(
                Option("vital", "an answer without it is not complete"),
                Option("okay", "worth having, not required"),
            ),
        ),
        Question(
            "supported",
            "Do the passages state it?",
            "part",
            options=(
                Option("yes", "the passages state all of it"),
                Option("partly", "the passages state a part of it"),
                Option("no", "the passages do not state it"),
            ),
            optional=True,
        ),
    ),
    "Which statements are there, and which of them matter?",
    "A statement has one fact, and can be understood without the others.",
)
CAUSES: Final = Scheme(
    "causes",
    (
        Question(
            "cause",
            "Why is the answer wrong?",
            options=(
                Option("retrieval_miss", "no gold passage was found", "not found"),
                Option("ranking", "a gold passage was found, below the cut", "ranked too low"),
                Option("reranking", "a reranker moved it below the cut", "reranked too low"),
                Option("processing", "a processor cut the gold answer away", "cut away"),
                Option("query_rewriting", "the search text lost what was meant", "search text"),
                Option("distraction", "the other passages led it astray", "distracted"),
                Option("reading", "it misread a passage that has the answer", "misread"),
                Option("knowledge_conflict", "it knew better than the passages", "own knowledge"),
                Option("missed_refusal", "it answers what cannot be answered", "no refusal"),
                Option("false_refusal", "it declines though it has the answer", "refusal"),
                Option("failure", "there is no answer: the call failed", "failed"),
                Option("label_suspect", "the gold answer is doubtful", "gold is doubtful"),
                Option("undecided", "none of these, or it cannot be said", "cannot tell"),
                Option("chunk_border", "the answer continues in the next passage", "chunk border"),
                Option("incomplete", "some required facts are missing", "incomplete"),
                Option("insufficient_context", "the passages do not suffice", "too little shown"),
            ),
        ),
    ),
    "Why is the answer wrong?",
    "Name the first step of the pipeline at which the answer was lost.",
)
VALIDATION: Final = Scheme(
    "validation",
    (
        Question(
            "verdict",
            "Can the query be used?",
            options=(
                Option("keep", "the query and its answer are right, as edited", "Keep"),
                Option("reject", "it cannot be repaired", "Reject"),
            ),
        ),
        *(
            Question(name, text, options=_FIVE, optional=True)
            for name, text in {
                "question_grounded": "the passage alone answers the query, in one way only",
                "stand_alone": "the query can be understood by somebody who sees nothing else",
                "question_useful": "people in that field would ask it",
                "answer_grounded": "all of the answer follows from the passage",
            }.items()
        ),
        Question("query", "The query, repaired", kind="text", start="query", optional=True),
        Question("answer", "The answer, repaired", kind="text", start="answer", optional=True),
    ),
    "Is this generated query good?",
    "Repair a query or an answer that is nearly right; reject what nobody would ask.",
    each="query",
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
    each="query",
)
"""The labels of a turn are mtRAG's."""
FINDINGS: Final = Scheme(
    "findings",
    (
        Question(
            "fault",
            "Is it a fault of the data set?",
            options=(
                Option("yes", "the data set has to be changed", "Fault"),
                Option("no", "it is right as it is", "No fault"),
                Option("cannot tell", "somebody else has to decide", "Cannot tell"),
            ),
        ),
    ),
    "Is it a fault of the data set?",
    each="query",
)
