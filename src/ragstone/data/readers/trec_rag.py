"""The rows of TREC RAG: sentences that cite references, and the texts of the references.

    {"run_id": "mine", "topic_id": "q1", "topic": "When did it sink?", "references": ["p7", "p2"],
     "answer": [{"text": "It sank in 1912.", "citations": [0]}]}

A citation is the place of a reference, from 0, or its id. Without `references`, the ids that are
cited are the references, in the order of their first citation. `segments` has the texts of the
references if the file has them: an object from id to text, a list of texts in the order of the
references, or a list of objects with id and text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ragstone.data.readers.foreign_rows import SENTENCES, item_id, item_text
from ragstone.data.readers.rows import FieldError, Row, show, within

_TEXTS: Final = ("segment", "contents")
"""Names of a reference's text beside the usual ones."""
_IDS: Final = ("docid", "segment_id")
"""Names of a reference's id beside the usual ones."""


def trec_row(row: Row) -> Row:
    """Return a row with the joined text, the sentences with their citations, and the passages.

    Raises:
        FieldError: a sentence has no text, or it cites a reference that is absent.
    """
    sentences = row.get("answer")
    if not isinstance(sentences, list):
        return row
    ids = _references(row.get("references"))
    if ids is None:
        ids = list(dict.fromkeys(i for one in sentences for i in _cited_ids(one)))
    found = []
    for number, one in enumerate(sentences, start=1):
        with within(f"sentence {number}"):
            found.append(_sentence(one, ids))
    row[SENTENCES] = tuple(found)
    row["answer"] = " ".join(text for text, _ in found)
    texts = _texts_by_id(row.pop("segments", row.get("references")), ids)
    row["references"] = ids
    if any(texts.get(i) for i in ids):
        row["segments"] = [{"id": i, "text": texts.get(i, "")} for i in ids]
    return row


def _references(given: Any) -> list[str] | None:
    """Return the ids of the references; None if the row has none of its own."""
    if given is None:
        return None
    if not isinstance(given, list):
        raise FieldError(f"'references' must be a list of ids, found {show(given)}")
    ids = [str(one) if type(one) in (str, int) else _id_of(one) for one in given]
    if "" in ids:
        raise FieldError(f"reference {ids.index('')} has no id, found {show(given[ids.index('')])}")
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise FieldError(f"the reference {show(twice)} is listed twice; keep one of the two")
    return ids


def _id_of(item: Any) -> str:
    named = next((item[n] for n in _IDS if item.get(n)), "") if isinstance(item, Mapping) else ""
    return str(named) if named else item_id(item)


def _citations(sentence: Any) -> Sequence[Any]:
    given = sentence.get("citations") if isinstance(sentence, Mapping) else None
    if not isinstance(given, list | None):
        raise FieldError(f"'citations' must be a list, found {show(given)}")
    return given or ()


def _cited_ids(sentence: Any) -> list[str]:
    """Return the ids that a sentence cites, in a row without references."""
    given = _citations(sentence)
    if numbers := [one for one in given if type(one) is int]:
        raise FieldError(
            f"a sentence cites reference {numbers[0]}, and the row has no 'references'; add them, "
            "or cite by id"
        )
    return [one for one in given if isinstance(one, str)]


def _sentence(one: Any, ids: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """Return the text of a sentence, and the places from 1 that it cites, each once."""
    text = item_text(one)
    if not isinstance(text, str) or not text.strip():
        raise FieldError(f"it has no text, found {show(one)}")
    return text.strip(), tuple(dict.fromkeys(_place(cited, ids) for cited in _citations(one)))


def _place(cited: Any, ids: Sequence[str]) -> int:
    if type(cited) is int and 0 <= cited < len(ids):
        return cited + 1
    if isinstance(cited, str) and cited in ids:
        return ids.index(cited) + 1
    allowed = f"places are 0 to {len(ids) - 1}" if ids else "the row has no reference"
    raise FieldError(
        f"it cites reference {show(cited)}, which is absent: {allowed}; correct the citation, or "
        "add the reference"
    )


def _texts_by_id(given: Any, ids: Sequence[str]) -> dict[str, str]:
    """Return id -> text of the references whose text is in the row."""
    if isinstance(given, Mapping):
        return {str(i): text for i, one in given.items() if isinstance(text := _text(one), str)}
    items = given if isinstance(given, list) else []
    if any(isinstance(one, Mapping) for one in items):
        named = {_id_of(one): _text(one) for one in items if isinstance(one, Mapping)}
        return {i: text for i, text in named.items() if isinstance(text, str)}
    if len(items) != len(ids) or items == list(ids):
        return {}
    return {i: text for i, text in zip(ids, items, strict=True) if isinstance(text, str)}


def _text(item: Any) -> Any:
    found = item_text(item)
    if found is None and isinstance(item, Mapping):
        return next((item[name] for name in _TEXTS if item.get(name)), None)
    return found
