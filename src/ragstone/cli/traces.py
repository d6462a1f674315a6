"""`ragstone traces`: traces of a running system as rows of queries, contexts and answers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus


@click.group("traces")
def command() -> None:
    """Convert traces of a running system into rows to score.

    \b
    Examples:
      ragstone traces convert traces.jsonl -o rows.jsonl
      ragstone score rows.jsonl --gold qa.jsonl --metrics F1,K-precision
    """


@command.command("convert")
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="File of rows to write, one JSON line per query; an earlier one is replaced.",
)
@click.option(
    "--corpus",
    metavar="SOURCE",
    help="File of passages (corpus.jsonl) or data set with the texts of passages that a trace "
    "names by id only.",
)
@click.option("--system", metavar="NAME", help="System of all rows (default: the service name).")
@click.option(
    "--keep-incomplete", is_flag=True, help="Make rows of traces of which a part is missing too."
)
@json_option
def convert_command(
    *,
    files: tuple[Path, ...],
    output: Path,
    corpus: str | None,
    system: str | None,
    keep_incomplete: bool,
) -> None:
    """Write one row per query of the traces in FILE.

    A FILE is OTLP as JSON or protobuf (plain or .gz), with spans of OpenTelemetry's GenAI
    conventions or of OpenInference, or an export of Langfuse (JSON, JSON lines, CSV, Parquet). A
    trace may be spread over several files.

    \b
    Examples:
      ragstone traces convert traces.jsonl -o rows.jsonl
      ragstone traces convert day1.pb day2.pb -o rows.jsonl --corpus my-set --system v2
      ragstone traces convert observations.jsonl -o rows.jsonl --json
    """
    from ragstone.data.readers.traces.conversion import TraceConverter

    converter = TraceConverter(
        files, _corpus(corpus) if corpus else None, system or "", keep_incomplete
    )
    _write(output, converter.rows(), converter)
    found = converter.found
    print_result(lambda: {**found.to_dict(), "files": [output]}, lambda: f"{output}: {found}")


def _write(output: Path, rows: Iterable[dict[str, Any]], converter: Any) -> None:
    """Write the rows; raise `DatasetError` and leave the file alone if there is none."""
    import orjson

    from ragstone.core.atomic_files import atomic_file

    try:
        with atomic_file(output) as file:
            file.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
            if not converter.found.rows:
                why = f"{output} was not written: {converter.found}"
                raise DatasetError(f"the files contain no trace that makes a row; {why}")
    except OSError as error:
        raise DatasetError(f"cannot write {output}: {error.strerror or error}") from error


def _corpus(written: str) -> Corpus:
    """Return the passages of a file, or those of a data set."""
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.folder import read_corpus

    if Path(written).is_file():
        return read_corpus(Path(written))
    return load_dataset(written).corpus
