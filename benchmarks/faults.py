"""The fault campaign: many calls against a faulty server, killed again and again.

A fake model server meets more than a fifth of all requests with a fault, every kind it knows mixed
in. A process asks 2,000 calls and is killed with `kill -9` at 50 random moments; each time the same
command goes on. Checked after every kill, and at the end:

- no reply that was counted is lost, none changes;
- no call whose reply is kept is asked again;
- every call ends as a reply or as a failure with a reason;
- every reply is the one that a server without faults gives.

    python benchmarks/faults.py                         about two minutes
    python benchmarks/faults.py --calls 200 --kills 5   a short one
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.calls.client import Calls
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import Endpoint, Failure, Reply, Request, chat
from ragstone.testing.fake_model_server import prompt_mark

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTS = {
    "429": 0.04,
    "429-retry-after": 0.03,
    "500": 0.03,
    "503": 0.02,
    "slow": 0.03,
    "hang": 0.01,
    "cut": 0.03,
    "cut-body": 0.02,
    "truncated-json": 0.02,
    "invalid-json": 0.02,
    "empty-choices": 0.02,
    "wrong-type": 0.02,
    "huge": 0.005,
    "400": 0.01,
    "400-context": 0.005,
}
STARTING = 0.1
"""Share of the kills that may come while the process still starts."""
PATIENCE = RetryPolicy(timeout=1.0, deadline=60.0, attempts=8, first_wait=0.02, longest_wait=0.3)


def requests(count: int) -> list[Request]:
    """Return that many different requests."""
    return [chat(f"campaign question {n}", max_tokens=16) for n in range(count)]


def ask(path: Path, url: str, count: int, counted: Path) -> None:
    """Ask all calls, noting each outcome the moment it is counted: the process that is killed."""
    endpoint = Endpoint("fake", (url,))
    with (
        Calls.at(path, retry_policy=PATIENCE, max_concurrency=8) as calls,
        counted.open("a", buffering=1, encoding="utf-8") as notes,
    ):
        under_way = False
        for outcome in calls.ask(endpoint, requests(count)):
            if not under_way and calls.usage.asked:
                under_way = True
                print("under way", flush=True)
            match outcome:
                case Reply(text=text):
                    notes.write(f"{json.dumps([outcome.key, 'reply', text])}\n")
                case Failure(reason=reason):
                    notes.write(f"{json.dumps([outcome.key, 'failure', reason])}\n")


@contextmanager
def serving(**options: object) -> Iterator[str]:
    """Run a fake model server as a process of its own; give its URL."""
    command = [sys.executable, "-m", "ragstone.testing"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def server_counts(url: str) -> dict[str, Any]:
    """Return the counts of the requests to the server so far."""
    with urllib.request.urlopen(f"{url}/counts") as response:  # noqa: S310 - our own server
        counts: dict[str, Any] = json.load(response)
    return counts


@dataclass
class Campaign:
    """The state after each round, and the errors found."""

    folder: Path
    url: str
    count: int
    lost: int = 0
    repeated: int = 0
    changed: int = 0
    kept: dict[str, str] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Name the files and the calls."""
        self.path, self.counted = self.folder / "calls.sqlite", self.folder / "counted.jsonl"
        self.keys = {r.key(Endpoint("fake", (self.url,)).identity): r for r in requests(self.count)}
        self.marks = {key: _mark(request) for key, request in self.keys.items()}

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process that asks."""
        given = ["--child", str(self.path), self.url, str(self.count), str(self.counted)]
        return subprocess.Popen([sys.executable, __file__, *given], stdout=subprocess.PIPE)

    def check(self) -> None:
        """Compare the earlier counts and replies with the log now."""
        time.sleep(0.1)  # requests that were under way when the process was killed still arrive
        with Calls.at(self.path) as calls:
            now = {k: reply.text for k, reply in calls.log.replies(list(self.keys)).items()}
        counted = self.noted("reply")
        self.lost += len((self.kept.keys() | counted.keys()) - now.keys())
        self.changed += sum(
            now.get(k, text) != text for k, text in {**self.kept, **counted}.items()
        )
        asked = server_counts(self.url)["asked"]
        self.repeated += sum(
            asked.get(self.marks[key], 0) - self.asked.get(self.marks[key], 0) for key in self.kept
        )
        self.kept, self.asked = now, asked

    def noted(self, kind: str) -> dict[str, str]:
        """Return the notes of the processes so far; the last note may be torn."""
        found = {}
        text = self.counted.read_text(encoding="utf-8") if self.counted.exists() else ""
        for line in text.split("\n"):
            if line.endswith("]"):
                key, what, value = json.loads(line)
                if what == kind:
                    found[key] = value
        return found


def _mark(request: Request) -> str:
    return prompt_mark([{"role": role, "content": text} for role, text in request.messages])


def campaign(folder: Path, count: int, kills: int, seed: int) -> dict[str, Any]:
    """Run it all and return the summary."""
    chance = random.Random(seed)
    faults = json.dumps(FAULTS)
    started = time.time()
    with serving(faults=faults, seed=seed, delay=0.1, slow_seconds=0.5) as url:
        run = Campaign(folder, url, count)
        killed = early = 0
        while killed < kills and early < kills:
            process = run.start()
            assert process.stdout is not None
            if chance.random() > STARTING:
                process.stdout.readline()
            try:
                process.wait(timeout=chance.uniform(0.0, 0.8))
                early += 1
                run.counted.unlink(missing_ok=True)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                process.stdout.close()
                killed += 1
            run.check()
            print(f"\rkilled {killed} times, {len(run.kept)} of {count} kept", end="", flush=True)
        run.counted.unlink(missing_ok=True)
        assert run.start().wait() == 0
        run.check()
        counts = server_counts(url)
    replies, failures = run.noted("reply"), run.noted("failure")
    met, asked = sum(counts["met"].values()), sum(counts["asked"].values())
    return {
        "calls": count,
        "kills": killed,
        "requests": asked,
        "met_a_fault": met,
        "fault_share": round(met / asked, 3),
        "kinds": counts["met"],
        "replies": len(replies),
        "failures_with_reason": sum(bool(reason) for reason in failures.values()),
        "without_outcome": count - len(replies) - len(failures),
        "lost": run.lost,
        "changed": run.changed,
        "finished_calls_repeated": run.repeated,
        "unlike_fault_free": sum(t != f"answer {run.marks[k]}" for k, t in replies.items()),
        "seconds": round(time.time() - started, 1),
    }


@click.command()
@click.option("--calls", default=2000)
@click.option("--kills", default=50)
@click.option("--seed", default=1)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the summary here.")
@click.option("--child", nargs=4, hidden=True)
def main(calls: int, kills: int, seed: int, path: Path | None, child: tuple[str, ...]) -> None:
    """Run the campaign; exit code 1 if a promise was broken."""
    if child:
        ask(Path(child[0]), child[1], int(child[2]), Path(child[3]))
        return
    with tempfile.TemporaryDirectory() as folder:
        summary = campaign(Path(folder), calls, kills, seed)
    print(f"\n{json.dumps(summary, indent=1)}")
    if path:
        path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    broken = ("without_outcome", "lost", "changed", "finished_calls_repeated", "unlike_fault_free")
    held = not any(summary[name] for name in broken) and summary["kills"] == kills
    sys.exit(0 if held and summary["fault_share"] >= 0.2 else 1)


if __name__ == "__main__":
    main()
