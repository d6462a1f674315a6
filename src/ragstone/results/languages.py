"""The languages of what systems retrieve, by the language of the query, and the bias for one.

A language is the label `language`, else the recognised one. Translations share the label
`parallel`; a retriever without bias ranks them alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ragstone.core import limits, schemas
from ragstone.core.tables import TextTable
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.parts import Spec
from ragstone.results.factors import NONE, system_factors
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import RankingResults
from ragstone.results.wording import ABSENT, interval_text, mean_text, number
from ragstone.statistics.summary import Summary, clusters_of, summarise
from ragstone.text.language_names import one_language, stated_language


class PassageLanguage(NamedTuple):
    """The language of a passage, and the id that it shares with its translations."""

    language: str
    parallel: str


@dataclass(frozen=True)
class RetrievedLanguage:
    """The passages of one language that a system retrieved for queries in one language."""

    system: str
    query_language: str
    passage_language: str
    share: Summary
    """Share of the first 10 passages."""
    in_reach: float | None
    """Share of the passages that the queries can reach; None if some have no label."""
    ahead: Summary
    """Share of queries whose gold passage in their own language is ranked before its translation.

    Not applicable to queries of which neither is retrieved, or without such a pair.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        mean, reach = self.share.mean, self.in_reach
        bias = None if mean is None or reach is None else mean - reach
        return asdict(self) | {"bias": bias}


def query_languages(results: StoredResults) -> dict[str, str]:
    """Return query id -> language, stated or recognised; "" if it is unknown."""
    queries = results.all_queries
    return {q: one_language(stated_language(one.labels)) for q, one in queries.items()}


def passage_languages(results: StoredResults) -> dict[str, PassageLanguage]:
    """Return passage id -> language of gold and ranked passages; empty without labels."""
    folder = results.record.tables.passage_languages
    columns = schemas.columns(results.stored_table(folder)) if folder else {}
    ids, *facts = columns.values() if columns else ([], [], [])
    return {p: PassageLanguage(*one) for p, *one in zip(ids, *facts, strict=True)}


def retrieved_languages(results: StoredResults) -> list[RetrievedLanguage]:
    """Return a row per system, language of queries and language of passages.

    Systems are left out for queries that reach passages of one language alone.
    """
    passages = passage_languages(results)
    if not passages:
        return []
    groups: dict[str, list[str]] = {}
    for query_id, language in query_languages(results).items():
        groups.setdefault(language, []).append(query_id)
    return [
        row
        for ranking in results.rankings
        for language, query_ids in sorted(groups.items())
        if language
        for row in _rows(
            results, ranking, language, [q for q in query_ids if q in ranking.rankings], passages
        )
    ]


def _rows(
    results: StoredResults,
    ranking: RankingResults,
    language: str,
    query_ids: Sequence[str],
    passages: Mapping[str, PassageLanguage],
) -> Iterator[RetrievedLanguage]:
    """Yield the rows of one system and one language of queries."""
    k = limits.LANGUAGE_RANKS
    found = {q: ranking.rankings[q].passage_ids for q in query_ids}
    counts = {
        q: Counter(passages[p].language for p in found[q][:k] if p in passages) for q in found
    }
    reach = Counter[str]()
    for query_id in query_ids:
        reach.update(_in_reach(results, ranking.system, query_id, language))
    languages = {one for one in (*reach, *(name for c in counts.values() for name in c)) if one}
    for other in sorted(languages) if len(languages) > 1 else ():
        shares = [c[other] / c.total() if c.total() else None for c in counts.values()]
        ahead = {
            q: None
            if other == language or not (reach[language] and reach[other])
            else _ahead(results, q, ids, (language, other), passages)
            for q, ids in found.items()
        }
        yield RetrievedLanguage(
            ranking.system,
            language,
            other,
            _summary(results, dict(zip(found, shares, strict=True))),
            None if reach[""] or not reach else reach[other] / reach.total(),
            _summary(results, ahead),
        )


def _in_reach(
    results: StoredResults, system: str, query_id: str, language: str
) -> Mapping[str, int]:
    """Return language -> passages that a system can find for a query; "" for unlabelled ones."""
    counts = results.record.data.language_counts
    own = results.collections.get(query_id, "")
    datastore = system_factors(results.record).get(system, {}).get("datastore", NONE)
    names = {own} if datastore == NONE and own else {*datastore.split("+")}
    if "all" in names or (datastore == NONE and not own):
        names = {*counts}
    named = {own or language if name == "user" else name for name in names}
    return sum((Counter(counts.get(name, {})) for name in named), Counter[str]())


def _ahead(
    results: StoredResults,
    query_id: str,
    ranked: Sequence[str],
    languages: tuple[str, str],
    passages: Mapping[str, PassageLanguage],
) -> float | None:
    """Return whether the gold passage in one language is ranked before that in another one."""
    grades = results.qrels.get(query_id, {})
    gold = {passages[p].parallel for p, grade in grades.items() if grade > 0 and p in passages}
    first: dict[str, int] = {}
    for rank, passage_id in enumerate(ranked):
        one = passages.get(passage_id)
        if one and one.parallel and one.parallel in gold:
            first.setdefault(one.language, rank)
    own, other = (first.get(name) for name in languages)
    if own is other is None:
        return None
    return float(other is None or (own is not None and own < other))


def _summary(results: StoredResults, values: Mapping[str, float | None]) -> Summary:
    known = {q: value for q, value in values.items() if value is not None}
    clusters = clusters_of(known, results.clusters)
    left_out = len(values) - len(known)
    return summarise([*known.values()], clusters=clusters, not_applicable=left_out)


def language_tables(rows: Sequence[RetrievedLanguage]) -> Iterator[TextTable]:
    """Yield the table of shares if there are rows, and that of bias if there are translations."""
    k = limits.LANGUAGE_RANKS
    title = f"Languages of the first {k} passages (share [95 % interval] of share in reach)"
    if rows:
        yield _table(rows, title, _share_text)
    if any(row.ahead.n for row in rows):
        title = (
            "Bias for the query's language (share of queries whose gold passage in their language "
            "is ranked before its translation [95 % interval]; 0.5 is none)"
        )
        yield _table(rows, title, _ahead_text)


def _table(
    rows: Sequence[RetrievedLanguage], title: str, text: Callable[[RetrievedLanguage], str]
) -> TextTable:
    """Return a row per system and language of queries, a column per language of passages."""
    names = sorted({row.passage_language for row in rows})
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells = lines.setdefault((row.system, row.query_language), {})
        cells[row.passage_language] = text(row)
    found = [
        [*place, *(cells.get(name, ABSENT) for name in names)] for place, cells in lines.items()
    ]
    return TextTable(["system", "queries in", *names], found, title)


def _share_text(row: RetrievedLanguage) -> str:
    return mean_text(row.share) + (f" of {number(row.in_reach)}" if row.in_reach else "")


def _ahead_text(row: RetrievedLanguage) -> str:
    return f"{mean_text(row.ahead)} n {row.ahead.n}" if row.ahead.n else ABSENT


def languages_chart(rows: Sequence[RetrievedLanguage]) -> Spec | None:
    """Return the heat map of the languages of what was retrieved; None without rows."""
    several = len({row.system for row in rows}) > 1
    cells = [
        {
            "row": f"{row.system}, {row.query_language}" if several else row.query_language,
            "column": row.passage_language,
            "value": row.share.mean,
            "shown": number(row.share.mean),
            "note": interval_text(row.share.interval).strip(),
        }
        for row in rows
    ]
    return (
        heat_map(
            f"Languages of the first {limits.LANGUAGE_RANKS} passages (columns) by that of "
            "the query (rows)",
            cells,
            low=0,
            high=1,
        )
        if cells
        else None
    )
