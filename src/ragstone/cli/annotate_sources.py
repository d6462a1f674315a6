"""The sources of a project: a data set, an experiment, a list of `ragstone view`, or a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from ragstone.cli.options import load_results
from ragstone.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from ragstone.annotation.conversation_import import ConversationItems
    from ragstone.annotation.from_files import ReadFile
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.schemes import Scheme, TaskName
    from ragstone.results.results import Results

TASKS: Final = (
    *("conversation", "labels", "support", "ratings"),
    *("pairwise", "nuggets", "causes", "validation"),
)
SOURCES: Final = {"data": "data", "experiment": "experiment", "from_": "from"}
"""Option -> its key in `source` of project.yaml."""
_FINDINGS: Final = "findings"


@dataclass(frozen=True)
class ReadSource:
    """The items of a source, and the task that it is for."""

    task: TaskName
    items: list[AnnotationItem]
    scheme: str = ""
    """The scheme that the source is for; "" for the task's own."""
    conversations: ConversationItems | None = None


def read_source(
    given: Mapping[str, Any], task: TaskName | None, scheme: Scheme | None = None
) -> ReadSource:
    """Return the items that options name.

    Args:
        given: `data`, `experiment`, `from_`, `run`, `top_k`, `systems`, `setting`, `limit`, `seed`,
            `store` and `scheme`, as far as they are given.
        task: the task; None if the source has it.
        scheme: the scheme of an existing project.
    """
    written = given.get("from_") or ""
    if task == "conversation" and (found := _conversations(written)) is not None:
        return ReadSource(task, list(found.items), conversations=found)
    if _is_address(written):
        return _of_list(given, written, task)

    from ragstone.annotation.from_files import ReadFile, read_file

    if written and not Path(written).exists():
        raise ConfigError(
            f"--from {written} is neither a file nor a folder; the address of a list begins with "
            "/queries, /causes or http://",
            key="from",
            value=written,
        )
    file = read_file(Path(written)) if written else ReadFile()
    wanted = task or file.task
    if wanted is None:
        raise ConfigError(f"give --task with one of: {', '.join(TASKS)}", key="task")
    if file.items:
        return ReadSource(wanted, _sample(file.items, given))
    if given.get("experiment"):
        return ReadSource(wanted, _of_experiment(given, wanted, answers=file.answers or None))
    if not given.get("data"):
        kind = "--experiment" if file.answers else "--data"
        raise ConfigError(f"{written} has ids without texts: give {kind} as well", key="from")
    return _of_data(given, wanted, scheme, file)


def _conversations(written: str) -> ConversationItems | None:
    """Return the conversations of a file or folder; None if it has none, such as a project."""
    from ragstone.annotation.conversation_import import conversation_items
    from ragstone.annotation.project import FILE
    from ragstone.data.readers.table_files import read_table

    path = Path(written)
    if not written or (path / FILE).exists():
        return None
    if path.is_file() and "messages" not in next(iter(read_table(path)), (0, ()))[1]:
        return None
    return conversation_items(written)


def _sample(found: list[AnnotationItem], given: Mapping[str, Any]) -> list[AnnotationItem]:
    from ragstone.annotation.from_data import sampled

    return sampled(found, given.get("limit"), given.get("seed") or 0)


def _of_data(
    given: Mapping[str, Any], task: TaskName, scheme: Scheme | None, file: ReadFile
) -> ReadSource:
    from ragstone.annotation.from_data import TOP, DataChoice, data_items
    from ragstone.annotation.from_files import finding_items
    from ragstone.annotation.tasks import scheme_of
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.trec import read_run

    dataset = load_dataset(given["data"])
    if file.findings:
        found = list(finding_items(dataset, file.findings))
        return ReadSource(task, _sample(found, given), _FINDINGS)
    choice = DataChoice(
        read_run(given["run"]) if given.get("run") else None,
        given.get("top_k") or TOP,
        file.pairs or None,
        given.get("limit"),
        given.get("seed") or 0,
    )
    asked = scheme or scheme_of(task, given.get("scheme") or "", Path())
    return ReadSource(task, data_items(dataset, task, asked, choice))


def _of_experiment(given: Mapping[str, Any], task: TaskName, **only: Any) -> list[AnnotationItem]:
    """Return the items of an experiment, without its secret queries."""
    from ragstone.annotation.from_results import AnswerChoice, result_items

    systems = tuple(filter(None, (given.get("systems") or "").split(",")))
    choice = AnswerChoice(
        tuple(one.strip() for one in systems),
        tuple(given.get("setting") or ()),
        limit=given.get("limit"),
        seed=given.get("seed") or 0,
        **only,
    )
    return result_items(_results(given), task, choice)


def _results(given: Mapping[str, Any]) -> Results:
    """Return the results of an experiment file, a name in the store, or a record."""
    from ragstone.core.store import Store
    from ragstone.core.store_contents import require_store
    from ragstone.results.record import KIND
    from ragstone.results.results import Results

    written, store = given["experiment"], given["store"]
    path = Path(written)
    if path.suffix == ".json" and path.parent.name == KIND:
        written, store = path.stem, path.parent.parent
    elif path.suffix in (".yaml", ".yml"):
        return load_results(path, ())
    require_store(store)
    return Results.load(Store(store), written)


# Lists of `ragstone view`


def _is_address(written: str) -> bool:
    return written.startswith(("http://", "https://", "/queries", "/causes"))


def _check_filters(query: str, known: Collection[str]) -> None:
    """Raise `ConfigError` if an address has a filter that no list has; `from` is a page of one."""
    for name, _ in parse_qsl(query):
        if name not in known and name != "from":
            said = f"a list of `ragstone view` has no filter {name!r}{did_you_mean(name, known)}"
            raise ConfigError(said, key="from", value=name)


def _of_list(given: Mapping[str, Any], address: str, task: TaskName | None) -> ReadSource:
    """Return the answers that a list of `ragstone view` has, by the filters in its address."""
    from ragstone.view.query_filter import QueryFilter, found_queries
    from ragstone.web.errors import PageError

    parts = urlsplit(address)
    if parts.path.rstrip("/") not in ("/queries", "/causes"):
        raise ConfigError(
            f"--from must be the address of a list, such as /queries?experiment=NAME&right=no, "
            f"found {address!r}",
            key="from",
            value=address,
        )
    _check_filters(parts.query, [one.name for one in fields(QueryFilter)])
    wanted = QueryFilter.of_address(f"{parts.path}?{parts.query}")
    if not wanted.experiment and not given.get("experiment"):
        raise ConfigError(
            "the address names no experiment; add experiment=NAME to it, or give --experiment",
            key="from",
            value=address,
        )
    named = {**given, "experiment": given.get("experiment") or wanted.experiment}
    try:
        found = found_queries(_results(named), wanted)
    except PageError as error:
        raise ConfigError(error.state.said, key="from", value=address) from error
    answers = {(a.query_id, a.system, a.setting): None for one in found for a in one.answers}
    chosen: TaskName = task or "ratings"
    return ReadSource(chosen, _of_experiment(named, chosen, answers=answers))
