"""The ways of the gold passages of a query to the context, from the stored steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ragstone.causes.evidence import GoldPath
from ragstone.causes.needed import keeps_answer
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Context, ContextPassage, Hop, Query, Ranking

_CUT: Final = " [...]"
"""The end of a stored text that is not complete."""
_MIN_CONTAINED: Final = 40
"""Minimum length of a passage that is looked for in longer texts; shorter ones occur anywhere."""
_SEVERAL: Final = frozenset({"hops", "hop_count", "n_hops"})
"""Labels with the number of passages that an answer needs together."""


def needs_all(query: Query) -> bool:
    """Return whether the labels of a query require several passages together.

    >>> needs_all(Query("q", "?", labels={"hops": 2})), needs_all(Query("q", "?"))
    (True, False)
    """
    labels = query.labels
    counts = [labels.get(name) for name in _SEVERAL]
    return labels.get("taxonomy") == "multi_hop" or any(
        isinstance(count, int) and count > 1 for count in counts
    )


@dataclass(frozen=True)
class GoldPaths:
    """Where the gold passages of each query were, in one trial."""

    at_hand: TrialsAtHand
    trial: TrialResults

    @cached_property
    def _rewritten(self) -> Mapping[str, Ranking]:
        return self.at_hand.with_rewrite(self.trial.system)

    @cached_property
    def final(self) -> Mapping[str, Ranking] | None:
        """Query id -> the ranking that contexts are built from; None if nothing was retrieved."""
        runs = (r for r in self.at_hand.results.rankings if r.system == self.trial.system)
        found = next(runs, None)
        return None if found is None else found.rankings

    @cached_property
    def before(self) -> Mapping[str, Ranking] | None:
        """The same before reranking; None without a reranker."""
        return self.at_hand.before_reranking.get(self.trial.system)

    def gold(self, query_id: str) -> list[str]:
        """Return the ids of the gold passages, best grade first."""
        judged = self.at_hand.results.qrels_of(self.trial.system, self.trial.setting)
        grades = judged.get(query_id, {})
        relevant = [(grade, passage_id) for passage_id, grade in grades.items() if grade > 0]
        return [passage_id for _, passage_id in sorted(relevant, key=lambda pair: -pair[0])]

    def cut(self, query_id: str) -> int | None:
        """Return the rank of the last retrieved passage in the context as built.

        If everything that was retrieved is in it, more would have been: as many as in the largest
        context of the trial.
        """
        built = self.trial.built.get(query_id)
        if built is None or self.final is None:
            return None
        taken = _taken(built)
        ranks = _ranks(self.final.get(query_id))
        cut = max([len(taken), *(ranks.get(p.passage_id, 0) for p in taken)])
        return cut if cut < len(ranks) else max(cut, self._largest)

    @cached_property
    def _largest(self) -> int:
        """The number of retrieved passages in the largest context."""
        return max((len(_taken(built)) for built in self.trial.built.values()), default=0)

    def of(self, query: Query) -> tuple[GoldPath, ...]:
        """Return the way of each gold passage of a query."""
        query_id = query.query_id
        after = _ranks((self.final or {}).get(query_id))
        first = after if self.before is None else _ranks(self.before.get(query_id))
        rewritten = _ranks(self._rewritten.get(query_id))
        found_at = _last_hops(self.hops(query_id))
        return tuple(
            GoldPath(
                passage_id,
                retrieved=first.get(passage_id),
                ranked=after.get(passage_id),
                with_rewrite=rewritten.get(passage_id),
                hop=found_at.get(passage_id),
                **self._shown(query, passage_id),
            )
            for passage_id in self.gold(query_id)
        )

    def _shown(self, query: Query, passage_id: str) -> dict[str, bool]:
        """Return whether a passage is in the context as built, as shown, and with its answer."""
        contexts = (self.trial.built.get(query.query_id), self.trial.contexts.get(query.query_id))
        before, after = (self._text_in(passage_id, context) for context in contexts)
        kept = before is None or after is None or before == after
        return {
            "built": before is not None,
            "shown": after is not None,
            "kept": kept or keeps_answer(str(before), str(after), query.gold_answers),
        }

    def _text_in(self, passage_id: str, context: Context | None) -> str | None:
        """Return the text of a passage in a context: its own, or one that contains it whole."""
        passages = () if context is None else context.passages
        for passage in passages:
            if passage.passage_id == passage_id:
                return passage.text
        stored = self.at_hand.results.texts.get(passage_id, "").removesuffix(_CUT)
        body = stored.partition("\n")[2] or stored
        if len(body) < _MIN_CONTAINED:
            return None
        return next((p.text for p in passages if body in p.text), None)

    def hops(self, query_id: str) -> tuple[Hop, ...] | None:
        """Return the searches that the system reported for a query; None if it reports none."""
        every = self.at_hand.results.hops.get((self.trial.system, self.trial.setting), {})
        return every.get(query_id)

    def lost_at_hop(self, query_id: str) -> int | None:
        """Return the first search that found no further gold passage although one was missing."""
        missing = set(self.gold(query_id))
        for number, hop in enumerate(self.hops(query_id) or (), start=1):
            found = missing & {passage.passage_id for passage in hop.passages}
            if missing and not found:
                return number
            missing -= found
        return None


def _taken(context: Context) -> list[ContextPassage]:
    return [p for p in context.passages if p.origin in {"retrieved", "foreign"}]


def _ranks(ranking: Ranking | None) -> dict[str, int]:
    ids = () if ranking is None else ranking.passage_ids
    return {passage_id: rank for rank, passage_id in enumerate(ids, start=1)}


def _last_hops(hops: tuple[Hop, ...] | None) -> dict[str, int]:
    return {
        passage.passage_id: number
        for number, hop in enumerate(hops or (), start=1)
        for passage in hop.passages
    }
