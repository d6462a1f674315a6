"""Assignment of annotation: processor time of a person's next items, and estimates of drawn rounds.

200 people label a project of 10,000 items; then rounds of `--active` are drawn from made-up queries
whose true difference is known: `python benchmarks/assignment.py`.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragstone.annotation.assignment import next_items
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.annotation.site import Site
from ragstone.statistics.label_weights import label_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

PEOPLE, ITEMS, CALLS, FIRST = 200, 10_000, 5_000, 1_000
DRAWS, QUERIES = 100, 100


@contextmanager
def made_site(items: Iterable[Mapping[str, Any]], **settings: Any) -> Iterator[Site]:
    """Yield the site of a new project for support labels."""
    active = settings.pop("active", False)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "items.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in items))
        described = {"name": "made", "task": "support", **settings}
        (folder / "project.yaml").write_bytes(orjson.dumps(described))
        project = Project.open(folder)
        database = Database.open(f"sqlite:///{folder / 'annotation.db'}", project.name)
        yield Site(project, database, active=active)
        database.close()


def megabytes() -> int:
    """Return the memory of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4096 // 2**20


def next_items_speed() -> None:
    """Print the processor time of a call, the memory, and how many people finished each item."""
    drawing, times, sizes = random.Random(1), [], []
    items = ({"item_id": f"q{n}", "query": "When does it sail?"} for n in range(ITEMS))
    with made_site(items, people_per_item=2) as site:
        seen: set[str] = set()
        for call in range(CALLS):
            person = f"person {drawing.randrange(PEOPLE)}"
            start = time.process_time()
            found = next_items(site, person, 2)
            if person in seen:
                times.append(1000 * (time.process_time() - start))
            seen.add(person)
            if found:
                event = Event(f"e{call}", "label", found[0], "support", value="yes", seconds=2.0)
                site.database.append(person, [event])
            if call == FIRST:
                sizes.append(megabytes())
        sizes.append(megabytes())
        start = time.process_time()
        next_items(Site(site.project, site.database), "person 1", 1)
        restart = time.process_time() - start
        counts = Counter(Counter(one.item_id for one in site.database.labels()).values())
    print(f"next items: median {statistics.median(times):.1f} ms")
    print(f"next items: 99th percentile {sorted(times)[len(times) * 99 // 100]:.1f} ms")
    print(f"memory: {sizes[0]} MB after {FIRST:,} calls, {sizes[1]} MB after {CALLS:,}")
    print(f"restart: {restart:.1f} s")
    print(f"people per item: {dict(sorted(counts.items()))}")


def drawn_rounds() -> None:
    """Print the true difference and the mean of the estimates over many draws of two rounds."""
    drawing, scores, items = random.Random(5), {}, []
    for query in range(QUERIES):
        for system, right in enumerate((0.5, 0.6)):
            judge = drawing.random() < right
            scores[query, system] = judge if drawing.random() < 0.85 else not judge
            names = {"item_id": f"{query}/{system}", "query_id": f"{query}", "query": "When?"}
            answer = {"system": f"s{system}", "answer": "At six."}
            items.append(names | answer | {"suggested": {"support": "yes" if judge else "no"}})
    gaps = np.array([scores[q, 1] * 1.0 - scores[q, 0] for q in range(QUERIES)])
    estimates = [_estimate(items, scores, gaps, seed) for seed in range(DRAWS)]
    error = statistics.stdev(estimates) / len(estimates) ** 0.5
    print(f"difference: true {gaps.mean():.3f}")
    print(f"difference: estimated {statistics.fmean(estimates):.3f}, standard error {error:.3f}")


def _estimate(items: list[Any], scores: Mapping[Any, bool], gaps: Any, seed: int) -> float:
    """Return the weighted mean difference of two drawn rounds."""
    with made_site(items, seed=seed, active=True) as site:
        for number in range(2):
            events = [
                Event(f"{number}-{n}", "label", item_id, "support", value=_word(scores, item_id))
                for n, item_id in enumerate(next_items(site, "ann", len(items)))
            ]
            site.database.append("ann", events)
        labelled = np.zeros(QUERIES, dtype=bool)
        chances, rounds = np.full(QUERIES, np.nan), np.ones(QUERIES, dtype=np.int64)
        for item_id, one in site.work.drawn.items():
            query = int(item_id.partition("/")[0])
            labelled[query], chances[query], rounds[query] = True, one.probability, one.round
    return float(label_weights(labelled, chances, rounds) @ gaps)


def _word(scores: Mapping[Any, bool], item_id: str) -> str:
    query, _, system = item_id.partition("/")
    return "yes" if scores[int(query), int(system)] else "no"


if __name__ == "__main__":
    next_items_speed()
    drawn_rounds()
