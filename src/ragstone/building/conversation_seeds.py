"""The seeds of conversations: passages of a corpus, or the queries of a data set."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Final

from ragstone.building.funnel import Candidate, Funnel
from ragstone.building.passages import usable
from ragstone.core import limits
from ragstone.data.corpus import Corpus
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.building.dialogue import DialoguePlan
    from ragstone.data.dataset import Dataset
    from ragstone.types import Passage

_SPARE: Final = 20


def drawn_passages(
    corpus: Corpus, plan: DialoguePlan, funnel: Funnel, language: str
) -> list[Passage]:
    """Return usable passages in random order, at most one per conversation of the plan.

    The funnel's step `passages` counts those that were looked at.

    Raises:
        DatasetError: the corpus is empty, or none of the passages that were drawn is usable.
    """
    if not len(corpus):
        raise DatasetError("the corpus has no passage; name one with --corpus that has some")
    size = min(len(corpus), 2 * plan.count + _SPARE)
    places = random.Random(plan.seed).sample(range(len(corpus)), size)  # noqa: S311 - no secret
    found = usable(Corpus.from_passages([corpus.at(p) for p in places]), in_language=language)
    kept: list[Passage] = []
    for place in places:
        passage = corpus.at(place)
        item = Candidate(passage.passage_id, passage.text[: limits.MAX_EXCERPT_CHARACTERS])
        if funnel.keep("passages", [item], found.refused):
            kept.append(passage)
        if len(kept) == plan.count:
            break
    if not kept:
        reason, count = Counter(found.refused.values()).most_common(1)[0]
        raise DatasetError(
            f"none of {size:,} passages is usable; of {count:,} of them: {reason}. Use a corpus of "
            "prose passages, or cut its documents with ragstone data chunk"
        )
    return kept


def first_messages(seeds: Dataset, plan: DialoguePlan, funnel: Funnel) -> list[str]:
    """Return the texts of a random sample of queries that need no history."""
    first = [query for query in seeds.queries if not query.history]
    if not first:
        raise DatasetError(f"the data set {seeds.name!r} has no query without a history")
    size = min(plan.count, len(first))
    drawn = random.Random(plan.seed).sample(first, size)  # noqa: S311 - no secret
    funnel.keep("queries", [Candidate(q.query_id, q.text) for q in drawn], {})
    return [query.text for query in drawn]
