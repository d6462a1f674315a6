"""Similarity by token vectors: the matching by hand, and the bundled encoder on real texts."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.components.metrics.bert_encoder import load_bundled
from ragstone.components.metrics.greedy_matching import greedy_match, rescaled
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.precision_recall import Overlap
from ragstone.components.metrics.score import score_answers
from ragstone.errors import ConfigError, ModelFileError
from ragstone.types import Context, ContextPassage, Prediction, Query


def test_tokens_are_paired_with_the_most_similar() -> None:
    """Precision is over the answer's tokens, recall over the gold answer's; marks do not count."""
    axes = np.eye(4, dtype=np.float32)
    between = (axes[0] + axes[1]) / np.sqrt(2.0, dtype=np.float32)
    said = np.stack([axes[3], axes[0], between, axes[3]])
    wanted = np.stack([axes[3], axes[0], axes[1], axes[2], axes[3]])

    found = greedy_match(said, wanted)

    half = float(between[0])
    assert found.precision == pytest.approx((1 + half) / 2)
    assert found.recall == pytest.approx((1 + half + 0) / 3)


def test_a_text_of_marks_alone_matches_nothing() -> None:
    """There is no token to average over, so that all values are 0."""
    marks = np.eye(2, dtype=np.float32)

    assert greedy_match(marks, np.stack([marks[0], marks[0], marks[1]])) == Overlap()


def test_rescaling_puts_the_baseline_at_0() -> None:
    """1 stays 1; the raw 0 of an empty answer becomes -1.07 with mtRAG's baseline of recall."""
    assert rescaled(0.5170, 0.5170) == 0.0
    assert rescaled(1.0, 0.5170) == 1.0
    assert rescaled(0.0, 0.5170) == pytest.approx(-1.07, abs=5e-3)
    with pytest.raises(ConfigError, match="baseline"):
        rescaled(0.5, 1.0)


@pytest.fixture(scope="module")
def scores() -> dict[str, list[float]]:
    """Return three metrics of a paraphrase, an unrelated answer and an empty one."""
    try:
        load_bundled("all-minilm-l6-v2")
    except ModelFileError as error:
        pytest.skip(f"the bundled encoder is not there: {error}")
    answers = ["The capital of Portugal is Lisbon.", "Bananas are yellow.", ""]
    queries = [Query(str(i), "?", ("Lisbon is Portugal's capital city.",)) for i in range(3)]
    shown = ContextPassage("p", "Lisbon, the capital of Portugal, lies on the Tagus.", "gold")
    names = ["token-similarity", "token-K-precision", "semantic-similarity"]
    table = score_answers(
        names,
        queries,
        [Prediction(str(i), answer) for i, answer in enumerate(answers)],
        [Context(str(i), "gold", (shown,)) for i in range(3)],
    )
    values = table.column("value").to_pylist()
    return {name: list(map(float, values[3 * i : 3 * i + 3])) for i, name in enumerate(names)}


@pytest.mark.parametrize("name", ["token-similarity", "token-K-precision", "semantic-similarity"])
def test_a_paraphrase_is_nearer_than_an_unrelated_answer(
    scores: dict[str, list[float]], name: str
) -> None:
    """A paraphrase scores well above an unrelated answer; an empty answer gets 0."""
    paraphrase, unrelated, empty = scores[name]

    assert 1.0 > paraphrase > unrelated + 0.2
    assert empty == 0.0


def test_the_gold_answer_itself_gets_1(scores: dict[str, list[float]]) -> None:
    """Every token is most similar to itself."""
    assert scores
    query, answer = Query("q", "?", ("Lisbon", "Lisboa")), [Prediction("q", "Lisboa")]

    table = score_answers(["token-similarity", "semantic-similarity"], [query], answer)

    assert table.column("value").to_pylist() == pytest.approx([1.0, 1.0], abs=1e-6)


def test_options_are_part_of_the_name() -> None:
    """The name shows the rate and the encoder."""
    for name in ("token-similarity(of=recall)", "token-similarity(of=precision,model=my/folder)"):
        assert str(parse_metric(name)) == name
