"""`ragstone data chunk`: cut a data set's documents into other passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import json_option, print_json
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.building.rechunk.rechunk import Recut


@click.command("chunk")
@click.argument("source")
@click.argument("target", type=click.Path(path_type=Path), metavar="TARGET_FOLDER")
@click.option(
    "--chunker",
    default="sentences",
    show_default=True,
    help="What cuts, with its parameters: ragstone components chunkers.",
)
@click.option(
    "--documents",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CORPUS.jsonl",
    help="The whole documents, one a line; otherwise they are put together from the passages.",
)
@click.option(
    "--threshold",
    default=0.5,
    show_default=True,
    help="A new passage takes a judgement where it shares so much of the shorter of the two.",
)
@json_option
def chunk_command(
    source: str,
    target: Path,
    *,
    chunker: str,
    documents: Path | None,
    threshold: float,
    as_json: bool,
) -> None:
    """Cut the documents of SOURCE into other passages; queries stay, qrels are carried over.

    A passage's document and place are told by its document, its labels `start` and `end`, or its
    id of the form DOCUMENT-START-END. What could not be carried over is in `cutting.json`.
    A folder that holds corpus.jsonl alone is cut as well.

    \b
    Examples:
      ragstone data chunk sample cut --chunker "words(100)"
      ragstone data chunk my-set cut --chunker "sentences(512, overlap=100)"
      ragstone data chunk my-set cut --chunker tokens --documents documents.jsonl
      ragstone data chunk my-set documents --chunker whole
    """
    from ragstone.building.rechunk.rechunk import recut
    from ragstone.building.rechunk.write import check_target, write_recut
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core import registry
    from ragstone.core.progress import shown_by
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.folder import read_corpus, read_corpus_alone

    check_target(target)
    cutter = registry.create("chunkers", chunker, where="--chunker", folder=Path())
    whole = None if documents is None else read_corpus(documents)
    with shown_by(open_bar):
        dataset = read_corpus_alone(Path(source)) or load_dataset(source)
        made = recut(dataset, cutter, documents=whole, threshold=threshold)
    made_by = {"source": source, "chunker": repr(cutter), "threshold": threshold}
    files = write_recut(made, target, made_by)
    if as_json:
        print_json(made_by | made.summary() | {"files": [str(path) for path in files]})
    else:
        click.echo("\n".join(_told(made)))
        click.echo(f"{', '.join(path.name for path in files)} in {target}")


def _told(made: Recut) -> Iterator[str]:
    passages = f"{len(made.dataset.corpus):,} passages, the longest of {made.longest:,} characters"
    yield f"{made.documents:,} documents, {passages}"
    if made.without_text:
        yield f"  without text: {len(made.without_text):,}"
    yield from (f"  {note}: {count:,}" for note, count in made.notes.items())
    lost = made.not_carried
    yield (
        f"{made.judgements:,} judgements, {made.judgements - len(lost):,} carried over, "
        f"{made.dataset.qrel_table.num_rows:,} of the new passages"
    )
    if made.judgements and made.judgements == len(lost):
        yield "  WARNING: no judgement was carried over, so no ranking can be measured on this set"
    shown = limits.SHOWN_LOST_JUDGEMENTS
    for one in lost[:shown]:
        yield f"  not carried: {one.query_id} {one.passage_id} {one.relevance}: {one.reason}"
    if len(lost) > shown:
        yield f"  and {len(lost) - shown:,} more, all in cutting.json"
