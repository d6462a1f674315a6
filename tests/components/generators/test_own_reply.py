"""Steps and confidence in the reply of an own system: paths of a service, and kept replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.components.generators.support import answers_of

from ragstone.calls.client import Calls
from ragstone.calls.types import AttemptError
from ragstone.components.generators.http import Http
from ragstone.components.generators.own_reply import read_answer
from ragstone.components.generators.python_function import Function
from ragstone.errors import CallError
from ragstone.testing import FakeModelServer
from ragstone.types import Context, Hop, Passage, Prediction, Query, Task

STEPS = [
    {"query": "Which ship?", "passages": ["p1"], "tokens": 7},
    {"query": "When?", "passages": [{"id": "p2", "text": "In 1912."}], "latency_s": 0.5},
]
HOPS = (
    Hop("Which ship?", (Passage("p1", ""),), 7),
    Hop("When?", (Passage("p2", "In 1912."),), seconds=0.5),
)
CHAT = {"messages": "{messages}"}
TASK = Task(Query("q1", "When did it sink?"), Context("q1", "system"))


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls with a fresh log."""
    with Calls.at(tmp_path / "calls.sqlite") as made:
        yield made


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """Start services that always give one reply; return their addresses."""
    running: list[ThreadingHTTPServer] = []

    def start(reply: Any) -> str:
        body = json.dumps(reply).encode()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}/ask"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def test_paths_lead_to_steps_and_confidence(calls: Calls, serve: Callable[[Any], str]) -> None:
    """A reply of another form is mapped; without a value at the path nothing is reported."""
    url = serve({"result": {"text": "1912", "trace": STEPS, "sure": 0.75}})
    paths: dict[str, Any] = {
        "answer": "result.text",
        "steps": "result.trace",
        "confidence": "result.sure",
    }

    (found,) = answers_of(Http(url, **paths), [TASK], calls)
    (bare,) = answers_of(Http(url, answer="result.text", confidence="result.none"), [TASK], calls)

    assert (found.answer, found.steps, found.confidence) == ("1912", HOPS, 0.75)
    assert (bare.steps, bare.confidence) == (None, None)


def test_paths_are_part_of_the_identity_only_if_they_are_set() -> None:
    """Replies that were kept before stay valid."""
    plain, mapped = Http("http://localhost:1/ask"), Http("http://localhost:1/ask", steps="trace")

    assert "steps" not in plain.endpoint.identity
    assert plain.content_revision != mapped.content_revision


def test_a_kept_reply_has_its_steps(tmp_path: Path, calls: Calls) -> None:
    """The call log gives back what the system reported."""
    (tmp_path / "mine.py").write_text(
        f"def answer(query):\n    return {{'answer': '1912', 'steps': {STEPS!r}}}\n"
    )
    system = Function(f"{tmp_path / 'mine.py'}:answer")

    first, again = (answers_of(system, [TASK], calls)[0] for _ in range(2))

    assert calls.usage.asked == 1
    assert first == again
    assert again.steps == HOPS


def test_a_prediction_may_have_steps() -> None:
    """A function may return a prediction; wrong steps are an error of form."""
    reply = read_answer(Prediction("q1", "1912", steps=HOPS), "mine")

    assert reply.reported is not None
    assert reply.reported.steps == HOPS
    with pytest.raises(AttemptError, match="unexpected shape: step 2: 'passages' must be a list"):
        read_answer({"answer": "x", "steps": [STEPS[0], {"passages": 3}]}, "mine")


def test_half_a_character_does_not_stop_a_run(tmp_path: Path, calls: Calls) -> None:
    """A lone surrogate, which no file can hold, is replaced in every text of a reply."""
    (tmp_path / "mine.py").write_text(
        "CUT = 'cut \\ud83d'\n"
        "def answer(query):\n"
        "    return {'answer': CUT, 'contexts': [CUT, {'id': 'p', 'text': CUT}]}\n"
    )

    (found,) = answers_of(Function(f"{tmp_path / 'mine.py'}:answer"), [TASK], calls)

    assert found.answer == "cut \ufffd"
    assert {passage.text for passage in found.contexts or ()} == {"cut \ufffd"}
    assert read_answer("\ud83d", "mine").text == "\ufffd"


def test_the_advice_on_a_service_does_not_speak_of_models(calls: Calls) -> None:
    """Another address and a page in the place of JSON are the two usual mistakes."""
    with (
        FakeModelServer(faults={"404": 1.0}) as server,
        pytest.raises(CallError, match=r"refused with 404: .*; check the address$"),
    ):
        answers_of(Http(server.url, CHAT), [TASK], calls)
    with FakeModelServer(faults={"wrong-type": 1.0}) as server:
        (found,) = answers_of(Http(server.url, CHAT), [TASK], calls)

    assert "instead of JSON (<html>" in found.reason
    assert "base_url" not in found.reason
