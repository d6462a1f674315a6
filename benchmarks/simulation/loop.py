"""A machine with virtual time: loops whose ready handles run in an order that the seed draws."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import random
from collections.abc import Callable
from contextvars import Context
from typing import Any

START = 1000.0
STUCK = 60_000
"""Steps of a history after which it counts as an endless loop."""


class Machine:
    """Loops of several processes that share one clock, which jumps to the next timer."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.time = START
        self.steps = 0
        self.loops: list[SimLoop] = []
        self.running: SimLoop | None = None
        self.last: SimLoop | None = None
        """The loop of the last step."""

    def step(self) -> bool:
        """Run one handle that the seed chooses; False if nothing is left to run."""
        ready = [loop for loop in self.loops if loop.collect()]
        if not ready:
            due = [loop.timers[0][0] for loop in self.loops if loop.timers]
            if not due:
                return False
            self.time = max(self.time, min(due))
            return True
        loop = self.draw.choice(ready)
        handle = loop.ready.pop(self.draw.randrange(len(loop.ready)))
        self.steps += 1
        self.last = loop
        with self.inside(loop):
            if not handle.cancelled():
                handle._run()
        return True

    @contextlib.contextmanager
    def inside(self, loop: SimLoop) -> Any:
        """Let code run in a loop's process."""
        before = self.running
        asyncio._set_running_loop(None)
        asyncio._set_running_loop(loop)
        self.running = loop
        try:
            yield
        finally:
            self.running = before
            asyncio._set_running_loop(before)


class SimTask(asyncio.Task[Any]):
    """A task whose place in a set does not depend on its address."""

    def __init__(self, number: int, *args: Any, **options: Any) -> None:
        self._number = number
        super().__init__(*args, **options)

    def __hash__(self) -> int:
        """Return its number."""
        return self._number


class SimLoop(asyncio.AbstractEventLoop):
    """The event loop of one simulated process: as much of one as the engine needs."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name = machine, name
        self.ready: list[asyncio.Handle] = []
        self.timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self.problems: list[str] = []
        self.dead = False
        self.sleeps_until = 0.0
        """A process that is suspended runs nothing before."""
        self._numbers = itertools.count()
        machine.loops.append(self)

    def collect(self) -> bool:
        """Move timers that are due to the ready handles; return whether one can run."""
        while self.timers and self.timers[0][0] <= self.machine.time:
            timer = heapq.heappop(self.timers)[2]
            if not timer.cancelled():
                self.ready.append(timer)
        return bool(self.ready)

    def suspend(self, seconds: float) -> None:
        """Run nothing for a time, as a process that gets SIGSTOP."""
        end = self.machine.time + seconds
        held, self.ready = self.ready, []
        for handle in held:
            self.call_at(end, handle._run)
        self.timers = [(max(when, end), *rest) for when, *rest in self.timers]  # type: ignore[misc]
        heapq.heapify(self.timers)

    def kill(self) -> None:
        """End the process: none of its tasks goes on."""
        self.dead = True
        self.machine.loops.remove(self)
        self.ready.clear()
        self.timers.clear()
        with self.machine.inside(self):
            for task in self.tasks:
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                with contextlib.suppress(BaseException):
                    task.get_coro().close()
        self.tasks.clear()

    def time(self) -> float:
        """Return the virtual time."""
        return self.machine.time

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Make a handle ready."""
        handle = asyncio.Handle(callback, args, self, context)
        if not self.dead:
            self.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Make a handle ready after a delay."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Make a handle ready at a time."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        if not self.dead:
            heapq.heappush(self.timers, (when, next(self._numbers), timer))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None) -> asyncio.Task[Any]:
        """Return a task of this loop."""
        task = SimTask(next(self._numbers), coro, loop=self, name=name, context=context)
        self.tasks.append(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        if task in self.tasks:
            self.tasks.remove(task)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what nobody handled: it is a finding."""
        if not self.dead:
            self.problems.append(f"{context.get('message')}: {context.get('exception')!r}")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave a cancelled timer where it is: it is dropped once it is due."""

    def get_debug(self) -> bool:
        """Return False."""
        return False

    def is_running(self) -> bool:
        """Return whether the process lives."""
        return not self.dead

    def is_closed(self) -> bool:
        """Return whether the process has ended."""
        return self.dead
