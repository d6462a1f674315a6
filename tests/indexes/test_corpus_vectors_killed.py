"""Embedding resumes after a kill: stored vectors are not computed again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.indexes import corpus_vectors as vectors
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.protocols import Embedder, Role, Services
from ragstone.types import Passage

SHARDS, SHARD, KILLS = 40, 8, 3


@dataclass(frozen=True)
class Slow(Embedder):
    """Records each text that it embeds, slowly."""

    log: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    texts_per_call = SHARD

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
        """Return one row per text."""
        time.sleep(0.01)
        with Path(self.log).open("a", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
        return np.array([[len(text), int(text)] for text in texts], dtype=np.float32)


def embed(folder: Path) -> None:
    """Embed the corpus of the test in a store, in a process of its own, and write the vectors."""
    vectors.SHARD = SHARD  # type: ignore[misc]  # small, to have many
    table = Corpus.from_passages([Passage(f"p{n}", str(n)) for n in range(SHARDS * SHARD)]).table
    services = Services(corpus=Corpus(table, Store(folder / "store")))
    found = embed_corpus(Slow(str(folder / "log")), services)
    np.save(folder / "found.npy", found.slice(0, len(found)))


def _start(folder: Path) -> subprocess.Popen[bytes]:
    module = __name__.rpartition(".")[2]
    script = f"import pathlib, {module}; {module}.embed(pathlib.Path({str(folder)!r}))"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-c", script], env=environment)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def test_a_killed_process_loses_only_the_current_shard(tmp_path: Path) -> None:
    """After several `kill -9` the vectors are right, and each kill costs one shard at most."""
    for kill in range(KILLS):
        process = _start(tmp_path)
        while len(_lines(tmp_path / "log")) < (kill + 1) * 9 * SHARD and process.poll() is None:
            time.sleep(0.002)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _start(tmp_path).wait() == 0
    found, embedded = np.load(tmp_path / "found.npy"), _lines(tmp_path / "log")
    assert np.array_equal(found[:, 1], np.arange(SHARDS * SHARD))
    assert set(embedded) == {str(n) for n in range(SHARDS * SHARD)}
    assert len(embedded) - SHARDS * SHARD <= KILLS * SHARD
