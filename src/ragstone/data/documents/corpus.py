"""The corpus of a folder of documents: parsed, cut into passages; omissions are logged."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits, registry
from ragstone.data.corpus import Corpus
from ragstone.data.cut_passages import CutPassages
from ragstone.data.dataset import Dataset
from ragstone.data.documents.files import FoundFiles, count_text, find_files, known_text
from ragstone.data.documents.gold import transferred
from ragstone.data.documents.parsing import parse_files
from ragstone.data.documents.pieces import ParsedFile
from ragstone.data.documents.sections import FileText, file_text
from ragstone.data.readers.rows import BREAKS, listed
from ragstone.data.table_builder import judgements
from ragstone.errors import DatasetError
from ragstone.types import Document

_LOG: Final = logging.getLogger(__name__)
CHUNKER: Final = "words(200)"
"""The chunker of documents without one of their own: it needs no model, and cuts all languages."""


@dataclass(frozen=True)
class DocumentFiles:
    """Documents, and how they are cut.

    Args:
        written: a folder, a pattern such as `docs/**/*.pdf`, or a file.
        chunker: a chunker; None is `CHUNKER`.
        left_out: files that are not documents, such as the questions.
    """

    written: str
    chunker: Any = None
    left_out: Collection[Path] = ()

    def corpus(self) -> Corpus:
        """Return the passages, with the labels `page` and `heading` where they are known.

        A file's name is the document id. Unreadable files are logged as warnings.

        Raises:
            DatasetError: there is no document, or none has text.
            MissingDependency: a package of a parser is not installed.
        """
        cutter = self.chunker or registry.create("chunkers", CHUNKER, where="chunker")
        found = find_files(self.written, self.left_out)
        reading = _Reading(self.written, CutPassages(cutter))
        reading.add_all(parse_files(found.documents))
        for line in reading.told(found, is_guess=self.chunker is None):
            _LOG.warning("%s", line)
        return Corpus(reading.passages.finish())


def with_documents(dataset: Dataset, files: DocumentFiles | None) -> Dataset:
    """Return a data set with documents as its corpus; without documents, as it is.

    Gold passages of the data set's own corpus become those of the documents with their text.
    """
    if files is None:
        return dataset
    corpus = files.corpus()
    found = transferred(dataset, corpus)
    if found.lost:
        _LOG.warning(
            "%s: %s of %s judgements are left out, because no passage of %s has their text",
            dataset.name,
            f"{found.lost:,}",
            f"{dataset.qrel_table.num_rows:,}",
            files.written,
        )
    return replace(dataset, corpus=corpus, qrel_table=judgements(found.grades))


@dataclass
class _Reading:
    """The passages of documents, and the omissions."""

    written: str
    passages: CutPassages
    failed: dict[str, str] = field(default_factory=dict)
    """File -> why it cannot be read."""
    without_text: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    files: dict[str, list[str]] = field(default_factory=dict)
    """Note -> the files that have it."""

    def add_all(self, files: Iterable[tuple[str, ParsedFile | str]]) -> None:
        """Add the passages of files, or why they cannot be read."""
        for (name, text), cut in self.passages.cut(self._readable(files)):
            for passage, start, end in cut:
                labels = {**passage.labels, **text.page_labels(start, end)}
                self.passages.add(replace(passage, labels=labels))
            if not cut:
                self.without_text.append(name)

    def _readable(
        self, files: Iterable[tuple[str, ParsedFile | str]]
    ) -> Iterator[tuple[tuple[str, FileText], Sequence[Document]]]:
        """Yield name, text and sections of the files that can be read, and note the others."""
        for name, parsed in files:
            shown = name.encode(errors="backslashreplace").decode()
            why = parsed if isinstance(parsed, str) else ""
            if shown != name or BREAKS.intersection(name):
                why = "its name has a tab, a line break or bytes that are not UTF-8; rename it"
            if why or isinstance(parsed, str):
                self.failed[" ".join(shown.split())] = why
                continue
            for note, count in parsed.notes.items():
                if count:
                    self.notes[note] += count
                    self.files.setdefault(note, []).append(name)
            text = file_text(name, parsed)
            yield (name, text), text.sections

    def told(self, found: FoundFiles, *, is_guess: bool) -> Iterator[str]:
        """Yield the notes for the user; raise `DatasetError` if no file has text."""
        most = limits.MAX_LISTED_FILES
        failures = [f"{name}: {reason}" for name, reason in self.failed.items()]
        if not self.passages.count:
            empty = [f"{name}: it has no text" for name in self.without_text]
            why = "; ".join([listed([*failures, *empty], most), *self._noted()])
            raise DatasetError(f"no document of {self.written} could be read: {why}")
        total = len(found.documents)
        if is_guess:
            yield (
                f"{self.written}: {total - len(failures):,} of {total:,} documents are cut into "
                f"{self.passages.count:,} passages by {CHUNKER}; pin it with chunker: {CHUNKER}"
            )
        if failures:
            yield (
                f"{self.written}: {len(failures):,} of {total:,} documents could not be read: "
                f"{listed(failures, most)}"
            )
        if self.without_text:
            names = listed(self.without_text, most)
            count = f"{len(self.without_text):,} of {total:,}"
            yield f"{self.written}: {count} documents have no text: {names}"
        if found.unknown:
            yield (
                f"{self.written}: {found.unknown.total():,} other files are left out: "
                f"{count_text(found.unknown)} (known are {known_text()})"
            )
        for line in self._noted():
            yield f"{self.written}: {line}"

    def _noted(self) -> Iterator[str]:
        for note, count in self.notes.items():
            yield f"{count:,} {note}: {listed(self.files[note])}"
