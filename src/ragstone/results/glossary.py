"""What the numbers mean, in a paragraph each, for the reader of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.components.metrics.parse import metric_stem, split_cutoff

_ANSWERS: Final = {
    "Match": "1 where a gold answer occurs, as whole words, in the answer after both are "
    "normalised, else 0. It forgives long answers, and does not notice what else they claim.",
    "EM": "Exact match: 1 where the normalised answer equals a gold answer, else 0.",
    "F1": "Token F1: the harmonic mean of token precision and token recall against the gold answer "
    "that fits best. Long answers lose precision.",
    "Precision": "Token precision: the share of the answer's words that a gold answer has too.",
    "Recall": "Token recall: the share of a gold answer's words that the answer has too.",
    "ROUGE-1": "F-measure of the single words that answer and gold answer have in common.",
    "ROUGE-2": "F-measure of the word pairs that answer and gold answer have in common.",
    "ROUGE-L": "F-measure of the longest sequence of words, gaps allowed, that answer and gold "
    "answer have in common.",
    "char3-recall": "The share of a gold answer's runs of three characters that occur in the "
    "answer; it forgives spelling and inflection.",
    "answer-in-context": "1 where the context that was shown holds a gold answer, else 0: what a "
    "reader of the context alone could have found.",
    "language-match": "1 where the answer is in the language it should be in, else 0.",
    "refusal": "1 where the system declined to answer, else 0. Good where the question has no "
    "answer and bad where it has one, so no value is marked as best.",
}
_RANKING: Final = {
    "nDCG": "The gain of the relevant passages among the first k, early places counting more, over "
    "that of the best possible order. 1 is a perfect order.",
    "R": "Recall: the share of all relevant passages that stand among the first k.",
    "P": "Precision: the share of the first k places that hold relevant passages. Where fewer than "
    "k passages are relevant it cannot reach 1.",
    "F1": "The harmonic mean of ranking precision and recall at k.",
    "hit": "1 where any relevant passage stands among the first k, else 0.",
    "success": "1 where any relevant passage stands among the first k, else 0.",
    "MRR": "Reciprocal rank: one over the rank of the first relevant passage, 0 where there is "
    "none; averaged over queries.",
    "MAP": "Average precision: the mean of the precision at the rank of each relevant passage; one "
    "that was not retrieved counts 0.",
    "Rprec": "Precision among the first R places, R being the number of relevant passages.",
    "judged": "The share of the first k passages that the qrels say anything about. Where it is "
    "low, the other ranking metrics are lower bounds.",
}

ADAPTABILITY: Final = {
    "Context acceptability": "Right with the gold passage alone, and right with the mixed context.",
    "Noise vulnerability": "Right with the gold passage alone, wrong with the mixed context. "
    "Noise: a gold passage was in the mixed context and the answer still went wrong. Miss: there "
    "was none; retrieval failed, not the reader.",
    "Context insensitivity": "Wrong without context, and still wrong when shown the gold passage.",
    "Context misinterpretation": "Right without context, wrong when shown the gold passage: the "
    "context misled the reader.",
}
"""MIRAGE's four metrics (Park et al., NAACL 2025), noise vulnerability split by cause."""

SETTINGS: Final = {
    "none": "no context: what the generator knows by heart",
    "gold": "the passages that the qrels call relevant, and nothing else",
    "gold+noise": "relevant passages among misleading ones",
    "retrieved": "what the system itself retrieved",
    "gold+retrieved": "the relevant passages kept within what the system retrieved",
}


def metric_definitions(metrics: Iterable[str]) -> list[tuple[str, str]]:
    """Return (name, paragraph) for each family of metrics, in order.

    >>> metric_definitions(["EM"])
    [('EM', 'Exact match: 1 where the normalised answer equals a gold answer, else 0.')]
    """
    found: dict[str, str] = {}
    for metric in metrics:
        name, cutoff = split_cutoff(metric)
        shown = f"{name}@k" if cutoff is not None else name
        found.setdefault(shown, _definition(metric, ranking=cutoff is not None))
    return list(found.items())


def _definition(metric: str, *, ranking: bool) -> str:
    stem = metric_stem(metric)
    tables = (_RANKING, _ANSWERS) if ranking else (_ANSWERS, _RANKING)
    for table in tables:
        if stem in table:
            return table[stem]
    return _own_words(metric)


def _own_words(metric: str) -> str:
    """Return the first paragraph that a metric of somebody else's says about itself."""
    from ragstone.components.metrics.parse import parse_metric

    said = (parse_metric(metric).__doc__ or "").strip().split("\n\n")[0]
    return " ".join(said.split()) or "See the metric's own documentation."


def setting_meaning(setting: str) -> str:
    """Return what a setting shows the generator; empty for one that is not built in."""
    return SETTINGS.get(metric_stem(setting), "")
