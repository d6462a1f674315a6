"""Taxonomies of queries, by which models and people label them.

A taxonomy is a YAML file: `name`, `task` (the labeller's instruction), `context` (whether the
labeller sees the gold passages), `labels` (name -> meaning) and `several` (whether a query may have
more than one label). Two come with Ragstone: `know-your-rag` and `mtrag-question-types`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragstone.core.own_files import read_model
from ragstone.errors import ConfigError

SEPARATOR: Final = ";"
"""Separates the labels of a query in one text."""
FOLDER: Final = Path(__file__).parent / "taxonomies"


def own_taxonomies() -> list[str]:
    """Return the names of the taxonomies that come with Ragstone."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


class TaxonomyFile(BaseModel):
    """A taxonomy file."""

    model_config = ConfigDict(extra="forbid")

    name: str
    task: str
    labels: dict[str, str] = Field(min_length=2)
    context: bool = True
    several: bool = False
    """Whether a query may have several labels; each is then decided separately."""
    multiple: str = ""
    """The rule for people if several labels fit."""

    @field_validator("labels")
    @classmethod
    def _check_names(cls, labels: dict[str, str]) -> dict[str, str]:
        for name in labels:
            if not name.strip() or SEPARATOR in name:
                raise ValueError(f"the label {name!r} is empty or contains {SEPARATOR!r}")
        return labels


def load_taxonomy(written: str) -> TaxonomyFile:
    """Return a taxonomy by the name of one that comes with Ragstone, or by the path of a YAML file.

    Raises:
        ConfigError: there is no such taxonomy, or it is malformed.

    >>> list(load_taxonomy("know-your-rag").labels)
    ['fact_single', 'summary', 'reasoning', 'unanswerable']
    """
    own = FOLDER / f"{written}.yaml"
    path = own if own.is_file() else Path(written)
    if not path.is_file():
        known = ", ".join(own_taxonomies())
        raise ConfigError(f"no taxonomy {written!r}: name a YAML file, or one of: {known}")
    return read_model(path, "taxonomy", TaxonomyFile)
