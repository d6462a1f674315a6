"""The dialogue act of a user's turn, by rules on its text.

The rules need no label, so that data sets with and without labels compare. In languages other than
English they know question marks and lengths only.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, get_args

DialogueAct: TypeAlias = Literal["question", "statement", "short follow-up", "clarification"]
ACTS: Final[tuple[DialogueAct, ...]] = get_args(DialogueAct)
_SHORT: Final = 3
"""Maximum number of words of a short follow-up."""
_CLARIFIES: Final = re.compile(
    r"(?:(?:no|sorry|actually|well|ok|okay|oh|but|so)\b[\s,.:;!-]*)*"
    r"(?:i (?:just )?mean\b|i meant\b|i was (?:asking|talking|referring)|what (?:do|did) you mean"
    r"|(?:can|could) you (?:please )?(?:clarify|explain that|be more specific|elaborate)"
    r"|(?:that is|that's) not what|(?:in other words|to clarify|let me (?:rephrase|clarify)))"
    r"|no\s*[,.!]",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"(?:and |but |so |then |also |ok |okay |well )?(?:who|whom|whose|what|what's|when|where|which"
    r"|why|how|is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might|has|have"
    r"|had)\b",
    re.IGNORECASE,
)
_MARKS: Final = (
    "?",
    "\N{FULLWIDTH QUESTION MARK}",
    "\N{ARABIC QUESTION MARK}",
    "\N{GREEK QUESTION MARK}",
)


def dialogue_act(text: str, *, first: bool) -> DialogueAct:
    """Return the dialogue act of a user's turn.

    Args:
        text: the turn.
        first: whether the turn opens its conversation: such a turn follows nothing up.

    >>> turns = "Where does it end?", "And in winter?", "No, the other."
    >>> [dialogue_act(turn, first=False) for turn in turns]
    ['question', 'short follow-up', 'clarification']
    >>> dialogue_act("Tell me about the history of Lisbon.", first=True)
    'statement'
    """
    line = " ".join(text.split())
    if not first and _CLARIFIES.match(line):
        return "clarification"
    if not first and len(line.split()) <= _SHORT:
        return "short follow-up"
    asks = line.rstrip(" \"')").endswith(_MARKS) or _ASKS.match(line)
    return "question" if asks else "statement"
