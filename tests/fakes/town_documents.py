"""Documents about invented towns, and a server that writes and judges queries about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes.made_test_set import TOWNS
from tests.fakes.scripted_writer import ScriptedWriter

from ragstone.calls.types import Request


def town_documents(folder: Path, size: int = 40) -> Path:
    """Write a text file per town; neighbours share a rare name. Return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(size):
        town, link = _town(i), _town(i // 2 * 2)
        (folder / f"{town}.txt").write_text(
            f"The market of {town} was opened by the weaver Anna {town}son in {1600 + i}. It sells "
            f"{i + 300} kinds of cheese from the hills of {town} Vale. Each autumn the Guild of "
            f"{link} rings the bell of {town} Tower for {i + 100} minutes.\n"
        )
    return folder


def _town(i: int) -> str:
    """Return a name that no other number has."""
    return TOWNS[i % len(TOWNS)] + "xyzvwq"[i // len(TOWNS)] * (i >= len(TOWNS))


def answered_by(script: ScriptedWriter) -> Callable[[Any], str]:
    """Return the `answer` of a `FakeModelServer` for a scripted writer."""

    def answer(messages: Any) -> str:
        said = script(Request(tuple((m["role"], m["content"]) for m in messages)))
        assert isinstance(said, str)
        return said

    return answer
