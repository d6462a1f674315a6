"""Steps on the workers of an executor: equal results, shards, killed processes, bad workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.retrievers.bm25 import BM25
from ragstone.core import limits
from ragstone.core.builtins import BUILT_IN, name_of
from ragstone.core.executors.portable import Portable
from ragstone.core.executors.spec import executor_of
from ragstone.core.registry import create
from ragstone.core.store import Store
from ragstone.errors import RagstoneError, StoreError
from ragstone.experiment.load import load_experiment
from ragstone.experiment.sent_blocks import ASKS_A_SERVER, BlockJob, _corpus, may_be_sent
from ragstone.experiment.steps import Step
from ragstone.results.results import Results

_SIZE = 40
"""Queries of a block: the sample has six blocks."""


def document(store: Path, executor: str = "") -> dict[str, Any]:
    """Return an experiment whose steps need no model."""
    return {
        "data": "sample",
        "store": str(store),
        "executor": executor,
        "systems": {"a": {"retriever": "bm25", "processor": "budget(60)", "generator": "gold"}},
        "settings": ["none", "gold", "retrieved(3)"],
        "metrics": ["Match", "F1", "nDCG@5"],
    }


def run(store: Path, executor: str = "") -> Results:
    """Run the experiment."""
    return load_experiment(document(store, executor)).run()


def facts(results: Results) -> dict[str, Any]:
    """Return what is stored of each step, without times."""
    apart = {"started", "seconds", "seal", "file_digest"}
    return {
        folder: {name: value for name, value in one.items() if name not in apart}
        for folder, one in results.manifests.items()
    }


def shards(store: Path) -> set[str]:
    """Return the names of the shards of a store."""
    return {path.name for path in store.glob("arrays/shard-*")}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOCK_QUERIES", _SIZE)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of a run in this process."""
    return run(tmp_path_factory.mktemp("plain"))


def _folders(job: BlockJob) -> set[tuple[str, int]]:
    return {(p.name, p.stat().st_ino) for p in Path(job.store).glob("arrays/shard-*")}


@dataclass
class Here:
    """Calls the job in this process: the worker's side without another process.

    Args:
        stop: number of blocks after which the run is stopped, as if it was killed.
        within: the context in which a block is computed.
    """

    stop: int = 1_000_000
    within: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    computed: int = 0
    kept: int = 0
    jobs: list[tuple[BlockJob, Any]] = field(default_factory=list)

    def open(self) -> None:
        """Do nothing."""

    def map(self, job: Any, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results, and count the shards that they added."""
        for item in items:
            if self.computed == self.stop:
                raise KeyboardInterrupt
            self.jobs.append((job, item))
            before = _folders(job)
            with self.within():
                found = job(item)
            added = _folders(job) - before
            self.computed += len(added)
            self.kept += not added
            yield found

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[Here], Here]:
    """Return a function that gives all experiments an executor."""

    def give(executor: Here) -> Here:
        monkeypatch.setattr("ragstone.experiment.experiment.executor_of", lambda _: executor)
        return executor

    return give


def test_processes_change_no_result(tmp_path: Path, plain: Results) -> None:
    """Digests, facts, record, texts and keys are those of a run in this process; no shard stays."""
    results = run(tmp_path, "processes(2)")
    assert facts(results) == facts(plain)
    assert str(results) == str(plain)
    assert "executor" not in asdict(results.record)["file"]
    assert not shards(tmp_path)
    assert list(tmp_path.glob("arrays/shared-*"))

    again = run(tmp_path, "processes(3)")
    assert again.manifests == results.manifests
    assert executor_of("processes(3)")._pool is None  # type: ignore[attr-defined]
    assert str(Results.load(Store(tmp_path), "experiment")) == str(plain)


def test_dask_changes_no_result(tmp_path: Path, plain: Results) -> None:
    """A cluster of this machine."""
    pytest.importorskip("distributed")
    assert facts(run(tmp_path, "dask(workers=2)")) == facts(plain)
    assert not shards(tmp_path)


def test_ray_changes_no_result(tmp_path: Path, plain: Results) -> None:
    """Another kind of cluster of this machine."""
    if find_spec("ray") is None:  # an import comes after the settings of its environment
        pytest.skip("ray is not installed")
    assert facts(run(tmp_path, "ray(workers=2)")) == facts(plain)
    assert not shards(tmp_path)


def test_a_worker_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has both versions."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("ragstone.core.executors.cluster.package_identity", lambda: "0.0 (x)")
    with pytest.raises(RagstoneError, match=r"the worker has ragstone .*, and this process has 0"):
        run(tmp_path, "dask(workers=1)")


def test_a_killed_worker_loses_nothing(tmp_path: Path, plain: Results) -> None:
    """A process that is killed in a block is replaced."""
    killed: list[int | None] = []

    def kill() -> None:
        while not killed:
            children = multiprocessing.active_children()
            if len(children) == 2 and len(shards(tmp_path)) >= 2:
                os.kill(children[0].pid or 0, signal.SIGKILL)
                killed.append(children[0].pid)
            time.sleep(0.002)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    results = run(tmp_path, "processes(2)")
    thread.join(timeout=10)
    assert killed
    assert facts(results) == facts(plain)
    assert not shards(tmp_path)


def test_a_killed_run_goes_on_with_its_blocks(
    tmp_path: Path, plain: Results, here: Callable[[Here], Here]
) -> None:
    """No finished block is computed again."""
    script = tmp_path / "run.py"
    script.write_text(
        "import sys, time\n"
        "from ragstone.core import limits\n"
        "from ragstone.experiment.load import load_experiment\n"
        "if __name__ == '__main__':\n"
        f"    limits.BLOCK_QUERIES = {_SIZE}\n"
        f"    load_experiment({document(tmp_path / 'store', 'processes(2)')!r}).run()\n",
        encoding="utf-8",
    )
    process = subprocess.Popen([sys.executable, str(script)], start_new_session=True)
    while process.poll() is None and len(shards(tmp_path / "store")) < 2:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = shards(tmp_path / "store")
    assert before

    executor = here(Here())
    results = run(tmp_path / "store")
    assert facts(results) == facts(plain)
    assert executor.kept >= len(before) - 1  # the first block of a retriever is not sent
    assert {"score-ranking", "score-answer"} <= {job.step for job, _ in executor.jobs}
    assert not shards(tmp_path / "store")


def test_a_damaged_shard_is_set_aside(
    tmp_path: Path, plain: Results, here: Callable[[Here], Here]
) -> None:
    """And computed again; the other ones are kept."""
    here(Here(stop=4))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    first, *others = sorted(shards(tmp_path))
    rows = tmp_path / "arrays" / first / "rows.arrow"
    rows.write_bytes(rows.read_bytes()[:-20])

    executor = here(Here())
    assert facts(run(tmp_path)) == facts(plain)
    assert executor.kept == len(others)
    assert [path.name for path in (tmp_path / "damaged").iterdir()] == [f"{first}-1"]


@contextlib.contextmanager
def _full_disk() -> Iterator[None]:
    """Let no file grow above 1,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_of_a_worker_is_named(
    tmp_path: Path, plain: Results, here: Callable[[Here], Here]
) -> None:
    """The error has the folder, and the next run goes on."""
    here(Here(within=_full_disk))
    with pytest.raises(StoreError, match=rf"cannot write {tmp_path}/arrays/shard-.*make room"):
        run(tmp_path)
    assert not list(tmp_path.glob("arrays/.tmp-*"))
    here(Here())
    assert facts(run(tmp_path)) == facts(plain)


def test_a_worker_without_the_data_is_refused(tmp_path: Path, here: Callable[[Here], Here]) -> None:
    """A missing store, a missing table and a damaged one."""
    executor = here(Here(stop=8))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    job, block = executor.jobs[-1]
    assert job.step == "retrieve"
    with pytest.raises(StoreError, match="the worker has no store /no/such/store; give all"):
        replace(job, store="/no/such/store")(block)

    renamed = replace(job, key="another")
    shared = replace(renamed, shared=(*job.shared, ("collections", "0" * 64)))
    with pytest.raises(StoreError, match=r"does not find the table collections \(000000000000\)"):
        shared(block)
    for path in tmp_path.glob("arrays/shared-*/table.parquet"):
        path.write_bytes(path.read_bytes()[:-1])
    _corpus.cache_clear()
    with pytest.raises(StoreError, match=r"does not find the table \w+ .*, or its file is damaged"):
        renamed(block)


def test_the_part_is_plain_data(tmp_path: Path, here: Callable[[Here], Here]) -> None:
    """A job has texts alone."""
    executor = here(Here(stop=2))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    for job, block in executor.jobs:
        assert isinstance(job.part, Portable)
        assert all(isinstance(value, bytes) for value in block.values())


def _step(component: Any) -> bool:
    verbs = {"form": "form", "retrieve": "retrieve", "rerank": "rerank", "process": "process"}
    return may_be_sent(Step(verbs.get(component.verb, "generate"), component, {}))


def test_steps_that_ask_a_server_stay_here() -> None:
    """An encoder behind an address, a search engine, a language model."""
    assert _step(BM25())
    assert _step(create("retrievers", "dense", where="test"))
    endpoint = {"name": "endpoint", "model": "m"}
    for kind, written in (
        ("retrievers", {"name": "dense", "embedder": endpoint}),
        ("retrievers", {"name": "elasticsearch", "url": "http://localhost:9200"}),
        ("query_formers", {"name": "llm-rewrite", "model": {"name": "chat", "model": "m"}}),
        ("generators", {"name": "chat", "model": "m"}),
    ):
        assert not _step(create(kind, written, where="test")), written


@pytest.mark.parametrize(
    "kind", ["query_formers", "embedders", "retrievers", "rerankers", "processors", "generators"]
)
def test_no_component_with_calls_is_sent(kind: str) -> None:
    """Each one that reads `services.calls` has a cost or is listed."""
    for name, place in BUILT_IN[kind].items():
        source = Path(sys.modules["ragstone"].__file__ or "").parent.parent.joinpath(
            *place.split(":")[0].split(".")
        )
        if "services.calls" not in source.with_suffix(".py").read_text(encoding="utf-8"):
            continue
        try:
            component = create(kind, name, where="test")
        except RagstoneError:
            continue
        listed = name_of(type(component)) in ASKS_A_SERVER
        assert listed or component.cost(1, 1), name
