"""Contracts of components: one check per kind, for the tests of their authors.

    def test_my_retriever():
        check_retriever(MyRetriever())

A check runs the component on the sample data, as an experiment would, and raises `AssertionError`
with the first broken rule. Every kind returns one value per item, in order, of the right type, the
same values for the same items, and no value for no item; its parameters are plain data.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from ragstone.calls.client import Calls
from ragstone.components.context_settings.passage_sources import PassageSources
from ragstone.components.context_settings.shown import as_context, shown
from ragstone.components.metrics.base import AnswerMetric, RankingMetric
from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.components.metrics.score import score_answers, score_rankings
from ragstone.core.component import Component, Outcome, run_component
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import create
from ragstone.core.schemas import table_to_scores
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.errors import ComponentError
from ragstone.experiment.load import load_experiment
from ragstone.protocols import Services
from ragstone.types import (
    Context,
    Document,
    Passage,
    Prediction,
    Query,
    Ranking,
    Search,
    Task,
)

_QUERIES: Final = 4
"""Queries of the sample data that a check uses."""
_EXPERIMENT: Final = {
    "name": "contract",
    "data": "sample",
    "systems": [{"name": "bm25", "retriever": "bm25", "generator": "gold"}],
    "settings": ["none", "retrieved(3)"],
    "metrics": ["R@3", "Match"],
}
"""The experiment whose results an exporter is given."""


def check_reader(reader: Any) -> None:
    """Check that a reader returns the same data set twice."""
    part = _part("readers", reader)
    first, second = part.read(), part.read()
    _require(isinstance(first, Dataset), f"read() returned {first!r}; expected a Dataset")
    same = first.query_table == second.query_table and first.corpus.digest == second.corpus.digest
    _require(same, "read() returned different data for the same files")


def check_chunker(chunker: Any) -> None:
    """Check that a chunker returns passages of the document's own text with unique ids."""
    documents = [Document(p.passage_id, p.text, p.title) for p in _passages()]
    found = _run("chunkers", chunker, documents)
    for document, passages in zip(documents, found, strict=True):
        for passage in passages or ():
            _require(isinstance(passage, Passage), f"cut() returned {passage!r}, not a Passage")
            _require(
                passage.text in document.text,
                f"the passage {passage.passage_id!r} is not a part of its document; make it with "
                "document.passage(start, end)",
            )
    ids = [passage.passage_id for passages in found for passage in passages or ()]
    _require(len(set(ids)) == len(ids), "cut() gave two passages the same passage_id")
    (empty,) = _run("chunkers", chunker, [Document("blank", "  \n ")])
    _require(not empty, "cut() returned a passage of a document that has only white space")


def check_query_former(query_former: Any) -> None:
    """Check that `query_former` returns one text per query."""
    _run("query_formers", query_former, _queries())


def check_embedder(embedder: Any) -> None:
    """Check that an embedder returns vectors of one length, made of finite numbers."""
    import numpy as np

    part = _part("embedders", embedder)
    texts = [passage.full_text for passage in _passages()]
    for role in ("query", "passage"):
        found = _run("embedders", part, texts, role=role)
        if part.output == "sparse":
            _require(
                all(math.isfinite(w) and w > 0 for weights in found for w in weights.values()),
                "embed() returned a weight that is not a finite number above 0",
            )
            continue
        arrays = [np.asarray(vectors) for vectors in found]
        shapes = {array.shape[-1:] for array in arrays}
        _require(len(shapes) == 1, f"embed() returned vectors of different lengths: {shapes}")
        _require(
            all(np.isfinite(array).all() for array in arrays),
            "embed() returned a number that is not finite",
        )


def check_retriever(retriever: Any) -> None:
    """Check that a retriever returns rankings of the corpus's passages, best first."""
    part = _part("retrievers", retriever)
    for ranking in _run("retrievers", part, _searches()):
        _check_ranking(ranking, part.top_k, "retrieve()")


def check_reranker(reranker: Any) -> None:
    """Check that a reranker returns rankings of the passages that it was given."""
    part = _part("rerankers", reranker)
    given = [_found()] * _QUERIES
    for before, ranking in zip(given, _run("rerankers", part, _searches(), given), strict=True):
        if ranking is not None:
            _check_ranking(ranking, part.top_k, "rerank()")
            _check_given(ranking.passage_ids, before.passage_ids, "rerank()")


def check_context_setting(setting: Any) -> None:
    """Check that a setting has a name, and shows only candidate passages, none twice."""
    part = _part("context_settings", setting)
    _require(bool(part.setting), "the setting has no name")
    sources = PassageSources(
        _data().corpus, part.uses, _data().qrels, run={q.query_id: _found() for q in _queries()}
    )
    candidates = [sources.candidates(query) for query in _queries()]
    found = _run("context_settings", part, candidates)
    for given, value in zip(candidates, found, strict=True):
        ids = as_context(value, given, part).passage_ids
        _require(len(set(ids)) == len(ids), f"build() shows a passage twice: {ids}")
        _require(all(p in _data().corpus for p in ids), f"build() shows unknown passages: {ids}")


def check_processor(processor: Any) -> None:
    """Check that a processor returns one context per task, with no new passage."""
    tasks = _tasks()
    for task, context in zip(tasks, _run("processors", processor, tasks), strict=True):
        if context is not None:
            _check_given(context.passage_ids, task.context.passage_ids, "process()")


def check_generator(generator: Any) -> None:
    """Check that a generator returns one answer or prediction per task."""
    for task, value in zip(_tasks(), _run("generators", generator, _tasks()), strict=True):
        if isinstance(value, Prediction):
            right = value.query_id == task.query.query_id
            _require(right, f"the prediction of {task.query.query_id!r} has another query_id")
            _require(
                value.answer is not None or bool(value.reason),
                "a prediction without an answer needs a reason",
            )


def check_metric(metric: Any) -> None:
    """Check a metric's declarations, and that it scores with finite numbers within its range."""
    part = _part("metrics", metric)
    part.check(_services())
    if isinstance(part, RepeatMetric):
        for correct in ([True, False] * part.least, [False] * part.least):
            value = part.value(["an answer"] * len(correct), correct)
            _require(0 <= value <= 1, f"{part} gave {value}, outside of 0 to 1")
        return
    if isinstance(part, RankingMetric):
        run = {query.query_id: _found() for query in _queries()}
        table = score_rankings([part], _data().qrels, run, [q.query_id for q in _queries()])
    else:
        _require(isinstance(part, AnswerMetric), f"{metric!r} is not a metric")
        predictions = [Prediction(task.query.query_id, task.query.text) for task in _tasks()]
        contexts = [task.context for task in _tasks()]
        table = score_answers([part], _queries(), predictions, contexts)
    low, high = part.range or (-math.inf, math.inf)
    for score in table_to_scores(table):
        _require(
            score.status not in ("failed", "unscored"),
            f"{part} failed for {score.query_id!r}: {score.reason}",
        )
        _require(
            score.value is None or low <= score.value <= high,
            f"{part} gave {score.value}, outside its range {part.range}",
        )


def check_judge(judge: Any) -> None:
    """Check that a judge returns scores of its own metrics for each prediction."""
    part = _part("judges", judge)
    tasks = _tasks()
    predictions = [Prediction(task.query.query_id, "It is the Tagus.") for task in tasks]
    for task, value in zip(tasks, _run("judges", part, tasks, predictions), strict=True):
        try:
            part.scores_of(task.query.query_id, Outcome(value))
        except ComponentError as error:
            raise AssertionError(str(error)) from error


def check_exporter(exporter: Any) -> None:
    """Check that an exporter writes the files that it returns."""
    part = _part("exporters", exporter)
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"store={folder}", f"sample.limit={_QUERIES}"]
        results = load_experiment(_EXPERIMENT, settings).run()
        files = list(part.export(results, Path(folder, "exported")))
        _require(bool(files), "export() returned no file")
        for path in files:
            _require(Path(path).is_file(), f"export() returned {path}, which does not exist")


def _run(kind: str, component: Any, *lists: Sequence[Any], **named: Any) -> list[Any]:
    """Return the values of a component's verb, after the rules that all kinds share."""
    part = _part(kind, component)
    services = _services()
    try:
        first = run_component(part, services, *lists, **named)
    except ComponentError as error:
        raise AssertionError(str(error)) from error
    again = run_component(part, services, *lists, **named)
    for outcome in first:
        _require(
            outcome.value is not None or bool(outcome.reason) or kind != "judges",
            f"{part.verb}() returned None without a reason",
        )
        _require(not outcome.retry, f"{part.verb}() failed for an item: {outcome.reason}")
    _require(
        repr(first) == repr(again), f"{part.verb}() returned different values for the same items"
    )
    nothing = run_component(part, services, *([] for _ in lists), **named)
    _require(nothing == [], f"{part.verb}() returned {len(nothing)} values for no item")
    return [outcome.value for outcome in first]


def _part(kind: str, component: Any) -> Any:
    """Return the component as an experiment sees it."""
    if isinstance(component, type):
        component = component()
    part: Component = create(kind, component, where=f"the {kind.removesuffix('s')}")
    fingerprint(part)  # raises if a parameter is not plain data
    return part


def _check_ranking(ranking: Ranking, top_k: int, verb: str) -> None:
    ids, scores = list(ranking.passage_ids), list(ranking.scores)
    _require(len(ids) <= top_k, f"{verb} returned {len(ids)} passages; top_k is {top_k}")
    _require(len(set(ids)) == len(ids), f"{verb} returned a passage twice")
    _require(len(ids) == len(scores), f"{verb} returned {len(ids)} ids and {len(scores)} scores")
    _require(all(map(math.isfinite, scores)), f"{verb} returned a score that is not finite")
    _require(scores == sorted(scores, reverse=True), f"{verb} returned increasing scores")
    _require(all(p in _data().corpus for p in ids), f"{verb} returned an unknown passage")


def _check_given(ids: Collection[str], given: Collection[str], verb: str) -> None:
    strange = set(ids) - set(given)
    _require(not strange, f"{verb} returned {sorted(strange)}, which it was not given")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(problem)


@cache
def _data() -> Dataset:
    return load_dataset("sample")


@cache
def _services() -> Services:
    folder = Path(tempfile.mkdtemp(prefix="ragstone-contracts-"))
    calls = Calls.at(folder / "calls.sqlite")
    return Services(calls=calls, corpus=_data().corpus, qrels=_data().qrels)


def _queries() -> list[Query]:
    return list(_data().queries[:_QUERIES])


def _searches() -> list[Search]:
    return [Search(query.query_id, query.text) for query in _queries()]


def _passages() -> list[Passage]:
    return [_data().corpus.at(place) for place in range(_QUERIES)]


def _found() -> Ranking:
    return Ranking([p.passage_id for p in _passages()], range(_QUERIES, 0, -1))


def _tasks() -> list[Task]:
    context = shown(_passages(), "retrieved")
    return [Task(query, Context(query.query_id, "retrieved(4)", context)) for query in _queries()]
