"""Articles by title, with their chunks."""

from __future__ import annotations

from ragstone.building.articles import NO_TITLE, Articles
from ragstone.core.registry import create
from ragstone.data.dataset import Dataset

RECORDS = [
    {"passage_id": "a", "title": "Tagus", "document_id": "a", "text": "One two. Three four."},
    {"passage_id": "b", "title": "Tagus Valley", "document_id": "b", "text": "Five six."},
    {"passage_id": "c", "title": "Blank", "document_id": "c", "text": " "},
]
CORPUS = Dataset.from_records(passages=RECORDS).corpus


def test_an_article_is_found_by_its_title() -> None:
    """Case, underscores and white space do not matter; a missing title has a reason."""
    articles = Articles.read(CORPUS, None)
    assert articles.find("tagus_valley") == ("tagus valley", "")
    assert articles.find("Douro")[1] == "no article has the title: 'Douro'"
    assert articles.find(" ") == ("", NO_TITLE)


def test_chunks_come_article_by_article() -> None:
    """The article with the title comes first, then the next title, up to the wanted number."""
    articles = Articles.read(CORPUS, create("chunkers", "words(2)", where="test"))
    (chunks,) = articles.nearest_by_title(["Tagus"], 3)
    assert [chunk.text.strip() for chunk in chunks] == ["One two.", "Three four.", "Five six."]
    assert not articles.chunks("c")


def test_chunks_by_text_are_of_any_article() -> None:
    """The search by text ranks the chunks of all articles."""
    (chunks,) = Articles.read(CORPUS, None).nearest_by_text(["five"], 1)
    assert [chunk.passage_id for chunk in chunks] == ["b"]
