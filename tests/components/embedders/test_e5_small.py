"""The multilingual encoder: what retrieval gets of it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import values, vectors

from ragstone.components.embedders.e5_small import E5Small
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import create
from ragstone.core.step_notes import collect_notes
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.protocols import Retriever, Services
from ragstone.types import Passage, Search

needs_model = pytest.mark.needs(model="e5-small")


@needs_model
def test_a_question_finds_its_passage_in_another_language() -> None:
    """German, Chinese and Arabic questions on English passages."""
    corpus = Corpus.from_passages(
        [
            Passage("bridge", "The bridge over the river was built by Roman engineers."),
            Passage("gold", "A touchstone is a dark stone that tests gold."),
            Passage("bread", "Bread is baked from flour, water and yeast."),
        ]
    )
    dense: Retriever = create("retrievers", {"name": "dense", "embedder": "e5-small"}, where="r")
    asked = {"Wer baute die Brücke?": "bridge", "如何检验黄金?": "gold", "كيف يصنع الخبز؟": "bread"}
    searches = [Search(f"q{n}", text) for n, text in enumerate(asked)]

    found = values(dense, Services(corpus=corpus), searches)

    assert [ranking.passage_ids[0] for ranking in found] == list(asked.values())


@needs_model
def test_texts_read_in_windows_are_counted() -> None:
    """Nothing is cut, but such a vector is an average."""
    with collect_notes() as notes:
        found = vectors(E5Small(threads=1), "passage", "stone " * 512, "gold", "")

    assert dict(notes) == {"passages read in windows of 512 tokens": 1}
    assert {len(vector) for vector in found} == {E5Small().dimension}
    assert all(np.isfinite(vector).all() for vector in found)


def test_threads_are_no_part_of_the_key() -> None:
    """They cannot change a number."""
    assert fingerprint(E5Small(threads=1)) == fingerprint(E5Small())
    with pytest.raises(ConfigError, match="threads must be 1"):
        E5Small(threads=0)
