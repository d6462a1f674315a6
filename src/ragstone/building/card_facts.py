"""The facts of a data set's card: files, splits, composition, origin, agreement, licence.

Every statement comes from the data set, from the files beside it, or from the user. Facts
that none of them has are listed as unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.building.built import BUILD
from ragstone.building.write import SUMMARY
from ragstone.data.data_files import DataFile, data_files
from ragstone.data.describe import Description, describe
from ragstone.data.readers.rated_layouts import RATINGS, layout_of, read_rated
from ragstone.data.readers.rated_set import joined_sets
from ragstone.data.readers.rows import json_document
from ragstone.results.ratings_report import RatingsReport, make_ratings

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset

UNKNOWN: Final = "unknown"
LABELS: Final = "labels.jsonl"
_SPLIT: Final = "split"
_LICENCE_FILES: Final = ("LICENSE", "LICENCE")


@dataclass(frozen=True)
class Statements:
    """Facts about a data set that only people know; "" for unknown ones."""

    title: str = ""
    description: str = ""
    licence: str = ""
    creator: str = ""
    url: str = ""
    date: str = ""
    """The day of publication."""
    version: str = ""
    citation: str = ""

    def over(self, other: Statements) -> Statements:
        """Return these statements, with those of another one for unknown facts.

        >>> Statements(licence="MIT").over(Statements(licence="x", creator="us")).creator
        'us'
        """
        return Statements(*(getattr(self, f.name) or getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class CardFacts:
    """The facts of a data card."""

    name: str
    statements: Statements
    about: Description
    files: tuple[DataFile, ...]
    splits: Mapping[str, int]
    """Split -> queries; {} if the data set has no splits."""
    built: Mapping[str, Any]
    """The content of `build.json`; {} without."""
    generated: Mapping[str, Any]
    """The content of `summary.json` of `ragstone data generate`; {} without."""
    machine_qrels: str
    """Sentence on the model that made the qrels; "" if there is no mark."""
    ratings: RatingsReport | None
    """Agreement of raters; None without ratings."""

    @property
    def sources(self) -> list[Mapping[str, str]]:
        """The sets that the data set was built from, with their licences, as far as known."""
        recipe = self.built.get("recipe") or {}
        return [one for one in recipe.get("sets") or () if isinstance(one, Mapping)]

    @property
    def unknown(self) -> list[str]:
        """The facts that Croissant requires and nothing states."""
        names = {"licence": "licence", "creator": "creator", "url": "URL", "date": "date published"}
        given = asdict(self.statements)
        return [shown for name, shown in names.items() if not given[name]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            **asdict(self.statements),
            "unknown": self.unknown,
            "queries": self.about.queries,
            "passages": self.about.passages,
            "judgements": self.about.qrels,
            "splits": dict(self.splits),
            "data_files": [asdict(one) for one in self.files],
            "sources": self.sources,
            "machine_qrels": self.machine_qrels,
            "agreement": self.ratings.to_dict()["properties"] if self.ratings else {},
        }


def card_facts(
    dataset: Dataset, folder: Path, origin: Path, statements: Statements, ratings: Sequence[str]
) -> CardFacts:
    """Return the facts of a data set whose files are in a folder.

    Args:
        dataset: the data set.
        folder: the folder with its files in Ragstone's own layout.
        origin: the folder or file that it was read from, with the records of its making.
        statements: the user's statements.
        ratings: files of people's ratings; `labels.jsonl` beside the data set is read too.

    Raises:
        DatasetError: a file of ratings is malformed.
    """
    base = origin if origin.is_dir() else origin.parent
    known, citation = dataset.source, dataset.source.citation
    licence = known.licence or _licence_file(base)
    own = Statements(licence=licence, url=_address(known.address), citation=citation)
    own = replace(own, title=dataset.name, version=known.revision)
    beside = [str(base / LABELS)] if _has_ratings(base / LABELS) else []
    rated = [read_rated(path) for path in dict.fromkeys((*ratings, *beside))]
    return CardFacts(
        dataset.name,
        statements.over(own),
        describe(dataset),
        tuple(data_files(folder)),
        _splits(dataset, folder),
        _document(base / BUILD),
        _document(base / SUMMARY),
        known.machine_qrels,
        make_ratings(joined_sets(rated)) if rated else None,
    )


def _address(address: str) -> str:
    return address if address.startswith(("http://", "https://")) else ""


def _licence_file(folder: Path) -> str:
    """Return a reference to a licence beside the data; "" if there is none."""
    named = (path.name for path in sorted(folder.iterdir()) if path.is_file())
    found = next((name for name in named if name.upper().startswith(_LICENCE_FILES)), "")
    return f"see the file {found}" if found else ""


def _has_ratings(path: Path) -> bool:
    """Return whether a file has ratings; `ragstone data label` writes labels under that name."""
    return path.is_file() and path.stat().st_size > 0 and layout_of(path) == RATINGS


def _document(path: Path) -> Mapping[str, Any]:
    found = json_document(path) if path.is_file() else {}
    return found if isinstance(found, Mapping) else {}


def _splits(dataset: Dataset, folder: Path) -> dict[str, int]:
    """Return split -> queries: by the label `split`, or by the files of a folder `qrels`."""
    labels = (str(q.labels[_SPLIT]) for q in dataset.queries if _SPLIT in q.labels)
    if found := Counter(labels):
        return dict(found)
    files = sorted((folder / "qrels").glob("*.tsv*"))
    return {path.name.partition(".")[0]: _judged(path) for path in files}


def _judged(path: Path) -> int:
    from ragstone.data.readers.rows import decoded, lines

    ids = {decoded(line).partition("\t")[0] for number, line in lines(path) if number > 1}
    return len(ids)
