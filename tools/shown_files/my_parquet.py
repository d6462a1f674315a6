"""Writes my-set as Parquet, in the place of a reader's own files."""

from __future__ import annotations

from pathlib import Path

import pyarrow.json
import pyarrow.parquet

Path("my-parquet").mkdir()
for name in ("queries", "corpus"):
    rows = pyarrow.json.read_json(Path(__file__).with_name("my-set") / f"{name}.jsonl")
    pyarrow.parquet.write_table(rows, f"my-parquet/{name}.parquet")
