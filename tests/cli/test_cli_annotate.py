"""`ragstone annotate`: the printed address, other machines, databases and wrong usage."""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from click.testing import CliRunner, Result
from tests.annotation.served_site import made_project

from ragstone.cli.annotate import command
from ragstone.cli.annotate_sources import TASKS
from ragstone.errors import ConfigError, RagstoneError
from ragstone.web.security import POLICY

EVERY = "0.0.0.0"  # noqa: S104 - every network, as a user writes it
CODE = "from ragstone.cli import main; main()"


def annotate(*arguments: object) -> Result:
    """Run `ragstone annotate` in this process."""
    return CliRunner().invoke(command, [*map(str, arguments)])


def refused(*arguments: object) -> str:
    """Run a command that fails before it prints anything, and return its message."""
    found = annotate(*arguments)
    assert isinstance(found.exception, ConfigError), found.output
    assert found.stdout == ""
    return str(found.exception)


@contextlib.contextmanager
def served(*arguments: object, **variables: str) -> Iterator[tuple[str, IO[str]]]:
    """Serve a project in its own process; yield the first line and standard error."""
    given = [*map(str, arguments), "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "annotate", *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield process.stdout.readline().strip(), process.stderr
    finally:
        process.terminate()
        process.communicate(timeout=30)


def client() -> Any:
    """Return a client that keeps cookies and follows no redirect."""

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_arguments: Any) -> None:
            return None

    jar = http.cookiejar.CookieJar()
    return urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(jar))


def post(opened: Any, address: str, document: object) -> Any:
    """Post JSON and return the JSON of the answer."""
    headers = {"Content-Type": "application/json"}
    body = json.dumps(document).encode()
    request = urllib.request.Request(address, body, headers)  # noqa: S310 - the server's address
    with opened.open(request, timeout=30) as reply:
        return json.load(reply)


def test_the_first_line_is_an_address_that_opens_a_session(tmp_path: Path) -> None:
    """The page has its policy; labels are kept and leave again at /export.jsonl."""
    made_project(tmp_path)
    event = {"client_id": "1", "kind": "label", "item_id": "q1", "field": "support", "value": "yes"}
    with served(tmp_path, "--name", "kim") as (address, _):
        opened = client()
        with opened.open(address, timeout=30) as reply:
            assert reply.status == 200
            assert reply.headers["Content-Security-Policy"] == POLICY
        base = address.partition("?")[0]
        assert base.startswith("http://127.0.0.1:")
        for _ in range(2):
            answer = post(opened, f"{base}events", event)
            assert answer["confirmed"][0]["client_id"] == "1"
        with client().open(f"{base}export.jsonl", timeout=30) as reply:
            (row,) = map(json.loads, reply)
    assert (row["rater"], row["property"], row["value"]) == ("kim", "support", "yes")


def test_json_and_serve_and_a_folder_with_the_name_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the address and the project; `./serve` is a folder."""
    made_project(tmp_path / "serve")
    monkeypatch.chdir(tmp_path)
    with served("./serve", "--json") as (line, _):
        found = json.loads(line)
    assert set(found) == {"address", "project"}
    assert found["project"] == "serve"
    assert "?key=" in found["address"]


def test_a_host_needs_named_people_and_prints_what_is_exposed(tmp_path: Path) -> None:
    """There is no key, and people sign in; without people the message has the command."""
    made_project(tmp_path)
    for option in (("--host", EVERY), ("--allow-host", "labels.example.org")):
        said = refused(tmp_path, "--port", 0, "--no-browser", *option)
        assert f"ragstone annotate people add {tmp_path} NAME --role owner" in said
        assert " ".join(option) in said
    token = annotate("people", "add", tmp_path, "ann").stdout.strip()
    arguments = ("--host", EVERY, "--allow-host", "labels.example.org")
    with served(tmp_path, *arguments) as (address, errors):
        port = address.rstrip("/").rpartition(":")[2]
        exposed = "".join(errors.readline() for _ in range(6))
        opened = client()
        base = f"http://127.0.0.1:{port}/"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            opened.open(base, timeout=30)
        assert post(opened, f"{base}session", {"token": token})["person"] == "ann"
        with opened.open(base, timeout=30) as reply:
            assert reply.status == 200
    assert "key=" not in address
    for part in (
        *(address, "https://labels.example.org/", "/people (owner)", "/export.jsonl (owner)"),
        *("People with tokens: ann (annotator)", "plain HTTP"),
    ):
        assert part in exposed
    assert token not in exposed


def test_a_password_of_a_database_is_not_printed(tmp_path: Path) -> None:
    """Neither from the option nor from the environment."""
    made_project(tmp_path)
    wrong = (
        "postgresql://ann:s3cret-word@127.0.0.1:1/labels",
        "postgresql://127.0.0.1:1/labels?user=ann&password=s3cret-word",
        "mysql://ann:s3cret-word@127.0.0.1/labels",
        "s3cret-word",
    )
    for url in wrong:
        found = annotate(tmp_path, "--no-browser", "--port", 0, "--database", url)
        assert isinstance(found.exception, RagstoneError)
        assert "s3cret-word" not in f"{found.exception!r} {found.output}"
    process = subprocess.run(
        [sys.executable, "-c", CODE, "annotate", str(tmp_path), "--port", "0"],
        capture_output=True,
        text=True,
        env={**os.environ, "RAGSTONE_DATABASE": wrong[0]},
        check=False,
        timeout=60,
    )
    assert process.returncode == 1
    assert process.stderr.startswith("Error: ")
    assert "s3cret-word" not in process.stderr
    assert "Traceback" not in process.stderr
    assert process.stdout == ""


def test_what_is_wrong_is_named_before_the_address(tmp_path: Path) -> None:
    """No project, no items, a port in use, and names that cannot be."""
    assert "project.yaml" in refused(tmp_path / "absent")
    made_project(tmp_path / "empty", items=0)
    assert "items.jsonl has no items" in refused(tmp_path / "empty")
    (tmp_path / "empty" / "items.jsonl").unlink()
    assert "has no items.jsonl" in refused(tmp_path / "empty")
    made_project(tmp_path / "p")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused(tmp_path / "p", "--port", port, "--no-browser")
        assert f"port {port} is in use" in said
    assert "'agent' is reserved" in refused(tmp_path / "p", "--name", "agent")
    assert "must have 1 to 100" in refused(tmp_path / "p", "--name", "")
    annotate("people", "add", tmp_path / "p", "ann")
    wrong = ("--allow-host", "http://labels.example.org/")
    assert "'http://labels.example.org/'" in refused(tmp_path / "p", *wrong)
    assert "no such address" in refused(tmp_path / "p", "--host", "192.0.2.1", "--no-browser")


def test_help_lists_the_tasks_with_examples() -> None:
    """Every task has a line; the examples have the first two commands."""
    text = annotate("--help").output
    for task in TASKS:
        assert f"\n    {task}" in text
    assert "ragstone annotate my-labels --task support --data my-set" in text
    assert annotate().output == text
