"""Files of stored vectors: written shard by shard as they are made, mapped when they are searched.

    arrays/vectors-77ab02.../manifest.json       one folder per embedder and precision
                             4f1c09.rows         vectors, one after the other
                             4f1c09.jsonl        their form, then one line per shard, each with
                                                 a checksum

Every process that embeds writes its own files, so nothing is locked or overwritten. A shard exists
once its line is written, after its vectors are on the disk: a killed process loses one shard at
most. The key of a shard is the digest of its texts, so that every corpus with these texts finds
it.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from ragstone.core.checksums import seal, unseal
from ragstone.core.resources import available_cpus
from ragstone.core.store import store_errors
from ragstone.errors import DamagedFile
from ragstone.indexes.quantisation import Precision, Vectors, encode, longest, row_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from ragstone.core.store import Store


class Shard(NamedTuple):
    """The place of the vectors of some texts."""

    file: str
    start: int
    rows: int
    digest: int
    """CRC-32 of the bytes."""
    longest: float
    notes: Mapping[str, int]
    """The embedder's notes about the texts."""


@dataclass(frozen=True)
class VectorFolder:
    """The vectors of one embedder in one precision."""

    folder: Path
    precision: Precision
    shards: dict[str, Shard] = field(default_factory=dict)
    """Digest of a shard's texts -> place of its vectors."""
    dimensions: dict[str, int] = field(default_factory=dict)
    """File -> length of its vectors, the same in all files."""

    @classmethod
    def read(cls, folder: Path, precision: Precision) -> VectorFolder:
        """Return the vectors of a folder; raise `DamagedFile` if a list is not as written."""
        found = cls(folder, precision)
        for path in sorted(folder.glob("*.jsonl")):
            found._read_list(path)
        return found

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 if there is none yet."""
        return next(iter(self.dimensions.values()), 0)

    def vectors(self, digests: Sequence[str]) -> Vectors:
        """Return the mapped vectors of some shards, in order.

        Raises:
            DamagedFile: a file is shorter than its list, or has other bytes.
        """
        shards = [self.shards[digest] for digest in digests]
        if not shards:
            return Vectors((), self.dimension, 0.0)
        mapped = {file: self._map(file) for file in {shard.file for shard in shards}}
        with ThreadPoolExecutor(available_cpus()) as pool:
            list(pool.map(lambda s: self._verify(s, mapped[s.file]), _distinct(shards)))
        parts = [mapped[file][start:stop] for file, start, stop in _runs(shards)]
        return Vectors(parts, self.dimension, max(shard.longest for shard in shards))

    def _read_list(self, path: Path) -> None:
        header, *shards = _read_lines(path) or [{}]
        if header:
            self.dimensions[path.stem] = header["dimension"]
        for row in shards:
            numbers = row["start"], row["rows"], row["crc32"], row["longest"]
            self.shards[row["texts"]] = Shard(path.stem, *numbers, row["notes"])
        if len(set(self.dimensions.values())) > 1:
            what = "the length of its vectors differs from that in other files"
            raise DamagedFile(path, what, store=_store_of(path))

    def _map(self, file: str) -> npt.NDArray[Any]:
        path = self.folder / f"{file}.rows"
        kind = row_type(self.precision, self.dimension)
        try:
            count = path.stat().st_size // kind.itemsize
            return np.asarray(
                np.memmap(path, dtype=kind.base, mode="r", shape=(count, *kind.shape))
            )
        except (OSError, ValueError) as error:
            raise DamagedFile(path, str(error), store=_store_of(path)) from error

    def _verify(self, shard: Shard, mapped: npt.NDArray[Any]) -> None:
        held = mapped[shard.start : shard.start + shard.rows]
        if len(held) < shard.rows or zlib.crc32(held.tobytes()) != shard.digest:
            path = self.folder / f"{shard.file}.rows"
            what = f"vectors {shard.start} to {shard.start + shard.rows} differ from those written"
            raise DamagedFile(path, what, store=_store_of(path))


def find_damage(folder: Path) -> Iterator[DamagedFile]:
    """Yield the damage of a folder of vectors; every list and every vector is read."""
    for path in sorted(folder.glob("*.jsonl")):
        try:
            _verify_rows(path.with_suffix(".rows"), _read_lines(path)[1:])
        except DamagedFile as error:
            yield error


def _verify_rows(path: Path, shards: Sequence[Mapping[str, Any]]) -> None:
    try:
        with path.open("rb") as file:
            wrong = [s for s in shards if zlib.crc32(file.read(s["bytes"])) != s["crc32"]]
    except OSError as error:
        raise DamagedFile(path, str(error), store=_store_of(path)) from error
    if wrong:
        what = f"vectors from {wrong[0]['start']} on differ from those written"
        raise DamagedFile(path, what, store=_store_of(path))


def set_aside(store: Store, path: Path) -> None:
    """Set a file of vectors and its list aside: the one is of no use without the other."""
    for suffix in (".rows", ".jsonl"):
        if (one := path.with_suffix(suffix)).exists():
            store.set_aside(one)


class ShardWriter:
    """Adds shards to a folder of vectors, in its own files."""

    def __init__(self, folder: VectorFolder) -> None:
        self._folder = folder
        self._name = secrets.token_hex(6)
        self._files: tuple[BinaryIO, BinaryIO] | None = None
        self._rows = 0

    def add(self, digest: str, vectors: npt.NDArray[np.float32], notes: Mapping[str, int]) -> None:
        """Write the vectors of the shard whose texts have that digest, and sync the disk."""
        rows = encode(vectors, self._folder.precision)
        stored = rows.tobytes()
        shard = Shard(self._name, self._rows, len(rows), zlib.crc32(stored), longest(rows), notes)
        with store_errors(self._folder.folder):
            data, listed = self._files = self._files or self._open(vectors.shape[1])
            _write(data, stored)
            line = {"texts": digest, "start": shard.start, "rows": shard.rows}
            line |= {"bytes": len(stored), "crc32": shard.digest, "longest": shard.longest}
            _write_line(listed, {**line, "notes": dict(notes)})
        self._folder.shards[digest] = shard
        self._rows += len(rows)

    def close(self) -> None:
        """Close the files."""
        for file in self._files or ():
            file.close()

    def _open(self, dimension: int) -> tuple[BinaryIO, BinaryIO]:
        place = self._folder.folder / self._name
        data = place.with_suffix(".rows").open("xb")
        listed = place.with_suffix(".jsonl").open("xb")
        _write_line(listed, {"dimension": dimension, "precision": self._folder.precision})
        self._folder.dimensions[self._name] = dimension
        return data, listed


def _distinct(shards: Sequence[Shard]) -> list[Shard]:
    """Return the shards without repetition: equal texts share one."""
    return list({(shard.file, shard.start): shard for shard in shards}.values())


def _runs(shards: Sequence[Shard]) -> list[tuple[str, int, int]]:
    """Return file, start and end of the shards; adjacent shards are joined."""
    runs: list[tuple[str, int, int]] = []
    for shard in shards:
        start, stop = shard.start, shard.start + shard.rows
        if runs and runs[-1][0] == shard.file and runs[-1][2] == start:
            start = runs.pop()[1]
        runs.append((shard.file, start, stop))
    return runs


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a list; raise `DamagedFile` if one is not as written."""
    # The last line has no end if its process was killed while it wrote.
    lines = path.read_bytes().split(b"\n")[:-1]
    return [_read_line(path, number, line) for number, line in enumerate(lines, start=1)]


def _read_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        return unseal(json.loads(line), _place(path))
    except (ValueError, RecursionError) as error:
        what = f"line {number} cannot be read: {error}"
        raise DamagedFile(path, what, store=_store_of(path)) from error


def _place(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _store_of(path: Path) -> Path:
    return path.parents[2]


def _write_line(file: BinaryIO, row: Mapping[str, Any]) -> None:
    _write(file, json.dumps(seal(row, _place(Path(file.name)))).encode() + b"\n")


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())
