"""Parquet in a process of its own: what ends the native reader does not end the run."""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Array, DataType, RecordBatch, Table
from arro3.io import write_parquet

from ragstone.data.readers.parquet_columns import ParquetFile, batches
from ragstone.data.readers.parquet_process import record_batches
from ragstone.errors import DatasetError

WIDE_BITS = """
c-n=O-%k@k5XWctj-?@u0pecnOcNUe7h(ikprjZK*#i!ZB|-xhiHW(EOIuUg>kp_9qy7Ot8J>JHCcg9FAK<fpicdcI
XxyE<mMRc7?cUzZcRn+7)83}Yr@782_?;YQ9L51W3INSCgJ2d<bJ8B?@fXT1zoSwO<B0{BqRlyzHq&EcQpLzSZ33h#
%jbKbFHAZL6~E;#kHGh8sj{r2p|N}wQCCirg)tGAhTOY+CWktJUo0j)n~hfIu<X@_<aygGAGVP+s-P5)jO!9gr-smL
#(DuE7qr_zG%ArdxzQtkCer1ptti7s_{cdeERjx;qDeeNXd1>_Z!%!AcB$eYcsvF?K1ogOWp#fNatW!zd%feo?nH(R
HHW==yX&{w3Y}Y0Hr>=~)pm!|P(SR~`~$z<8Dy~i#(`I@M<#<=2`gtqg2$~4uu%(h@*4&-PKoi6*sdM>cShDd)q~0a
vK<ObM%-eS4Qfb(9IO>V--vNW?4QK`L@pc7MPTwWV7AvScG&9-6Pyv5!#>sQAM}brUCeRIvKd$|P|*J?JbFM#ervoZ
_L*+~(FSLBk*2GPsUjJ_b%WV4c>yb7#zj8=wD2IDs`){?uhy|}gb-UITu+4P3a2bwA<AN<j5bFKHq>E7h{tF+zeb^}
YwA>0+bSCIes@#yyGpWy{Pn&*T#n+e=Z}g7Hz>;Uj?&L>%Pp%A8!n2veIAB782?CZ&kLE8{n=;7rLL1zt+cPphsIiJ
uaLs~K<O7>_42uE{i33L=Sfq0yOl6#<3#DVR2?grq7=653<O<~U#QyL#b6JmTha5w^$^Tt;I*2EerLKA1k+xt)#xUV
<PWUcs3&I^W>Pb0OZ`XsANZ=t*M)q~{RLd&^ic
"""
"""A file whose dictionary page has indices of more than 64 bits; only its packed bytes show it."""


def _values(batch: RecordBatch) -> list[list[str]]:
    columns: Any = batch
    return [columns.column(name).to_pylist() for name in batch.schema.names]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of two columns and three rows."""
    columns = {"_id": ["a", "b", "c"], "text": ["One", "Two", "Three"]}
    arrays: dict[str, Any] = {
        name: Array(values, type=DataType.utf8()) for name, values in columns.items()
    }
    write_parquet(Table.from_pydict(arrays), tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


def test_a_page_that_ends_the_reader_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    """The native library aborts its process; this one goes on."""
    damaged = tmp_path / "queries.parquet"
    damaged.write_bytes(zlib.decompress(base64.b85decode("".join(WIDE_BITS.split()))))
    with pytest.raises(DatasetError, match=r"queries\.parquet is not a complete .* ended with -6"):
        list(batches(ParquetFile(str(damaged), lambda: damaged.open("rb"))))


def test_batches_are_those_of_the_reader_in_this_process(path: Path) -> None:
    """A file with a descriptor goes to the other process; one without is read here."""
    with path.open("rb") as file:
        there = [_values(batch) for batch in record_batches(file)]
    here = [_values(batch) for batch in record_batches(io.BytesIO(path.read_bytes()))]
    assert there == here == [[["a", "b", "c"], ["One", "Two", "Three"]]]


def test_a_reader_that_stops_early_leaves_no_process(path: Path) -> None:
    """The process is ended with the loop over its batches."""
    with path.open("rb") as file:
        found = record_batches(file)
        next(found)
        found.close()  # type: ignore[attr-defined]
    children = subprocess.run(
        ["ps", "-o", "args", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "write_ipc_stream" not in children.stdout


def test_a_folder_named_as_the_library_is_not_imported(path: Path, tmp_path: Path) -> None:
    """Files beside the user's data cannot take the place of the library."""
    (tmp_path / "arro3").mkdir()
    (tmp_path / "arro3" / "__init__.py").write_text("raise SystemExit('hijacked')")
    program = (
        "from pathlib import Path\n"
        "from ragstone.data.readers.parquet_process import record_batches\n"
        f"print(sum(b.num_rows for b in record_batches(open({str(path)!r}, 'rb'))))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "3\n"
