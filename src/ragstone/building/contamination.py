"""Whether models may know a data set: right without context, text they may have read, dates.

A model that answers rightly without context knew the answer or guessed it. A query whose answer is
newer than the model's knowledge cannot have been known: of such queries, the share of right answers
without context is the success rate of guessing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from ragstone.building.right_answers import reading_task, right_answers
from ragstone.statistics.failures import Scale, summarise_scores
from ragstone.statistics.independent import independent_difference
from ragstone.statistics.summary import Summary, clusters_of

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.data.query_dates import QueryDates
    from ragstone.data_quality.ngram_overlap import QueryOverlap
    from ragstone.protocols import Generator, Services
    from ragstone.types import Query

Known = Mapping[str, bool | None]
"""Query id -> whether a model is right without context; None if its call failed."""
_SCALE: Final = Scale(failures="exclude")
ANY, EVERY, NONE = "at least one", "every model", "no model"


def asked_without_context(dataset: Dataset, reader: Generator, services: Services) -> Known:
    """Return query id -> whether a model is right without context, for queries with gold answers.

    Right is an answer that contains a gold answer (the metric Match).
    """
    asked = answerable(dataset)
    rights = right_answers([reading_task(query) for query in asked], reader, services)
    return {query.query_id: right for query, right in zip(asked, rights, strict=True)}


def answerable(dataset: Dataset) -> list[Query]:
    """Return the queries with a gold answer."""
    return [query for query in dataset.queries if any(g.strip() for g in query.gold_answers)]


@dataclass(frozen=True)
class Sides:
    """The queries up to a date and after it, and the shares that a model knows of both."""

    day: date
    older: int
    newer: int
    undated: int
    before: Summary | None = None
    """Right without context among the older queries; None if no model was asked."""
    after: Summary | None = None
    difference: float | None = None
    """After minus before."""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Contamination:
    """Evidence that some models know a data set.

    Args:
        dataset: the data set.
        known: model -> its right answers without context.
        overlaps: the overlap of each query with a corpus; None without a corpus.
        words: words of that corpus.
        dates: the dates of the queries; None if none are needed.
        days: model -> its knowledge cut-off, and "" -> the date of `--after`.
        clusters: query id -> its conversation or document.
    """

    dataset: Dataset
    known: Mapping[str, Known]
    overlaps: Sequence[QueryOverlap] | None
    words: int
    dates: QueryDates | None
    days: Mapping[str, date]
    clusters: Mapping[str, str]

    @property
    def shares(self) -> dict[str, Summary]:
        """Model -> share of queries that it answers rightly without context."""
        return {model: self._share(known) for model, known in self.known.items()}

    @property
    def together(self) -> dict[str, Summary]:
        """Share of queries that at least one, every or no model knows; {} for a single model."""
        if len(self.known) < 2:  # noqa: PLR2004 - together
            return {}
        joint: dict[str, dict[str, bool | None]] = {ANY: {}, EVERY: {}, NONE: {}}
        for query_id in next(iter(self.known.values())):
            values = [known[query_id] for known in self.known.values()]
            some = True if True in values else None if None in values else False
            joint[ANY][query_id] = some
            joint[EVERY][query_id] = False if False in values else None if None in values else True
            joint[NONE][query_id] = None if some is None else not some
        return {name: self._share(known) for name, known in joint.items()}

    @property
    def overlap_shares(self) -> dict[str, Summary]:
        """Part of a query -> share of the queries of which the corpus has an n-gram."""
        if self.overlaps is None:
            return {}
        query = {o.query_id: o.query_found > 0 for o in self.overlaps if o.query_ngrams}
        answer = {o.query_id: o.answer_found > 0 for o in self.overlaps if o.answer_ngrams}
        both = {o.query_id: o.with_answer for o in self.overlaps if o.query_ngrams}
        named = {"query": query, "query, with an answer near": both, "gold answer": answer}
        return {name: self._share(values) for name, values in named.items()}

    @property
    def sides(self) -> dict[str, Sides]:
        """Model -> the queries before and after its cut-off; "" -> before and after `--after`."""
        return {model: self._sides(model, day) for model, day in self.days.items()}

    def _sides(self, model: str, day: date) -> Sides:
        after = self.dates.after(day) if self.dates else {}
        count = sum(after.values())
        found = Sides(day, len(after) - count, count, len(self.dataset.queries) - len(after))
        if model not in self.known:
            return found
        known, clusters = self.known[model], self.clusters
        new = {clusters[q] for q in after if after[q]}
        mixed = new & {clusters[q] for q in after if not after[q]}
        kept = [q for q in known if q in after and clusters[q] not in mixed]
        before, later = (
            self._share({q: known[q] for q in kept if after[q] is newer}) for newer in (False, True)
        )
        gap, interval = independent_difference(before, later)
        return replace(found, before=before, after=later, difference=gap, interval=interval)

    def _share(self, values: Known) -> Summary:
        ids = list(values)
        return summarise_scores(
            [None if values[q] is None else float(values[q] or 0) for q in ids],
            ["failed" if values[q] is None else "scored" for q in ids],
            _SCALE,
            clusters=clusters_of(ids, self.clusters),
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the evidence about each query, as plain data."""
        overlaps = {one.query_id: one for one in self.overlaps or ()}
        after = {
            model: self.dates.after(day) if self.dates else {} for model, day in self.days.items()
        }
        for query in self.dataset.queries:
            name = query.query_id
            row: dict[str, Any] = {"query_id": name}
            if self.known:
                row["right"] = {model: known.get(name) for model, known in self.known.items()}
            if name in overlaps:
                row["overlap"] = {
                    k: v for k, v in asdict(overlaps[name]).items() if k != "query_id"
                }
            if self.dates:
                day = self.dates.dates.get(name)
                row["date"] = day and day.isoformat()
                row["undated"] = self.dates.undated.get(name, "")
                row["newer"] = {model or "after": held.get(name) for model, held in after.items()}
            yield row

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        asked = len(answerable(self.dataset))
        return {
            "name": self.dataset.name,
            "queries": len(self.dataset.queries),
            "without_gold_answer": len(self.dataset.queries) - asked,
            "right_without_context": {
                "models": {m: one.to_dict() for m, one in self.shares.items()},
                "together": {n: one.to_dict() for n, one in self.together.items()},
            },
            "overlap": {
                "words": self.words,
                "parts": {n: one.to_dict() for n, one in self.overlap_shares.items()},
            },
            "dates": {
                "label": self.dates.label if self.dates else "",
                "sides": {model or "after": asdict(one) for model, one in self.sides.items()},
            },
            "per_query": list(self.rows()),
        }

    def kept_positions(self) -> list[int]:
        """Return the positions of the queries that are newer than every date."""
        after = [self.dates.after(day) for day in self.days.values()] if self.dates else []
        return [
            place
            for place, query in enumerate(self.dataset.queries)
            if all(held.get(query.query_id) for held in after)
        ]
