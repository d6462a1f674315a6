"""A project of the size of MIRAGE's validation: 100 queries x 5 chunks x 3 people, and a model.

MIRAGE (2025) reports agreement with the model's labels of 93.4, 95.4 and 97.8 %, kappas of pairs
of 0.83 to 0.89 and alpha 0.85. Its labels are not published: these are made up, with errors of the
people that are drawn from the same shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from tests.fakes.labelled_project import made_site

from ragstone.annotation.events import Event
from ragstone.annotation.site import Site

PEOPLE: Final = ("ann", "ben", "eve")
AGREED: Final = (0.934, 0.954, 0.978)
"""Share of the model's labels with which each person agrees."""
VALUES: Final = ("yes", "no")


def mirage_items(queries: int = 100, chunks: int = 5) -> list[dict[str, Any]]:
    """Return an item per query and chunk, with the model's label; a fifth of them supports."""
    no = np.random.default_rng(7).random((queries, chunks)) >= 0.2
    return [
        {
            "item_id": f"q{query:03}-c{chunk}",
            "query_id": f"q{query:03}",
            "query": f"When does ferry {query} sail?",
            "gold_answers": ["at six"],
            "passages": [{"passage_id": f"q{query:03}c{chunk}", "text": f"Ferry {query} sails."}],
            "suggested": {"support": VALUES[int(no[query, chunk])]},
        }
        for query in range(queries)
        for chunk in range(chunks)
    ]


def mirage_table(queries: int = 100, chunks: int = 5, seed: int = 5) -> Any:
    """Return labels as places in VALUES, shape (1 + people, items); the first row is the model."""
    items = mirage_items(queries, chunks)
    model = np.array([VALUES.index(one["suggested"]["support"]) for one in items])
    generator = np.random.default_rng(seed)
    differs = generator.random((len(PEOPLE), len(model))) >= np.array(AGREED)[:, None]
    return np.vstack([model, np.where(differs, 1 - model, model)])


@contextmanager
def mirage_site(folder: Path, *, done: float = 1.0, shown: bool = False) -> Iterator[Site]:
    """Yield the site of the project, with the labels of a share of the items.

    Args:
        folder: where the project is written.
        done: the share of the items that each person labelled.
        shown: whether suggestions were shown before, after or never, a third of the queries each.
    """
    items, table = mirage_items(), mirage_table()
    settings: dict[str, Any] = {"people_per_item": 3, "suggestions": "after" if shown else "never"}
    with made_site(folder, items, **settings) as (site, _):
        for number, person in enumerate(PEOPLE, 1):
            site.database.append(
                person,
                [
                    Event(
                        f"{person}-{place}",
                        "label",
                        item["item_id"],
                        "support",
                        value=VALUES[table[number, place]],
                        shown=("before", "after", "never")[place // 5 % 3] if shown else "",
                        seconds=float(4 + place % 9 + number),
                    )
                    for place, item in enumerate(items[: int(done * len(items))])
                ],
            )
        yield site
