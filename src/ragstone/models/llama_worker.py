"""One local model server, a process that `ragstone.models.llama_server` starts.

It reads its settings as one line of JSON from standard input: they contain an API key, and other
users of the machine can read arguments. It writes one line to standard output, its URL or an error.
It exits when standard input ends, that is when its parent has ended in any way.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from typing import IO, Final
from urllib.parse import urlsplit

from ragstone.models.llama_front import ModelFront

BATCH: Final = 2048
"""Tokens of a prompt that are given to the model together."""
COMPUTED_BATCH: Final = 512
"""Tokens of these that are computed together."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The settings of a worker."""

    path: str
    """Path of the GGUF file."""
    alias: str
    """The model's name in replies."""
    context_tokens: int
    api_key: str
    adapter: str = ""
    """Path of the GGUF file of an adapter; "" for none."""


def serve(settings: WorkerSettings) -> tuple[object, str]:
    """Start a server in this process; return it and its URL. It stops when it is deleted."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings.path
    parameters.model_alias = {settings.alias}
    if settings.adapter:
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(settings.adapter, 1.0)]
    parameters.n_ctx = settings.context_tokens
    parameters.api_keys = [settings.api_key]
    # One thread and one request at a time: two busy threads would wait for each other on shared
    # cores, and the requests of a batch would change each other's arithmetic.
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.n_gpu_layers = 0
    # The front decides what the cache keeps; without `swa_full` and checkpoints off, the server
    # would keep other tokens for models with a sliding window.
    parameters.n_batch, parameters.n_ubatch = BATCH, COMPUTED_BATCH
    parameters.cache_ram_mib = parameters.n_ctx_checkpoints = 0
    parameters.swa_full = True
    parameters.cache_prompt = False
    parameters.fit_params = False
    parameters.ui = parameters.endpoint_slots = False
    parameters.verbosity = 1
    server = xllamacpp.Server(parameters)
    front = ModelFront(urlsplit(server.listening_address).netloc, settings.api_key)
    return server, f"{front.url}/v1"


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    answers = _take_over_output()
    settings = WorkerSettings(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    try:
        server, url = serve(settings)
    except Exception as error:  # noqa: BLE001 - the parent reports it, whatever it is
        _send(answers, {"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    _send(answers, {"url": url})
    threading.Event().wait()
    del server


def _send(answers: IO[str], answer: dict[str, str]) -> None:
    """Write one line to the parent."""
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _take_over_output() -> IO[str]:
    """Return standard output for the protocol alone; output of the library goes to the log."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _exit_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # At once, even if the server is computing.


if __name__ == "__main__":
    main()
