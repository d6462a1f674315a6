"""Relevance judgements at the level of documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def judge_documents(
    qrels: Mapping[str, Mapping[str, int]], document_of: Callable[[str], str]
) -> dict[str, dict[str, int]]:
    """Return judgements of documents: the highest grade among the passages of each.

    >>> judge_documents({"q": {"A_1": 0, "A_2": 2, "B_1": 1}}, before("_"))
    {'q': {'A': 2, 'B': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for query_id, grades in qrels.items():
        documents = found.setdefault(query_id, {})
        for passage_id, relevance in grades.items():
            document = document_of(passage_id)
            documents[document] = max(relevance, documents.get(document, relevance))
    return found


def before(mark: str) -> Callable[[str], str]:
    """Return a function from an id to its part before the last `mark`, or to the whole id.

    >>> before("_")("290_12"), before("_")("290")
    ('290', '290')
    """
    return lambda passage_id: passage_id.rsplit(mark, 1)[0]
