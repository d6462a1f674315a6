"""What SQLite writes: a layer below it ("VFS") that is put in place by `ctypes`.

The layer is a copy of SQLite's own for this system. Writes, truncations, syncs and removals go to a
`Recorder` first; a sync itself is left out, since the files are on a memory disk. The random
numbers of SQLite (salts of the write-ahead log) come from the recorder too.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sqlite3
from functools import cache
from typing import Any, Protocol

OK, IOERR, CANTOPEN = 0, 10, 14
_WAL, _JOURNAL, _CREATE = 0x80000, 0x800, 0x4
_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_OPEN = ctypes.CFUNCTYPE(_I, _P, _P, _P, _I, _P)
_DELETE = ctypes.CFUNCTYPE(_I, _P, _P, _I)
_RANDOM = ctypes.CFUNCTYPE(_I, _P, _I, _P)
_CLOSE = ctypes.CFUNCTYPE(_I, _P)
_WRITE = ctypes.CFUNCTYPE(_I, _P, _P, _I, _L)
_TRUNCATE = ctypes.CFUNCTYPE(_I, _P, _L)
_SYNC = ctypes.CFUNCTYPE(_I, _P, _I)


class _Vfs(ctypes.Structure):
    _fields_ = [
        ("version", _I), ("file_size", _I), ("path_size", _I), ("next", _P),
        ("name", ctypes.c_char_p), ("data", _P), ("open", _P), ("delete", _P), ("access", _P),
        ("full_path", _P), ("dl", _P * 4), ("random", _P), ("others", _P * 7),
    ]  # fmt: skip


class _Methods(ctypes.Structure):
    _fields_ = [
        ("version", _I), ("close", _P), ("read", _P), ("write", _P), ("truncate", _P),
        ("sync", _P), ("others", _P * 13),
    ]  # fmt: skip


class Recorder(Protocol):
    """Gets what SQLite does; an operation whose answer is False fails."""

    def sqlite_create(self, path: str) -> bool:
        """A file is made."""

    def sqlite_write(self, path: str, offset: int, data: bytes) -> bool:
        """Bytes are written."""

    def sqlite_truncate(self, path: str, size: int) -> bool:
        """A file is cut."""

    def sqlite_sync(self, path: str, *, folder: bool) -> bool:
        """A file is synced, and its folder too."""

    def sqlite_remove(self, path: str, *, synced: bool) -> bool:
        """A file is removed, and its folder synced."""

    def sqlite_random(self, size: int) -> bytes:
        """Return random bytes."""


def library() -> ctypes.CDLL | None:
    """Return the library that Python's `sqlite3` uses, or None if it cannot be reached."""
    name = ctypes.util.find_library("sqlite3")
    if name is None:
        return None
    found = ctypes.CDLL(name)
    found.sqlite3_libversion.restype = ctypes.c_char_p
    return found if found.sqlite3_libversion().decode() == sqlite3.sqlite_version else None


@cache
def layer() -> Layer:
    """Return the layer of this process."""
    return Layer()


class Layer:
    """The layer, in place as SQLite's default for new connections between `put` and `remove`."""

    _recorder: Recorder

    def __init__(self) -> None:
        found = library()
        if found is None:
            raise OSError("the library of sqlite3 cannot be reached by ctypes")
        self._library = found
        found.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        found.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
        found.sqlite3_vfs_register.argtypes = [_P, _I]
        found.sqlite3_vfs_unregister.argtypes = [_P]
        self._default = found.sqlite3_vfs_find(None)
        own = self._default.contents
        self._real_open = _OPEN(own.open)
        self._real_delete = _DELETE(own.delete)
        self._vfs = _Vfs()
        ctypes.memmove(ctypes.byref(self._vfs), ctypes.byref(own), ctypes.sizeof(_Vfs))
        self._vfs.name, self._vfs.next = b"ragstone-simulation", None
        self._callbacks: list[Any] = [
            _OPEN(self._open), _DELETE(self._delete), _RANDOM(self._random), _CLOSE(self._close),
            _WRITE(self._write), _TRUNCATE(self._truncate), _SYNC(self._sync),
        ]  # fmt: skip
        addresses = [ctypes.cast(one, _P).value for one in self._callbacks]
        self._vfs.open, self._vfs.delete, self._vfs.random = addresses[:3]
        self._addresses = addresses[3:]
        self._methods: dict[int, tuple[_Methods, Any, Any, Any]] = {}
        """Address of SQLite's own methods -> ours, and its own close, write and truncate."""
        self._files: dict[int, tuple[str, tuple[_Methods, Any, Any, Any], list[bool]]] = {}
        """Address of an open file -> path, methods, and whether its folder must be synced."""

    def put(self, recorder: Recorder) -> None:
        """Use the layer for new connections."""
        self._recorder = recorder
        self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)
        self._library.sqlite3_randomness(0, None)  # SQLite draws a new seed, from us

    def remove(self) -> None:
        """Use SQLite's own again."""
        self._library.sqlite3_vfs_unregister(ctypes.byref(self._vfs))
        self._library.sqlite3_vfs_register(self._default, 1)
        self._library.sqlite3_randomness(0, None)

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int) -> int:
        # SQLite keeps the address of the name: it is passed on as it is.
        path = ctypes.string_at(name).decode() if name else ""
        is_new = bool(path) and bool(flags & _CREATE) and not os.path.exists(path)
        if is_new and not self._recorder.sqlite_create(path):
            return CANTOPEN
        status: int = self._real_open(vfs, name, file, flags, out)
        if status == OK and path:
            pointer = ctypes.cast(file, ctypes.POINTER(_P))
            methods = self._patched(pointer[0])
            pointer[0] = ctypes.addressof(methods[0])
            # As in SQLite's own code: the first sync of a journal syncs its folder too.
            syncs_folder = bool(flags & _CREATE) and bool(flags & (_WAL | _JOURNAL))
            self._files[file] = path, methods, [syncs_folder]
        return status

    def _patched(self, address: Any) -> tuple[_Methods, Any, Any, Any]:
        if address not in self._methods:
            own = _Methods.from_address(address)
            size = ctypes.sizeof(_Methods) - (0 if own.version >= 3 else 2 * ctypes.sizeof(_P))
            mine = _Methods()
            ctypes.memmove(ctypes.byref(mine), address, size)
            mine.close, mine.write, mine.truncate, mine.sync = self._addresses
            kept = mine, _CLOSE(own.close), _WRITE(own.write), _TRUNCATE(own.truncate)
            self._methods[address] = kept
        return self._methods[address]

    def _close(self, file: int) -> int:
        _, (_, close, _, _), _ = self._files.pop(file)
        return int(close(file))

    def _write(self, file: int, data: int, size: int, offset: int) -> int:
        path, (_, _, write, _), _ = self._files[file]
        if not self._recorder.sqlite_write(path, offset, ctypes.string_at(data, size)):
            return IOERR
        return int(write(file, data, size, offset))

    def _truncate(self, file: int, size: int) -> int:
        path, (_, _, _, truncate), _ = self._files[file]
        if not self._recorder.sqlite_truncate(path, size):
            return IOERR
        return int(truncate(file, size))

    def _sync(self, file: int, _flags: int) -> int:
        path, _, folder = self._files[file]
        done = self._recorder.sqlite_sync(path, folder=folder[0])
        folder[0] = False
        return OK if done else IOERR

    def _delete(self, vfs: int, name: int, folder: int) -> int:
        if not self._recorder.sqlite_remove(ctypes.string_at(name).decode(), synced=bool(folder)):
            return IOERR
        return int(self._real_delete(vfs, name, folder))

    def _random(self, _vfs: int, size: int, out: int) -> int:
        ctypes.memmove(out, self._recorder.sqlite_random(size), size)
        return size
