"""Labelling queries by a taxonomy of one's own.

A taxonomy is a YAML file: `name`, `task` (what the labeller is asked), `context` (whether it is
shown the gold passages), `labels` (name -> what it means) and `several` (whether a query may have
more than one). Two come with Ragstone: `know-your-rag` and `mtrag-question-types`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ragstone.building.label_files import SEPARATOR
from ragstone.components.judges.list_schemas import Numbered
from ragstone.components.judges.llm_base import ModelJudge, unscored, user_template
from ragstone.components.judges.questions import Answered, JudgeCall
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema
from ragstone.core import limits
from ragstone.core.parsing import read_yaml
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset

FOLDER: Final = Path(__file__).parent / "taxonomies"


class TaxonomyFile(BaseModel):
    """A taxonomy as written."""

    model_config = ConfigDict(extra="forbid")

    name: str
    task: str
    labels: dict[str, str] = Field(min_length=2)
    context: bool = True
    several: bool = False
    """Whether a query may have several of the labels; each is then decided on its own."""
    multiple: str = ""
    """For people: how to choose where several labels fit."""

    @field_validator("labels")
    @classmethod
    def _plain_names(cls, labels: dict[str, str]) -> dict[str, str]:
        for name in labels:
            if not name.strip() or SEPARATOR in name:
                raise ValueError(f"the label {name!r} is empty or holds {SEPARATOR!r}")
        return labels


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
        return TaxonomyFile.model_validate(read_yaml(path, "taxonomy"))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg'].lower()}") from error


@dataclass(frozen=True)
class Labeller(ModelJudge):
    """Gives each item one label of a taxonomy, or all that fit where a query may have several."""

    taxonomy: str = "know-your-rag"

    name: ClassVar[str] = "label"
    form: ClassVar[VerdictSchema[Any]] = Choice()
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

    @property
    def called(self) -> str:
        """The taxonomy's own name."""
        return self._file.name

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call where a context is needed and there is none."""
        if self._file.context and not any(p.strip() for p in item.passages):
            return Verdict.not_asked(item, "the query has no gold passage to be labelled with")
        return None

    def questions(self, item: Item) -> list[JudgeCall[Any]]:
        """Ask for one of the labels, or for a yes or no to each."""
        form: VerdictSchema[Any] = (
            Numbered(len(self.labels)) if self._file.several else Choice(self.labels)
        )
        return [self.question(form, self.values(item), item.passages)]

    def verdict(self, item: Item, answered: Sequence[Answered[Any]]) -> Verdict:
        """Return the label, or the labels with a sign between them."""
        failed = unscored(item, answered)
        if failed or not self._file.several:
            return failed or Verdict(item.item_id, 1.0, str(answered[0].value))
        said = zip(self.labels, answered[0].said, strict=True)
        held = [label for label, word in said if word == "yes"]
        if not held:
            return Verdict(item.item_id, status="failed", reason="no label fits, says the model")
        return Verdict(item.item_id, 1.0, SEPARATOR.join(held))


def _sheet(file: TaxonomyFile) -> str:
    marks = [f"{n}." if file.several else "-" for n in range(1, len(file.labels) + 1)]
    named = zip(marks, file.labels.items(), strict=True)
    meanings = "\n".join(f"{mark} {name}: {meaning};" for mark, (name, meaning) in named)
    task = f"{file.task}\n{meanings}".replace("{", "{{").replace("}", "}}")
    shown = {"query": "question", **({"passages": "context"} if file.context else {})}
    return user_template(task, **shown)


def gold_items(dataset: Dataset, most: int = limits.MAX_GOLD_PASSAGES) -> list[Item]:
    """Return each query with its gold passages, best grade first and at most `most` of them."""
    found = []
    for query in dataset.queries:
        grades = sorted(dataset.qrels.get(query.query_id, {}).items(), key=lambda pair: -pair[1])
        ids = [i for i, grade in grades if grade > 0 and i in dataset.corpus][:most]
        found.append(Item(query, "", tuple(dataset.corpus[i].full_text for i in ids)))
    return found
