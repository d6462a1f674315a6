"""ragchecker: claims of answer and gold answer, and their entailments; RAGChecker's suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ragstone.components.judges.claims_base import SPELLINGS, ClaimsJudge, numbered
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import Refusals, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Listing, Numbered
from ragstone.statistics.claims import Entailed, claim_metrics

_PARTS: Final = (
    *("f1", "precision", "recall", "claim-recall", "context-precision", "context-utilisation"),
    *("noise-sensitivity-relevant", "noise-sensitivity-irrelevant", "hallucination"),
    "self-knowledge",
)
FAITHFULNESS: Final = "ragchecker-faithfulness"


@dataclass(frozen=True)
class RagChecker(ClaimsJudge):
    """Claims of the answer and of the first gold answer, each checked against what may entail it.

    Metrics after Ru et al. (RAGChecker, 2024), from 0 to 1: `ragchecker:precision`,
    `ragchecker:recall`, `ragchecker:f1`, `ragchecker:claim-recall`, `ragchecker:context-precision`,
    `ragchecker:context-utilisation`, `ragchecker:noise-sensitivity-relevant` and `-irrelevant`,
    `ragchecker:hallucination`, `ragchecker:self-knowledge` and `ragchecker-faithfulness`. They need
    a call for the claims of each of both texts, one for each of both against the other, and two per
    passage.

    Args:
        undefined: `left-out` makes a metric without a claim or a passage not applicable; `zero`
            counts it as 0, as RAGChecker's program does.
    """

    max_tokens: int = 600
    refusals: Refusals = "unscored"
    undefined: Literal["left-out", "zero"] = "left-out"

    name = "ragchecker"
    schema = Listing()
    verdict_words = tuple(SPELLINGS)
    needs = frozenset({"answer", "gold"})
    default_user = user_template(
        "Which of the numbered claims does the text bear out? A claim is supported if the text "
        "states it or it follows from it without further knowledge; otherwise, also where the "
        "text is silent, it is unsupported.",
        {"text": "text", "claims": "claims"},
    )

    @property
    def own_metrics(self) -> tuple[str, ...]:
        """The metrics of the suite."""
        return (*(f"ragchecker:{part}" for part in _PARTS), FAITHFULNESS)

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return four calls per query and two per passage, for each repeat and model."""
        calls = 4 * n_queries + 2 * n_passages
        return calls * self.repeats * len(self.backends)

    def texts(self, item: Item) -> tuple[str, ...]:
        """Return the answer and the first gold answer."""
        return (item.answer or "", item.gold)

    def checks(self, item: Item, claims: Sequence[Sequence[str]]) -> list[JudgeCall[Any]]:
        """Return the calls: each list of claims against the other text, then each passage."""
        answer, gold = item.answer or "", item.gold
        return [
            self._check(listed, text)
            for listed, other in zip(claims, (gold, answer), strict=True)
            if listed
            for text in (other, *item.passages)
        ]

    def _check(self, claims: Sequence[str], text: str) -> JudgeCall[Any]:
        schema = Numbered(len(claims), tuple(SPELLINGS), SPELLINGS)
        return self.judge_call(schema, {"text": text, "claims": numbered(claims)}, (text, *claims))

    def of_claims(
        self, item: Item, claims: Sequence[Sequence[str]], values: Sequence[Any]
    ) -> Verdict:
        """Return the metrics of the suite as parts; the value is F1."""
        flags = iter([[one == "supported" for one in given] for given in values])
        by_text = [
            [next(flags) for _ in range(1 + len(item.passages))] if listed else [[]]
            for listed in claims
        ]
        (right, *supported), (recalled, *found) = by_text
        entailed = Entailed(right, _rows(right, supported), recalled, _rows(recalled, found))
        known = claim_metrics(entailed)
        if self.undefined == "zero":
            names = (*_PARTS, "faithfulness")
            known = {name: known.get(name, 0.0) for name in names}
        faithful = known.pop("faithfulness", None)
        parts = {f"ragchecker:{name}": value for name, value in known.items()}
        if faithful is not None:
            parts[FAITHFULNESS] = faithful
        return Verdict(item.item_id, parts.get("ragchecker:f1"), parts=parts)


def _rows(claims: Sequence[bool], by_passage: Sequence[Sequence[bool]]) -> list[list[bool]]:
    """Return claims x passages from one list of verdicts per passage."""
    return [[verdicts[n] for verdicts in by_passage] for n in range(len(claims))]
