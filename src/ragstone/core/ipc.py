"""Tables as bytes and back: Arrow IPC streams, equal for equal rows."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arro3.core import Table


def bytes_of(table: Table) -> bytes:
    """Return a table as an Arrow IPC stream of at most one batch.

    The rows are copied: a slice would carry the bytes of the rows around it below its nulls.
    """
    import numpy as np
    from arro3.core import Array
    from arro3.core import Table as Made
    from arro3.io import write_ipc_stream

    batches = [
        batch.take(Array.from_numpy(np.arange(batch.num_rows, dtype=np.int64)))
        for batch in table.combine_chunks().to_batches()
    ]
    sink = io.BytesIO()
    write_ipc_stream(Made.from_batches(batches, schema=table.schema), sink)
    return sink.getvalue()


def table_of(stream: bytes) -> Table:
    """Return the table of an Arrow IPC stream.

    >>> from arro3.core import Array, DataType, Table
    >>> table = Table.from_pydict({"id": Array(["a", None], type=DataType.string())})
    >>> table_of(bytes_of(table)) == table
    True
    """
    from arro3.io import read_ipc_stream

    return read_ipc_stream(io.BytesIO(stream)).read_all()
