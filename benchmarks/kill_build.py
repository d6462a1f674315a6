"""Kill builds of a benchmark at random moments, go on with each, and see that nothing was lost.

    python benchmarks/kill_build.py [DATA] [--kills 100] [--queries 400] [--json out.json]

`ragstone build mirage` is a child process at a fake server of this one, with a model that knows the
judgements. It is killed with `kill -9` at random moments, and the same command goes on until it
finishes. A new folder follows until the kills are made. Of ten kills one comes while the command
starts, one after the last call, the others in between. Checked after each finish:

- the same result: every file equals that of a build that was not killed, but for the name of the
  folder in `build.json`;
- nothing asked twice, counted at the server, except prompts whose reply was not yet kept at a kill:
  those in flight, at most as many as the client has calls in parallel, and replies that had arrived
  but were not yet on the disk.

DATA is a data set with titles, such as nq_singlehop; without it a small one is made. Exit code 1 if
any of it does not hold.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.building.built import BUILD, CALLS
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset
from ragstone.testing import FakeExpert, FakeModelServer

RAGSTONE: Final = Path(sys.executable).with_name("ragstone")
CONCURRENCY: Final = 8
DELAY: Final = 0.02
STARTING, ENDING = 0.1, 0.1
"""Shares of the kills while the command starts, and after the last call."""


@dataclass
class Campaign:
    """What a campaign of kills found."""

    kills: int = 0
    finished: int = 0
    """Builds that finished."""
    killed_at_work: int = 0
    """Kills with some calls made, and some not."""
    calls: int = 0
    """Calls of one build that is not killed."""
    requests: int = 0
    """Requests of all killed builds."""
    in_flight: int = 0
    """Requests without a reply at a kill."""
    most_in_flight: int = 0
    """Maximum of one kill."""
    most_unkept: int = 0
    """Maximum of prompts without a kept reply at a kill: in flight, or not yet on the disk."""
    asked_twice: int = 0
    """Requests beyond one per prompt."""
    repeated: int = 0
    """Those of them that the prompts without a kept reply at the last kill do not explain."""
    other_prompts: int = 0
    """Prompts of one build, but not of the other: killed or not."""
    different: list[str] = field(default_factory=list)
    """Files that differ from those of the build that was not killed."""
    seconds: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, changed, or asked twice without need."""
        wrong = self.repeated or self.other_prompts or self.different
        return bool(self.kills) and self.most_in_flight <= CONCURRENCY and not wrong


def made(count: int) -> Dataset:
    """Return a data set of some rivers with two passages each; the second answers."""
    names = [f"River {n}" for n in range(count)]
    lengths = {name: f"{n + 7}00 km" for n, name in enumerate(names)}
    return Dataset.from_records(
        queries=[
            {"query_id": name, "text": f"How long is {name}?", "article": name}
            | {"gold_answers": [lengths[name]]}
            for name in names
        ],
        passages=[
            {"passage_id": f"{name}-{n}", "title": name, "text": f"{name}: {text}."}
            for name in names
            for n, text in enumerate(("it rises in the hills", f"its length is {lengths[name]}"))
        ],
        qrels=[(name, f"{name}-1", 1) for name in names],
        name="rivers",
    )


def start(data: Path, url: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start the build, or go on with it."""
    model = f"chat(base_url={url}, model=fake, concurrency={CONCURRENCY})"
    source = f"ragstone({data}, dangling_qrels=drop)"  # a sample has judgements of other queries
    command = [RAGSTONE, "build", "mirage", folder, "--qa", source, "--corpus", source]
    command += ["--chunker", "none", "--judge", model, "--reader", model]
    with folder.with_suffix(".errors").open("a") as errors:
        return subprocess.Popen(
            [*map(str, command)], stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )


def finish(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for a build that nobody kills."""
    if process.wait() != 0:
        errors = folder.with_suffix(".errors").read_text("utf-8", errors="replace")
        raise SystemExit(f"a build failed with exit code {process.returncode}: {errors[-1000:]}")


def kept(folder: Path) -> int:
    """Return the number of kept replies of a build."""
    path = folder / CALLS
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=60)) as log:
        try:
            found = log.execute("SELECT count(*) FROM calls WHERE replied = 1").fetchone()
        except sqlite3.OperationalError:
            return 0  # killed before the table was made
    return int(found[0])


CARD: Final = frozenset({"README.md", "croissant.json"})


def files(folder: Path) -> dict[str, Any]:
    """Return the content of every file of a built benchmark, without its folder and its calls.

    The data card is left out: it names the folder, and has the digest of a file that does.
    """
    paths = [path for path in folder.iterdir() if path.is_file() and path.name not in CARD]
    found: dict[str, Any] = {
        path.name: path.read_bytes() for path in paths if not path.name.startswith("calls.")
    }
    found[BUILD] = {k: v for k, v in json.loads(found[BUILD]).items() if k != "dataset"}
    return found


class Killer:
    """Builds benchmarks, kills the builds, and counts.

    Args:
        data: folder of the data set.
        server: the fake model server.
        folder: folder of the builds.
        seed: seed of the moments.
    """

    def __init__(self, data: Path, server: FakeModelServer, folder: Path, seed: int) -> None:
        self.data, self.server, self.folder = data, server, folder
        self.moments = random.Random(seed)
        self.found = Campaign()
        begun = time.monotonic()
        calm = folder / "calm"
        process = start(data, server.url, calm)
        self.until(lambda: bool(server.asked), process)
        self.starting = time.monotonic() - begun
        finish(process, calm)
        self.working = time.monotonic() - begun - self.starting
        self.calm = files(calm)
        self.prompts = set(server.asked)
        self.found.calls = len(self.prompts)
        if {kept(calm), server.asked.total()} != {self.found.calls}:
            raise SystemExit("a build that is not killed asks a prompt twice, or keeps no reply")

    def until(self, reached: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        """Wait until a state is reached or the process ended."""
        while not reached() and process.poll() is None:
            time.sleep(0.002)

    def campaign(self, kills: int) -> Campaign:
        """Return the counts of this many kills; the last build is finished, too."""
        begun = time.monotonic()
        while self.found.kills < kills:
            self._build(kills)
            print(f"{self.found.kills} kills, {self.found.finished} builds finished", flush=True)
        self.found.seconds = round(time.monotonic() - begun)
        return self.found

    def _build(self, kills: int) -> None:
        """Kill one build several times, let it finish, and compare it with the calm one."""
        self.server.asked.clear()
        self.server.answered.clear()
        folder = self.folder / f"killed-{self.found.finished}"
        unkept: int | None = 0
        while self.found.kills < kills and unkept is not None:
            before, twice = unkept, self._twice()
            unkept = self._killed(folder)
            self.found.repeated += max(0, self._twice() - twice - before)
        twice = self._twice()
        finish(start(self.data, self.server.url, folder), folder)
        self.found.repeated += max(0, self._twice() - twice - (unkept or 0))
        asked = self.server.asked
        self.found.finished += 1
        self.found.requests += asked.total()
        self.found.asked_twice += self._twice()
        self.found.other_prompts += len(self.prompts ^ set(asked))
        now = files(folder)
        differing = {n for n in now.keys() | self.calm.keys() if now.get(n) != self.calm.get(n)}
        self.found.different += [f"{folder.name}/{name}" for name in sorted(differing)]

    def _killed(self, folder: Path) -> int | None:
        """Kill a build; return the prompts without a kept reply, or None if it ended before."""
        process, before = start(self.data, self.server.url, folder), self.server.asked.total()
        open_before = self._open()  # requests of killed processes, which get no reply
        in_flight = 0
        kind = self.moments.random()
        if kind < STARTING:
            wait = self.moments.uniform(0, self.starting)
        elif kind < STARTING + ENDING:
            self.until(lambda: len(self.server.asked) == self.found.calls, process)
            wait = self.moments.uniform(0, self.starting / 10)
        else:
            self.until(lambda: self.server.asked.total() > before, process)
            wait = self.moments.uniform(0, self.working / 4)
        try:
            process.wait(timeout=wait)
        except subprocess.TimeoutExpired:
            in_flight = self._open() - open_before
            process.kill()
        if process.wait() != -signal.SIGKILL:
            finish(process, folder)
            return None
        return self._count(folder, in_flight)

    def _twice(self) -> int:
        """Return the number of requests beyond one per prompt."""
        return self.server.asked.total() - len(self.server.asked)

    def _open(self) -> int:
        """Return the number of requests without a reply."""
        return self.server.asked.total() - self.server.answered.total()

    def _count(self, folder: Path, in_flight: int) -> int:
        """Add a kill to the counts and return the prompts without a kept reply."""
        time.sleep(2 * DELAY)  # until the server has read and answered what was sent
        asked = len(self.server.asked)
        unkept = asked - kept(folder)
        found = self.found
        found.kills += 1
        found.killed_at_work += 0 < asked < found.calls
        found.in_flight += in_flight
        found.most_in_flight = max(found.most_in_flight, in_flight)
        found.most_unkept = max(found.most_unkept, unkept)
        return unkept


def kill_builds(truth: Dataset, kills: int, folder: Path, seed: int = 1) -> Campaign:
    """Write a data set below a folder, kill builds from it, and return the counts."""
    data = folder / "data"
    write_dataset(truth, data)
    with FakeModelServer(answer=FakeExpert(truth), delay=DELAY) as server:
        return Killer(data, server, folder, seed).campaign(kills)


def main() -> None:
    """Run the campaign and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", help="data set, such as nq_singlehop")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--queries", type=int, default=400, help="random sample of the queries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the counts here")
    given = parser.parse_args()
    truth = made(100)
    if given.data:
        truth = load_dataset(given.data).sample(given.queries, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        found = kill_builds(truth, given.kills, Path(folder), given.seed)
    counts = json.dumps(asdict(found), indent=1)
    print(counts)
    if given.json:
        given.json.write_text(counts, encoding="utf-8")
    sys.exit(0 if found.holds else 1)


if __name__ == "__main__":
    main()
