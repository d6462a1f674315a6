"""Who may ask the server: pages of its own address alone, and nothing that they load is foreign.

A program of another address could reach a local server through a browser: by a name that is made to
point to this machine (the header Host tells), or by a form of its own (the header Origin tells).
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
    return secrets.compare_digest(given.encode(), token.encode())


def refusal(request: web.Request, hosts: Sequence[str] = ()) -> str:
    """Return why a request is refused; "" if it is not.

    `hosts` are names of this machine, besides those of the loopback address.
    """
    own = _own_hosts(request, hosts)
    host = request.headers.get("Host", "").lower()
    if host not in own:
        return f"The server answers requests to {own[0]} only, this one is to {host!r}."
    origin = request.headers.get("Origin")
    # Browsers send the header with every request that changes something; programs do not.
    if request.method not in {"GET", "HEAD"} and origin is not None and origin != f"http://{host}":
        return f"The request comes from a page of another address, {origin!r}."
    return ""


def _own_hosts(request: web.Request, hosts: Sequence[str]) -> list[str]:
    """Return the names of this server with its port."""
    port = 0 if request.transport is None else request.transport.get_extra_info("sockname")[1]
    names = (*_NAMES, *hosts)
    return [f"{name}:{port}" for name in names] + (list(names) if port == 80 else [])  # noqa: PLR2004
