"""Relevance judgements at the level of documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def judge_documents(
    qrels: Mapping[str, Mapping[str, int]], document_of: Callable[[str], str]
) -> dict[str, dict[str, int]]:
    """Return judgements of documents: each has the highest grade among its passages.

    >>> judge_documents({"q": {"A_1": 0, "A_2": 2, "B_1": 1}}, before("_"))
    {'q': {'A': 2, 'B': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for query_id, grades in qrels.items():
        held = found.setdefault(query_id, {})
        for passage_id, relevance in grades.items():
            document = document_of(passage_id)
            held[document] = max(relevance, held.get(document, relevance))
    return found


def before(mark: str) -> Callable[[str], str]:
    """Return the function that takes an id's part before the last `mark`, or all of it.

    >>> before("_")("290_12"), before("_")("290")
    ('290', '290')
    """

    def document(passage_id: str) -> str:
        head, found, _ = passage_id.rpartition(mark)
        return head if found else passage_id

    return document
