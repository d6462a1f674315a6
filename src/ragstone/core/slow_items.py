"""A warning about your own component that does not return, with the item and the way out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final

from ragstone.core import limits

_LOG: Final = logging.getLogger(__name__)


class Returned:
    """Counts the items of which your own component has returned a value."""

    count = 0


@contextmanager
def told_if_slow(name: str, items: Sequence[Any]) -> Iterator[Returned]:
    """Warn once if no value comes for a long time, which only a watching thread can see."""
    returned, ended = Returned(), Event()

    def watch() -> None:
        before = -1
        while not ended.wait(limits.OWN_CODE_SECONDS):
            if returned.count == before:
                _LOG.warning("%s", _warning(name, items, before))
                return
            before = returned.count

    thread = Thread(target=watch, name=f"watch {name}", daemon=True)
    thread.start()
    try:
        yield returned
    finally:
        ended.set()
        thread.join()


def _warning(name: str, items: Sequence[Any], done: int) -> str:
    item = items[min(done, len(items) - 1)] if items else None
    query_id = str(getattr(getattr(item, "query", item), "query_id", ""))
    place = f" (query {query_id!r})" if query_id else ""
    return (
        f"{name} has returned nothing for over {limits.OWN_CODE_SECONDS:g} s, at item {done + 1:,} "
        f"of {len(items):,}{place}; if it hangs, stop with Ctrl+C, give its code a time-out and "
        "run the same command again: finished steps are kept"
    )
