"""Rankings of passages against judgements of documents, such as KILT's Wikipedia pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from ragstone.types import Ranking


def rank_documents(
    rankings: Mapping[str, Ranking],
    document_of: Callable[[str], str],
    variant: Literal["corrected", "bergen"] = "corrected",
) -> dict[str, Ranking]:
    """Return rankings of documents, to be scored against judgements of documents.

    Args:
        rankings: query id -> passages, best first.
        document_of: passage id -> document id.
        variant: "corrected" keeps the ranks of the passages. A document has the rank of its best
            passage; its other passages keep their ranks but do not count, so that R@5 is about the
            five passages that a generator was shown. "bergen" removes the other passages, so that
            R@5 is about the five best documents, which may be more passages than were shown.

    >>> from ragstone.data.document_level import before
    >>> run = {"q": Ranking(["A_1", "A_2", "B_1"])}
    >>> rank_documents(run, before("_"))["q"].passage_ids
    ['A', 'A_2 (again)', 'B']
    >>> rank_documents(run, before("_"), "bergen")["q"].passage_ids
    ['A', 'B']
    """
    return {
        query_id: _collapse(ranking, document_of, keep_places=variant == "corrected")
        for query_id, ranking in rankings.items()
    }


def _collapse(ranking: Ranking, document_of: Callable[[str], str], *, keep_places: bool) -> Ranking:
    ids: list[str] = []
    seen: set[str] = set()
    for passage_id in ranking.passage_ids:
        document = document_of(passage_id)
        if document not in seen:
            seen.add(document)
            ids.append(document)
        elif keep_places:
            ids.append(f"{passage_id} (again)")
    return Ranking(ids)
