"""Test sets that a scripted writer makes of a small corpus; for tests of generation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ragstone.building.draft import Writer
from ragstone.building.generate import Generated, Plan, generate
from ragstone.building.labels import Labeller
from ragstone.calls.types import Endpoint, Outcome, Request
from ragstone.components.judges.critiques import Critiques
from ragstone.data.corpus import Corpus
from ragstone.testing.fake_judge import ScriptedCalls
from ragstone.testing.fake_writer import ScriptedWriter
from ragstone.types import Passage

ENDPOINT: Final = Endpoint("scripted", ("http://localhost:1/v1",))
_MODEL: Final = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
_TOWNS: Final = (
    "Ardmoor", "Bellick", "Corrane", "Dunvale", "Eskford", "Farrow", "Glenby", "Hollins",
)  # fmt: skip


def corpus(size: int = 8) -> Corpus:
    """Return passages about up to eight invented towns, of which neighbours share a rare name."""
    return Corpus.from_passages(
        [
            Passage(
                f"p{i}",
                f"The market of {town} was opened by the weaver Anna {town}son in {1600 + i}. It "
                f"sells {i + 3} kinds of cheese from the hills of {_TOWNS[(i + 1) % 8]} Vale. Each "
                f"autumn the Guild of {_TOWNS[i // 2 * 2]} rings a bell for {i + 10} minutes.",
                title=town,
                document_id=f"d{i}",
            )
            for i, town in enumerate(_TOWNS[:size])
        ]
    )


def run(
    strategy: str = "statements",
    faults: Mapping[str, str] | None = None,
    *,
    held: Corpus | None = None,
    script: Callable[[Request], str | Outcome] | None = None,
    judged: bool = False,
    **plan: Any,
) -> Generated:
    """Return what a scripted writer makes of the corpus.

    Args:
        strategy: see `ragstone.building.strategies`.
        faults: see `ragstone.testing.fake_writer`.
        held: the corpus, where it is not the small one.
        script: what answers, where it is not the scripted writer with these faults.
        judged: whether it labels and rates as well.
        plan: of `ragstone.building.generate.Plan`.
    """
    calls = ScriptedCalls(script or ScriptedWriter(faults or {}))
    wanted = Plan(strategy, **{"count": 4, **plan})
    return generate(
        held or corpus(),
        wanted,
        Writer(ENDPOINT, calls),
        labeller=Labeller(model=_MODEL) if judged else None,
        critics=Critiques(model=_MODEL) if judged else None,
    )
