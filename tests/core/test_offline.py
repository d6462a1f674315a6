"""Offline: no socket leaves the machine, whoever opens it."""

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
from ragstone.testing.fake_model_server import FakeModelServer

ELSEWHERE = ("192.0.2.1", 9)
"""An address that is reserved for documentation: nobody answers there."""


def test_connections_datagrams_and_look_ups_are_refused() -> None:
    """Each way out raises before anything is sent."""
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


def test_other_threads_are_held_too() -> None:
    """The guard is the interpreter's, not the caller's."""
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
    """Loopback does not leave the machine; afterwards everything is as before."""
    with FakeModelServer() as server, no_network():
        socket.create_connection(("127.0.0.1", server.port)).close()
        socket.create_connection(("localhost", server.port)).close()
    with no_network(), pytest.raises(NetworkForbidden):
        sys.audit("socket.connect", None, ELSEWHERE)
    sys.audit("socket.connect", None, ELSEWHERE)


def test_offline_calls_hold_the_whole_program_to_it(tmp_path: Path) -> None:
    """While they are open nothing leaves; a server on this machine is asked as ever."""
    with FakeModelServer() as server, Calls.at(tmp_path / "log", offline=True) as calls:
        (outcome,) = calls.ask(Endpoint("fake", (server.url,)), [chat("q")])
        assert isinstance(outcome, Reply)
        with pytest.raises(NetworkForbidden):
            socket.create_connection(ELSEWHERE, timeout=0.05)


def test_a_redirect_is_no_way_out(tmp_path: Path) -> None:
    """A server of this machine cannot send the call elsewhere."""
    with (
        FakeModelServer(script=["302"]) as server,
        Calls.at(tmp_path / "log", offline=True) as calls,
    ):
        (outcome,) = calls.ask(Endpoint("fake", (server.url,)), [chat("q")])
        assert "redirects" in getattr(outcome, "reason", "")
