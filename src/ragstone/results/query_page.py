"""The pages of single queries as plain data; every text is contained once.

Systems share contexts and contexts share passages. Both are listed once, and the page of a query
contains their places in the lists.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.results.answer_language import answer_language
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import RankingResults, RepeatRows, TrialResults
from ragstone.types import Context, Hop, Passage, Query, Score


def query_pages(
    results: StoredResults, limit: int | None = limits.REPORT_QUERIES
) -> dict[str, Any]:
    """Return the pages of the first `limit` queries, or of all for None, as plain data.

    Keys: `correct` (the metric), `condition` (such as `>= 0.5`) and `threshold`; `trials` ({system,
    setting}); `rankers` (systems); `passages` ([id, text]; the text is None if neither a context
    nor the first ranks of a ranking contain it); `contexts` (lists of [passage, origin]);
    `queries`; `total` (number of answered queries). Passages and contexts are places in those
    lists.
    """
    shared = _Shared(results.texts)
    pages = [_page(results, query, shared) for query in islice(results.queries.values(), limit)]
    outcomes = [
        {item.query_id: item.outcome for item in row.adaptability.items}
        for row in results.adaptability
    ]
    for page in pages:
        page["outcomes"] = [by_query.get(page["id"]) for by_query in outcomes]
    return {
        **_rule(results),
        "trials": [{"system": t.system, "setting": t.setting} for t in results.trials],
        "rankers": [run.system for run in results.rankings],
        "adaptability": [[row.system, row.setting] for row in results.adaptability],
        "places": limits.SHOWN_RANKS,
        "passages": list(shared.passages),
        "contexts": list(shared.contexts),
        "queries": pages,
        "total": len(results.queries),
    }


def _rule(results: StoredResults) -> dict[str, Any]:
    """Return the metric that colours the outcomes, and its threshold if it has one."""
    rule = results.correctness
    return {
        "correct": results.record.answer_metric,
        "condition": rule.condition if rule else "",
        "threshold": None if rule is None else rule.threshold,
    }


def query_document(results: StoredResults, query_id: str) -> dict[str, Any]:
    """Return the page of one query with passages in place of numbers (`show --query ID --json`).

    Raises `ConfigError` if there is no answered query with that id.
    """
    shared = _Shared(results.texts)
    page = _page(results, find_query(results, query_id), shared)
    passages, contexts = list(shared.passages), list(shared.contexts)
    for run, ranking in zip(results.rankings, page["rankings"], strict=True):
        ranking["system"] = run.system
        ranking["places"] = [[passages[place][0], score] for place, score in ranking["places"]]
    for trial, answer in zip(results.trials, page["trials"], strict=True):
        if answer is not None:
            answer |= {"system": trial.system, "setting": trial.setting}
            for name in ("built", "context"):
                context = () if answer[name] is None else contexts[answer[name]]
                answer[name] = [[*passages[place], origin] for place, origin in context]
            if answer["hops"] is not None:
                answer["hops"] = [_hop_document(hop, passages) for hop in answer["hops"]]
    page["grades"] = {passages[place][0]: grade for place, grade in page["grades"]}
    return page


def _hop_document(hop: Sequence[Any], passages: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    text, places, tokens, seconds = hop
    found = [list(passages[place]) for place in places]
    return {"query": text, "passages": found, "tokens": tokens, "seconds": seconds}


def find_query(results: StoredResults, query_id: str) -> Query:
    """Return an answered query; raise `ConfigError` with the nearest ids if there is none."""
    if query_id in results.queries:
        return results.queries[query_id]
    if query_id in results.secret_queries:
        raise ConfigError(
            f"query {query_id!r} is secret: {results.name!r} keeps it out of outputs; "
            "`ragstone show --query ID --reveal` shows it, and records that it was shown"
        )
    known, most = list(results.queries), limits.MAX_SUGGESTED_IDS
    nearest = difflib.get_close_matches(query_id, known, n=most) or known[:most]
    raise ConfigError(
        f"no answered query {query_id!r} in {results.name!r}; there are {len(results.queries)}, "
        f"such as {', '.join(nearest)}"
    )


@dataclass
class _Shared:
    """Passages and contexts, each with its place in order of first appearance."""

    texts: Mapping[str, str]
    """Passage id -> text, for passages that no context contains."""
    passages: dict[tuple[str, str | None], int] = field(default_factory=dict)
    contexts: dict[tuple[tuple[int, str], ...], int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    """Passage id -> place of its first text."""

    def context(self, context: Context) -> int:
        key = tuple((self._passage(p.passage_id, p.text), p.origin) for p in context.passages)
        return self.contexts.setdefault(key, len(self.contexts))

    def found(self, passage: Passage) -> int:
        """Return the place of a passage that a hop found, which may be known by its id alone."""
        if passage.text:
            return self._passage(passage.passage_id, passage.text)
        return self.ranked(passage.passage_id)

    def ranked(self, passage_id: str) -> int:
        """Return the place of a passage of which only the id is known."""
        if passage_id not in self.first:
            self._passage(passage_id, self.texts.get(passage_id))
        return self.first[passage_id]

    def _passage(self, passage_id: str, text: str | None) -> int:
        place = self.passages.setdefault((passage_id, text), len(self.passages))
        self.first.setdefault(passage_id, place)
        return place


def _page(results: StoredResults, query: Query, shared: _Shared) -> dict[str, Any]:
    query_id = query.query_id
    grades = results.grades(query_id)
    trials = [_trial(results, trial, query_id, shared) for trial in results.trials]
    # Contexts come first: a ranked passage of a context then has its text.
    rankings = [_ranking(run, query, shared) for run in results.rankings]
    return {
        "id": query_id,
        "text": query.text,
        "rewrite": query.rewrite if query.rewrite != query.text else "",
        "gold": list(query.gold_answers),
        "labels": {name: _label(value) for name, value in query.labels.items()},
        "history": [[message.role, message.text] for message in query.history],
        "grades": [[shared.ranked(passage_id), grade] for passage_id, grade in grades.items()],
        "trials": trials,
        "rankings": rankings,
    }


def _label(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _trial(
    results: StoredResults, trial: TrialResults, query_id: str, shared: _Shared
) -> dict[str, Any] | None:
    prediction, context = trial.predictions.get(query_id), trial.contexts.get(query_id)
    if prediction is None:
        return None
    built = trial.built.get(query_id)
    hops = results.hops.get((trial.system, trial.setting), {}).get(query_id)
    return {
        "built": None if built is None or built == context else shared.context(built),
        "context": None if context is None else shared.context(context),
        "answer": prediction.answer,
        "language": answer_language(results, prediction.answer),
        "reason": prediction.reason,
        "seconds": prediction.seconds,
        "tokens": [prediction.tokens_in, prediction.tokens_out],
        "own": None if prediction.passage_ids is None else list(prediction.passage_ids),
        "confidence": prediction.confidence,
        "hops": None if hops is None else [_hop(hop, shared) for hop in hops],
        "scores": list(map(_score, trial.scores_of(query_id).values())),
        "repeats": [_repeat(results, one, query_id) for one in trial.repeats],
    }


def _repeat(results: StoredResults, one: RepeatRows, query_id: str) -> dict[str, Any]:
    """Return an answer, or a further verdict on it, with its scores; numbers are from 0."""
    prediction = one.predictions[query_id]
    scores = (held[query_id] for held in one.scores.values() if query_id in held)
    return {
        "number": one.answer,
        "verdict": one.verdict,
        "answer": prediction.answer,
        "language": answer_language(results, prediction.answer),
        "reason": prediction.reason,
        "scores": list(map(_score, scores)),
    }


def _hop(hop: Hop, shared: _Shared) -> list[Any]:
    """Return the query, the passages, the tokens and the seconds of a search."""
    return [hop.query, [shared.found(p) for p in hop.passages], hop.tokens, hop.seconds]


def _ranking(run: RankingResults, query: Query, shared: _Shared) -> dict[str, Any]:
    ranking = run.rankings.get(query.query_id)
    search = run.searches.get(query.query_id, query.text)
    return {
        "places": [
            [shared.ranked(place.passage_id), round(place.score, 6)]
            for place in islice(ranking or (), limits.SHOWN_RANKS)
        ],
        "depth": len(ranking) if ranking is not None else 0,
        "search": "" if search == query.text else search,
        "scores": list(map(_score, run.scores_of(query.query_id).values())),
    }


def _score(score: Score) -> list[Any]:
    """Return [metric, value], followed by status and reason unless the score is a plain value."""
    value = score.value
    number = int(value) if value is not None and value.is_integer() else value
    plain = score.status == "scored" and not score.reason
    return [score.metric, number] + ([] if plain else [score.status, score.reason])
