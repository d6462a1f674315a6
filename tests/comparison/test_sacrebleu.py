"""BLEU and chrF are sacrebleu's, per answer and over all answers."""

from __future__ import annotations

import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.evaluation.score_files import evaluate_answers

sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra bleu")

ANSWERS = {
    "a": "The cat sat on the mat today.",
    "b": "It is Paris, the capital of France.",
    "c": "Москва — столица",
    "d": "",
}
GOLD = {
    "a": ["The cat sat on the mat.", "A cat was sitting on the mat today."],
    "b": ["Paris is the capital of France."],
    "c": ["Москва столица России", "Москва"],
    "d": ["nothing"],
}


@pytest.mark.parametrize("name", ["BLEU", "chrF", "chrF(words=2)", "BLEU(tokenize=char)"])
def test_scores_are_sacrebleus(name: str) -> None:
    """Each answer alone, and all of them with two references each."""
    found = evaluate_answers(ANSWERS, GOLD, [name])

    metric, words = parse_metric(name), 2 if "words" in name else 0
    tokenize = "char" if "char" in name else "13a"
    for query_id, answer in ANSWERS.items():
        if name.startswith("BLEU"):
            one = sacrebleu.sentence_bleu(answer, GOLD[query_id], tokenize=tokenize)
        else:
            one = sacrebleu.sentence_chrf(answer, GOLD[query_id], word_order=words)
        assert found.scores[str(metric)][query_id] == pytest.approx(one.score / 100)
    references = [[g[i] if i < len(g) else None for g in GOLD.values()] for i in range(2)]
    said = list(ANSWERS.values())
    whole = (
        sacrebleu.corpus_bleu(said, references, tokenize=tokenize)
        if name.startswith("BLEU")
        else sacrebleu.corpus_chrf(said, references, word_order=words)
    )
    assert found.to_dict()[str(metric)]["corpus"] == pytest.approx(whole.score / 100)


def test_a_perfect_answer_scores_1() -> None:
    """Long and short gold answers."""
    gold = {"a": ["The cat sat on the mat today."], "b": ["Paris"]}

    found = evaluate_answers({q: g[0] for q, g in gold.items()}, gold, ["BLEU", "chrF"])

    assert [found["BLEU"].mean, found["chrF"].mean] == pytest.approx([1.0, 1.0])


def test_equal_texts_have_no_more_than_1() -> None:
    """Sacrebleu's rounding exceeds 100; the mean has an interval."""
    gold = {f"q{i}": ["the long settled answer of all"] for i in range(12)}

    found = evaluate_answers({q: g[0] for q, g in gold.items()}, gold, ["BLEU"])

    assert found["BLEU"].mean == 1.0
    assert found["BLEU"].interval is not None
    assert found.to_dict()["BLEU"]["corpus"] == 1.0
