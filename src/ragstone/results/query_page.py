"""What the report holds of single queries: plain data, every text in it once.

Systems share contexts and contexts share passages, so both are numbered, and a query's page names
their numbers.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragstone.core import limits
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.results.reader import RankingResults, StoredResults, TrialResults
    from ragstone.types import Context, Query, Score


def query_pages(
    results: StoredResults, limit: int | None = limits.REPORT_QUERIES
) -> dict[str, Any]:
    """Return the pages of the first `limit` queries (all for None) as plain data.

    Keys: `correct`; `trials` ({system, setting}); `rankers` (systems); `passages` ([id, text], text
    None where neither a context nor a first place of a ranking shows it); `contexts` (lists of
    [passage, origin]); `queries`; `total`, how many were answered. Passages and contexts are places
    in those lists.
    """
    held = _Interned(results.texts)
    pages = [_page(results, query, held) for query in islice(results.queries.values(), limit)]
    outcomes = _adaptability_outcomes(results)
    for page in pages:
        page["outcomes"] = outcomes.get(page["id"], [])
    return {
        "correct": results.record.correctness_metric,
        "trials": [{"system": t.system, "setting": t.setting} for t in results.trials],
        "rankers": [run.system for run in results.rankings],
        "adaptability": [[row.system, row.setting] for row in results.adaptability],
        "places": limits.SHOWN_RANKS,
        "passages": held.passages(),
        "contexts": held.contexts(),
        "queries": pages,
        "total": len(results.queries),
    }


def query_document(results: StoredResults, query_id: str) -> dict[str, Any]:
    """Return one query's page with its passages spelt out (`show --query ID --json`).

    Raises `ConfigError` where no answered query has that id.
    """
    held = _Interned(results.texts)
    page = _page(results, find_query(results, query_id), held)
    passages, contexts = held.passages(), held.contexts()
    for run, ranking in zip(results.rankings, page["rankings"], strict=True):
        ranking["system"] = run.system
        ranking["places"] = [[passages[place][0], score] for place, score in ranking["places"]]
    for trial, answer in zip(results.trials, page["trials"], strict=True):
        if answer is not None:
            answer |= {"system": trial.system, "setting": trial.setting}
            for name in ("built", "context"):
                shown = [] if answer[name] is None else contexts[answer[name]]
                answer[name] = [[*passages[place], origin] for place, origin in shown]
    page["grades"] = {passages[place][0]: grade for place, grade in page["grades"]}
    return page


def find_query(results: StoredResults, query_id: str) -> Query:
    """Return an answered query; raise `ConfigError` with the nearest id where there is none."""
    if query_id in results.queries:
        return results.queries[query_id]
    known, most = list(results.queries), limits.MAX_SUGGESTED_IDS
    shown = difflib.get_close_matches(query_id, known, n=most) or known[:most]
    raise ConfigError(
        f"no answered query {query_id!r} in {results.name!r}; there are {len(results.queries)}, "
        f"such as {', '.join(shown)}"
    )


@dataclass
class _Interned:
    """Numbers passages and contexts, each distinct one once."""

    _texts: Mapping[str, str]
    """Passage id -> text, of passages that no context need show."""
    _passages: dict[tuple[str, str | None], int] = field(default_factory=dict)
    _by_id: dict[str, int] = field(default_factory=dict)
    _contexts: dict[tuple[tuple[int, str], ...], int] = field(default_factory=dict)

    def context(self, context: Context) -> int:
        shown = tuple((self._shown(p.passage_id, p.text), p.origin) for p in context.passages)
        return self._contexts.setdefault(shown, len(self._contexts))

    def _shown(self, passage_id: str, text: str) -> int:
        place = self._passages.setdefault((passage_id, text), len(self._passages))
        self._by_id.setdefault(passage_id, place)
        return place

    def ranked(self, passage_id: str) -> int:
        """Return the number of a passage known by its id."""
        if passage_id in self._by_id:
            return self._by_id[passage_id]
        place = len(self._passages)
        self._passages[passage_id, self._texts.get(passage_id)] = place
        self._by_id[passage_id] = place
        return place

    def passages(self) -> list[tuple[str, str | None]]:
        return list(self._passages)

    def contexts(self) -> list[list[list[Any]]]:
        return [[list(passage) for passage in shown] for shown in self._contexts]


def _page(results: StoredResults, query: Query, held: _Interned) -> dict[str, Any]:
    query_id = query.query_id
    grades = results.qrels.get(query_id, {})
    trials = [_trial(trial, query_id, held) for trial in results.trials]
    # Contexts come first: a passage that one of them shows is ranked with its text.
    rankings = [_ranking(run, query, held) for run in results.rankings]
    return {
        "id": query_id,
        "text": query.text,
        "rewrite": query.rewrite if query.rewrite != query.text else "",
        "gold": list(query.gold_answers),
        "labels": {name: _label(value) for name, value in query.labels.items()},
        "history": [[message.role, message.text] for message in query.history],
        "grades": [[held.ranked(passage_id), grade] for passage_id, grade in grades.items()],
        "trials": trials,
        "rankings": rankings,
    }


def _label(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _trial(trial: TrialResults, query_id: str, held: _Interned) -> dict[str, Any] | None:
    prediction, context = trial.predictions.get(query_id), trial.contexts.get(query_id)
    if prediction is None:
        return None
    built = trial.built.get(query_id)
    return {
        "built": None if built is None or built == context else held.context(built),
        "context": None if context is None else held.context(context),
        "answer": prediction.answer,
        "reason": prediction.reason,
        "seconds": prediction.seconds,
        "tokens": [prediction.tokens_in, prediction.tokens_out],
        "own": None if prediction.passage_ids is None else list(prediction.passage_ids),
        "scores": _scores(trial.scores, query_id),
    }


def _ranking(run: RankingResults, query: Query, held: _Interned) -> dict[str, Any] | None:
    query_id = query.query_id
    ranking = run.rankings.get(query_id)
    search = run.searches.get(query_id, query.text)
    places = [
        [held.ranked(place.passage_id), round(place.score, 6)]
        for place in islice(ranking or (), limits.SHOWN_RANKS)
    ]
    return {
        "places": places,
        "depth": len(ranking) if ranking is not None else 0,
        "search": "" if search == query.text else search,
        "scores": _scores(run.scores, query_id),
    }


def _scores(scores: Mapping[str, Mapping[str, Score]], query_id: str) -> list[list[Any]]:
    """Return [metric, value, status, reason] per metric, cut short where a score is as usual."""
    return [_score(held[query_id]) for held in scores.values() if query_id in held]


def _score(score: Score) -> list[Any]:
    whole = score.value is not None and score.value.is_integer()
    found = [score.metric, int(score.value) if whole and score.value is not None else score.value]
    usual = score.status == "scored" and not score.reason
    return found if usual else [*found, score.status, score.reason]


def _adaptability_outcomes(results: StoredResults) -> dict[str, list[str | None]]:
    """Return query id -> its outcome per adaptability row, None where it was left out."""
    rows = [{i.query_id: i.outcome for i in r.adaptability.items} for r in results.adaptability]
    return {query_id: [row.get(query_id) for row in rows] for query_id in results.queries}
