"""Ctrl-C, SIGTERM and SIGHUP end the program soon: with one sentence, and exit code 130.

The first signal is a `KeyboardInterrupt` in the main thread, so that files are closed and replies
are written. But that thread may be in a library that does not return for minutes, or wait for
other threads. A thread of ours hears of signals from the system itself: it ends the program after
a grace period, or at once if a second signal comes. From the first one on, libraries say nothing:
their work is what ends. Nothing is lost: a store and a call log are
complete after a kill at any moment.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

EXIT_CODE: Final = 130
STOPPED: Final = "\nStopped. Run the same command again to resume.\n"
GRACE_SECONDS: Final = 1.5
"""Time to close files after the first signal."""
_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")


class Interrupts:
    """Hears the signals that end the program."""

    def __init__(self) -> None:
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        self.heard = self._said = False
        self._saying = threading.Lock()

    def install(self) -> None:
        """Hear signals from now on; ignored ones, such as those of `nohup`, stay ignored."""
        # Python's tracker of semaphores, a process, frees those of a stopped run; it warns of them.
        sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")
        signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._raise_once)
                # Python takes its handlers away while it ends; the command has finished by then.
                atexit.register(signal.signal, number, signal.SIG_IGN)
        # Python shows what fails in callbacks, such as those at the exit; it does not end them.
        shown = sys.unraisablehook
        sys.unraisablehook = lambda failed: None if self.heard else shown(failed)
        threading.Thread(target=self._listen, name="ragstone-interrupts", daemon=True).start()

    def stopped(self) -> int:
        """Print the sentence once, send SIGTERM to the children, and return the exit code."""
        with self._saying:
            if not self._said:
                self._said = True
                with suppress(OSError):
                    os.write(2, STOPPED.encode())
        for child in _children():
            with suppress(OSError):
                os.kill(child, signal.SIGTERM)
        return EXIT_CODE

    def _raise_once(self, _: int, __: FrameType | None) -> None:
        # Further ones would interrupt the closing of files; they end the program by `_listen`.
        if not self.heard:
            self.heard = True
            raise KeyboardInterrupt

    def _listen(self) -> NoReturn:
        self._ear.recv(1)
        with suppress(KeyError, AttributeError):  # not imported, or only in part
            # Libraries log that their connections and workers end.
            sys.modules["logging"].disable()
        self._ear.settimeout(GRACE_SECONDS)
        with suppress(TimeoutError):
            self._ear.recv(1)
        os._exit(self.stopped())


def _children() -> Iterator[int]:
    """Yield the processes that this one started; only Linux lists them."""
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            yield from map(int, path.read_text(encoding="ascii").split())
