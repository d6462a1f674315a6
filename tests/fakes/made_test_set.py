"""Test sets that a scripted writer makes from a small corpus; for tests of generation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.scripted_writer import ScriptedWriter

from ragstone.building.draft import QueryWriter
from ragstone.building.generate import Checks, Generated, GenerationPlan, generate
from ragstone.building.labels import Labeller
from ragstone.building.prompts import Prompts
from ragstone.calls.types import Outcome, Request
from ragstone.components.judges.critiques import Critiques
from ragstone.components.llm import resolve_llm
from ragstone.data.corpus import Corpus
from ragstone.testing import ScriptedCalls
from ragstone.types import Passage

_MODEL: Final = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
TOWNS: Final = (
    "Ardmoor", "Bellick", "Corrane", "Dunvale", "Eskford", "Farrow", "Glenby", "Hollins",
)  # fmt: skip


def corpus(size: int = 8) -> Corpus:
    """Return passages about up to eight invented towns; neighbours share a rare name."""
    return Corpus.from_passages(
        [
            Passage(
                f"p{i}",
                f"The market of {town} was opened by the weaver Anna {town}son in {1600 + i}. It "
                f"sells {i + 3} kinds of cheese from the hills of {TOWNS[(i + 1) % 8]} Vale. Each "
                f"autumn the Guild of {TOWNS[i // 2 * 2]} rings a bell for {i + 10} minutes.",
                title=town,
                document_id=f"d{i}",
            )
            for i, town in enumerate(TOWNS[:size])
        ]
    )


def writer(calls: ScriptedCalls, prompts: Prompts | None = None) -> QueryWriter:
    """Return a writer whose replies are scripted."""
    return QueryWriter(resolve_llm(_MODEL), calls.services(), prompts or Prompts())


def run(
    strategy: str = "statements",
    faults: Mapping[str, str] | None = None,
    *,
    passages: Corpus | None = None,
    script: Callable[[Request], str | Outcome] | None = None,
    judged: bool = False,
    **plan: Any,
) -> Generated:
    """Return the test set that a scripted writer makes from the corpus.

    Args:
        strategy: see `ragstone.building.strategies`.
        faults: see `tests.fakes.scripted_writer`.
        passages: the corpus, if not the small one.
        script: returns the replies, if not the scripted writer with these faults.
        judged: whether the queries are labelled and rated.
        plan: parameters of `ragstone.building.generate.GenerationPlan`.
    """
    calls = ScriptedCalls(script or ScriptedWriter(faults or {}))
    return generate(
        passages or corpus(),
        GenerationPlan(strategy, **{"count": 4, **plan}),
        writer(calls),
        Checks(Labeller(model=_MODEL), Critiques(model=_MODEL)) if judged else None,
    )
