"""Access to the server: only pages of its own address may ask, and they load nothing foreign.

A program of another address could reach a local server through a browser: by a name that is made to
point to this machine (the header Host shows it), or by a form of its own (Origin shows it).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

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
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


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
    own = _own_hosts(request, hosts)
    host = request.headers.get("Host", "").lower()
    if host not in own and host not in proxies:
        listed = ", ".join([*dict.fromkeys([own[0], *own[3:]]), *proxies])
        return f"The server answers requests to {listed} only, this one is to {host!r}."
    origin = request.headers.get("Origin")
    wanted = f"{'https' if host in proxies else 'http'}://{host}"
    # Browsers send the header with every request that changes something; programs do not.
    if request.method not in {"GET", "HEAD"} and origin is not None and origin != wanted:
        return f"The request comes from a page of another address, {origin!r}."
    return ""


def _own_hosts(request: web.Request, hosts: Sequence[str]) -> list[str]:
    """Return the names of this server with its port; the address of the socket is one of them."""
    named: list[str] = []
    port = 0
    if request.transport is not None:
        address, port = request.transport.get_extra_info("sockname")[:2]
        named = [host_in_address(address.removeprefix("::ffff:").partition("%")[0])]
    names = list(dict.fromkeys((*_NAMES, *(one.lower() for one in hosts), *named)))
    return [f"{name}:{port}" for name in names] + (names if port == 80 else [])  # noqa: PLR2004


def host_in_address(host: str) -> str:
    """Return the form of a host in an address: an address of IPv6 in brackets.

    >>> host_in_address("::1"), host_in_address("lab-pc")
    ('[::1]', 'lab-pc')
    """
    return f"[{host}]" if ":" in host else host
