"""Workers on another machine: two machines on one kernel, with Dask and with Ray.

    python benchmarks/two_machines.py [--only dask,ray]

A machine is a set of namespaces: its own network, host name, processes, /tmp, /dev/shm and HOME. A
cable (veth) joins the two. Cluster and driver are on machine A, the only worker is on machine B.
/tmp/shared is one folder of both machines, /tmp/own is on A alone, and /tmp/apart is another folder
on each. The jobs of a driver:

- 120 passages of nq_singlehop in 3 shards, embedded by `minilm` with a store in /tmp/own
- an experiment of 6 blocks per step with its store in /tmp/shared
- the same experiment with its store in /tmp/own and in /tmp/apart, which has to be refused

The digests have to be those of a run in one process on A. The script needs root, util-linux and
iproute2; all namespaces end with it.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    LEFT_OUT,
    need_data,
    rows_of,
)

_TMP = Path("/tmp")  # noqa: S108 - a folder of each machine alone
TOOLS = ("setpriv", "unshare", "nsenter", "ip", "mount")
START = """
set -e
hostname "$0"; ip link set lo up; mkdir -p "$1/home" "$1/shared" "$1/apart"
mount --bind "$2" "$1/shared"; mount --rbind "$1" /tmp; mount -t tmpfs tmpfs /dev/shm
echo ready; exec sleep infinity
"""
"""What a machine does first; its name, its folder and the shared folder are given."""
PASSAGES, SHARD, BLOCK = 120, 40, 40
_RAY = "--disable-usage-stats --object-store-memory=100000000 --block"
CLUSTERS = {
    "dask": (
        ("dask scheduler --host {a} --no-dashboard", "Scheduler at:"),
        ("dask worker tcp://{a}:8786 --host {b} --nworkers 1 --nthreads 1 --no-dashboard", "Regi"),
        "dask(address=tcp://{a}:8786)",
    ),
    "ray": (
        (
            f"ray start --head --node-ip-address={{a}} --num-cpus=0 --include-dashboard=0 {_RAY}",
            "runtime started",
        ),
        (
            f"ray start --address={{a}}:6379 --node-ip-address={{b}} --num-cpus=1 {_RAY}",
            "runtime started",
        ),
        "ray(address={a}:6379)",
    ),
}
"""Cluster -> the commands on machine A and on machine B, what they print when they are ready, and
the executor.
"""


@dataclass
class Machine:
    """A set of namespaces, which ends with its first process."""

    name: str
    address: str
    folder: Path
    first: subprocess.Popen[str]

    @classmethod
    def start(cls, name: str, address: str, folder: Path, shared: Path) -> Machine:
        """Start a machine whose /tmp is a folder."""
        apart = ("--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc")
        ends = ("setpriv", "--pdeathsig", "KILL")  # with this script
        command = [*ends, "unshare", *apart, "sh", "-c", START, name, str(folder), str(shared)]
        first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if not first.stdout or first.stdout.readline() != "ready\n":
            print("not run: namespaces are not allowed here")
            raise SystemExit(LEFT_OUT)
        return cls(name, address, folder, first)

    @property
    def pid(self) -> str:
        """The process that the namespaces belong to."""
        path = Path(f"/proc/{self.first.pid}/task/{self.first.pid}/children")
        return path.read_text(encoding="ascii").split()[0]

    def run(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command on the machine."""
        inside = ("nsenter", "--target", self.pid, "--net", "--mount", "--pid", "--uts", "--")
        environment = {**os.environ, "HOME": str(_TMP / "home")}
        environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64}
        environment.setdefault("RAGSTONE_MODELS", str(Path.home() / ".cache/ragstone/models"))
        return subprocess.Popen([*inside, *command], env=environment, text=True, **options)


@contextlib.contextmanager
def machines() -> Iterator[tuple[Machine, Machine]]:
    """Start two machines that a cable joins."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        found = []
        for letter, address in (("a", "10.79.0.1"), ("b", "10.79.0.2")):
            folder, shared = Path(name, letter), Path(name, "both")
            for path in (folder, shared):
                path.mkdir(exist_ok=True)
            found.append(Machine.start(f"machine-{letter}", address, folder, shared))
            stack.callback(found[-1].first.wait)
            stack.callback(found[-1].first.kill)
        a, b = found
        ends = ("ip", "link", "add", "cable", "netns", a.pid, "type", "veth", "peer", "cable")
        subprocess.run([*ends, "netns", b.pid], check=True)
        for one in found:
            up = f"ip address add {one.address}/24 dev cable; ip link set cable up; "
            # By the default route, Ray knows the address of its machine.
            one.run("sh", "-c", f"{up} ip route add default dev cable").wait()
        yield a, b


def where(_: int) -> str:
    """Return the name of the machine."""
    return socket.gethostname()


def embedded(executor: Any) -> str:
    """Return the digest of the passages' vectors; the store is on this machine alone."""
    from ragstone.components.embedders.minilm import MiniLM
    from ragstone.core.store import Store
    from ragstone.data.corpus import Corpus
    from ragstone.indexes import corpus_vectors
    from ragstone.protocols import Services
    from ragstone.types import Passage

    found = islice(rows_of(DATA / "nq_singlehop" / "corpus.jsonl.gz"), PASSAGES)
    given = [Passage(row["_id"], row["text"], row.get("title") or "") for row in found]
    store = Store(Path(tempfile.mkdtemp(prefix="vectors-", dir=_TMP / "own")))
    corpus = Corpus(Corpus.from_passages(given).table, store)
    corpus_vectors.SHARD = SHARD  # type: ignore[misc]
    vectors = corpus_vectors.embed_corpus(MiniLM(), Services(corpus=corpus, executor=executor))
    return hashlib.sha256(vectors.slice(0, len(vectors)).tobytes()).hexdigest()[:16]


def experiment(store: Path, executor: str) -> str:
    """Return the digest of all that a run stored of its steps, without times; or the error."""
    from ragstone.core import limits
    from ragstone.errors import RagstoneError
    from ragstone.experiment.load import load_experiment

    limits.BLOCK_QUERIES = BLOCK  # type: ignore[misc]
    document = {
        "data": "sample",
        "store": str(store),
        "executor": executor,
        "systems": {"a": {"retriever": "bm25", "processor": "budget(60)", "generator": "gold"}},
        "settings": ["none", "gold", "retrieved(3)"],
        "metrics": ["Match", "F1", "nDCG@5"],
    }
    try:
        results = load_experiment(document).run()
    except RagstoneError as error:
        return f"refused: {error}"
    apart = {"started", "seconds", "seal", "file_digest"}
    facts = {
        folder: {name: value for name, value in sorted(one.items()) if name not in apart}
        for folder, one in sorted(results.manifests.items())
    }
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:16]


def driver(executor: str) -> None:
    """Do every job; print what came out as JSON."""
    from ragstone.core.executors.spec import executor_of

    (_TMP / "own").mkdir(exist_ok=True)
    used = executor_of(executor)
    used.open()
    found = {"workers on": sorted(set(used.map(where, range(4)))), "vectors": embedded(used)}
    used.close()
    for folder in ("shared", "own", "apart"):
        found[folder] = experiment(
            _TMP / folder / (executor.partition("(")[0] or "alone"), executor
        )
    print(json.dumps(found))


def driven(machine: Machine, executor: str) -> dict[str, Any]:
    """Return what a driver on a machine printed."""
    command = (sys.executable, str(Path(__file__).resolve()), "--driver", executor)
    running = machine.run(*command, stdout=subprocess.PIPE)
    said, _ = running.communicate()
    if running.returncode:
        raise SystemExit(f"the driver of {executor or 'one process'} failed")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def case(cluster: str, a: Machine, b: Machine) -> dict[str, Any]:
    """Start a cluster, and return what its driver printed."""
    *commands, executor = CLUSTERS[cluster]
    started = []
    (b.folder / "apart" / cluster).mkdir()
    try:
        for machine, (command, ready) in zip((a, b), commands, strict=True):
            name, *rest = command.format(a=a.address, b=b.address).split()
            program, path = Path(sys.executable).parent / name, machine.folder / f"{cluster}.log"
            with path.open("w") as log:
                started.append(machine.run(str(program), *rest, stdout=log, stderr=log))
            while ready not in path.read_text(encoding="utf-8"):
                if started[-1].poll() is not None:
                    raise SystemExit(path.read_text(encoding="utf-8"))
                time.sleep(0.5)
        return driven(a, executor.format(a=a.address))
    finally:
        for one in started:
            one.terminate()
            one.wait()


def check(cluster: str, found: dict[str, Any], alone: dict[str, Any]) -> None:
    """Print what a cluster's driver printed; end if it is not what is expected."""
    for name, value in found.items():
        print(f"{cluster}, {name}: {value}", flush=True)
    equal = all(found[name] == alone[name] for name in ("vectors", "shared"))
    refused = all(str(found[name]).startswith("refused: the worker") for name in ("own", "apart"))
    if not (equal and refused and found["workers on"] == ["machine-b"]):
        raise SystemExit(f"{cluster}: not as expected, which is {alone}")


def main() -> None:
    """Run the jobs in one process and on each cluster, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(CLUSTERS), help="names of clusters")
    parser.add_argument("--driver", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.driver is not None:
        driver(given.driver)
        return
    need_data("nq_singlehop")
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if os.geteuid() or missing:
        print(f"not run: needs root and the programs {', '.join(missing or TOOLS)}")
        raise SystemExit(LEFT_OUT)
    with machines() as (a, b):
        alone = driven(a, "")
        print(f"one process: {alone}", flush=True)
        for cluster in given.only.split(","):
            check(cluster, case(cluster, a, b), alone)


if __name__ == "__main__":
    main()
