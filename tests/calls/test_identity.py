"""The parts of an endpoint that count in keys, and the digests of those that may be secrets."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.calls.identity import (
    KEY_FILE,
    address_parts,
    credentials_of,
    digest_folder,
    hidden_mark,
    identify,
    keyed_digest,
    model_identity,
)
from ragstone.errors import ConfigError, StoreError

PARTS = {"model": "m", "scheme": "http", "host": "a.example", "port": "80", "header:x": "1"}


@pytest.fixture(autouse=True)
def _without_a_store() -> Iterator[None]:
    """A run of another test may have named its store."""
    before = digest_folder.set(None)
    yield
    digest_folder.reset(before)


@contextlib.contextmanager
def keys_in(folder: Path) -> Iterator[None]:
    """Let digests have the key of a folder."""
    token = digest_folder.set(folder)
    try:
        yield
    finally:
        digest_folder.reset(token)


def digest(key: bytes, value: str) -> str:
    """Return a whole digest."""
    return hmac.new(key, value.encode(), "sha256").hexdigest()


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ("", set(PARTS)),
        (["model"], {"model"}),
        (["url"], {"scheme", "host", "port"}),
        (["-url"], {"model", "header:x"}),
        (["-port", "-Header:X"], {"model", "scheme", "host"}),
        (["url", "HEADER:X"], {"scheme", "host", "port", "header:x"}),
        (["+env:KEY"], {*PARTS, "env:KEY"}),
        (["-url", "+env:KEY"], {"model", "header:x", "env:KEY"}),
        (["model", "env:KEY"], {"model", "env:KEY"}),
    ],
)
def test_an_identity_is_made_of_the_chosen_parts(
    chosen: str | list[str], names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed names change the parts that count by default; others replace them."""
    monkeypatch.setenv("KEY", "a secret value")

    found = json.loads(
        identify(PARTS, chosen, where="chat", credentials=credentials_of(["env:KEY"]))
    )

    values = {**PARTS, "env:KEY": keyed_digest("a secret value")}
    assert found == {name: values[name] for name in names}


def test_the_order_of_parts_does_not_matter() -> None:
    """Equal parts give one text."""
    assert identify(dict(reversed(PARTS.items())), "", where="") == identify(PARTS, "", where="")


def test_a_text_is_the_identity_itself() -> None:
    """The parts do not count then."""
    assert identify(PARTS, "the old server", where="chat") == "the old server"


@pytest.mark.parametrize(
    ("parts", "chosen", "message"),
    [
        (PARTS, ["prot"], "chat: identity has no part 'prot'; did you mean 'port'.*; the parts"),
        (PARTS, ["m"], "the parts are env:KEY, header:x, host, model, port, scheme, url"),
        ({"model": "m"}, ["url"], "has no part 'url'"),
        (PARTS, [], "chat: identity leaves nothing .* one of env:KEY, header:x, host"),
        ({"model": "m"}, ["-model"], "identity leaves nothing"),
    ],
)  # fmt: skip
def test_an_unknown_part_and_no_part_are_errors(
    parts: dict[str, str], chosen: list[str], message: str
) -> None:
    """The error has the component and all parts."""
    with pytest.raises(ConfigError, match=message) as caught:
        identify(parts, chosen, where="chat", credentials=credentials_of(["env:KEY"]))
    assert caught.value.key == "identity"


@pytest.mark.parametrize(
    ("urls", "parts"),
    [
        (["http://b.example/x"], ("http", "b.example", "80", "/x", "")),
        (["http://b.example:8080"], ("http", "b.example", "8080", "", "")),
        (["ftp://b.example/x"], ("ftp", "b.example", "", "/x", "")),
        (["/v1"], ("", "", "", "/v1", "")),
        (
            ["https://b.example/2", "http://a.example:1/1?k=v"],
            ("http https", "a.example b.example", "1 443", "/1 /2", f"{keyed_digest('k=v')} "),
        ),
        (["https://{env:HOST}/v1"], ("https", "env.host", "443", "/v1", "")),
    ],
)
def test_addresses_are_parts_in_one_order(urls: list[str], parts: tuple[str, ...]) -> None:
    """A query string is a digest, and a reference is its name."""
    assert tuple(address_parts(urls).values()) == parts
    assert address_parts(urls[::-1]) == address_parts(urls)


def test_a_model_is_its_protocol_its_name_and_its_addresses() -> None:
    """Other addresses make another model, unless they do not count."""
    one, moved = (
        json.loads(model_identity("chat", "m", [f"http://{host}/"], ["env:K"], "", where="x"))
        for host in ("a", "b")
    )
    assert one == {"protocol": "chat", "model": "m", **address_parts(["http://a/"])}
    assert {name for name in one if one[name] != moved[name]} == {"host"}


def test_digests_have_the_key_of_their_store(tmp_path: Path) -> None:
    """The key is made once, for its owner alone; without a store it is empty."""
    assert keyed_digest("value") == digest(b"", "value")[:24]
    for folder in (tmp_path / "new" / "one", tmp_path / "two"):
        with keys_in(folder):
            first = keyed_digest("value")
            key = (folder / KEY_FILE).read_bytes()
            assert first == keyed_digest("value") == digest(key, "value")[:24]
            assert first != keyed_digest("other")
        mark = hidden_mark("value", folder)
        assert mark == f"hidden-{digest(key, '')[:8]}-{digest(key, 'value')[:16]}"
        assert [path.name for path in folder.iterdir()] == [KEY_FILE]
        assert len(bytes.fromhex(key.decode())) == 32
        assert folder.stat().st_mode & 0o077 == (folder / KEY_FILE).stat().st_mode & 0o077 == 0
    assert (tmp_path / "new" / "one" / KEY_FILE).read_bytes() != key


def test_a_key_of_another_process_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several processes that start together, the first one decides."""
    link, file = os.link, tmp_path / KEY_FILE

    def late(own: Path, path: Path) -> None:
        if not path.exists():
            path.write_bytes(b"theirs")
        link(own, path)

    monkeypatch.setattr(os, "link", late)
    with keys_in(tmp_path):
        assert keyed_digest("value") == digest(b"theirs", "value")[:24]
    assert list(tmp_path.iterdir()) == [file]
    found: set[str] = set()
    monkeypatch.undo()
    both = [
        threading.Thread(target=lambda: found.add(hidden_mark("v", tmp_path / "shared")))
        for _ in range(8)
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(found) == 1


def test_a_key_that_cannot_be_kept_is_an_error_of_the_store(tmp_path: Path) -> None:
    """It has the file, the cause and the way out."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"cannot use .*identity\.key, .*: .*; set a writable"):
        hidden_mark("value", tmp_path / "file")
