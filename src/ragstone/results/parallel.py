"""The same query in several languages: whether answers and retrieved passages agree.

Queries with the same value of the label `parallel` are translations. The unit is this value: each
has one share of its pairs of languages, so that an interval does not count languages as queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Final, Literal, TypeAlias

from ragstone.components.metrics.same_language import in_order
from ragstone.core import limits
from ragstone.core.tables import TextTable
from ragstone.data.readers.parallel import PARALLEL
from ragstone.results.languages import passage_languages, query_languages
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import RankingResults
from ragstone.results.wording import interval_text, mean_text, number
from ragstone.statistics.agreement import krippendorff_alpha
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, clusters_of, summarise
from ragstone.types import Ranking

ALL: Final = "all"
Versions: TypeAlias = Mapping[str, Mapping[str, str]]
"""Id of a query in all languages -> language -> query id."""
_Values: TypeAlias = Mapping[str, Any]
"""Query id -> what is compared; None or no entry without it."""


@dataclass(frozen=True)
class ParallelAgreement:
    """How far a system treats the same query alike in several languages."""

    of: Literal["answers", "passages"]
    system: str
    setting: str
    """"" for passages."""
    language: str
    """"all", or the language that is compared with the others."""
    agreement: Summary
    """Answers: share of pairs of languages in which both are correct or both are wrong. Passages:
    mean Jaccard overlap of the first 10, in which translations of a passage are equal."""
    above_chance: Coefficient | None = None
    """Krippendorff's alpha of the correctness, for the answers in all languages."""


def parallel_queries(results: StoredResults) -> Versions:
    """Return the queries in two or more languages; the first query of a language counts."""
    found: dict[str, dict[str, str]] = {}
    languages = query_languages(results)
    for query_id, query in results.all_queries.items():
        if PARALLEL in query.labels:
            own = found.setdefault(str(query.labels[PARALLEL]), {})
            own.setdefault(languages[query_id], query_id)
    return {shared: own for shared, own in found.items() if len(own) > 1}


def parallel_agreement(results: StoredResults) -> list[ParallelAgreement]:
    """Return the agreement of answers per system and setting, and of passages per system.

    Empty without queries in several languages; no answers without a rule for correct ones.
    """
    versions = parallel_queries(results)
    if not versions:
        return []
    return [*_of_answers(results, versions), *_of_passages(results, versions)]


def _of_answers(results: StoredResults, versions: Versions) -> Iterator[ParallelAgreement]:
    for trial in results.trials if results.correctness else ():
        right = results.correct_answers(trial)
        for language in _languages(versions):
            found = _agreement(results, versions, language, right, lambda a, b: float(a == b))
            alpha = _alpha(results, versions, right) if language == ALL else None
            yield ParallelAgreement("answers", trial.system, trial.setting, language, found, alpha)


def _of_passages(results: StoredResults, versions: Versions) -> Iterator[ParallelAgreement]:
    known = passage_languages(results)
    for ranking in results.rankings:
        first = {
            q: {(p in known and known[p].parallel) or p for p in in_order(one)[:_K]}
            for q, one in _every(ranking).items()
        }
        for language in _languages(versions):
            found = _agreement(results, versions, language, first, _jaccard)
            yield ParallelAgreement("passages", ranking.system, "", language, found)


def _every(ranking: RankingResults) -> dict[str, Ranking]:
    """Return the rankings by query id, with the empty ones of searches that found nothing."""
    scored = (
        q for held in ranking.scores.values() for q, one in held.items() if one.status == "scored"
    )
    return {**dict.fromkeys(scored, Ranking()), **ranking.rankings}


_K: Final = limits.LANGUAGE_RANKS


def _languages(versions: Versions) -> list[str]:
    return [ALL, *sorted({language for own in versions.values() for language in own})]


def _jaccard(a: set[str], b: set[str]) -> float | None:
    """Return the overlap of two searches; None if neither found a passage."""
    return len(a & b) / len(a | b) if a | b else None


def _agreement(
    results: StoredResults,
    versions: Versions,
    language: str,
    values: _Values,
    compare: Callable[[Any, Any], float | None],
) -> Summary:
    """Return the mean over queries of the comparisons of their languages, without those of None."""
    shares: list[float] = []
    firsts: list[str] = []
    for own in versions.values():
        held = {name: v for name, q in own.items() if (v := values.get(q)) is not None}
        pairs = [pair for pair in combinations(held, 2) if language in (ALL, *pair)]
        found = [compare(held[a], held[b]) for a, b in pairs]
        if known := [one for one in found if one is not None]:
            shares.append(fmean(known))
            firsts.append(_first(own))
    return summarise(
        shares,
        clusters=clusters_of(firsts, results.clusters),
        not_applicable=len(versions) - len(shares),
    )


def _first(own: Mapping[str, str]) -> str:
    """Return the query whose cluster all versions have."""
    return own[min(own)]


def _alpha(results: StoredResults, versions: Versions, right: _Values) -> Coefficient:
    rated = [
        [v for q in own.values() if (v := right.get(q)) is not None] for own in versions.values()
    ]
    firsts = [_first(own) for own in versions.values()]
    return krippendorff_alpha(rated, clusters=clusters_of(firsts, results.clusters))


def parallel_tables(rows: Sequence[ParallelAgreement]) -> Iterator[TextTable]:
    """Yield the tables of answers and of passages that have rows."""
    answers = [row for row in rows if row.of == "answers"]
    if answers:
        title = "The same query across languages: both answers correct, or both wrong"
        headers = ["system", "setting", "language", "agreement [95 %]", "n", "above chance"]
        yield TextTable(headers, [_cells(row) for row in answers], title)
    passages = [row for row in rows if row.of == "passages"]
    if passages:
        title = f"The same query across languages: overlap of the first {_K} passages (Jaccard)"
        cells = [[c for n, c in enumerate(_cells(row)) if n not in (1, 5)] for row in passages]
        yield TextTable(["system", "language", "overlap [95 %]", "n"], cells, title)


def _cells(row: ParallelAgreement) -> list[str]:
    alpha = row.above_chance
    above = number(alpha.value) + interval_text(alpha.interval) if alpha else ""
    facts = (mean_text(row.agreement), f"{row.agreement.n:,}", above)
    return [row.system, row.setting, row.language, *facts]
