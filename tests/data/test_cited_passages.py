"""Texts of cited references: of the rows, of a corpus, or unknown."""

from __future__ import annotations

import pytest

from ragstone.data.cited_passages import require_cited_texts, with_references
from ragstone.data.corpus import Corpus
from ragstone.data.readers.answer_rows import SystemRows
from ragstone.errors import DatasetError
from ragstone.types import Passage, Prediction

CORPUS = Corpus.from_passages([Passage("a", "Of the corpus.", "Title"), Passage("b", "B.")])
CITING = Prediction(
    "q1",
    "One. Two.",
    passage_ids=("a", "b", "c"),
    contexts=(Passage("a", ""), Passage("b", "Of the row."), Passage("c", "")),
    sentences=(("One.", (1,)), ("Two.", (2,))),
)


def rows(*predictions: Prediction) -> SystemRows:
    """Return rows with these answers."""
    return SystemRows(predictions={one.query_id: one for one in predictions})


def test_the_row_comes_before_the_corpus() -> None:
    """The places of the references stay; one that nobody cites may be unknown."""
    found = with_references(rows(CITING, Prediction("q2", "Plain.")), CORPUS)

    assert [p.text for p in found.contexts["q1"].passages] == [
        "Title\nOf the corpus.",
        "Of the row.",
        "",
    ]
    assert "q2" not in found.contexts
    require_cited_texts(found)


def test_an_unknown_text_of_a_cited_reference_is_an_error() -> None:
    """It names the reference and the query."""
    with pytest.raises(DatasetError, match=r"1 cited references are unknown: 'a' \(query 'q1'\)"):
        require_cited_texts(with_references(rows(CITING), None))
    with pytest.raises(DatasetError, match="'a'"):
        require_cited_texts(with_references(rows(CITING), None), if_known=True)
    require_cited_texts(rows(CITING), if_known=True)
