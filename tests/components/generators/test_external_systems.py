"""Your own system: a function, a command, an HTTP service, each measured like any other."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.components.generators.support import answers_of

from ragstone.calls.client import Calls
from ragstone.calls.scheduler import RetryPolicy
from ragstone.components.generators.command import Command
from ragstone.components.generators.http import Http
from ragstone.components.generators.python_function import Function
from ragstone.core.redaction import redacted
from ragstone.core.registry import create
from ragstone.errors import CallError, ConfigError
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage, Message, Query, Task

Serve = Callable[[Callable[[Any], bytes]], str]


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls with a fresh log and short time-outs."""
    policy = RetryPolicy(timeout=60.0, attempts=2, first_wait=0.01, give_up_after=6)
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=policy) as made:
        yield made


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start services that compute replies from the request's JSON; return their addresses."""
    running: list[ThreadingHTTPServer] = []

    def start(answer: Callable[[Any], bytes]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                reply = answer({"headers": dict(self.headers), "body": json.loads(body)})
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}/ask"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def tasks(count: int = 3, *, passages: bool = False, history: Sequence[Message] = ()) -> list[Task]:
    """Return tasks q0, q1, ..., each with a passage on request."""
    return [
        Task(
            Query(f"q{n}", f"Question {n}?", gold_answers=("SECRET",), history=tuple(history)),
            Context(
                f"q{n}",
                "gold" if passages else "none",
                (ContextPassage(f"p{n}", f"Passage {n}.", "gold"),) if passages else (),
            ),
        )
        for n in range(count)
    ]


def module(folder: Path, text: str) -> str:
    """Write a user's file and return the name of its function `answer`."""
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return f"{folder / 'mine.py'}:answer"


def test_a_function_of_the_query_is_a_system(tmp_path: Path, calls: Calls) -> None:
    """The only parameter may have any name; the call log stores the answer."""
    target = module(tmp_path, "def answer(text):\n    return text.upper()\n")
    predictions = answers_of(Function(target), tasks(), calls)
    assert [p.answer for p in predictions] == ["QUESTION 0?", "QUESTION 1?", "QUESTION 2?"]
    assert answers_of(Function(target), tasks(), calls) == predictions
    assert calls.usage.asked == 3


def test_an_async_function_may_return_passages(tmp_path: Path, calls: Calls) -> None:
    """Eight calls run at the same time, and the retrieved passages are returned."""
    target = module(
        tmp_path,
        "import asyncio\n"
        "everybody = asyncio.Barrier(8)\n"
        "async def answer(query, history):\n"
        "    await everybody.wait()\n"
        "    return {'answer': history[0].text, 'passage_ids': ['p1', 'p2']}\n",
    )
    asked = tasks(24, history=[Message("user", "Hi.")])
    predictions = answers_of(Function(target, concurrency=24), asked, calls)
    assert {(p.answer, p.passage_ids) for p in predictions} == {("Hi.", ("p1", "p2"))}


def test_a_function_can_be_put_through_the_settings_if_it_takes_passages(
    tmp_path: Path, calls: Calls
) -> None:
    """A function without such a parameter is refused."""
    taking = module(tmp_path, "def answer(query, context):\n    return context\n")
    (first, *_) = answers_of(Function(taking), tasks(passages=True), calls)
    assert first.answer == "[1] Passage 0."
    (tmp_path / "other").mkdir()
    deaf = module(tmp_path / "other", "def answer(query):\n    return query\n")
    with pytest.raises(ConfigError, match=r"setting 'gold' shows passages.*use the setting 'none'"):
        answers_of(Function(deaf), tasks(passages=True), calls)


def test_a_function_never_sees_gold_answers(tmp_path: Path, calls: Calls) -> None:
    """Its task has no gold answers, qrels or labels."""
    target = module(tmp_path, "def answer(task):\n    return repr(task)\n")
    (prediction,) = answers_of(Function(target), tasks(1), calls)
    assert prediction.answer is not None
    assert "Question 0?" in prediction.answer
    assert "SECRET" not in prediction.answer


def test_a_changed_function_is_called_again(tmp_path: Path, calls: Calls) -> None:
    """The content of its file and the release are part of the key."""
    target = module(tmp_path, "def answer(query):\n    return 'one'\n")
    answers_of(Function(target), tasks(1), calls)
    module(tmp_path, "def answer(query):\n    return 'two'\n")
    (changed,) = answers_of(Function(target), tasks(1), calls)
    assert changed.answer == "two"
    answers_of(Function(target, release="2"), tasks(1), calls)
    assert calls.usage.asked == 3


def test_a_change_of_a_file_that_a_function_imports_is_noticed(
    tmp_path: Path, calls: Calls
) -> None:
    """The files beside the function's are part of the key if they are imported."""
    target = module(tmp_path, "from helper_of_mine import answer\n")
    for text in ("one", "two"):
        (tmp_path / "helper_of_mine.py").write_text(f"def answer(query):\n    return '{text}'\n")
        (found,) = answers_of(Function(target), tasks(1), calls)
        assert found.answer == text


@pytest.mark.parametrize(
    "text",
    [
        "class Mine:\n    def __call__(self, query):\n        return 'one'\nanswer = Mine()\n",
        "from functools import cache\n@cache\ndef answer(query):\n    return 'one'\n",
    ],
)
def test_any_callable_object_is_a_function(tmp_path: Path, calls: Calls, text: str) -> None:
    """An instance, or a function with a decorator, has no source file of its own."""
    (found,) = answers_of(Function(module(tmp_path, text)), tasks(1), calls)
    assert found.answer == "one"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise KeyError('city')", r"raised KeyError: 'city' \(mine.py, line 2\)"),
        ("return 3", r"returned int \(3\); expected a text"),
        ("return None", "returned NoneType"),
        ("return {'text': 'a'}", "no text under 'answer'; it returned: text"),
        ("return {'answer': 'a', 'passages': 'p'}", "reply of an unexpected shape"),
    ],
)
def test_an_exception_in_a_function_is_a_failure(
    tmp_path: Path, calls: Calls, body: str, reason: str
) -> None:
    """The reason names the function, the error and the line."""
    target = module(tmp_path, f"def answer(query):\n    {body}\n")
    predictions = answers_of(Function(target), tasks(2), calls)
    assert all(p.answer is None for p in predictions)
    assert re.search(reason, predictions[0].reason)


def test_a_function_that_always_fails_does_not_stop_the_run(tmp_path: Path, calls: Calls) -> None:
    """Only outages of a server stop a run: each item fails with the function's own reason."""
    target = module(tmp_path, "def answer(query):\n    raise ValueError('no index')\n")
    found = answers_of(Function(target), tasks(30), calls)
    assert [one.status for one in found] == ["failed"] * 30
    assert all("no index" in one.reason for one in found)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("answer", "does not name a function"),
        ("nowhere.py:answer", "there is no file"),
        ("no_such_module:answer", "importing 'no_such_module' failed"),
        ("json:answer", "no function 'answer' in json"),
        ("broken.py:answer", "broken.py failed on import.*line 1"),
        ("two.py:answer", "takes a, b; it may take the query alone"),
    ],
)
def test_a_function_that_cannot_be_used_is_a_config_error(
    tmp_path: Path, target: str, message: str
) -> None:
    """The error comes when the experiment file is read; files are relative to it."""
    (tmp_path / "broken.py").write_text("import no_such_package\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("def answer(a, b):\n    return a\n", encoding="utf-8")
    written = {"name": "callable", "function": target}
    with pytest.raises(ConfigError, match=message):
        create("generators", written, where="generator", folder=tmp_path)


COMMAND = """
import json, sys
for line in sys.stdin:
    task = json.loads(line)
    if task["query_id"] == "q1" and "{mode}" == "die":
        sys.exit("out of memory")
    if task["query_id"] == "q1" and "{mode}" == "babble":
        print("loading...", flush=True)
        continue
    ids = [p["passage_id"] for p in task["passages"]]
    reply = {{"request_id": task["request_id"], "answer": task["query"].upper()}}
    print(json.dumps({{**reply, "passage_ids": ids}}), flush=True)
"""


def command(folder: Path, mode: str = "") -> str:
    """Write a user's program and return the command that runs it."""
    (folder / "program.py").write_text(COMMAND.format(mode=mode), encoding="utf-8")
    return f"{sys.executable} {folder / 'program.py'}"


def test_a_command_answers_line_by_line(tmp_path: Path, calls: Calls) -> None:
    """It is started once per worker; the passages that it reports are returned."""
    system = Command(command(tmp_path), takes_context=True, workers=2)
    predictions = answers_of(system, tasks(5, passages=True), calls)
    assert [p.answer for p in predictions] == [f"QUESTION {n}?" for n in range(5)]
    assert [p.passage_ids for p in predictions] == [(f"p{n}",) for n in range(5)]


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("die", "ended with exit code 1; last line of its standard error: out of memory"),
        ("babble", "wrote a line that is not JSON: .*loading..."),
    ],
)
def test_a_command_that_breaks_is_started_again(
    tmp_path: Path, calls: Calls, mode: str, reason: str
) -> None:
    """The task at fault fails with the last line of standard error; the others are answered."""
    zero, one, two = answers_of(Command(command(tmp_path, mode)), tasks(), calls)
    assert (zero.answer, two.answer) == ("QUESTION 0?", "QUESTION 2?")
    assert re.search(reason, one.reason)


@pytest.mark.parametrize("text", ["", "no-such-program --x", "python 'unclosed"])
def test_a_command_must_begin_with_a_program(text: str) -> None:
    """The error comes when the experiment file is read."""
    with pytest.raises(ConfigError, match="command"):
        Command(text)


def test_a_service_is_asked_and_read_by_templates(serve: Serve, calls: Calls) -> None:
    """The body is filled in; answer and passages are read from their paths."""
    heard: list[Any] = []

    def answer(asked: Any) -> bytes:
        heard.append(asked["body"])
        data = {"text": f"said {asked['body']['q']}", "from": [{"id": "a"}, {"id": 7}]}
        return json.dumps({"data": [data]}).encode()

    system = Http(
        serve(answer),
        body={"q": "{query}", "chat": "{messages}", "deep": [{"docs": "{passages}"}], "k": 3},
        answer="data.0.text",
        passage_ids="data.0.from.*.id",
    )
    asked = tasks(1, passages=True, history=[Message("agent", "Hello!")])
    (prediction,) = answers_of(system, asked, calls)
    assert (prediction.answer, prediction.passage_ids) == ("said Question 0?", ("a", "7"))
    (body,) = heard
    assert [m["role"] for m in body["chat"]] == ["assistant", "user"]
    assert body["deep"][0]["docs"] == [{"passage_id": "p0", "text": "Passage 0."}]
    assert body["k"] == 3


@pytest.mark.parametrize(
    "stream",
    [
        (
            b'data: {"delta": "In "}\n\nevent: x\ndata: {"delta": "1912"}\n\n'
            b'data: {"ids": ["p1"]}\n\ndata: [DONE]\n\n'
        ),
        b'{"delta": "In "}\n{"delta": "1912"}\n{"ids": ["p1"]}\n',
    ],
)
def test_a_streamed_reply_is_put_together(serve: Serve, calls: Calls, stream: bytes) -> None:
    """The parts of server-sent events or JSON lines are joined in order."""
    system = Http(serve(lambda _: stream), answer="delta", passage_ids="ids")
    (prediction,) = answers_of(system, tasks(1), calls)
    assert (prediction.answer, prediction.passage_ids) == ("In 1912", ("p1",))


def test_a_mapping_that_finds_nothing_shows_what_there_is(serve: Serve, calls: Calls) -> None:
    """The failure contains the reply, and the call is not retried."""
    system = Http(serve(lambda _: b'{"result": "1912"}'), answer="answer")
    (prediction,) = answers_of(system, tasks(1), calls)
    assert "no text at 'answer'" in prediction.reason
    assert '{"result":"1912"}' in prediction.reason


def test_a_services_key_comes_from_the_environment(
    serve: Serve,
    calls: Calls,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is sent as a bearer token or in a header; one in plain text is removed from texts."""
    monkeypatch.setenv("MY_KEY", "sk-12345")
    heard: list[dict[str, str]] = []

    def answer(asked: Any) -> bytes:
        heard.append(asked["headers"])
        return b'{"answer": "yes"}'

    url = serve(answer)
    answers_of(Http(url, api_key_env="MY_KEY"), tasks(1), calls)
    own = {"X-Api-Key": "k {api_key}"}
    answers_of(Http(url, api_key_env="MY_KEY", headers=own, release="2"), tasks(1), calls)
    assert heard[0]["Authorization"] == "Bearer sk-12345"
    assert heard[1]["X-Api-Key"] == "k sk-12345"
    Http(url, headers={"Authorization": "Bearer plain-12345"})
    assert caplog.text.count("write {env:NAME}") == 1
    assert "plain-12345" not in caplog.text
    assert redacted("a plain-12345") == "a ***"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"q": "{question}"}, r"unknown variable \{question\}"),
        ({"q": "fixed"}, "the query is not sent"),
        ({"q": "{query"}, "cannot read"),
    ],
)
def test_a_wrong_body_is_a_config_error(body: dict[str, Any], message: str) -> None:
    """The error comes when the experiment file is read."""
    written = {"name": "http", "url": "http://localhost:1/ask", "body": body}
    with pytest.raises(ConfigError, match=message):
        create("generators", written, where="generator")


def test_an_unreachable_service_is_reported_before_the_run(calls: Calls) -> None:
    """The check before a run names the address."""
    with pytest.raises(CallError, match=r"cannot connect to http://127\.0\.0\.1:9/ask"):
        Http("http://127.0.0.1:9/ask").check(Services(calls=calls))


def test_a_hanging_function_ends_at_its_deadline(tmp_path: Path) -> None:
    """The program continues, and can end, while the function still hangs."""
    target = module(tmp_path, "import time\ndef answer(query):\n    time.sleep(30)\n")
    policy = RetryPolicy(timeout=0.2, attempts=1)
    with Calls.at(tmp_path / "log", retry_policy=policy) as calls:
        (prediction,) = answers_of(Function(target), tasks(1), calls)
    assert prediction.answer is None
    assert "no reply from" in prediction.reason
