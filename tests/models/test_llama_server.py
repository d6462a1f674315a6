"""Local model servers: real processes, the real bundled model."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from ragstone.core import limits
from ragstone.errors import CallError, ConfigError, MissingDependency
from ragstone.models import llama_server as local_server
from ragstone.models.bundled import MODELS
from ragstone.models.llama_server import Pool, local_servers

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "smollm2-135m-instruct"
PASSAGES = (
    "[1] The bridge of Orle was built in 1911 by the engineer Anna Veit, after the ferry sank.\n\n"
    "[2] The town of Orle has two schools and a market, and its mayor lives in the old mill.\n\n"
)
PROMPTS = [
    f"{PASSAGES}Question: When was the bridge built?",
    f"{PASSAGES}Question: Who lives in the old mill?",
    f"{PASSAGES[: PASSAGES.index('[2]')]}Question: When was the bridge built?",
    "Name one colour.",
]


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Two workers of the bundled model."""
    if not MODELS[MODEL].fetched:
        pytest.skip(f"the model is not on this machine: ragstone models fetch {MODEL}")
    yield local_servers(MODEL, workers=2, context_tokens=512)
    local_server.close_all()


def _post(url: str, api_key: str, text: str, **more: object) -> tuple[int, dict[str, Any]]:
    """Ask for a greedy answer; return the HTTP status and the reply."""
    parts = urlsplit(url)
    messages = [{"role": "user", "content": text}]
    body = {"messages": messages, "temperature": 0, "max_tokens": 16, **more}
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    try:
        connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body), headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def _ask(url: str, api_key: str, text: str) -> str:
    status, reply = _post(url, api_key, text)
    assert status == 200, reply
    answer: str = reply["choices"][0]["message"]["content"]
    return answer


def _answer(url: str, api_key: str, text: str) -> tuple[str, list[float]]:
    """Return a greedy answer and the log-probability of each of its tokens."""
    status, reply = _post(url, api_key, text, logprobs=True, top_logprobs=1)
    assert status == 200, reply
    choice = reply["choices"][0]
    return choice["message"]["content"], [t["logprob"] for t in choice["logprobs"]["content"]]


def test_answers_depend_on_the_prompt_alone(pool: Pool) -> None:
    """Log-probabilities are equal to the last bit in any order, on either worker, at once."""
    first, second = pool.urls
    forth = [_answer(first, pool.api_key, prompt) for prompt in PROMPTS]
    back = [_answer(second, pool.api_key, prompt) for prompt in reversed(PROMPTS)]
    assert all(text for text, _ in forth)
    assert forth == back[::-1]
    with ThreadPoolExecutor(len(PROMPTS)) as threads:
        asked = [threads.submit(_answer, first, pool.api_key, prompt) for prompt in PROMPTS]
        assert [one.result() for one in asked] == forth


def test_shared_passages_are_computed_once(pool: Pool) -> None:
    """The second question on the same passages reads them from the cache."""
    _post(pool.urls[0], pool.api_key, PROMPTS[0])
    _, reply = _post(pool.urls[0], pool.api_key, PROMPTS[1])
    timings = reply["timings"]
    assert timings["cache_n"] > limits.LEAST_PROMPT_PART
    assert timings["prompt_n"] < timings["cache_n"]


def test_the_gold_passage_is_used(pool: Pool) -> None:
    """The model reads its context: the answer contains the year that is only in the passage."""
    assert "1911" in _ask(pool.urls[0], pool.api_key, PROMPTS[0])


def test_a_pool_is_shared_within_the_process(pool: Pool) -> None:
    """The same model, workers and context length give the running servers."""
    assert local_servers(MODEL, workers=2, context_tokens=512) is pool


def test_a_wrong_key_is_refused(pool: Pool) -> None:
    """Others on the machine cannot use the server."""
    assert _post(pool.urls[0], "guess", "Hello")[0] == 401


def test_a_prompt_beyond_the_context_is_refused(pool: Pool) -> None:
    """A prompt that does not fit is an error with both lengths, never cut in silence."""
    status, reply = _post(pool.urls[0], pool.api_key, "word " * 600)
    assert status == 400
    assert "available context size (512 tokens)" in reply["error"]["message"]


def test_the_key_is_not_shown(pool: Pool) -> None:
    """Neither the pool's text nor the workers' command lines hold the key."""
    assert pool.api_key not in repr(pool)
    assert not any(pool.api_key in str(process.args) for process in pool.processes)


def test_a_dead_worker_is_replaced(pool: Pool) -> None:
    """After a worker was killed the next call gives a pool with the same answers."""
    short = local_servers(MODEL, workers=1, context_tokens=256)
    before = _answer(short.urls[0], short.api_key, PROMPTS[1])
    short.processes[0].kill()
    short.processes[0].wait()
    fresh = local_servers(MODEL, workers=1, context_tokens=256)
    assert fresh.alive
    assert _answer(fresh.urls[0], fresh.api_key, PROMPTS[1]) == before
    assert pool.alive


@pytest.mark.usefixtures("pool")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_workers_die_with_their_parent(how: signal.Signals | None) -> None:
    """Killed in whatever way, or ended well, a process leaves no server behind."""
    code = (
        "import sys; from ragstone.models.llama_server import local_servers\n"
        f"pool = local_servers({MODEL!r}, workers=1, context_tokens=256)\n"
        "print(pool.processes[0].pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    with parent.stdin, parent.stdout:
        worker = int(parent.stdout.readline())
        assert _runs(worker)
        if how is None:
            parent.stdin.close()
        else:
            parent.send_signal(how)
        parent.wait()
    deadline = time.monotonic() + 20
    while _runs(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(worker)


def _runs(pid: int) -> bool:
    """Return whether a process runs; a killed orphan may wait to be collected, as a zombie."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        state = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        # The process ended in between, or the machine has no /proc.
        return not Path("/proc/self").exists()
    return state != "Z"


def test_a_file_that_is_not_a_model_is_an_error(tmp_path: Path) -> None:
    """The error contains the file's name and the library's own reason."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF, it says")
    with pytest.raises(CallError, match=r"bad\.gguf.*failed to load model"):
        local_servers(str(bad), workers=1)


def test_an_unknown_model_is_a_wrong_configuration() -> None:
    """Nothing is started for a name that does not exist."""
    with pytest.raises(ConfigError, match="did you mean"):
        local_servers("smollm2-135m-instuct")


def test_the_package_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package that runs models the error names the extra to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingDependency, match=r"ragstone\[local\]"):
        local_servers(MODEL)
