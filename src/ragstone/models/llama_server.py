"""Model servers on this machine: GGUF models behind the OpenAI protocol, one process per core.

    pool = local_servers("smollm2-135m-instruct", workers=2)
    pool.urls      # ['http://127.0.0.1:40513/v1', 'http://127.0.0.1:41877/v1']

Each worker has one thread and answers one request at a time, so that a greedy answer depends on
its request alone: not on concurrent requests, nor on earlier ones (see `llama_parts`).
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.core.resources import available_cpus
from ragstone.errors import CallError
from ragstone.models.adapter_gguf import gguf_adapter
from ragstone.models.adapters import Adapter
from ragstone.models.files import is_local, model_file
from ragstone.models.llama_parts import PARTS_VERSION
from ragstone.models.llama_worker import BATCH, COMPUTED_BATCH, WorkerSettings


@dataclass(frozen=True)
class Pool:
    """Running servers of one model; they are stopped when the program ends."""

    urls: list[str]
    """Base URLs of the OpenAI protocol, one per worker."""
    api_key: str = field(repr=False)
    """Key of every request, because other users of the machine can reach the ports too."""
    processes: list[subprocess.Popen[bytes]] = field(repr=False)

    @property
    def alive(self) -> bool:
        """Whether every worker is running."""
        return all(process.poll() is None for process in self.processes)

    def close(self) -> None:
        """Stop the workers at once."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                with suppress(OSError):
                    pipe.close()


_pools: dict[tuple[str, str, int, int], Pool] = {}
_lock = threading.Lock()


def local_servers(
    model: str,
    *,
    workers: int | None = None,
    context_tokens: int = limits.CONTEXT_TOKENS,
    adapter: Adapter | None = None,
) -> Pool:
    """Return running servers of a model, started by the first call and shared by later ones.

    If a worker has died, the whole pool is replaced.

    Args:
        model: a bundled model's name, or the path of a GGUF file.
        workers: number of processes; None starts one per CPU core.
        context_tokens: maximum length of prompt and answer together, in tokens.
        adapter: an adapter that is added to the model.

    Raises:
        MissingDependency: the package that runs the models is not installed.
        ModelFileError: the model is not on this machine.
        ConfigError: the adapter does not fit the model.
        CallError: a worker did not start; the message contains its last messages.
    """
    path = check_runnable(model)
    count = available_cpus() if workers is None else workers
    if count < 1 or context_tokens < 1:
        raise ValueError(
            f"workers and context_tokens must be 1 or more, found {count} and {context_tokens}"
        )
    added = str(gguf_adapter(adapter, path)) if adapter else ""
    key = (str(path.resolve()), added, count, context_tokens)
    with _lock:
        pool = _pools.get(key)
        if pool is None or not pool.alive:
            if pool is not None:
                pool.close()
            pool = _pools[key] = _start(model, path, added, count, context_tokens)
    return pool


def check_runnable(model: str) -> Path:
    """Return a model's file; raise `MissingDependency` or `ModelFileError` if it cannot run."""
    require("a local model", "local", "xllamacpp")
    return model_file(model)


def engine_identity() -> str:
    """Return what a greedy answer depends on besides model and prompt: library, batches, parts."""
    try:
        library = version("xllamacpp")
    except PackageNotFoundError:
        library = "none"
    return f"xllamacpp:{library} batch:{BATCH}/{COMPUTED_BATCH} parts:{PARTS_VERSION}"


def close_all() -> None:
    """Stop every local server of this process."""
    with _lock:
        while _pools:
            _pools.popitem()[1].close()


def _start(model: str, path: Path, adapter: str, count: int, context_tokens: int) -> Pool:
    """Start the workers side by side, then wait for each."""
    settings = WorkerSettings(
        path=str(path),
        alias=path.stem if is_local(model) else model,
        context_tokens=context_tokens,
        api_key=secrets.token_urlsafe(24),
        adapter=adapter,
    )
    with tempfile.TemporaryFile() as messages:
        processes = [_spawn(settings, messages) for _ in range(count)]
        pool = Pool([], settings.api_key, processes)
        try:
            pool.urls.extend(_wait_ready(process, model, messages) for process in processes)
        except BaseException:
            pool.close()
            raise
    return pool


def _spawn(settings: WorkerSettings, messages: IO[bytes]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "ragstone.models.llama_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=messages,
    )
    # `_wait_ready` reports a worker that has died already, with its messages.
    with suppress(BrokenPipeError):
        _pipe(process.stdin).write(json.dumps(asdict(settings)).encode() + b"\n")
        _pipe(process.stdin).flush()
    return process


def _wait_ready(process: subprocess.Popen[bytes], model: str, messages: IO[bytes]) -> str:
    """Return the worker's URL once it has loaded its model."""
    timer = threading.Timer(limits.MODEL_START_SECONDS, process.kill)
    timer.start()
    line = _pipe(process.stdout).readline()
    timer.cancel()
    answer: dict[str, Any] = json.loads(line) if line else {}
    if "url" in answer:
        return str(answer["url"])
    reason = answer.get("error") or (
        f"no answer within {limits.MODEL_START_SECONDS:.0f} s, or killed "
        f"(exit code {process.wait()})"
    )
    raise CallError(
        f"the local server of the model {model!r} did not start: {reason}. Its last messages: "
        f"{_last_lines(messages) or 'none'}. Is the file a GGUF model, and is there memory for it?"
    )


def _last_lines(messages: IO[bytes]) -> str:
    messages.seek(0)
    lines = messages.read().decode("utf-8", errors="replace").split("\n")
    return " / ".join([line.strip() for line in lines if line.strip()][-limits.MAX_LOG_LINES :])


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise CallError("a local model server was started without its pipes")
    return pipe


def _close_at_exit(owner: int = os.getpid()) -> None:
    """Stop the servers with this program, but not with a process forked from it."""
    if os.getpid() == owner:
        close_all()


atexit.register(_close_at_exit)
