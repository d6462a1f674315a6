"""Parquet read by a process of its own: a damaged page may end the native reader, with its process.

The process gets the open file as its standard input, and writes Arrow batches to its output.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import UnsupportedOperation
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from ragstone.core import limits
from ragstone.data.readers.parquet_structure import UnsafeParquet

if TYPE_CHECKING:
    from arro3.core import RecordBatch

_PROGRAM: Final = """
import sys
from arro3.io import read_parquet, write_ipc_stream
try:
    batches = read_parquet(sys.stdin.buffer, batch_size=int(sys.argv[1]))
    write_ipc_stream(batches, sys.stdout.buffer)
    sys.stdout.flush()
except BaseException as error:
    sys.exit(str(error))
"""


def record_batches(file: BinaryIO) -> Iterator[RecordBatch]:
    """Yield the batches of an open file; a file elsewhere, without a descriptor, is read here.

    Raises:
        UnsafeParquet: the reader ended with an error, or without one.
    """
    from arro3.io import read_parquet

    try:
        file.fileno()
    except (UnsupportedOperation, AttributeError):
        yield from read_parquet(file, batch_size=limits.PARQUET_BATCH_ROWS)
        return
    file.seek(0)
    # -P: a folder named arro3 beside the user's files is not imported.
    command = [sys.executable, "-P", "-c", _PROGRAM, str(limits.PARQUET_BATCH_ROWS)]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 - this interpreter and a program of ours
            command, stdin=file, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        try:
            yield from _received(process, errors)
        finally:
            process.kill()


def _received(process: subprocess.Popen[bytes], errors: IO[bytes]) -> Iterator[RecordBatch]:
    from arro3.io import read_ipc_stream

    output = cast("BinaryIO", process.stdout)
    broken = None
    try:
        yield from read_ipc_stream(output)
    except Exception as error:  # noqa: BLE001 - the output ends early; the process tells why
        broken = error
    code = process.wait()
    errors.seek(0)
    told = errors.read(limits.MAX_CAUSE_CHARACTERS).decode(errors="replace").strip()
    if code < 0 or code > 1:
        raise UnsafeParquet(f"the reader of its pages ended with {code}") from broken
    if code or broken:
        raise UnsafeParquet(told or str(broken)) from broken
