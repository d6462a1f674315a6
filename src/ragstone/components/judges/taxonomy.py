"""taxonomy: what kind of question this is to this context. Know Your RAG's four labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ragstone.components.judges.llm_base import ModelJudge, unscored, user_template
from ragstone.components.judges.questions import Answered
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema

LABELS: Final = ("fact_single", "summary", "reasoning", "unanswerable")


@dataclass(frozen=True)
class Taxonomy(ModelJudge):
    """A label for (context, query); each label's metric is 1 or 0, so that its mean is its share.

    Teixeira de Lima et al., "Know Your RAG", 2024: fact_single, summary, reasoning, unanswerable.
    """

    name: ClassVar[str] = "taxonomy"
    form: ClassVar[VerdictSchema[Any]] = Choice(
        LABELS, {"fact_single": ("fact single", "fact-single")}
    )
    needs: ClassVar[frozenset[str]] = frozenset({"passages"})
    scores_itself: ClassVar[bool] = False
    variables: ClassVar[tuple[str, ...]] = ("query", "passages")
    own_user: ClassVar[str] = user_template(
        "Where does the answer to the question stand in the context? Choose one:\n"
        "- fact_single: stated outright, and it is one simple value such as a name or a number;\n"
        "- summary: stated outright, but it has several parts: a list, a procedure, a digest;\n"
        "- reasoning: not stated, but it follows from what the context says;\n"
        "- unanswerable: neither stated nor to be concluded from the context.",
        query="question",
        passages="context",
    )

    def verdict(self, item: Item, answered: Sequence[Answered[Any]]) -> Verdict:
        """Return the label, and 1 or 0 for each label there is."""
        failed = unscored(item, answered)
        if failed is not None:
            return failed
        label = str(answered[0].value)
        parts = {f"taxonomy:{one}": float(one == label) for one in LABELS}
        return Verdict(item.item_id, parts[f"taxonomy:{label}"], label, parts)
