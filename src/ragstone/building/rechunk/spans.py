"""Where a passage stands in a document that comes from elsewhere: by offsets, or by its text."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.building.rechunk.documents import Span, place_of
from ragstone.types import Document, Passage


def find_span(passage: Passage, stretches: Iterable[Document]) -> Span | None:
    r"""Return where a passage stands in its document; None where its text is not found.

    The offsets that it carries hold where its text stands there; otherwise the first place of its
    text counts, whatever the white space.

    >>> find_span(Passage("p", "on the Tagus"), [Document("d", "Lisbon lies on\nthe Tagus.")])
    Span(passage_id='p', start=12, end=24)
    """
    held = list(stretches)
    if not passage.text.strip():
        return None
    said = place_of(passage.passage_id, passage.document_id, passage.text, passage.labels)
    for document in held:
        start = said.start - document.offset if said else -1
        if start >= 0 and document.text.startswith(passage.text, start):
            return said
    for document in held:
        start = document.text.find(passage.text)
        if start >= 0:
            first = document.offset + start
            return Span(passage.passage_id, first, first + len(passage.text))
    found = (_squeezed(passage, document) for document in held)
    return next((span for span in found if span), None)


def _squeezed(passage: Passage, document: Document) -> Span | None:
    """Find a passage's text by all its characters but white space."""
    wanted = "".join(passage.text.split())
    places = [n for n, character in enumerate(document.text) if not character.isspace()]
    first = "".join(document.text.split()).find(wanted)
    if first < 0:
        return None
    start, end = places[first], places[first + len(wanted) - 1] + 1
    return Span(passage.passage_id, document.offset + start, document.offset + end)
