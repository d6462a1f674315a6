"""Publication of a data set: its folder gets a data card and a Croissant description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import orjson

from ragstone.building.card_facts import CardFacts, Statements, card_facts
from ragstone.building.card_page import MARK, card_page
from ragstone.building.croissant import FILE, croissant, earlier_statements
from ragstone.core.atomic_files import atomic_files
from ragstone.core.fingerprint import digest_file
from ragstone.data.load import SAMPLE
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.data_quality.finding import Finding

PAGE: Final = "README.md"
OTHER_PAGE: Final = "card.md"
"""Name of the card if the folder has a README of its own."""


@dataclass(frozen=True)
class Publication:
    """A data set and the folder that is published.

    Args:
        dataset: the data set.
        folder: the folder to write into; None for the data set's own.
        statements: the user's statements; earlier ones are kept.
        ratings: files of people's ratings.
    """

    dataset: Dataset
    folder: Path | None = None
    statements: Statements = field(default_factory=Statements)
    ratings: Sequence[str] = ()

    @property
    def origin(self) -> Path:
        """The place that the data set was read from; the current folder if it has none."""
        return self.dataset.source.path or Path()

    @property
    def target(self) -> Path:
        """The folder with the data and the card.

        Raises:
            DatasetError: the data set is not in a folder of its own layout, and none is given.
        """
        own = self.dataset.source.reader == "ragstone" and self.origin.is_dir()
        if self.folder is not None:
            return self.folder
        if own and self.origin != SAMPLE:
            return self.origin
        raise DatasetError(
            f"{self.dataset.name} is not a folder in Ragstone's own layout; name a folder with -o, "
            "into which the data set and its card are written"
        )

    def facts(self) -> CardFacts:
        """Write the data into the folder unless it has them, and return the card's facts.

        Raises:
            DatasetError: the folder has other data, or cannot be written.
        """
        target = self.target
        if not target.is_dir() or target.resolve() != self.origin.resolve():
            copy_data(self.dataset, target)
        statements = self.statements.over(earlier_statements(target))
        return card_facts(self.dataset, target, self.origin, statements, self.ratings)

    def write(self, facts: CardFacts, findings: Sequence[Finding] | None) -> list[Path]:
        """Write the card and the description, in place of earlier ones, and return the files.

        Raises:
            DatasetError: the folder cannot be written.
        """
        target = self.target
        page = PAGE if _is_ours(target / PAGE) else OTHER_PAGE
        try:
            with atomic_files(target) as temporary:
                text = card_page(facts, findings)
                (temporary / page).write_text(text, encoding="utf-8")
                document = orjson.dumps(croissant(facts), option=orjson.OPT_INDENT_2)
                (temporary / FILE).write_bytes(document)
        except OSError as error:
            raise DatasetError(f"cannot write the data card into {target}: {error}") from error
        return [target / page, target / FILE]


def copy_data(dataset: Dataset, folder: Path) -> None:
    """Write a data set into a folder; existing files must be those of the same data.

    Raises:
        DatasetError: the folder has other data.
    """
    with TemporaryDirectory() as made:
        files = write_dataset(dataset, Path(made) / "data")
        there = [folder / file.name for file in files if (folder / file.name).exists()]
        differing = [
            path
            for path in there
            if digest_file(path) != digest_file(Path(made) / "data" / path.name)
        ]
        if differing:
            raise DatasetError(
                f"{differing[0]} has other data than {dataset.name}; choose another folder, or "
                "remove it",
                path=differing[0],
            )
        if len(there) == len(files):
            return
    write_dataset(dataset, folder)


def _is_ours(path: Path) -> bool:
    """Return whether a page is absent or was written by this module."""
    if not path.exists():
        return True
    return path.is_file() and MARK in path.read_text("utf-8", errors="replace")
