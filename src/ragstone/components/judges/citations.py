"""citation-support: whether the passages that a sentence cites support it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import ModelJudge, Refusals, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice

GRADES: Final = {"full": 1.0, "partial": 0.5, "none": 0.0}


@dataclass(frozen=True)
class CitationSupport(ModelJudge):
    """The mean support of citing sentences by the passages that they cite.

    Grades are full 1, partial 0.5, none 0. Citations are numbers of passages in brackets: [1],
    [2, 3], [1-3], [^1^], or (1) in an answer without square brackets. A citation of a passage
    that is not in the context counts as no support, without a call. The part
    `citation-support:cited` is the share of sentences that cite.
    """

    explain: bool = False
    max_tokens: int = 64
    refusals: Refusals = "unscored"

    name = "citation-support"
    schema = Choice(tuple(GRADES))
    needs = frozenset({"answer", "passages"})
    part_metrics = ("citation-support:cited",)
    default_user = user_template(
        "How far do the passages bear out the sentence? full: all it says stands there or follows; "
        "partial: some of it; none: nothing, or the contrary.",
        {"sentence": "sentence", "passages": "passages it cites"},
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for an answer that cites nothing."""
        known = super().without_call(item)
        if known is None and not any(cited for _, cited in item.sentences):
            return Verdict.settled(item, "the answer cites no passage")
        return known

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call per sentence that cites a passage of the context."""
        calls = []
        for sentence, cited in item.sentences:
            shown = [item.passages[n - 1] for n in cited if 1 <= n <= len(item.passages)]
            if shown:
                values = {"sentence": sentence, "passages": "\n\n".join(shown)}
                calls.append(self.judge_call(self.schema, values, (sentence, *shown)))
        return calls

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the mean grade over the sentences that cite."""
        found = item.sentences
        citing = sum(bool(cited) for _, cited in found)
        value = sum(GRADES[grade] for grade in values) / citing
        return Verdict(item.item_id, value, parts={"citation-support:cited": citing / len(found)})
