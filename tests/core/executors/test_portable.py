"""A component as plain data: every built-in one, nested ones, and those that are not sent."""

from dataclasses import astuple, dataclass, replace
from pathlib import Path

import pytest

from ragstone.components.generators.recorded import Recorded
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.retrievers.bm25 import BM25
from ragstone.components.retrievers.dense import Dense
from ragstone.components.retrievers.fusion import Fusion
from ragstone.core.builtins import BUILT_IN
from ragstone.core.executors.portable import Portable
from ragstone.core.fingerprint import fingerprint
from ragstone.core.registry import create
from ragstone.errors import RagstoneError
from ragstone.experiment.metric_set import MetricSet

KINDS = ("query_formers", "retrievers", "rerankers", "context_settings", "processors")


@dataclass(frozen=True)
class Own:
    """A retriever of the user."""

    top_k: int = 3

    def retrieve(self, search: object) -> None:
        """Find nothing."""


def _back(component: object) -> object:
    made = Portable.of(component)  # type: ignore[arg-type]
    assert made is not None
    return Portable(*astuple(made)).component()


@pytest.mark.parametrize("kind", KINDS)
def test_built_in_components_come_back(kind: str) -> None:
    """Built in components come back."""
    found = 0
    for name in BUILT_IN[kind]:
        try:
            component = create(kind, name, where="test")
        except RagstoneError:  # a parameter is required, or a package is missing
            continue
        found += 1
        assert fingerprint(_back(component)) == fingerprint(component), name
    assert found >= 3


def test_nested_components_and_sets_of_metrics_come_back() -> None:
    """Nested components and sets of metrics come back."""
    metrics = MetricSet(tuple(map(parse_metric, ("F1", "label(yes, no)", "nDCG@3"))), False)
    for component in (
        Fusion((BM25(k1=0.9), Dense(embedder={"name": "minilm", "threads": 1}))),
        metrics,
    ):
        found = _back(component)
        assert type(found) is type(component)
        assert found == component


def test_paths_and_fields_outside_of_the_key_come_back(tmp_path: Path) -> None:
    """Paths and fields outside of the key come back."""
    file = tmp_path / "answers.jsonl"
    file.write_text('{"query_id": "q1", "answer": "Lisbon"}\n', encoding="utf-8")
    assert _back(Recorded(file)) == Recorded(file)


def test_your_own_components_are_not_sent() -> None:
    """Your own components are not sent."""
    own = create("retrievers", Own(), where="test")
    assert Portable.of(own) is None
    assert Portable.of(Fusion((BM25(), own))) is None


def test_another_content_in_the_worker_is_refused() -> None:
    """Another content in the worker is refused."""
    made = Portable.of(BM25())
    assert made is not None
    with pytest.raises(RagstoneError, match="the worker creates another BM25"):
        replace(made, key="0" * 64).component()
    with pytest.raises(RagstoneError, match="'os:system' is not a component of ragstone"):
        replace(made, written='{"class": "os:system", "parameters": {}}').component()


def test_a_process_keeps_the_component() -> None:
    """A process keeps the component."""
    made = Portable.of(BM25())
    assert made is not None
    assert made.component() is Portable(made.written, made.key, made.folder).component()
