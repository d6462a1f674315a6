"""No socket leaves the machine: a promise that the interpreter itself keeps.

Within `no_network()` an audit hook of Python (PEP 578) refuses every connection, datagram and name
look-up that is not for this machine, whichever library asks for it and in whichever thread. What
programs in compiled code or other processes do is not seen by it; Ragstone's local model servers
listen on this machine only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
"""Audit event -> the host that its arguments name, or None."""


class NetworkForbidden(CallError):
    """Something wanted to reach another machine while offline."""


class _Guard:
    """How many callers want no network; the hook is added once, for it cannot be removed."""

    def __init__(self) -> None:
        self.wanted, self.added = 0, False
        self.lock = threading.Lock()

    def change(self, by: int) -> None:
        with self.lock:
            self.wanted += by
            if not self.added:
                self.added = True
                sys.addaudithook(self.hook)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.wanted or event not in _HOST_OF:
            return
        host = _HOST_OF[event](args)
        if isinstance(host, bytes):
            host = host.decode("ascii", "replace")
        if isinstance(host, str) and not is_loopback(host):
            raise NetworkForbidden(f"offline: {host!r} is not on this machine")


_GUARD: Final = _Guard()


@contextmanager
def no_network() -> Iterator[None]:
    """Within the block, raise `NetworkForbidden` for whatever wants to leave the machine."""
    _GUARD.change(1)
    try:
        yield
    finally:
        _GUARD.change(-1)


def network_forbidden() -> bool:
    """Say whether some caller wants no network now."""
    return _GUARD.wanted > 0


def _host(address: Any) -> Any:
    """Return the host of a socket's address; None for a socket of the file system."""
    return address[0] if isinstance(address, tuple) and address else None


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine, judged by its name alone: nothing is looked up.

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
