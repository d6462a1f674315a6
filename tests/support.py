"""Helpers that several test files share."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

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


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


_DAC_OVERRIDE = 1 << 1


@contextmanager
def read_only(root: Path) -> Iterator[None]:
    """Withdraw the permission to write below a folder; it binds root too.

    Root ignores permissions by a capability, which this thread gives up during the block.
    """
    paths = [root, *root.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    libc, header = ctypes.CDLL(None), _CapabilityHeader(0x20080522, 0)
    before, during = (_Capabilities * 2)(), (_Capabilities * 2)()
    for capabilities in (before, during):
        assert libc.capget(ctypes.byref(header), capabilities) == 0
    during[0].effective &= ~_DAC_OVERRIDE
    assert libc.capset(ctypes.byref(header), during) == 0
    try:
        with patch.object(os, "access", partial(os.access, effective_ids=True)):
            assert not os.access(root, os.W_OK)
            yield
    finally:
        assert libc.capset(ctypes.byref(header), before) == 0
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
