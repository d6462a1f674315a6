"""A disk that records what is written and synced, and gives every state that power loss may leave.

The journal is a list of operations on files (create, write, truncate, sync) and on folders (make,
rename, remove, sync). After a prefix of it, the durable state is what was synced. Of what was not,
a state has all, none, or some: random 512-byte sectors of each write, and random ones of the
changes of names.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

SECTOR = 512
State = dict[str, bytes | None]
"""Path -> content, or None for a folder."""


class Left(Enum):
    """What power loss leaves of what was not synced."""

    NONE = "none"
    ALL = "all"
    SOME = "some"


class Op(NamedTuple):
    """One operation: make, create, write, truncate, sync, rename, remove, sync-folder."""

    kind: str
    path: str
    offset: int = 0
    data: bytes = b""
    target: str = ""


@dataclass(eq=False)
class Node:
    """A file or a folder, whatever its name."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Offset and bytes of each write that was not synced; no bytes: the new size."""
    names: dict[str, Node] | None = None
    """The names in a folder; None for a file."""
    durable_names: dict[str, Node] = field(default_factory=dict)


Change = list[tuple[Node, str, Node | None]]
"""A change of names: folder, name, and what it names from then on. A rename is one change."""


def _put(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        content[offset:] = bytes(max(0, offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def _name(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


class Replay:
    """The state of a disk after a prefix of its journal. Operations are added one by one."""

    def __init__(self, state: Mapping[str, bytes | None]) -> None:
        self.root = Node(names={})
        self.pending: list[Change] = []
        """Changes of names that were not synced."""
        for path, content in sorted(state.items()):
            folder, name = self._place(path)
            node = Node(bytearray(content or b""), names={} if content is None else None)
            assert folder.names is not None
            folder.names[name] = folder.durable_names[name] = node

    def _place(self, path: str) -> tuple[Node, str]:
        folder, (*parents, name) = self.root, path.split("/")
        for parent in parents:
            assert folder.names is not None
            folder = folder.names[parent]
        return folder, name

    def _node(self, path: str) -> Node:
        if not path:
            return self.root
        folder, name = self._place(path)
        assert folder.names is not None
        return folder.names[name]

    def apply(self, op: Op) -> None:
        """Add an operation."""
        if op.kind in {"make", "create", "remove"}:
            made = None if op.kind == "remove" else Node(names={} if op.kind == "make" else None)
            self._change([(*self._place(op.path), made)])
        elif op.kind == "rename":
            moved = self._node(op.path)
            self._change([(*self._place(op.path), None), (*self._place(op.target), moved)])
        elif op.kind == "sync-folder":
            self._sync_folder(self._node(op.path))
        elif op.kind == "sync":
            node = self._node(op.path)
            for offset, data in node.pending:
                _put(node.durable, offset, data)
            node.pending.clear()
        else:
            data = op.data if op.kind == "write" else None
            self._node(op.path).pending.append((op.offset, data))

    def _change(self, change: Change) -> None:
        self.pending.append(change)
        for folder, name, node in change:
            assert folder.names is not None
            _name(folder.names, name, node)

    def _sync_folder(self, folder: Node) -> None:
        synced = [one for one in self.pending if any(part[0] is folder for part in one)]
        self.pending = [one for one in self.pending if one not in synced]
        for change in synced:
            for place, name, node in change:
                _name(place.durable_names, name, node)

    def state(self, left: Left, draw: random.Random) -> State:
        """Return a state that power loss may leave now."""
        changed: dict[int, dict[str, Node]] = {}
        for change in self.pending:
            if left is Left.ALL or (left is Left.SOME and draw.random() < 0.5):
                for folder, name, node in change:
                    names = changed.setdefault(id(folder), dict(folder.durable_names))
                    _name(names, name, node)
        found: State = {}

        def walk(folder: Node, path: str) -> None:
            for name, node in changed.get(id(folder), folder.durable_names).items():
                below = f"{path}{name}"
                found[below] = None if node.names is not None else _content(node, left, draw)
                if node.names is not None:
                    walk(node, f"{below}/")

        walk(self.root, "")
        return found


def _content(node: Node, left: Left, draw: random.Random) -> bytes:
    if left is Left.NONE or not node.pending:
        return bytes(node.durable)
    content = bytearray(node.durable)
    for offset, data in node.pending:
        if left is Left.ALL:
            _put(content, offset, data)
        elif data is None:
            if draw.random() < 0.5:
                _put(content, offset, None)
        else:
            for start, part in _sectors(offset, data):
                if draw.random() < 0.5:
                    _put(content, start, part)
    return bytes(content)


def _sectors(offset: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a write in each sector that it touches."""
    start = 0
    while start < len(data):
        size = SECTOR - (offset + start) % SECTOR
        yield offset + start, data[start : start + size]
        start += size
