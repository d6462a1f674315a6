"""One local model server: `ragstone.models.llama_server` starts it as a process of its own.

Its settings arrive as one line of JSON on standard input: not as arguments, which other users of
the machine can read, for there is an API key among them. It answers with one line on standard
output, its URL or the reason why there is none. When standard input ends, because the process that
started it is gone in whatever way, it is gone too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from typing import IO


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker is told."""

    path: str
    """Of the GGUF file."""
    alias: str
    """The model's name in replies."""
    context_tokens: int
    api_key: str

    def to_line(self) -> bytes:
        """Return the settings as one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"


def serve(settings: WorkerSettings) -> tuple[object, str]:
    """Start a server in this process; return it (it stops when it is let go of) and its URL."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings.path
    parameters.model_alias = {settings.alias}
    parameters.n_ctx = settings.context_tokens
    parameters.api_keys = [settings.api_key]
    # One thread and one request at a time: two busy threads spin for each other on shared cores,
    # and a batch of several requests would let them change each other's arithmetic.
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.n_gpu_layers = 0
    # A prompt read from the middle on is computed in other batches than one read from the start,
    # and greedy answers then depend on what was asked before (docs/models.md has the figures).
    parameters.cache_prompt = False
    parameters.cache_ram_mib = 0
    parameters.fit_params = False
    parameters.ui = parameters.endpoint_slots = False
    parameters.verbosity = 1
    server = xllamacpp.Server(parameters)
    return server, f"{server.listening_address}/v1"


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    answers = _take_over_output()
    settings = WorkerSettings(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        server, url = serve(settings)
    except Exception as error:  # noqa: BLE001 -- whatever it is, the parent is told
        answer = {"error": f"{type(error).__name__}: {error}"}
        _tell(answers, answer)
        sys.exit(1)
    _tell(answers, {"url": url})
    threading.Event().wait()
    del server


def _tell(answers: IO[str], answer: dict[str, str]) -> None:
    """Write one line to the parent."""
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _take_over_output() -> IO[str]:
    """Keep standard output for the protocol; what the library writes there goes to the log."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _leave_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # at once, whatever the server is computing


if __name__ == "__main__":
    main()
