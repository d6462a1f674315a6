"""Making projects: the folder of a project appears whole or not at all, and is never overwritten.

A start with options of an existing project compares them with its file, and names the differences.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.annotation.items import AnnotationItem, item_line, read_items
from ragstone.annotation.project import FILE, FORMAT, ITEMS, Project
from ragstone.annotation.schemes import Scheme, TaskName
from ragstone.annotation.tasks import scheme_of
from ragstone.core.atomic_files import atomic_file, atomic_folder
from ragstone.core.own_files import read_model
from ragstone.core.times import utc_text
from ragstone.errors import ConfigError, DatasetError

SCHEME_FILE: Final = "scheme.yaml"
GUIDELINES_FILE: Final = "guidelines.md"


@dataclass(frozen=True)
class ProjectPlan:
    """The task, source, settings and scheme of a new project."""

    task: TaskName
    source: Mapping[str, Any] = field(default_factory=dict)
    """The source of its items, as it was written: `data`, `experiment`, `from` and so on."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of `project.yaml`, those that were chosen."""
    scheme: str = ""
    """A scheme's name, or a YAML file, which is copied into the folder."""
    guidelines: Path | None = None
    """A text file, which is copied into the folder."""
    made: Mapping[str, Any] = field(default_factory=dict)

    def read_scheme(self) -> Scheme:
        """Return the scheme; raise `ConfigError` if there is none of that name."""
        return scheme_of(self.task, self.scheme, Path())

    @property
    def copies_scheme(self) -> bool:
        """Whether the scheme is a file of its own."""
        return self.scheme.endswith((".yaml", ".yml"))


def make_project(folder: Path, plan: ProjectPlan, items: Iterable[AnnotationItem]) -> Project:
    """Write a project and return it; the folder appears whole or not at all.

    Raises `ConfigError` if the folder exists and has files, or if there is no item.
    """
    _check_free(folder)
    plan.read_scheme()
    lines = _lines(items)
    if not lines and plan.task != "conversation":
        raise ConfigError(
            f"nothing to label for the task {plan.task}: the source and the filters give no item; "
            "choose another source, or leave filters out",
            key="task",
            value=plan.task,
        )
    try:
        with atomic_folder(folder) as made:
            (made / ITEMS).write_bytes(b"".join(lines))
            (made / FILE).write_bytes(_yaml(_document(folder, plan, len(lines))))
            for name, copied in _copies(plan).items():
                (made / name).write_bytes(copied)
            Project.open(made)
    except OSError as error:
        raise ConfigError(f"cannot write the project {folder}: {error}", path=folder) from error
    return Project.open(folder)


def _check_free(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} exists and is not an annotation project; choose another name",
            path=folder,
        )


def _lines(items: Iterable[AnnotationItem]) -> list[bytes]:
    found = list(items)
    seen: set[str] = set()
    for one in found:
        if one.item_id in seen:
            raise DatasetError(f"the source has two items with the id {one.item_id!r}; keep one")
        seen.add(one.item_id)
    return [item_line(one) for one in found]


def _document(folder: Path, plan: ProjectPlan, count: int) -> dict[str, Any]:
    guidelines = {"guidelines": GUIDELINES_FILE} if plan.guidelines else {}
    scheme = SCHEME_FILE if plan.copies_scheme else plan.scheme
    return {
        "format": FORMAT,
        "name": folder.resolve().name,
        "task": plan.task,
        **({"scheme": scheme} if scheme else {}),
        **guidelines,
        "blind_key": secrets.token_hex(16),
        **plan.settings,
        "source": dict(plan.source),
        "items": {"file": ITEMS, "n": count},
        "made": {"at": utc_text(), **plan.made},
    }


def _copies(plan: ProjectPlan) -> dict[str, bytes]:
    files = {SCHEME_FILE: Path(plan.scheme)} if plan.copies_scheme else {}
    if plan.guidelines:
        files[GUIDELINES_FILE] = plan.guidelines
    return {name: path.read_bytes() for name, path in files.items()}


def _yaml(document: Mapping[str, Any]) -> bytes:
    import yaml

    return yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True).encode()


def check_same(project: Project, task: str | None, plan: ProjectPlan) -> None:
    """Raise `ConfigError` if options differ from those that a project was made with."""
    for key, given, kept in _compared(project, task, plan):
        if given != kept:
            raise ConfigError(
                f"the project {project.folder} has {key}: {_shown(kept)}, but {_shown(given)} was "
                f"given; leave the option out, edit {project.folder / FILE}, or choose another "
                "name for a new project",
                path=project.folder / FILE,
                key=key,
                value=given,
            )


def _compared(
    project: Project, task: str | None, plan: ProjectPlan
) -> Iterator[tuple[str, Any, Any]]:
    """Yield key, given value and kept value of each option that was given."""
    settings = asdict(project.settings)
    if task:
        yield "task", task, project.task
    for key, value in plan.settings.items():
        yield key, value, settings[key]
    for key, value in plan.source.items():
        yield f"source.{key}", value, project.settings.source.get(key)
    if plan.copies_scheme:
        scheme = read_model(Path(plan.scheme), "scheme", Scheme)
        if scheme != project.own_scheme:
            yield "scheme", plan.scheme, project.settings.scheme or project.scheme.name
    elif plan.scheme:
        yield "scheme", plan.scheme, project.settings.scheme or project.scheme.name
    if plan.guidelines and plan.guidelines.read_text("utf-8") != project.scheme.guidelines:
        yield "guidelines", str(plan.guidelines), project.settings.guidelines


def _shown(value: Any) -> str:
    return "nothing" if value in (None, "") else repr(value)


def add_items(project: Project, items: Iterable[AnnotationItem]) -> int:
    """Append the items with new ids to a project and return their number; known ones stay."""
    path = project.folder / ITEMS
    known = {one.item_id for one in read_items(path)}
    new = _lines(one for one in items if one.item_id not in known)
    if new:
        before = path.read_bytes()
        with atomic_file(path) as file:
            file.write(before if before.endswith(b"\n") or not before else before + b"\n")
            file.writelines(new)
    return len(new)
