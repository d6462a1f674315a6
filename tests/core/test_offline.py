"""Offline: no socket of any library connects to another machine."""

from __future__ import annotations

import socket
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Reply, chat
from ragstone.core.offline import NetworkForbidden, no_network
from ragstone.testing import FakeModelServer

ELSEWHERE = ("192.0.2.1", 9)
"""An address reserved for documentation, without a server."""


def test_connections_datagrams_and_look_ups_are_refused() -> None:
    """Each of them raises before data is sent."""
    with no_network():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_INET, kind) as way, pytest.raises(NetworkForbidden):
                way.connect(ELSEWHERE)
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way,
            pytest.raises(NetworkForbidden),
        ):
            way.sendto(b"x", ELSEWHERE)
        with pytest.raises(NetworkForbidden, match=r"models\.example"):
            socket.getaddrinfo("models.example", 443)
        with pytest.raises(NetworkForbidden):
            urllib.request.urlopen("http://models.example/")


def test_other_threads_are_guarded_too() -> None:
    """The guard applies to the whole interpreter."""
    raised: list[BaseException] = []

    def leave() -> None:
        try:
            socket.create_connection(ELSEWHERE, timeout=0.1)
        except NetworkForbidden as error:
            raised.append(error)

    with no_network():
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert len(raised) == 1


def test_this_machine_can_be_reached_and_the_guard_ends_with_the_block() -> None:
    """Loopback is allowed; after the block, other machines are too."""
    with FakeModelServer() as server, no_network():
        socket.create_connection(("127.0.0.1", server.port)).close()
        socket.create_connection(("localhost", server.port)).close()
    with no_network(), pytest.raises(NetworkForbidden):
        sys.audit("socket.connect", None, ELSEWHERE)
    sys.audit("socket.connect", None, ELSEWHERE)


def test_offline_calls_guard_the_whole_program(tmp_path: Path) -> None:
    """While they are open, only servers on this machine can be called."""
    with FakeModelServer() as server, Calls.at(tmp_path / "log", offline=True) as calls:
        (outcome,) = calls.ask(Endpoint("fake", (server.url,)), [chat("q")])
        assert isinstance(outcome, Reply)
        with pytest.raises(NetworkForbidden):
            socket.create_connection(ELSEWHERE, timeout=0.05)


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    """A server on this machine cannot redirect a call to another machine."""
    with (
        FakeModelServer(script=["302"]) as server,
        Calls.at(tmp_path / "log", offline=True) as calls,
    ):
        (outcome,) = calls.ask(Endpoint("fake", (server.url,)), [chat("q")])
        assert "redirects" in getattr(outcome, "reason", "")
