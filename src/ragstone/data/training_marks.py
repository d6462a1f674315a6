"""What a model was trained on, in a form that other data sets can be compared with.

A mark is a kind and a digest; no text of the data is in it:

- `query`: the words of a query with its history, without case and punctuation;
- `conversation`: the name of the data set and the conversation that a turn is from;
- `passage`: the words of a gold passage;
- `document`: the name of the data set and the document of a gold passage. Without ids of
  documents, passages of equal title are one document;
- `page`: id and title of that document, which another data set of the same collection has too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError
from ragstone.text.words import words

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.types import Query

FILE: Final = "documents.txt"
"""Name of the file of marks in the output folder of a training."""
KINDS: Final = ("query", "conversation", "passage", "document", "page")
_HEAD: Final = "ragstone training marks 1"
_DIGITS: Final = 32


def marks_of(dataset: Dataset, query_ids: Collection[str] | None = None) -> dict[str, set[str]]:
    """Return query id -> its marks, for all or some queries of a data set.

    >>> from ragstone.data.load import load_dataset
    >>> found = marks_of(load_dataset("sample"))
    >>> sorted({mark.split()[0] for marks in found.values() for mark in marks})
    ['conversation', 'document', 'page', 'passage', 'query']
    """
    kept: dict[str, list[str]] = {}
    wanted = None if query_ids is None else set(query_ids)
    found: dict[str, set[str]] = {}
    for query in dataset.queries:
        if wanted is not None and query.query_id not in wanted:
            continue
        marks = found.setdefault(query.query_id, set(_of_query(dataset.name, query)))
        for passage_id, grade in dataset.qrels.get(query.query_id, {}).items():
            if grade > 0:
                if passage_id not in kept:
                    kept[passage_id] = list(_of_gold(dataset, passage_id))
                marks.update(kept[passage_id])
    return found


def training_marks(dataset: Dataset, query_ids: Collection[str]) -> set[str]:
    """Return the marks of the queries that a model was trained on."""
    return set().union(*marks_of(dataset, query_ids).values())


def overlap(marks: Collection[str], dataset: Dataset) -> list[str]:
    """Return the ids of a data set's queries that share a mark with a training, in order."""
    known = frozenset(marks)
    return [i for i, own in marks_of(dataset).items() if not known.isdisjoint(own)]


def marks_text(marks: Iterable[str]) -> str:
    """Return the content of a file of marks."""
    return "\n".join([_HEAD, *sorted(set(marks))]) + "\n"


def read_marks(path: Path) -> frozenset[str]:
    """Return the marks of a file.

    Raises:
        ConfigError: the file cannot be read, or is not a file of marks.
    """
    try:
        head, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the training marks {path}: {error}", path=path) from error
    if head != _HEAD:
        raise ConfigError(
            f"{path} is not a file of training marks: its first line must be {_HEAD!r}, found "
            f"{head[:80]!r}; train again, or remove the file",
            path=path,
        )
    return frozenset(lines)


def document_of(dataset: Dataset, passage_id: str) -> str:
    """Return the document of a passage: its id, else the title of the passage, else the passage."""
    if passage_id not in dataset.corpus:
        return passage_id
    passage = dataset.corpus[passage_id]
    return passage.document_id or passage.title or passage_id


def _of_query(name: str, query: Query) -> Iterator[str]:
    text = " ".join([*(message.text for message in query.history), query.text])
    yield _mark("query", _words(text))
    if "conversation" in query.labels:
        yield _mark("conversation", name, str(query.labels["conversation"]))


def _of_gold(dataset: Dataset, passage_id: str) -> Iterator[str]:
    document = document_of(dataset, passage_id)
    yield _mark("document", dataset.name, document)
    if passage_id not in dataset.corpus:
        return
    passage = dataset.corpus[passage_id]
    if passage.text.strip():
        yield _mark("passage", _words(passage.text))
    if passage.title and passage.document_id:
        yield _mark("page", document, _words(passage.title))


def _words(text: str) -> str:
    return " ".join(words(text)) or " ".join(text.split())


def _mark(kind: str, *parts: str) -> str:
    digest = hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()
    return f"{kind} {digest[:_DIGITS]}"


def counted(marks: Iterable[str]) -> Mapping[str, int]:
    """Return kind -> number of marks."""
    found = [mark.partition(" ")[0] for mark in marks]
    return {kind: found.count(kind) for kind in KINDS}
