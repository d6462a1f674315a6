"""Stored tables and the record of a made-up experiment, for tests of readers of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import (
    CLUSTERS,
    QRELS,
    contexts_to_table,
    predictions_to_table,
    queries_to_table,
    rankings_to_table,
    scores_to_table,
    to_table,
)
from ragstone.core.store import Store
from ragstone.results.data_facts import DataFacts, Tables
from ragstone.results.reader import StoredResults
from ragstone.results.record import (
    MetricEntry,
    RankingEntry,
    Record,
    SystemEntry,
    TrialEntry,
)
from ragstone.types import Context, ContextPassage, Message, Prediction, Query, Ranking, Score

if TYPE_CHECKING:
    from arro3.core import Table

HOSTILE: Final = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "\u202egnirts derorrim\u202c מה שמו?",
    "Donaudampfschifffahrtsgesellschaft" * 12,
    "👩‍🔬 café ❤️ \u2028 line separator & <b>bold</b> ' \" `",
)
"""Texts that execute, break the layout or overflow if a page does not escape them."""

SETTINGS: Final = ("none", "gold", "gold+noise(3)", "retrieved(3)")
RANKING_METRICS: Final = ("nDCG@1", "nDCG@3", "nDCG@10", "R@1", "R@3", "R@10", "MRR")
ANSWER_METRICS: Final = ("Match", "F1")
_CHANCE: Final = {"none": 2, "gold": 8, "gold+noise(3)": 7, "retrieved(3)": 5}
"""Tenths of the answers that are correct; each later system has a tenth less."""


def made_results(
    root: Path,
    *,
    queries: int = 12,
    systems: Sequence[str] = ("bm25 + small", "dense + small"),
    settings: Sequence[str] = SETTINGS,
    texts: Sequence[str] = (),
    name: str = "made",
    finished: bool = True,
) -> StoredResults:
    """Return the results of a made-up experiment, stored under `root`.

    One answer in eleven failed and one query in seven has no gold answer. `texts` are inserted
    into queries, answers, passages, labels, reasons and ids.
    """
    store = Store(root)
    asked = [_query(place, texts) for place in range(queries)]
    trials = [_Trial(s, n, setting) for setting in settings for n, s in enumerate(systems)]
    metrics = [parse_metric(metric) for metric in (*RANKING_METRICS, *ANSWER_METRICS)]
    Record(
        name=name,
        started="2026-03-02T10:00:00+00:00",
        finished="2026-03-02T10:04:31+00:00" if finished else None,
        file={"name": name, "data": "made", "correct": "Match"},
        data=DataFacts("made", 5 * queries, queries, queries, queries, "0" * 64),
        tables=_tables(store, asked, texts),
        systems=tuple(SystemEntry(system, _components()) for system in systems),
        metrics=tuple(MetricEntry(str(m), "answer", description=m.described()) for m in metrics),
        environment={"python": "3.11.2", "machine": "Linux x86_64", "numpy": "2.4.6"},
        ragstone="0.1.0",
        rankings=tuple(_ranking(store, s, n, asked, texts) for n, s in enumerate(systems)),
        trials=tuple(_keep_trial(store, trial, asked, texts) for trial in trials),
    ).save(store)
    return StoredResults.load(store, name)


@dataclass(frozen=True)
class _Trial:
    system: str
    number: int
    setting: str


def _tables(store: Store, asked: Sequence[Query], texts: Sequence[str]) -> Tables:
    ids = [query.query_id for query in asked]
    judged = [
        (query_id, passage_id, grade)
        for place, query_id in enumerate(ids)
        for passage_id, grade in ((_gold(place, texts), 2), (f"p{place}-near", 0))
    ]
    names = ("query_id", "passage_id", "relevance")
    qrels = dict(zip(names, zip(*judged, strict=True), strict=True))
    clusters = {"query_id": ids, "cluster": [f"query {query_id}" for query_id in ids]}
    queries = _kept(store, "queries", queries_to_table(asked))
    return Tables(
        answered=queries,
        ranked=queries,
        qrels=_kept(store, "qrels", to_table(QRELS, qrels)),
        clusters=_kept(store, "clusters", to_table(CLUSTERS, clusters)),
    )


def _kept(store: Store, step: str, table: Table) -> str:
    """Store a table and return the name of its folder."""
    folder = store.keep(step, table).folder
    return "" if folder is None else folder.name


def _components() -> dict[str, Any]:
    made = "retrievers/bm25"
    return {"retriever": {"component": made, "version": 1, "parameters": {"k1": 1.2, "b": 0.75}}}


def _woven(texts: Sequence[str], place: int) -> str:
    return f" {texts[place % len(texts)]}" if texts else ""


def _query(place: int, texts: Sequence[str]) -> Query:
    answerable = place % 7 < 6
    follows = place % 3 == 1
    history = (
        Message("user", "Where does the ferry to Marrow Quay leave from?"),
        Message("agent", f"From pier {place}, north side.{_woven(texts, place)}"),
    )
    return Query(
        query_id=f"q{place:03d}{_woven(texts, place)}",
        text=f"When does ferry {place} leave in winter?{_woven(texts, place + 1)}",
        gold_answers=(f"at {place % 12 + 1} o'clock", f"{place % 12 + 1}:00") if answerable else (),
        history=history if follows else (),
        rewrite=f"When does ferry {place} to Marrow Quay leave in winter?" if follows else "",
        labels={
            "answerability": "answerable" if answerable else "unanswerable",
            "domain": ("ferries", "town hall", "museum")[place % 3],
            "turn": place % 3 + 1,
            **({"note": _woven(texts, place + 2)} if texts else {}),
        },
    )


def _gold(place: int, texts: Sequence[str]) -> str:
    return f"p{place}-gold{_woven(texts, place + 3)}"


def _passage(place: int, kind: str, texts: Sequence[str]) -> ContextPassage:
    if kind == "gold":
        text = (
            f"Winter timetable\nFerry {place} leaves at {place % 12 + 1} o'clock from November to "
            f"March, except on days of ice, when the harbour office says so by noon."
        )
        return ContextPassage(_gold(place, texts), text + _woven(texts, place), "gold")
    text = f"Fares and rules\nFerry {place} takes bicycles, note {kind}. Dogs stay on deck."
    return ContextPassage(f"p{place}-{kind}", text + _woven(texts, place + 4), "noise")


def _context(place: int, query: Query, setting: str, number: int, texts: Sequence[str]) -> Context:
    gold = _passage(place, "gold", texts)
    others = [_passage(place, kind, texts) for kind in ("near", "far", "odd")]
    if setting == "none":
        passages = []
    elif setting == "gold":
        passages = [gold]
    elif setting.startswith("gold+noise"):
        passages = [others[0], gold, *others[1:]]
    else:
        found = [gold, *others][:3] if _right(place, setting, number, salt=5) else others
        passages = [ContextPassage(p.passage_id, p.text, "retrieved") for p in found]
    return Context(query.query_id, setting, tuple(passages))


def _right(place: int, setting: str, number: int, salt: int = 0) -> bool:
    """Return whether an answer is correct, a function of the arguments."""
    drawn = (place * 7 + number * 3 + salt * 5 + len(setting)) * 2654435761 % 1000 // 100
    return drawn < _CHANCE[setting] - number


def _keep_trial(
    store: Store, trial: _Trial, asked: Sequence[Query], texts: Sequence[str]
) -> TrialEntry:
    contexts = [_context(p, q, trial.setting, trial.number, texts) for p, q in enumerate(asked)]
    predictions, scores = [], []
    for place, query in enumerate(asked):
        failed = (place + trial.number) % 11 == 10
        right = _right(place, trial.setting, trial.number)
        shown = len(contexts[place].passages)
        predictions.append(
            _prediction(place, query, shown, right=right, failed=failed, texts=texts)
        )
        scores += [_score(query, metric, right=right, failed=failed) for metric in ANSWER_METRICS]
    built = _kept(store, "context", contexts_to_table(contexts))
    return TrialEntry(
        system=trial.system,
        setting=trial.setting,
        built=built,
        contexts=built,
        predictions=_kept(store, "generate", predictions_to_table(predictions)),
        scores=_kept(store, "score-answer", scores_to_table(scores)),
    )


def _prediction(
    place: int, query: Query, shown: int, *, right: bool, failed: bool, texts: Sequence[str]
) -> Prediction:
    if failed:
        reason = f"no reply within 60 s{_woven(texts, place + 1)}"
        return Prediction(query.query_id, None, reason=reason)
    answer = f"It leaves at {place % 12 + 1 if right else 'an hour I do not know'} o'clock."
    return Prediction(
        query.query_id,
        answer + _woven(texts, place),
        tokens_in=40 + 110 * shown,
        tokens_out=12 + place % 9,
        seconds=0.4 + place % 13 / 10,
    )


def _score(query: Query, metric: str, *, right: bool, failed: bool) -> Score:
    if not query.gold_answers:
        reason = "the query has no gold answer"
        return Score(query.query_id, metric, None, status="not_applicable", reason=reason)
    if failed:
        return Score(query.query_id, metric, None, status="failed", reason="there is no answer")
    value = float(right) if metric == "Match" else (0.5 if right else 0.125)
    reason = f"holds the gold answer {query.gold_answers[0]!r}" if right else "holds no gold answer"
    return Score(query.query_id, metric, value, reason=reason if metric == "Match" else "")


def _ranking(
    store: Store, system: str, number: int, asked: Sequence[Query], texts: Sequence[str]
) -> RankingEntry:
    rankings, scores = [], []
    for place, query in enumerate(asked):
        rank = 1 + place * 5 % (4 + number)
        ids = [f"p{place}-{kind}" for kind in ("near", "far", "odd", "a", "b", "c", "d")]
        ids.insert(rank - 1, _gold(place, texts))
        rankings.append(Ranking(ids, [12.5 - 1.25 * i for i in range(len(ids))]))
        for metric in RANKING_METRICS:
            name, _, cutoff = metric.partition("@")
            found = rank <= int(cutoff or 10)
            value = (1.0 if name == "R" else 1 / rank) if found else 0.0
            scores.append(Score(query.query_id, metric, value))
    ids = [query.query_id for query in asked]
    return RankingEntry(
        system,
        _kept(store, "retrieve", rankings_to_table(ids, rankings)),
        _kept(store, "score-ranking", scores_to_table(scores)),
    )
