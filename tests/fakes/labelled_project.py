"""A project of made-up items, with labels of people in its database."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.annotation.site import Site

Give = Callable[..., None]
"""give(person, item_id, value, field="support", part="", kind="label", seconds=2.0)."""


@contextmanager
def made_site(
    folder: Path, items: int | list[dict[str, Any]] = 5, *, active: bool = False, **settings: Any
) -> Iterator[tuple[Site, Give]]:
    """Yield the site of a new project for support labels, and a function that gives a label.

    Args:
        folder: where the project is written.
        items: the items, or how many plain ones.
        active: whether the site serves the items that narrow the interval most.
        settings: keys of `project.yaml`.
    """
    written = plain_items(items) if isinstance(items, int) else items
    folder.mkdir(parents=True, exist_ok=True)
    lines = b"".join(orjson.dumps(one) + b"\n" for one in written)
    (folder / "items.jsonl").write_bytes(lines)
    described: Mapping[str, Any] = {"name": "ferry", "task": "support", **settings}
    # JSON is YAML.
    (folder / "project.yaml").write_bytes(orjson.dumps(described))
    database = Database.open(f"sqlite:///{folder / 'annotation.db'}", "ferry")
    numbers = itertools.count(database.count())

    def give(  # noqa: PLR0917 - short calls in tests
        person: str,
        item_id: str,
        value: Any,
        field: str = "support",
        part: str = "",
        kind: Any = "label",
        seconds: float | None = 2.0,
    ) -> None:
        client_id = f"c{next(numbers)}"
        event = Event(client_id, kind, item_id, field, part, value, seconds=seconds)
        database.append(person, [event])

    try:
        yield Site(Project.open(folder), database, active=active), give
    finally:
        database.close()


def plain_items(count: int) -> list[dict[str, Any]]:
    """Return items with a passage each: `q0`, `q1`, and so on."""
    return [
        {
            "item_id": f"q{number}",
            "query": f"When does ferry {number} sail?",
            "gold_answers": ["at six"],
            "passages": [{"passage_id": f"p{number}", "title": "Times", "text": "It is at six."}],
        }
        for number in range(count)
    ]
