"""Requests to a server of this machine: only those to its own address are answered.

A page of another address can reach a local server through a browser: by a name that is made to
point to this machine (DNS rebinding; the header Host shows it), or by a request of its own (the
header Origin shows it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT: Final = 80


def own_hosts(port: int, names: Sequence[str] = ()) -> list[str]:
    """Return the values of Host that name a server: loopback and other names, with its port.

    >>> own_hosts(8321)
    ['127.0.0.1:8321', 'localhost:8321', '[::1]:8321']
    """
    known = list(dict.fromkeys((*LOOPBACK_NAMES, *(one.lower() for one in names))))
    return [f"{name}:{port}" for name in known] + (known if port == _HTTP_PORT else [])


def foreign_request(
    method: str,
    host: str | None,
    origin: str | None,
    own: Sequence[str],
    proxies: Sequence[str] = (),
) -> str:
    """Return why a request is refused; "" if it is not.

    Args:
        method: the method of the request.
        host: the header Host; None if the request has none.
        origin: the header Origin; None if the request has none.
        own: the values of Host that name the server (see `own_hosts`).
        proxies: those of proxies that add TLS.
    """
    host = (host or "").lower()
    if host not in own and host not in proxies:
        listed = ", ".join([*dict.fromkeys([own[0], *own[len(LOOPBACK_NAMES) :]]), *proxies])
        return f"The server answers requests to {listed} only, this one is to {host[:200]!r}."
    wanted = f"{'https' if host in proxies else 'http'}://{host}"
    # Browsers send the header with every request that changes something; programs do not.
    if method not in {"GET", "HEAD"} and origin is not None and origin != wanted:
        return f"The request comes from a page of another address, {origin[:200]!r}."
    return ""
