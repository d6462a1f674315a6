"""The bundled model's token vectors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import vectors

from ragstone.components.embedders.minilm_tokens import MiniLMTokens
from ragstone.core.step_notes import collect_notes
from ragstone.errors import ConfigError
from ragstone.indexes.token_vectors import maxsim
from ragstone.models.bundled import MODELS

TEXTS = ["The cat sat on the mat.", "", "Interest rates rose again in March."]


@pytest.fixture(scope="module")
def embedder() -> MiniLMTokens:
    """The embedder; its model is loaded once."""
    if not MODELS["all-minilm-l6-v2"].fetched:
        pytest.skip("the model is not on this machine: ragstone models fetch all-minilm-l6-v2")
    return MiniLMTokens(threads=2)


def test_every_token_has_a_vector_and_the_marks_have_none(embedder: MiniLMTokens) -> None:
    """Seven words and a stop are seven tokens; an empty text has none; rows have length 1."""
    found = vectors(embedder, "passage", *TEXTS)

    assert [rows.shape for rows in found] == [(7, 384), (0, 384), (7, 384)]
    np.testing.assert_allclose(np.linalg.norm(np.concatenate(found), axis=1), 1, atol=1e-5)
    assert np.array_equal(found[2], vectors(embedder, "passage", TEXTS[2])[0])
    assert vectors(embedder, "passage") == []


def test_meaning_is_matched_word_by_word(embedder: MiniLMTokens) -> None:
    """A question scores higher with the passage that answers it."""
    (query,) = vectors(embedder, "query", "Where did the kitten rest?")
    passages = vectors(embedder, "passage", *TEXTS)

    about, other = (maxsim(query, passages[n].astype(np.float64)) for n in (0, 2))

    assert about > other + 0.5


def test_a_query_that_is_cut_is_noted() -> None:
    """Only the first tokens count; a note has the number of cut queries."""
    if not MODELS["all-minilm-l6-v2"].fetched:
        pytest.skip("the model is not on this machine: ragstone models fetch all-minilm-l6-v2")
    short = MiniLMTokens(max_tokens=5)
    with collect_notes() as notes:
        found = vectors(short, "query", "cat", "one two three four five six")

    assert list(map(len, found)) == [1, 3]
    assert dict(notes) == {"queries cut to 5 tokens": 1}


def test_ranges_are_checked() -> None:
    """A `max_tokens` below the minimum is refused."""
    with pytest.raises(ConfigError, match="max_tokens must be 3 or more"):
        MiniLMTokens(max_tokens=2)
