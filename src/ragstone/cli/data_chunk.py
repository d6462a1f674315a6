"""`ragstone data chunk`: cut a data set's documents into other passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.core import limits
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.data.readers.encyclopedia import EncyclopediaReader
    from ragstone.data.rechunk.rechunk import Rechunked
    from ragstone.protocols import Chunker


@click.command("chunk")
@click.argument("source")
@click.argument("target", type=FILE, metavar="TARGET_FOLDER")
@click.option(
    "--chunker",
    default="sentences",
    help="Chunker with its parameters; `ragstone components chunkers` lists all of them.",
)
@click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CORPUS.jsonl",
    help="File of the whole documents (default: the passages of SOURCE are joined).",
)
@click.option(
    "--threshold",
    default=0.5,
    help="Minimum overlap, as a share of the shorter passage, to transfer a judgement.",
)
@click.option(
    "--executor",
    default="",
    metavar="SPEC",
    help="Cut documents elsewhere: processes(4), dask(address=tcp://host:8786), ray(workers=2).",
)
@json_option
def chunk_command(
    source: str,
    target: Path,
    *,
    chunker: str,
    documents: Path | None,
    threshold: float,
    executor: str,
) -> None:
    """Cut the documents of SOURCE into new passages.

    The qrels are transferred to the new passages. The document and the position of a passage are
    read from its document id and its labels `start` and `end`, or from an id of the form
    DOCUMENT-START-END. `cutting.json` lists the judgements that could not be transferred. SOURCE
    may be a folder with only corpus.jsonl, or an encyclopedia, whose pages are read one at a time.

    \b
    Examples:
      ragstone data chunk sample cut --chunker "words(100)"
      ragstone data chunk my-set cut --chunker "sentences(512, overlap=100)"
      ragstone data chunk my-set cut --chunker tokens --documents documents.jsonl
      ragstone data chunk my-set documents --chunker whole
      ragstone data chunk "encyclopedia(kilt.json, variant=bergen)" kilt-100w --chunker "words(100)"
    """
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core import registry
    from ragstone.core.executors.spec import executor_of
    from ragstone.core.progress import shown_by
    from ragstone.data.cut_passages import cut_by
    from ragstone.data.load import document_reader, load_dataset
    from ragstone.data.readers.folder import read_corpus, read_corpus_alone
    from ragstone.data.rechunk.rechunk import rechunk
    from ragstone.data.rechunk.write import check_target, write_rechunked

    check_target(target)
    cutter = registry.create("chunkers", chunker, where="--chunker", folder=Path())
    with shown_by(open_bar), cut_by(executor_of(executor)):
        alone = read_corpus_alone(Path(source))
        streamed = None if alone else document_reader(source)
        if streamed:
            _chunk_streamed(streamed, target, source, cutter, documents)
            return
        whole = None if documents is None else read_corpus(documents)
        dataset = alone or load_dataset(source)
        made = rechunk(dataset, cutter, documents=whole, threshold=threshold)
    made_by = {"source": source, "chunker": repr(cutter), "threshold": threshold}
    files = write_rechunked(made, target, made_by)
    names = ", ".join(path.name for path in files)
    print_result(
        lambda: made_by | made.summary() | {"not_carried": made.not_carried, "files": files},
        lambda: "\n".join([*_lines(made), f"{names} in {target}"]),
    )


def _chunk_streamed(
    reader: EncyclopediaReader, target: Path, source: str, cutter: Chunker, documents: Path | None
) -> None:
    """Cut the pages of an encyclopedia, of which only one is in memory."""
    from ragstone.data.rechunk.streamed import write_cut_documents

    if documents is not None:
        raise ConfigError(
            f"--documents is for passages of documents, and {source} has whole pages; remove it"
        )
    made_by = {"source": source, "chunker": repr(cutter)}
    made, files = write_cut_documents(reader.documents, cutter, target, made_by, reader.title)
    counts = f"{made.documents:,} documents, {made.passages:,} passages"
    names = ", ".join(path.name for path in files)
    without = f"\n  without text: {made.without_text:,}" if made.without_text else ""
    print_result(
        lambda: made_by | made.summary() | {"not_carried": (), "files": files},
        lambda: (
            f"{counts}, the longest of {made.longest:,} characters{without}\n{names} in {target}"
        ),
    )


def _lines(made: Rechunked) -> Iterator[str]:
    passages = f"{len(made.dataset.corpus):,} passages, the longest of {made.longest:,} characters"
    yield f"{made.documents:,} documents, {passages}"
    if made.without_text:
        yield f"  without text: {len(made.without_text):,}"
    yield from (f"  {note}: {count:,}" for note, count in made.notes.items())
    lost = made.not_carried
    yield (
        f"{made.judgements - len(lost):,} of {made.judgements:,} judgements transferred; "
        f"the new passages have {made.dataset.qrel_table.num_rows:,}"
    )
    if made.judgements and made.judgements == len(lost):
        yield "  WARNING: no judgement was transferred, so no ranking can be measured on this set"
    shown = limits.SHOWN_LOST_JUDGEMENTS
    for one in lost[:shown]:
        yield f"  not transferred: {one.query_id} {one.passage_id} {one.relevance}: {one.reason}"
    if len(lost) > shown:
        yield f"  and {len(lost) - shown:,} more, all in cutting.json"
