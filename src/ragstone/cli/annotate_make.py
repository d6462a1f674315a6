"""The options that make a project; a second start with the same ones opens it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.annotate_sources import SOURCES, TASKS, read_source
from ragstone.cli.options import FILE, POSITIVE, together
from ragstone.cli.sources import store_option
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.annotation.conversation_import import ConversationItems
    from ragstone.annotation.create import ProjectPlan
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.schemes import TaskName

_FILTERS: Final = ("run", "top_k", "systems", "setting", "limit", "suggest")
"""Options that choose from a source; they are kept in `source` too."""
_SETTINGS: Final = ("people_per_item", "suggestions", "repeats", "seed", "agent", "corpus")
"""Options that are keys of project.yaml."""

source_options: Final = together(
    click.option(
        "--data", metavar="DATA", help="Data set whose queries and passages are labelled."
    ),
    click.option(
        "--experiment", metavar="E", help="Experiment file, or its name in --store: its answers."
    ),
    click.option(
        "--from",
        "from_",
        metavar="VIEW",
        help="Project, address of a list of `ragstone view`, or file of items, ratings to fill in "
        "or findings.",
    ),
    click.option("--run", type=FILE, help="TREC run: its first passages per query, with --data."),
    click.option("--top-k", type=POSITIVE, help="Passages of --run per query (default: 5)."),
    click.option("--systems", metavar="NAME,...", help="Only the answers of these systems."),
    click.option("--setting", multiple=True, help="Only answers under this setting; repeatable."),
    click.option("--limit", type=POSITIVE, help="A random sample of this many queries or pairs."),
    click.option("--seed", type=int, help="Seed of samples and orders (default: 0)."),
    store_option,
)
"""Where items are from."""
making_options: Final = together(
    click.option("--task", type=click.Choice(TASKS), help="What people do; makes a new project."),
    source_options,
    click.option(
        "--scheme",
        metavar="NAME|FILE",
        help="Questions: a name or a YAML file (default: the task's).",
    ),
    click.option("--guidelines", type=FILE, help="Text file with the guidelines that people see."),
    click.option("--people-per-item", type=POSITIVE, help="People who label each item."),
    click.option("--suggest", type=FILE, help="Ratings by a model: its labels of the items."),
    click.option(
        "--suggestions",
        type=click.Choice(["never", "before", "after"]),
        help="When a model's label is shown.",
    ),
    click.option(
        "--repeats", type=click.FloatRange(0, 1), help="Share of items that come a second time."
    ),
)
"""The options of `ragstone annotate PROJECT` that make a project."""


def make_if_new(folder: Path, given: Mapping[str, Any]) -> ConversationItems | None:
    """Make a project if the folder has none; it is never overwritten.

    Args:
        folder: the folder of the project.
        given: the values of `making_options`.

    Returns:
        the conversations that are imported for review, whose events the database must keep.

    Raises `ConfigError` if there is nothing to make it of, or if an existing project differs from
    the options.
    """
    from ragstone.annotation.create import check_same, make_project
    from ragstone.annotation.project import FILE, Project

    task, scheme = given.get("task"), given.get("scheme") or ""
    if (folder / FILE).exists():
        project = Project.open(folder)
        check_same(project, task, _plan(given, project.task, scheme))
        # A start that was cut off may have left events out.
        is_import = project.task == "conversation" and given.get("from_")
        return read_source(given, project.task).conversations if is_import else None
    if not any(given.get(name) for name in SOURCES):
        if task:
            raise ConfigError(
                "a new project needs its items: give --data, --experiment or --from", key="task"
            )
        return None
    read = read_source(given, task)
    plan = _plan(given, read.task, scheme or read.scheme)
    make_project(folder, plan, _suggested(given, plan, read.items))
    return read.conversations


def _suggested(
    given: Mapping[str, Any], plan: ProjectPlan, items: list[AnnotationItem]
) -> list[AnnotationItem]:
    """Return items with the labels of the file of --suggest."""
    from ragstone.annotation.import_labels import with_suggestions
    from ragstone.data.readers.ratings import read_ratings

    path = given.get("suggest")
    return with_suggestions(items, plan.read_scheme(), read_ratings(path)) if path else items


def _plan(given: Mapping[str, Any], task: TaskName, scheme: str) -> ProjectPlan:
    from ragstone.annotation.create import ProjectPlan
    from ragstone.version import __version__

    source = {key: given[name] for name, key in SOURCES.items() if given.get(name)}
    for name in _FILTERS:
        value = given.get(name)
        if value not in (None, "", ()):
            plain = list(value) if isinstance(value, tuple) else value
            source[name] = str(plain) if isinstance(plain, Path) else plain
    settings = {name: given[name] for name in _SETTINGS if given.get(name) not in (None, "")}
    made = {"ragstone": __version__}
    return ProjectPlan(task, source, settings, scheme, given.get("guidelines"), made)


def add_to(folder: Path, given: Mapping[str, Any]) -> tuple[int, int]:
    """Append the items of a source with new ids to a project; return their number and that of all.

    Raises `ConfigError` if no source is given.
    """
    from ragstone.annotation.create import add_items
    from ragstone.annotation.project import Project

    project = Project.open(folder)
    if not any(given.get(name) for name in SOURCES):
        raise ConfigError("give --data, --experiment or --from: the source of the new items")
    added = add_items(project, read_source(given, project.task, project.scheme).items)
    return added, len(Project.open(folder).items)
