"""The numbers of a running project, computed in a thread of their own and kept for a while.

Clicks never wait for them. They are computed again if there are new events, and at most a tenth of
the time goes into it.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ragstone.annotation.agreement import (
    PeopleAgreement,
    SideChoices,
    agreements,
    side_choices,
)
from ragstone.annotation.influence import ModelLabels, model_labels
from ragstone.annotation.label_columns import label_columns
from ragstone.annotation.label_forecast import QuestionForecast, forecasts
from ragstone.annotation.progress import ProjectProgress, progress_of
from ragstone.core.times import utc_text
from ragstone.web import limits

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.site import Site

_LOG: Final = logging.getLogger(__name__)
_SWITCH: Final = 0.0005
"""Seconds after which a thread that waits gets its turn; Python's usual 0.005 add up per click."""
_REST: Final = 9
"""How many times as long as it took the numbers are kept."""


@dataclass(frozen=True, slots=True)
class ProjectNumbers:
    """Progress, agreement and the labels still needed, at one moment."""

    made: str
    """UTC."""
    events: int
    """Events in the database when they were made."""
    progress: ProjectProgress
    questions: tuple[PeopleAgreement, ...]
    needed: tuple[QuestionForecast, ...]
    model: tuple[ModelLabels, ...]
    sides: tuple[SideChoices, ...]


def project_numbers(site: Site) -> ProjectNumbers:
    """Compute the numbers of a project now."""
    made, events = utc_text(), site.database.count()
    settings, columns = site.project.settings, label_columns(site)
    found = agreements(columns)
    return ProjectNumbers(
        made,
        events,
        progress_of(columns, settings.people_per_item, found),
        found,
        forecasts(columns, site.project.scheme, settings.wanted_half_width),
        model_labels(columns, site.database),
        side_choices(site.project, columns),
    )


@contextmanager
def _beside_clicks() -> Iterator[None]:
    """Let other threads run often, and without the pauses of a collection of garbage.

    The numbers have no circular references, but a collection of all their small objects
    would stop every thread for up to a second.
    """
    interval, collects = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(_SWITCH)
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        if collects:
            gc.enable()


class LiveNumbers:
    """The last numbers of a project, and the thread that makes the next ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: ProjectNumbers | None = None
        self._error: Exception | None = None
        self._running: threading.Event | None = None
        self._rests_until = 0.0
        self._waits = threading.Lock()
        """Held by the one who waits: the threads of all others are there for clicks."""

    def of(self, site: Site, wait: float) -> ProjectNumbers | None:
        """Return the last numbers of a project; None if there are none yet.

        Args:
            site: the project.
            wait: seconds to wait for new numbers if there are new events; a call while another
                one waits returns the last ones at once.
        """
        ready = self._begun(site)
        if ready is not None and self._waits.acquire(blocking=False):
            try:
                ready.wait(wait)
            finally:
                self._waits.release()
        if self._kept is None and self._error is not None:
            raise self._error
        return self._kept

    def _begun(self, site: Site) -> threading.Event | None:
        """Start the thread if there is something new; return the event of its end."""
        with self._lock:
            if self._running is not None:
                return self._running
            if time.monotonic() < self._rests_until:
                return None
            if self._kept is not None and self._kept.events == site.database.count():
                return None
            self._running = done = threading.Event()
        name = "ragstone-annotate-numbers"
        threading.Thread(target=self._make, args=(site, done), name=name, daemon=True).start()
        return done

    def _make(self, site: Site, done: threading.Event) -> None:
        started = time.monotonic()
        try:
            with _beside_clicks():
                self._kept, self._error = project_numbers(site), None
        except Exception as error:  # noqa: BLE001 - the page shows it; the next request tries again
            _LOG.exception("the numbers of %s could not be made", site.project.name)
            self._error = error
        with self._lock:
            now = time.monotonic()
            self._rests_until = now + max(limits.NUMBERS_SECONDS, _REST * (now - started))
            self._running = None
        done.set()


_LIVE: Final[WeakKeyDictionary[Database, LiveNumbers]] = WeakKeyDictionary()


def live_numbers(site: Site, wait: float) -> ProjectNumbers | None:
    """Return the last numbers of a running project, as `LiveNumbers.of`."""
    return _LIVE.setdefault(site.database, LiveNumbers()).of(site, wait)
