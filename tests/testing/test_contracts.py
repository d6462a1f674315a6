"""Contracts: the checks of `ragstone.testing` reject components that break a rule of their kind."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from ragstone import testing
from ragstone.errors import ConfigError
from ragstone.types import Context, ContextPassage, Passage, Prediction, Ranking

COUNT = itertools.count()


@dataclass(frozen=True)
class Broken:
    """Verbs of several kinds, each with one mistake."""

    top_k: int = 2

    def retrieve(self, search: Any) -> Ranking:
        """Return passages that the corpus does not contain."""
        return Ranking(["absent"], [1.0])

    def rerank(self, search: Any, ranking: Any) -> Ranking:
        """Return more than `top_k` passages."""
        return Ranking(ranking.passage_ids, ranking.scores)

    def form(self, query: Any) -> str:
        """Return another text each time."""
        return f"{query} {next(COUNT)}"

    def embed(self, text: str) -> list[float]:
        """Return vectors of different lengths."""
        return [1.0] * (1 + len(text) % 2)

    def process(self, task: Any) -> Context:
        """Return a passage that is not in the context."""
        passages = (ContextPassage("absent", "Lorem ipsum.", "gold"),)
        return Context(task.query.query_id, "gold", passages)

    def generate(self, task: Any) -> Prediction:
        """Return the prediction of another query."""
        return Prediction("other", "42")

    def judge(self, task: Any, prediction: Any) -> str:
        """Return a text instead of a score."""
        return "good"

    def cut(self, document: Any) -> list[Passage]:
        """Return a text that is not in the document."""
        return [Passage("1", "Lorem ipsum.")]


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("retriever", "unknown passage"),
        ("reranker", "top_k is 2"),
        ("query_former", "different values for the same items"),
        ("embedder", "vectors of different lengths"),
        ("processor", r"process\(\) returned \['absent'\], which it was not given"),
        ("generator", "query_id"),
        ("judge", "a judge returns"),
        ("chunker", "not a part of its document"),
    ],
)
def test_a_broken_rule_is_an_assertion_error(kind: str, problem: str) -> None:
    """The error names the verb and the rule."""
    with pytest.raises(AssertionError, match=problem):
        getattr(testing, f"check_{kind}")(Broken())


@pytest.mark.parametrize(
    ("kind", "component"),
    [
        ("context_setting", "gold+noise(1)"),
        ("exporter", "trec"),
        ("metric", "F1"),
        ("processor", "pruning"),
    ],
)
def test_built_in_components_keep_their_contract(kind: str, component: str) -> None:
    """A component may be given by its name."""
    getattr(testing, f"check_{kind}")(component)


@pytest.mark.parametrize(
    "module", ["", "__name__ = 'ragstone_no_module'\n", "__name__ = 'tests'\n"]
)
@pytest.mark.parametrize(
    ("kind", "verb"), [("embedder", "embed(self, texts)"), ("judge", "judge(self, predictions)")]
)
def test_a_class_without_code_is_refused(kind: str, verb: str, module: str) -> None:
    """Made by `exec`, in a namespace of no module, of an unknown one or of another file."""
    made: dict[str, Any] = {}
    exec(f"{module}class Mine:\n    def {verb}: ...\n", made)  # noqa: S102 - the test is about it
    with pytest.raises(ConfigError, match=r"the code of 'Mine' is not available.*in a Python file"):
        getattr(testing, f"check_{kind}")(made["Mine"])
