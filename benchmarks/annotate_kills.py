"""Eight people post events while the server, or PostgreSQL, is killed: none lost, none double.

Each writer is a thread with an HTTP client and an outbox: it sends the oldest events until they are
confirmed, as the browser does, and posts a fifth of them a second time. The server process, or the
postmaster, is killed with SIGKILL at random moments between confirmed events and started again.

    python benchmarks/annotate_kills.py
    python benchmarks/annotate_kills.py --events 200 --kills 5 --databases sqlite

Checked, with exit code 1 if it does not hold: each event is kept exactly once, in the order in
which its writer made it; the labels are those that the writers expect; the check of the database
finds nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.annotate_shared import (
    Postgres,
    ServerProcess,
    make_project,
    postgres,
    sessions,
)

from ragstone.annotation.check import check_database
from ragstone.annotation.database import Database
from ragstone.annotation.project import Project

WRITERS: Final = 8
ITEMS: Final = 20
TWICE: Final = 0.2
_SAYS: Final = ("yes", "partly", "no")


@dataclass
class Writer:
    """A person whose browser keeps events until they are confirmed."""

    name: str
    cookie: str
    address: str
    events: list[dict[str, Any]]
    twice: int = 0
    failed: int = 0
    confirmed: int = 0
    wrong: list[str] = field(default_factory=list)

    def work(self) -> None:
        """Send all events, the oldest first."""
        draw = random.Random(self.name)
        outbox = list(self.events)
        with httpx.Client(headers={"Cookie": self.cookie}, timeout=30) as client:
            while outbox:
                some = outbox[: draw.randint(1, 3)]
                if not self._sent(client, some):
                    time.sleep(0.05)
                    continue
                outbox = outbox[len(some) :]
                self.confirmed += len(some)
                if draw.random() < TWICE:
                    self.twice += len(some)
                    while not self._sent(client, some):
                        time.sleep(0.05)

    def _sent(self, client: httpx.Client, some: Sequence[dict[str, Any]]) -> bool:
        """Return whether the server confirmed some events."""
        try:
            answer = client.post(f"{self.address}/events", json={"events": some})
        except httpx.TransportError:
            self.failed += 1
            return False
        if answer.status_code != 200:
            self.failed += 1
            return False
        found = answer.json()
        if [one["client_id"] for one in found["confirmed"]] != [one["client_id"] for one in some]:
            self.wrong.append(answer.text)
        return True


def events_of(name: str, count: int) -> list[dict[str, Any]]:
    """Return the events of a person: labels, a few skips, and a few undone again."""
    draw, found = random.Random(f"events of {name}"), list[dict[str, Any]]()
    for number in range(count):
        event = {"client_id": f"{name}-{number}", "item_id": f"q{draw.randrange(ITEMS)}"}
        kind = draw.choices(("label", "undo", "skip"), (8, 1, 1))[0] if found else "label"
        if kind == "undo":
            # The first event is a label. An undo names the item of what it undoes.
            about = draw.choice([one for one in found if one["kind"] != "undo"])
            event |= {"kind": kind, "item_id": about["item_id"], "value": about["client_id"]}
        elif kind == "skip":
            event |= {"kind": kind, "value": "unclear"}
        else:
            event |= {"kind": kind, "field": "support", "value": draw.choice(_SAYS)}
        found.append(event)
    return found


def expected_labels(events: Sequence[dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """Return (item, field) -> the last value that was not undone."""
    undone = {one["value"] for one in events if one["kind"] == "undo"}
    return {
        (one["item_id"], one.get("field", "skipped")): one["value"]
        for one in events
        if one["kind"] != "undo" and one["client_id"] not in undone
    }


@dataclass
class Outcome:
    """What became of the events of one round."""

    database: str
    killed: str
    kills: int
    events: int
    posted_twice: int
    failed_requests: int
    lost: int
    double: int
    faults: list[str]
    seconds: float


def run_writers(
    writers: Sequence[Writer], kills: int, kill: Callable[[], None], start: Callable[[], None]
) -> None:
    """Let the writers work while something is killed and started again."""
    threads = [threading.Thread(target=one.work, daemon=True) for one in writers]
    for thread in threads:
        thread.start()
    total, draw = sum(len(one.events) for one in writers), random.Random(kills)
    for number in range(kills):
        while sum(one.confirmed for one in writers) < total * number / (kills + 1):
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.03))
        kill()
        start()
    for thread in threads:
        thread.join()


def verified(project: Project, database: str, writers: Sequence[Writer]) -> dict[str, Any]:
    """Return what is lost, double or otherwise wrong in the database."""
    opened = Database.of(project, database)
    kept = [one.event.client_id for one in opened.events()]
    expected = [event["client_id"] for one in writers for event in one.events]
    faults = [text for one in writers for text in one.wrong]
    for one in writers:
        mine = [event.event.client_id for event in opened.events(person=one.name)]
        if mine != [event["client_id"] for event in one.events]:
            faults.append(f"the order of {one.name} differs")
        labels = {(x.item_id, x.field): x.value for x in opened.labels(person=one.name)}
        if labels != expected_labels(one.events):
            faults.append(f"the labels of {one.name} differ")
    checked = check_database(opened.connections, project.items)
    opened.close()
    return {
        "lost": len(set(expected) - set(kept)),
        "double": len(kept) - len(set(kept)),
        "faults": [*faults, *checked.damage, *checked.stale],
    }


def killed_round(
    folder: Path, events: int, kills: int, server: Postgres | None = None, *, database: bool = False
) -> Outcome:
    """Return the outcome of one round.

    Args:
        folder: a new folder for the project.
        events: the number of events of all writers.
        kills: how often something is killed.
        server: a PostgreSQL; None: SQLite.
        database: whether PostgreSQL is killed instead of the server of the pages.
    """
    project = make_project(folder, ITEMS)
    url = "" if server is None else server.new_database(folder.name)
    cookies = sessions(project, url, [f"writer{n}" for n in range(WRITERS)])
    process = ServerProcess(project, url)
    process.start()
    each = events // WRITERS
    writers = [
        Writer(name, cookie, process.address, events_of(name, each))
        for name, cookie in cookies.items()
    ]
    began = time.monotonic()
    try:
        victim = server if database and server is not None else process
        run_writers(writers, kills, victim.kill, victim.start)
    finally:
        process.kill()
    return Outcome(
        database="SQLite" if server is None else "PostgreSQL",
        killed="PostgreSQL" if database else "server",
        kills=kills,
        events=each * WRITERS,
        posted_twice=sum(one.twice for one in writers),
        failed_requests=sum(one.failed for one in writers),
        seconds=time.monotonic() - began,
        **verified(project, url, writers),
    )


def main() -> int:
    """Run the rounds and print their outcomes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    names, found = given.databases.split(","), dict[str, Outcome]()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        rounds: list[tuple[str, Postgres | None, bool]] = []
        if "sqlite" in names:
            rounds.append(("sqlite", None, False))
        if "postgresql" in names:
            server = stack.enter_context(postgres(folder / "postgres"))
            rounds += [("postgresql", server, False), ("postmaster", server, True)]
        for title, database, is_killed in rounds:
            one = killed_round(
                folder / title, given.events, given.kills, database, database=is_killed
            )
            found[title] = one
            print(json.dumps(asdict(one)), flush=True)
    if given.json:
        given.json.write_text(json.dumps({title: asdict(one) for title, one in found.items()}))
    return int(any(one.lost or one.double or one.faults for one in found.values()))


if __name__ == "__main__":
    sys.exit(main())
