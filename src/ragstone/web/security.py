"""Access to the server: only pages of its own address may ask, and they load nothing foreign."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ragstone.core.own_address import foreign_request, own_hosts

if TYPE_CHECKING:
    from aiohttp import web

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def new_token() -> str:
    """Return the token that the forms of one start of the server carry."""
    return secrets.token_urlsafe(24)


def same_token(given: str, token: str) -> bool:
    """Return whether a form is of this start of the server."""
    return secrets.compare_digest(given.encode(errors="replace"), token.encode())


def refusal(request: web.Request, hosts: Sequence[str] = (), proxies: Sequence[str] = ()) -> str:
    """Return why a request is refused; "" if it is not.

    `hosts` are names of this machine, besides those of the loopback address; `proxies` are those of
    proxies that add TLS, as addresses have them.
    """
    given = request.headers
    own = _own_hosts(request, hosts)
    return foreign_request(request.method, given.get("Host"), given.get("Origin"), own, proxies)


def _own_hosts(request: web.Request, hosts: Sequence[str]) -> list[str]:
    """Return the names of this server with its port; the address of the socket is one of them."""
    named: list[str] = []
    port = 0
    if request.transport is not None:
        address, port = request.transport.get_extra_info("sockname")[:2]
        named = [host_in_address(address.removeprefix("::ffff:").partition("%")[0])]
    return own_hosts(port, (*hosts, *named))


def host_in_address(host: str) -> str:
    """Return the form of a host in an address: an address of IPv6 in brackets.

    >>> host_in_address("::1"), host_in_address("lab-pc")
    ('[::1]', 'lab-pc')
    """
    return f"[{host}]" if ":" in host else host
