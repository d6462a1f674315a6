"""citation-precision, citation-recall: TREC RAG's weighted support of sentences by citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from ragstone.components.judges.citations import GRADES, CitationSupport
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import ModelJudge
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice
from ragstone.components.metrics.refusal import refusal


@dataclass(frozen=True)
class CitationPrecision(ModelJudge):
    """Weighted precision and recall of citations, as in TREC 2024's RAG track.

    A pair of a sentence and a passage that it cites has the weight 1 (full support), 0.5 (partial)
    or 0 (none). `citation-precision` is the mean weight of the pairs. `citation-recall` is the mean
    weight of all sentences of the answer; a sentence without a citation has the weight 0. A
    citation of a passage that is not in the context has the weight 0, without a call. An answer
    without a citation, such as an empty one, has the recall 0 and no precision. Source: Thakur et
    al., "Support Evaluation for the TREC 2024 RAG Track" (SIGIR 2025).

    Args:
        citations: `first` judges the first citation of each sentence only, as the track's main
            results do; `all` judges each pair, and the weight of a sentence is its best one.
    """

    explain: bool = False
    max_tokens: int = 64
    citations: Literal["first", "all"] = "first"

    name = "citation-precision"
    schema = Choice(tuple(GRADES))
    needs = frozenset({"answer", "passages"})
    default_user = CitationSupport.default_user

    def __str__(self) -> str:
        """Return the name of the precision."""
        return f"citation-precision{self._suffix}"

    @property
    def _suffix(self) -> str:
        return "" if self.citations == "first" else f"({self.citations})"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The precision and the recall."""
        return (str(self), f"citation-recall{self._suffix}")

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for an answer that cites nothing: its recall is 0."""
        if item.answer is None:
            # Its passages are those that it cites: there is no context without an answer.
            return Verdict.failed(
                item, f"no answer to judge: {item.problem or 'the system failed'}"
            )
        is_declined = self.refusals != "judge" and refusal(item.answer)
        if is_declined or any(cited for _, cited in item.sentences):
            return super().without_call(item)
        reason = "the answer cites no passage" if item.answer.strip() else "the answer is empty"
        parts = {self.metrics[1]: 0.0}
        return Verdict(item.item_id, parts=parts, reason=reason, asked=False)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call per sentence and passage that it cites."""
        calls = []
        for sentence, cited in self._sentences(item):
            for number in cited:
                if 1 <= number <= len(item.passages):
                    text = item.passages[number - 1]
                    values = {"sentence": sentence, "passages": text}
                    calls.append(self.judge_call(self.schema, values, (sentence, text)))
        return calls

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the weighted precision and recall."""
        grades = iter(values)
        weights = [
            [GRADES[next(grades)] if 1 <= n <= len(item.passages) else 0.0 for n in cited]
            for _, cited in self._sentences(item)
        ]
        precision = fmean(weight for own in weights for weight in own)
        recall = fmean(max(own, default=0.0) for own in weights)
        return Verdict(item.item_id, precision, parts={self.metrics[1]: recall})

    def _sentences(self, item: Item) -> list[tuple[str, tuple[int, ...]]]:
        """Return the sentences with the citations that are judged."""
        most = 1 if self.citations == "first" else None
        return [(sentence, cited[:most]) for sentence, cited in item.sentences]
