"""How the fake Elasticsearch ranks: words by `bm25`, vectors by the exact cosine, terms by product.

A query that the real engine would refuse, such as a vector of another length, is refused here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.components.retrievers.bm25 import BM25
from ragstone.data.corpus import Corpus
from ragstone.protocols import Services
from ragstone.types import Passage, Search

Documents = Mapping[str, Mapping[str, Any]]
Scored = list[tuple[str, float]]


class Refused(Exception):
    """An error of the server, in its own form."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.document = {"root_cause": [], "type": kind, "reason": reason}


def search(
    body: Mapping[str, Any],
    fields: Mapping[str, Any],
    documents: Documents,
    expand: Callable[[str], Mapping[str, float]],
    flavour: str,
) -> Scored:
    """Return the ids and scores of the documents that a search finds, best first.

    Args:
        body: the body of the search.
        fields: field -> its mapping.
        documents: id -> fields of the document.
        expand: text -> weights of terms.
        flavour: elasticsearch or opensearch, which have different queries.

    Raises:
        Refused: the query is unknown, or does not fit the fields.
    """
    if "knn" in body and flavour == "elasticsearch":
        given = body["knn"]
        near = _cosines(given["field"], given["query_vector"], fields, documents)
        return [(key, (1 + score) / 2) for key, score in near[: given["k"]]]
    ((kind, given),) = body["query"].items()
    if kind == "match":
        ((name, query),) = given.items()
        return _words([name], query["query"], fields, documents)
    if kind == "multi_match":
        return _words(given["fields"], given["query"], fields, documents)
    if kind == "script_score":
        name, vector = _of_script(given, flavour)
        return [(key, 1 + score) for key, score in _cosines(name, vector, fields, documents)]
    if kind == "knn" and flavour == "opensearch":
        ((name, query),) = given.items()
        near = _cosines(name, query["vector"], fields, documents)
        return [(key, (1 + score) / 2) for key, score in near[: query["k"]]]
    name, text = _of_expansion(kind, given, flavour)
    return _terms(name, expand(text), fields, documents)


def _of_script(given: Mapping[str, Any], flavour: str) -> tuple[str, Sequence[float]]:
    """Return the field and the vector of an exact search."""
    parameters, source = given["script"]["params"], given["script"]["source"]
    if flavour == "opensearch" and source == "knn_score":
        return parameters["field"], parameters["query_value"]
    if flavour == "elasticsearch" and source.startswith("cosineSimilarity(params.query_vector, '"):
        return source.split("'")[1], parameters["query_vector"]
    raise Refused(400, "script_exception", f"compile error: {source}")


def _of_expansion(kind: str, given: Mapping[str, Any], flavour: str) -> tuple[str, str]:
    """Return the field and the text of a search by expanded words."""
    if kind == "sparse_vector" and flavour == "elasticsearch":
        return given["field"], given["query"]
    texts = {"text_expansion": "elasticsearch", "neural_sparse": "opensearch"}
    if texts.get(kind) != flavour:
        raise Refused(400, "parsing_exception", f"unknown query [{kind}]")
    ((name, query),) = given.items()
    return name, query["model_text" if kind == "text_expansion" else "query_text"]


def _words(
    names: Sequence[str], text: str, fields: Mapping[str, Any], documents: Documents
) -> Scored:
    """Return the documents with words of a text, by the best of their fields."""
    best: dict[str, float] = {}
    for name in names:
        _require(name, fields, "text")
        passages = [Passage(key, str(row.get(name, ""))) for key, row in documents.items()]
        corpus = Corpus.from_passages(passages)
        retriever = BM25(top_k=max(len(passages), 1))
        (found,) = retriever.retrieve([Search("q", text)], Services(corpus=corpus))
        for key, score in zip(found.value.passage_ids, found.value.scores, strict=True):
            best[key] = max(score, best.get(key, score))
    return _ordered(best)


def _cosines(
    name: str, vector: Sequence[float], fields: Mapping[str, Any], documents: Documents
) -> Scored:
    """Return the documents with a vector by their exact cosine, computed in 64 bits."""
    kind = _require(name, fields, "dense_vector", "knn_vector")
    length = kind.get("dims") or kind.get("dimension")
    if length and length != len(vector):
        reason = (
            f"the query vector has a different dimension [{len(vector)}] than the index vectors "
            f"[{length}]"
        )
        raise Refused(400, "illegal_argument_exception", reason)
    held = [key for key, row in documents.items() if name in row]
    if not held:
        return []
    query = np.asarray(vector, np.float64)
    matrix = np.asarray([documents[key][name] for key in held], np.float64)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    scores = (matrix @ query) / np.where(lengths > 0, lengths, 1)
    return _ordered(dict(zip(held, scores.tolist(), strict=True)))


def _terms(
    name: str, query: Mapping[str, float], fields: Mapping[str, Any], documents: Documents
) -> Scored:
    """Return the documents that share a term, by the sum of products of weights."""
    _require(name, fields, "sparse_vector", "rank_features")
    found = {}
    for key, row in documents.items():
        held = row.get(name, {})
        shared = [weight * held[term] for term, weight in query.items() if term in held]
        if shared:
            found[key] = float(sum(shared))
    return _ordered(found)


def _require(name: str, fields: Mapping[str, Any], *kinds: str) -> Mapping[str, Any]:
    """Return the mapping of a field of some types."""
    found: Mapping[str, Any] = fields.get(name, {})
    if found.get("type") not in kinds:
        raise Refused(400, "query_shard_exception", f"field [{name}] is not {' or '.join(kinds)}")
    return found


def _ordered(scores: Mapping[str, float]) -> Scored:
    return sorted(scores.items(), key=lambda one: -one[1])
