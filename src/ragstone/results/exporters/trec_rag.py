"""Export to TREC RAG's form: sentences with the places of the references that each cites."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.data.writers.folder import json_line, write_lines
from ragstone.errors import ConfigError
from ragstone.results.exporters.base import Exporter, file_name
from ragstone.results.exporters.inspector import trial_name
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.text.cited_sentences import cited_sentences
from ragstone.types import Context, Prediction, Query

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrecRag(Exporter):
    """Exports the answers as runs of TREC's RAG track: a folder with a file per trial.

    The references are the passages of the context in their order, and citations are places in this
    list, from 0. Citations in the text of an answer are taken out of it, in every spelling that
    `cited_sentences` reads. A failed answer has no line: the form has no failures, and a scorer
    counts a missing topic as one. A citation of a passage that is not in the context is left out,
    with a warning that has the count.

    Args:
        segments: whether each line has the texts of its references, which TREC's form omits.
    """

    segments: bool = False

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the files of the folder `target` and return them."""
        one_setting = len(results.settings) == 1
        wanted: dict[Path, Iterable[bytes]] = {}
        absent = 0
        for trial in results.trials:
            name = trial.system if one_setting else trial_name(trial)
            path = target / f"{file_name(name)}.jsonl"
            if path in wanted:
                raise ConfigError(
                    f"two systems would be written to {path.name}; give {name!r} another name"
                )
            answers = _answers(results, trial)
            absent += sum(one.absent for one in answers)
            if answers:
                wanted[path] = [json_line(one.row(name, segments=self.segments)) for one in answers]
        if not wanted:
            raise ConfigError(f"{results.name!r} has no answer to write")
        if absent:
            _LOG.warning(
                "%s: %d citations of passages that are not in the context were left out",
                results.name,
                absent,
            )
        return write_lines(wanted)


@dataclass(frozen=True)
class _Answer:
    """An answer with its query, its references and its sentences."""

    query: Query
    references: Mapping[str, str]
    """Id -> text, "" if it is unknown, in the order of the references."""
    sentences: Sequence[tuple[str, Sequence[int]]]
    """Text, and places of references from 0."""
    absent: int
    """Citations of passages that are not in the context."""

    def row(self, run_id: str, *, segments: bool) -> dict[str, Any]:
        """Return the line of the answer."""
        row = {
            "run_id": run_id,
            "topic_id": self.query.query_id,
            "topic": self.query.text,
            "references": list(self.references),
            "response_length": sum(len(text.split()) for text, _ in self.sentences),
            "answer": [{"text": text, "citations": cited} for text, cited in self.sentences],
        }
        return {**row, "segments": dict(self.references)} if segments else row


def _answers(results: StoredResults, trial: TrialResults) -> list[_Answer]:
    """Return the answers of a trial in the order of the queries, without failed ones."""
    return [
        _answer(query, trial.predictions[query_id], trial.contexts.get(query_id))
        for query_id, query in results.queries.items()
        if query_id in trial.predictions and trial.predictions[query_id].answer is not None
    ]


def _answer(query: Query, prediction: Prediction, context: Context | None) -> _Answer:
    texts = {p.passage_id: p.text for p in context.passages} if context else {}
    ids: Sequence[str] = context.passage_ids if context else ()
    if prediction.sentences is not None and prediction.passage_ids is not None:
        ids = prediction.passage_ids
    # An id that is listed twice is one reference.
    places = {passage_id: place for place, passage_id in enumerate(dict.fromkeys(ids))}
    found, absent = [], 0
    for text, cited in _sentences(prediction):
        known = [ids[n - 1] for n in cited if 1 <= n <= len(ids)]
        absent += len(cited) - len(known)
        found.append((text, list(dict.fromkeys(places[i] for i in known))))
    return _Answer(query, {i: texts.get(i, "") for i in places}, found, absent)


def _sentences(prediction: Prediction) -> Iterator[tuple[str, Sequence[int]]]:
    yield from (
        cited_sentences(prediction.answer or "")
        if prediction.sentences is None
        else prediction.sentences
    )
