"""A project: a folder with `project.yaml`, `items.jsonl` and a database.

The database is `annotation.db` unless another one is named. docs/annotate.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from ragstone.annotation.items import AnnotationItem, read_items
from ragstone.annotation.schemes import Scheme, TaskName
from ragstone.core.own_files import read_model
from ragstone.errors import ConfigError, NewerFile

FORMAT: Final = 1
"""The format of `project.yaml`."""
FILE: Final = "project.yaml"
ITEMS: Final = "items.jsonl"
DATABASE: Final = "annotation.db"
BACKUPS: Final = "backups"
_FORBID: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Goal:
    """Least and largest number of something in a conversation; None: no bound."""

    __pydantic_config__: ClassVar = _FORBID

    least: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class Goals:
    """Requirements of a conversation before it can be sent to review."""

    __pydantic_config__: ClassVar = _FORBID

    turns: Goal = field(default_factory=lambda: Goal(6, 9))
    unanswerable: Goal = field(default_factory=Goal)
    unanswerable_share: float | None = None
    """Wanted share of unanswerable turns over the whole project."""
    question_types: tuple[str, ...] = ()
    """Each of them at least once."""
    relevant_passages: Goal = field(default_factory=Goal)
    """Unique passages that are marked relevant."""


@dataclass(frozen=True)
class Settings:
    """The keys of `project.yaml`."""

    __pydantic_config__: ClassVar = _FORBID

    name: str
    task: TaskName
    format: int = FORMAT
    source: Mapping[str, Any] = field(default_factory=dict)
    items: Mapping[str, Any] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)
    scheme: str = ""
    """A scheme's name or its file beside `project.yaml`; the task's own if it is empty."""
    guidelines: str = ""
    """A text file beside `project.yaml`, in place of the scheme's guidelines."""
    blind_key: str = ""
    """Drawn when the project is made: without it, a person who knows the names of the systems could
    compute which answer is whose. A change mixes up the sides of pairs that were shown."""
    people_per_item: int = 1
    """How many people label each item."""
    order: Literal["per_person", "file"] = "per_person"
    seed: int = 0
    repeats: float = 0.0
    """Share of items that a person gets a second time, to measure self-consistency."""
    qualification: float | None = None
    """Share of items with known labels that a person must have right; None: no such rule."""
    suggestions: Literal["never", "before", "after"] = "never"
    wanted_half_width: float = 0.05
    """Half of the wanted width of each question's interval; /progress shows the missing labels."""
    agreement: bool = False
    """Whether annotators see the agreement about an item after their own label."""
    agent: str = ""
    """The live agent of conversations: `EXPERIMENT.yaml:SYSTEM`, `my_rag.py:answer`, an address."""
    corpus: str = ""
    """The data set that the agent searches, unless the experiment names one; without one, an agent
    that answers by itself has no search."""
    agent_seconds: Annotated[float, Field(gt=0)] = 120.0
    """Time limit of a call of the agent."""
    agent_calls: Annotated[int, Field(ge=1)] = 4
    """Maximum number of calls of the agent at once."""
    complete_turns: bool = True
    """Whether the next query needs a mark of every passage and every required label."""
    goals: Goals = field(default_factory=Goals)


@dataclass(frozen=True)
class Project:
    """A project folder, read and checked."""

    folder: Path
    settings: Settings
    scheme: Scheme
    """With the guidelines of the project, if it has its own."""
    own_scheme: Scheme | None = None
    """The scheme as its file or its name has it."""

    @classmethod
    def open(cls, folder: Path) -> Project:
        """Read a project.

        Raises:
            ConfigError: there is no project, or its file has a mistake.
        """
        from ragstone.annotation.tasks import scheme_of

        path = folder / FILE
        if not path.exists():
            raise ConfigError(
                f"{folder} has no {FILE}; make a project with --data, --experiment or --from",
                path=path,
            )
        settings = read_model(path, "annotation project", Settings)
        if settings.format > FORMAT:
            raise NewerFile(
                f"{path} has the format {settings.format}, this Ragstone reads {FORMAT}: update it "
                "with pip install -U ragstone",
                path=path,
            )
        scheme = scheme_of(settings.task, settings.scheme, folder)
        shown = replace(scheme, guidelines=_guidelines(folder, settings) or scheme.guidelines)
        return cls(folder, settings, shown, scheme)

    @property
    def name(self) -> str:
        """The name of the project."""
        return self.settings.name

    @property
    def task(self) -> TaskName:
        """The task of its people."""
        return self.settings.task

    @cached_property
    def items(self) -> dict[str, AnnotationItem]:
        """Item id -> item, in the order of the file."""
        return {one.item_id: one for one in read_items(self.folder / ITEMS)}


def _guidelines(folder: Path, settings: Settings) -> str:
    if not settings.guidelines:
        return ""
    path = folder / settings.guidelines
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"the guidelines {path} cannot be read as text: {error}"
        raise ConfigError(problem, path=path, key="guidelines") from error
