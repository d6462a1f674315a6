"""Which requests a server of this machine answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragstone
from ragstone.core.own_address import foreign_request, own_hosts

OWN = own_hosts(8321, ["Lab-PC"])
SOURCE = Path(ragstone.__file__).parent
SERVERS = {
    "models/llama_front.py": "foreign_request(",
    "testing/threaded_server.py": "foreign_request(",
    "view/app.py": "guarded(",
    "annotation/app.py": "guarded(",
}
"""File of a server -> the call that refuses foreign requests."""


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "LOCALHOST:8321", "[::1]:8321", "lab-pc:8321"])
def test_own_names_with_the_port_are_answered(host: str) -> None:
    """Programs send no Origin, pages of the server its own."""
    assert foreign_request("POST", host, None, OWN) == ""
    assert foreign_request("POST", host, f"http://{host.lower()}", OWN) == ""


@pytest.mark.parametrize(
    "host",
    [
        *(None, "", "127.0.0.1", "127.0.0.1:80", "localhost", "evil.example:8321"),
        *("127.0.0.1:8321.evil.example", "127.0.0.1:8321@evil.example", "0.0.0.0:8321"),
        *("localhost.:8321", "127.0.0.1:8321 ", "127.1:8321"),
    ],
)
def test_other_names_are_refused(host: str | None) -> None:
    """A name that is made to point to this machine is in Host, whatever the method."""
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        assert foreign_request(method, host, None, OWN).startswith("The server answers requests to")


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "null", "", "https://127.0.0.1:8321", "http://127.0.0.1:8322"),
        *("http://localhost:8321", "http://127.0.0.1:8321.evil.example"),
    ],
)
def test_pages_of_other_addresses_change_nothing(origin: str) -> None:
    """Their reading is left to browsers, which do not show them the answer."""
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        why = foreign_request(method, "127.0.0.1:8321", origin, OWN)
        assert why.startswith("The request comes from a page of another address")
    assert foreign_request("GET", "127.0.0.1:8321", origin, OWN) == ""


def test_a_proxy_that_adds_tls_is_named() -> None:
    """Its pages are of https."""
    given = ("lab.example", "https://lab.example", OWN, ("lab.example",))
    assert foreign_request("POST", *given) == ""
    assert foreign_request("POST", "lab.example", "http://lab.example", *given[2:]) != ""


def test_the_reason_shortens_what_it_quotes() -> None:
    """A header may have 8 kB."""
    for why in (
        foreign_request("GET", "x" * 8000, None, OWN),
        foreign_request("POST", OWN[0], "x" * 8000, OWN),
    ):
        assert len(why) < 500


def test_port_80_may_be_left_out() -> None:
    """Browsers leave it out."""
    assert foreign_request("GET", "localhost", None, own_hosts(80)) == ""


def test_every_server_of_the_package_checks_its_requests() -> None:
    """A file that opens a server is in the list, and makes the check."""
    opens = ("TCPSite(", "web.Application(", "HTTPServer)", "HTTPServer(", "start_server(")
    found = {
        str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8")
        for path in SOURCE.rglob("*.py")
    }
    servers = {name for name, text in found.items() if any(one in text for one in opens)}
    assert servers == {*SERVERS, "web/server.py"}  # which serves the applications of the others
    for name, check in SERVERS.items():
        assert check in found[name]
