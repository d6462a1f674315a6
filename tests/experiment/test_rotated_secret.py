"""A secret that is replaced by another one: which replies count, and what `diff` tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.counting_service import Service, serving

from ragstone.cli import root

QUERIES = 4
FIRST, SECOND = "first-value-of-the-key", "second-value-of-the-key"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", FIRST)
    Path("key.txt").write_text(FIRST, encoding="utf-8")


def _write(service: Service, store: str = "store", key: str = "", **more: Any) -> None:
    """Write an experiment with a secret in an address, a header and the body of its system."""
    value = key or "{env:KEY}"
    generator = {
        "name": "http",
        "url": f"{service.url}?sig={value}&more={key or '{file:key.txt}'}",
        "headers": {"X-Tenant": value},
        "body": {"query": "{query}", "token": value},
    }
    document = {
        "data": "sample",
        "store": store,
        "sample": {"limit": QUERIES},
        "systems": {"mine": {"generator": generator, **more}},
        "settings": ["none"],
        "metrics": ["Match"],
    }
    Path("trial.yaml").write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML


def _told(*arguments: str, code: int = 0) -> str:
    found = CliRunner().invoke(root, arguments)
    assert found.exit_code == code, found.output
    return found.output


def _run(*options: str, code: int = 0) -> str:
    return _told("run", "trial.yaml", *options, code=code)


def _requests(service: Service) -> list[tuple[str, int]]:
    """Return each value of the secret that was received, in all three places, and how often."""
    for name in service.counts:
        path, _, header = name.partition(" ")
        assert path == f"/ask?sig={header}&more={header}"
    assert sum(service.counts.values()) == len(service.bodies)
    found = [name.partition(" ")[2] for name in service.counts]
    tokens = [body["token"] for body in service.bodies]
    assert sorted(set(tokens)) == sorted(found)
    return [(value, tokens.count(value)) for value in found]


def _rotate(monkeypatch: pytest.MonkeyPatch, value: str = SECOND) -> None:
    monkeypatch.setenv("KEY", value)
    Path("key.txt").write_text(value, encoding="utf-8")


def _nowhere(*stores: str) -> None:
    for store in stores:
        for path in Path(store).rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert FIRST.encode() not in content, path
            assert SECOND.encode() not in content, path


def test_the_replies_of_a_release_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reply is asked twice, with and without `--replay`; another release is asked."""
    with serving() as service:
        _write(service, release="1")
        _run()
        assert _requests(service) == [(FIRST, QUERIES)]
        _rotate(monkeypatch)
        for options in (("--replay",), (), ("--reuse",)):
            assert f"mine: {QUERIES} kept" in _run(*options)
            assert _requests(service) == [(FIRST, QUERIES)]
        _write(service, release="2")
        _run("--replay", code=1)
        assert _requests(service) == [(FIRST, QUERIES)]
        _run()
        assert _requests(service) == [(FIRST, QUERIES), (SECOND, QUERIES)]
    _nowhere("store")


def test_without_a_release_each_run_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the new value; `--replay` and `--reuse` take the replies to the earlier one."""
    with serving() as service:
        _write(service)
        _run()
        _rotate(monkeypatch)
        for option in ("--replay", "--reuse"):
            assert f"mine: {QUERIES} kept" in _run(option)
        assert _requests(service) == [(FIRST, QUERIES)]
        assert f"mine: {QUERIES} asked" in _run()
        assert _requests(service) == [(FIRST, QUERIES), (SECOND, QUERIES)]
    _nowhere("store")


def test_a_value_in_the_identity_is_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply to the earlier value is never taken; it is if the value comes back."""
    with serving() as service:
        _write(service, release="1", identity=["+env:KEY"])
        _run()
        _rotate(monkeypatch)
        assert SECOND not in _run("--replay", code=1)
        assert _requests(service) == [(FIRST, QUERIES)]
        assert f"mine: {QUERIES} asked" in _run()
        assert _requests(service) == [(FIRST, QUERIES), (SECOND, QUERIES)]
        _rotate(monkeypatch, FIRST)
        assert f"mine: {QUERIES} kept" in _run("--replay")
        assert _requests(service) == [(FIRST, QUERIES), (SECOND, QUERIES)]
    _nowhere("store")


def test_diff_tells_that_hidden_values_differ_within_one_store_alone() -> None:
    """Of two stores it tells that they cannot be compared; equal values are no difference."""
    with serving() as service:
        for name, store, key in (
            ("one", "store", FIRST),
            ("same", "store", FIRST),
            ("two", "store", SECOND),
            ("other", "elsewhere", FIRST),
        ):
            _write(service, store, key)
            _run()
            _told("passport", "trial.yaml", "-o", f"{name}.json")
    url = "systems.mine.generator.url"
    told = {name: _told("diff", "one.json", f"{name}.json") for name in ("same", "two", "other")}
    assert url not in told["same"]
    assert url in told["two"]
    assert "cannot be compared" not in told["two"]
    assert f"{url}: cannot be compared, because two stores hide it" in told["other"]
    assert not [text for text in told.values() if FIRST in text or SECOND in text]
    _nowhere("store", "elsewhere")
