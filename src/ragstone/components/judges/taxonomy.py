"""taxonomy: the kind of question with regard to its context. Know Your RAG's four labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.llm_base import ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice

LABELS: Final = ("fact_single", "summary", "reasoning", "unanswerable")


@dataclass(frozen=True)
class Taxonomy(ModelJudge):
    """A label for (context, query); the metric of each label is 1 or 0, so its mean is a share.

    Teixeira de Lima et al., "Know Your RAG", 2024: fact_single, summary, reasoning, unanswerable.
    """

    name = "taxonomy"
    schema = Choice(LABELS, {"fact_single": ("fact single", "fact-single")})
    own_metrics = tuple(f"taxonomy:{label}" for label in LABELS)
    needs = frozenset({"passages"})
    default_user = user_template(
        "Where does the answer to the question stand in the context? Choose one:\n"
        "- fact_single: stated outright, and it is one simple value such as a name or a number;\n"
        "- summary: stated outright, but it has several parts: a list, a procedure, a digest;\n"
        "- reasoning: not stated, but it follows from what the context says;\n"
        "- unanswerable: neither stated nor to be concluded from the context.",
        {"query": "question", "passages": "context"},
    )

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the label, and 1 or 0 per label."""
        label = str(values[0])
        parts = {f"taxonomy:{name}": float(name == label) for name in LABELS}
        return Verdict(item.item_id, parts[f"taxonomy:{label}"], label, parts)
