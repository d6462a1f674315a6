"""The disk under the store: what Python's `os` and SQLite do below a folder is put into a journal.

The content of a file that Python code writes is read at the next sync, rename or acknowledgement.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.simulation.disk import Left, Op, Replay, State
from benchmarks.simulation.sqlite_vfs import layer


class Killed(BaseException):
    """The process ends at this operation of the disk."""


class RecordedDisk:
    """Files below `root`, and the journal of what was done to them.

    Args:
        root: a folder on a memory disk.
        draw: random numbers.
        ignore_syncs: leave out every sync, as a disk that does not honour them (the control).
    """

    def __init__(self, root: Path, draw: random.Random, *, ignore_syncs: bool = False) -> None:
        self.root, self.draw, self.ignore_syncs = root, draw, ignore_syncs
        self.journal: list[Op] = []
        self.base: State = {}
        """The state before the journal."""
        self.frozen = False
        """Whether the process that runs now is dead: what it does has no effect."""
        self.fuse: int | None = None
        """The number of operations until the running process is killed."""
        self.connections: list[tuple[object, sqlite3.Connection]] = []
        """Process and connection."""
        self.process: Callable[[], object] = lambda: None
        self._seen: dict[str, tuple[int, int, int]] = {}

    # --- the journal

    def add(self, op: Op) -> bool:
        """Record an operation; False if the process is dead."""
        if self.frozen:
            return False
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self.fuse, self.frozen = None, True
                return False
        if not (self.ignore_syncs and op.kind.startswith("sync")):
            self.journal.append(op)
        return True

    def name(self, path: str | Path) -> str | None:
        """Return a path relative to the root, or None if it is outside."""
        text = os.path.abspath(path)
        root = f"{self.root}/"
        return text[len(root) :] if text.startswith(root) else None

    def look(self) -> None:
        """Record what Python code wrote into files since the last look."""
        for folder, _, files in os.walk(self.root):
            for file in sorted(files):
                path = os.path.join(folder, file)
                if ".sqlite" not in file:
                    self._look_at(path)

    def _look_at(self, path: str) -> None:
        found, name = os.stat(path), path[len(str(self.root)) + 1 :]
        state = found.st_ino, found.st_size, found.st_mtime_ns
        if self._seen.get(name) == state:
            return
        known = name in self._seen and self._seen[name][0] == found.st_ino
        self._seen[name] = state
        if known or self.add(Op("create", name)):
            content = Path(path).read_bytes()
            self.add(Op("truncate", name, 0))
            self.add(Op("write", name, 0, content))

    def crash(self, left: Left, draw: random.Random, end: int | None = None) -> State:
        """Return a state that power loss may leave after a prefix of the journal."""
        replay = Replay(self.base)
        for op in self.journal[:end]:
            replay.apply(op)
        return replay.state(left, draw)

    def put(self, state: State) -> None:
        """Replace what is on the disk, and begin a new journal."""
        write_state(self.root, state)
        self.base, self.journal = state, []
        self._seen = {}
        for path, content in state.items():
            if content is not None and ".sqlite" not in path:
                found = os.stat(self.root / path)
                self._seen[path] = found.st_ino, found.st_size, found.st_mtime_ns

    # --- SQLite

    def sqlite_create(self, path: str) -> bool:
        """Record a new file."""
        return self._outside(path) or self.add(Op("create", self._short(path)))

    def sqlite_write(self, path: str, offset: int, data: bytes) -> bool:
        """Record bytes."""
        return self._outside(path) or self.add(Op("write", self._short(path), offset, data))

    def sqlite_truncate(self, path: str, size: int) -> bool:
        """Record the cut of a file."""
        return self._outside(path) or self.add(Op("truncate", self._short(path), size))

    def sqlite_sync(self, path: str, *, folder: bool) -> bool:
        """Record a sync."""
        if self._outside(path):
            return True
        name = self._short(path)
        done = self.add(Op("sync", name))
        return done and (not folder or self.add(Op("sync-folder", _parent(name))))

    def sqlite_remove(self, path: str, *, synced: bool) -> bool:
        """Record the removal of a file."""
        if self._outside(path):
            return True
        name = self._short(path)
        done = self.add(Op("remove", name)) if os.path.exists(path) else not self.frozen
        return done and (not synced or self.add(Op("sync-folder", _parent(name))))

    def sqlite_random(self, size: int) -> bytes:
        """Return random bytes of the seed."""
        return self.draw.randbytes(size)

    def _outside(self, path: str) -> bool:
        return not path.startswith(f"{self.root}/")

    def _short(self, path: str) -> str:
        return path[len(str(self.root)) + 1 :]

    def close_connections(self, process: object) -> None:
        """Close the connections of a process that was killed, without any effect on the disk."""
        self.frozen = True
        for one in [one for owner, one in self.connections if owner is process]:
            with suppress(sqlite3.Error):
                one.close()
        self.connections = [pair for pair in self.connections if pair[0] is not process]
        self.frozen = False

    # --- Python

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what this process does below the root."""
        own = {name: getattr(os, name) for name in _HOOKS}
        connect = sqlite3.connect

        def connected(*args: Any, **options: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*args, **options)
            self.connections.append((self.process(), connection))
            return connection

        for name, hook in _HOOKS.items():
            setattr(os, name, _hooked(self, own[name], hook))
        sqlite3.connect = connected  # type: ignore[assignment]
        layer().put(self)
        try:
            yield
        finally:
            layer().remove()
            sqlite3.connect = connect
            for name, function in own.items():
                setattr(os, name, function)


def write_state(root: Path, state: State) -> None:
    """Put a state into a folder, in place of what is there."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for path, content in sorted(state.items()):
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def _whole(path: Any, dir_fd: int | None) -> str:
    text = os.fspath(path)
    return text if dir_fd is None else f"{os.readlink(f'/proc/self/fd/{dir_fd}')}/{text}"


def _hooked(
    disk: RecordedDisk, real: Callable[..., Any], hook: Callable[..., Iterator[Op]]
) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        ops = list(hook(disk, *args, **options))
        if ops and disk.frozen:
            return None
        for op in ops:
            if not disk.add(op):
                raise Killed
        if ops and ops[0].kind.startswith("sync"):
            return None
        return real(*args, **options)

    return call


def _make(disk: RecordedDisk, path: Any, _mode: int = 0o777, *, dir_fd: Any = None) -> Iterator[Op]:
    name = disk.name(_whole(path, dir_fd))
    if name and os.path.isdir(disk.root / _parent(name)) and not (disk.root / name).exists():
        yield Op("make", name)


def _create(
    disk: RecordedDisk, path: Any, flags: int, _mode: int = 0o777, *, dir_fd: Any = None
) -> Iterator[Op]:
    # The other files are seen when they are written.
    name = disk.name(_whole(path, dir_fd)) if flags & os.O_CREAT else None
    if name and ".sqlite" in name and not (disk.root / name).exists():
        if disk.frozen:
            raise FileExistsError(name)
        yield Op("create", name)


def _rename(
    disk: RecordedDisk, old: Any, new: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None
) -> Iterator[Op]:
    name, target = disk.name(_whole(old, src_dir_fd)), disk.name(_whole(new, dst_dir_fd))
    if not name or not target or not (disk.root / name).exists():
        return
    place = disk.root / target
    if place.is_dir() and any(place.iterdir()):
        return
    disk.look()
    moved = {p: s for p, s in disk._seen.items() if p == name or p.startswith(f"{name}/")}
    for path, state in moved.items():
        del disk._seen[path]
        disk._seen[target + path[len(name) :]] = state
    yield Op("rename", name, target=target)


def _remove(disk: RecordedDisk, path: Any, *, dir_fd: Any = None) -> Iterator[Op]:
    name = disk.name(_whole(path, dir_fd))
    if name and os.path.lexists(disk.root / name):
        if name in disk._seen or (disk.root / name).is_dir() or ".sqlite" in name:
            yield Op("remove", name)
        disk._seen.pop(name, None)


def _sync(disk: RecordedDisk, descriptor: int) -> Iterator[Op]:
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    name = "" if path == str(disk.root) else disk.name(path)
    if name is None:
        return
    if os.path.isdir(path):
        yield Op("sync-folder", name)
    else:
        if not disk.frozen:
            disk._look_at(path)
        yield Op("sync", name)


_HOOKS: dict[str, Callable[..., Iterator[Op]]] = {
    "mkdir": _make, "open": _create, "rename": _rename, "replace": _rename, "unlink": _remove,
    "remove": _remove, "rmdir": _remove, "fsync": _sync,
}  # fmt: skip
