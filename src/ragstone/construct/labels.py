"""Labelling queries by a taxonomy of one's own, and the files in which labels are kept.

A taxonomy is a YAML file: `name`, `task` (what the labeller is asked), `context` (whether it is
shown the gold passages) and `labels` (name -> what it means). Two come with Ragstone:
`know-your-rag` and `mtrag-question-types`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragstone.datasets.files import json_rows, read_bytes, take_id
from ragstone.errors import ConfigError, DatasetError
from ragstone.judges.asking import Answered, Question
from ragstone.judges.forms import Choice, Form
from ragstone.judges.items import Item, Verdict
from ragstone.judges.model_judge import ModelJudge, sheet, unscored

if TYPE_CHECKING:
    from ragstone.datasets.dataset import Dataset

FOLDER: Final = Path(__file__).parent / "taxonomies"
_IDS: Final = ("query_id", "item_id", "_id", "id")


class TaxonomyFile(BaseModel):
    """A taxonomy as written."""

    model_config = ConfigDict(extra="forbid")

    name: str
    task: str
    labels: dict[str, str] = Field(min_length=2)
    context: bool = True
    multiple: str = ""
    """For people: how to choose where several labels fit."""


def load_taxonomy(written: str) -> TaxonomyFile:
    """Return a taxonomy: the name of one that comes with Ragstone, or the path of a YAML file.

    Raises:
        ConfigError: there is none, or it is malformed.

    >>> list(load_taxonomy("know-your-rag").labels)
    ['fact_single', 'summary', 'reasoning', 'unanswerable']
    """
    own = FOLDER / f"{written}.yaml"
    path = own if own.is_file() else Path(written)
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.yaml")))
        raise ConfigError(f"no taxonomy {written!r}: name a YAML file, or one of: {known}")
    try:
        return TaxonomyFile.model_validate(yaml.safe_load(path.read_text()))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg'].lower()}") from error


@dataclass(frozen=True)
class Labeller(ModelJudge):
    """Gives each item one label of a taxonomy."""

    taxonomy: str = "know-your-rag"

    name: ClassVar[str] = "label"
    form: ClassVar[Form[Any]] = Choice()
    needs: ClassVar[frozenset[str]] = frozenset()
    scores_itself: ClassVar[bool] = False
    variables: ClassVar[tuple[str, ...]] = ("query", "history", "passages")
    own_user: ClassVar[str] = "{query}"

    def __post_init__(self) -> None:
        """Read the taxonomy before anything is run."""
        if not self.user:
            object.__setattr__(self, "user", _sheet(self._file))
        super().__post_init__()

    @cached_property
    def _file(self) -> TaxonomyFile:
        return load_taxonomy(self.taxonomy)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the file."""
        return tuple(self._file.labels)

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call where a context is needed and there is none."""
        if self._file.context and not any(p.strip() for p in item.passages):
            return Verdict.not_asked(item, "the query has no gold passage to be labelled with")
        return None

    def questions(self, item: Item) -> list[Question[Any]]:
        """Ask for one of the labels."""
        return [self.question(Choice(self.labels), self.values(item), item.passages)]

    def verdict(self, item: Item, answered: Sequence[Answered[Any]]) -> Verdict:
        """Return the label."""
        failed = unscored(item, answered)
        return failed or Verdict(item.item_id, 1.0, str(answered[0].value))


def _sheet(file: TaxonomyFile) -> str:
    meanings = "\n".join(f"- {name}: {meaning};" for name, meaning in file.labels.items())
    task = f"{file.task}\n{meanings}".replace("{", "{{").replace("}", "}}")
    shown = {"query": "question", **({"passages": "context"} if file.context else {})}
    return sheet(task, **shown)


def gold_items(dataset: Dataset, most: int = 3) -> list[Item]:
    """Return each query with its gold passages, best grade first and at most `most` of them."""
    found = []
    for query in dataset.queries:
        grades = sorted(dataset.qrels.get(query.query_id, {}).items(), key=lambda pair: -pair[1])
        ids = [i for i, grade in grades if grade > 0 and i in dataset.corpus][:most]
        found.append(Item(query, "", tuple(dataset.corpus[i].full_text for i in ids)))
    return found


def read_labels(path: Path, key: str = "label") -> dict[str, str]:
    """Return item id -> label of a file: JSON lines, or CSV or TSV with a header line.

    The id is in the field `query_id`, `item_id`, `_id` or `id`. Rows without a label are left out:
    who did not label an item has no say in it.

    Raises:
        DatasetError: a row has no id, or an id stands twice with two labels.
    """
    rows = _tabled(path) if path.name.endswith((".csv", ".tsv")) else json_rows(path)
    found: dict[str, str] = {}
    for number, row in rows:
        names = [name for name in _IDS if row.get(name)]
        if not names:
            raise DatasetError(f"{path}, line {number}: no id; looked for {', '.join(_IDS)}")
        item_id, label = take_id({"_id": str(row[names[0]])}), row.get(key)
        if label in (None, ""):
            continue
        if found.setdefault(item_id, str(label)) != str(label):
            raise DatasetError(
                f"{path}, line {number}: {item_id!r} is labelled {label!r}, and before "
                f"{found[item_id]!r}; an annotator gives one label"
            )
    if not found:
        raise DatasetError(f"{path} holds no row with the field {key!r}")
    return found


def _tabled(path: Path) -> Iterable[tuple[int, Mapping[str, Any]]]:
    text = read_bytes(path).decode("utf-8", "replace")
    sign = "\t" if path.name.endswith(".tsv") else ","
    return enumerate(csv.DictReader(text.splitlines(), delimiter=sign), start=2)


def dataset_labels(dataset: Dataset, label: str) -> list[str]:
    """Return the values of one label over the queries; one of a list counts each time."""
    found: list[str] = []
    for query in dataset.queries:
        value = query.labels.get(label)
        if value is not None:
            found.extend(map(str, value if isinstance(value, tuple) else (value,)))
    return found
