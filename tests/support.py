"""Helpers that several test files share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.ranking_batch import rank_judged
from ragstone.core.component import Component, run_component
from ragstone.data.corpus import Corpus
from ragstone.indexes.embed import embed_texts
from ragstone.protocols import Embedder, Retriever, Role, Services
from ragstone.types import Ranking, Search


def values(part: Component, services: Services, *lists: Sequence[Any], **named: Any) -> list[Any]:
    """Return the value per item of a component's verb."""
    return [outcome.value for outcome in run_component(part, services, *lists, **named)]


def rankings(
    retriever: Retriever, searches: Sequence[Search], corpus: Corpus, **services: Any
) -> list[Ranking]:
    """Return the ranking of each search."""
    return values(retriever, Services(corpus=corpus, **services), searches)


def vectors(embedder: Embedder, role: Role, *texts: str, **services: Any) -> list[Any]:
    """Return the vectors of each text."""
    return [outcome.value for outcome in embed_texts(embedder, texts, role, Services(**services))]


def answer_value(
    metric: str, answer: str, gold: Sequence[str] = (), query: str = "", language: str = ""
) -> float:
    """Return an answer metric's value of a single answer."""
    pair = AnswerBatch([answer], [tuple(gold)], [query], [None], [language])
    return float(parse_metric(metric).values(pair)[0])  # type: ignore[arg-type]


def ranking_value(metric: str, passage_ids: Sequence[str], qrels: Mapping[str, int]) -> float:
    """Return a ranking metric's value of a single ranking."""
    ranks = rank_judged({"q": qrels}, {"q": Ranking(passage_ids)}, ["q"])
    return float(parse_metric(metric).values(ranks)[0])  # type: ignore[arg-type]
