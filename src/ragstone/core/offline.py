"""A guard against network access, enforced by the interpreter.

Within `no_network()` an audit hook of Python (PEP 578) rejects every connection, datagram and name
look-up for another machine, from any library and thread. It does not see compiled code that makes
system calls itself, nor other processes. Ragstone's local model servers accept connections from
this machine only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from ragstone.errors import CallError

_HOST_OF: Final = {
    "socket.connect": lambda args: _host(args[1]),
    "socket.sendto": lambda args: _host(args[1]),
    "socket.sendmsg": lambda args: _host(args[1]),
    "socket.getaddrinfo": lambda args: args[0],
    "socket.gethostbyname": lambda args: args[0],
    "socket.gethostbyaddr": lambda args: args[0],
}
"""Audit event -> function from its arguments to the host, or None."""


class NetworkForbidden(CallError):
    """An attempt to reach another machine while offline."""


_OPEN: Final[list[None]] = []
"""One element per open `no_network` block; `append` and `pop` are atomic."""


@contextmanager
def no_network() -> Iterator[None]:
    """Raise `NetworkForbidden` at any attempt to reach another machine within the block."""
    _add_hook()
    _OPEN.append(None)
    try:
        yield
    finally:
        _OPEN.pop()


def network_forbidden() -> bool:
    """Return whether a `no_network` block is open."""
    return bool(_OPEN)


@cache
def _add_hook() -> None:
    """Add the hook once, because a hook cannot be removed."""
    sys.addaudithook(_check)


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    if not _OPEN or event not in _HOST_OF:
        return
    host = _HOST_OF[event](arguments)
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if isinstance(host, str) and not is_loopback(host):
        raise NetworkForbidden(f"offline: {host!r} is not on this machine")


def _host(address: Any) -> Any:
    """Return the host of a socket's address, or None for a Unix socket."""
    return address[0] if isinstance(address, tuple) and address else None


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its name alone: there is no name look-up.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "example.org")]
    [True, True, True, False]
    """
    import ipaddress

    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
