"""The table of published data sets: rows of the YAML files in `sets/`, one file per family.

A file has `shared` (keys of all its rows) and `sets` (name -> row; the row's own keys come first).
`{word}` in a text is replaced by the row's `with: {word: ...}`; `{set}` is the name of the set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ragstone.core.parsing import read_yaml
from ragstone.data.dataset import DataSource
from ragstone.errors import ConfigError, did_you_mean, nearest_name

FOLDER: Final = Path(__file__).parent / "sets"
NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LIST: Final = "`ragstone data list` shows the sets"
_WORD: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Hub:
    """The place of a table on the hub."""

    repo: str
    files: tuple[str, ...]
    """Patterns of paths in the repository; all files of the first pattern that matches are read."""


@dataclass(frozen=True)
class TableForm:
    """The published form of one table: its files, and the places of its fields in their rows."""

    files: tuple[str, ...] = ()
    """Names or patterns of files, best first; all files of the first one that matches are read."""
    hub: Hub | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Field -> its place in a row (`ragstone.data.published.places`), or several places."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label of the query or passage -> its place in a row."""
    header: tuple[str, ...] = ()
    """Names of the columns of a file with tabs and without a header."""
    keep: Mapping[str, Any] = field(default_factory=dict)
    """Place -> value or values; other rows are left out. `*` keeps rows with any value."""
    rows: str = ""
    """Place of the rows in a JSON document; an object of objects has the key of each in `@key`."""
    each: str = ""
    """Place of a list in each row, whose items are the rows; their `up` is the row around them."""
    group: bool = False
    """Whether rows with the same query id are one query; if not, a repeated id is an error."""
    unjudged: bool = False
    """Whether the passages in the rows of queries (`context`) are not judged: search results."""
    by: str = ""
    """Field by which the rows of a joined table are found: query_id or text."""
    derive: str = ""
    """Name of a function in `ragstone.data.published.derived`, which adds fields to each row."""
    join_context: str = ""
    """Text between the contexts of a row, which then are one passage."""
    max_context: int = 0
    """Maximum characters of a context, 0 for any; a query with a longer one is left out."""
    fills: str = ""
    """Field for which a joined table is read only if a query has none, such as text."""


@dataclass(frozen=True)
class Preset:
    """A published data set: its description, the number of its paper's queries, and its files."""

    name: str
    title: str
    n: int
    """Number of queries of the paper's split and subset."""
    licence: str
    citation: str
    address: str
    """Where the publishers offer the files."""
    queries: TableForm = TableForm()
    qrels: TableForm | None = None
    corpus: TableForm | None = None
    join: tuple[TableForm, ...] = ()
    """Tables that add fields to the queries; a query that one of them does not have is left out."""
    reader: Mapping[str, Any] = field(default_factory=dict)
    """An existing reader, with parameters, for the file of `queries`; `columns` is then unused."""
    family: str = ""
    split: str = ""
    subset: str = ""
    """Rule of the subset, in words."""
    task: str = ""
    language: str = "en"
    passages: int = 0
    """Published number of passages; 0 if the set has no corpus of its own."""
    judged: str = "passage"
    """Unit of the judgements: a passage, or a document such as a Wikipedia page."""
    judged_only: bool = False
    """Whether only the queries with judgements belong to the set."""
    synonyms: tuple[str, ...] = ()
    note: str = ""
    """A note for readers of the paper, such as another number there."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label of every query -> its value, such as the task."""

    def facts(self) -> dict[str, Any]:
        """Return the set's entry in `ragstone data list --json`."""
        kept = ("name", "title", "family", "task", "language", "split", "subset", "n", "passages")
        hubs = {form.hub.repo: None for form in self.tables if form.hub}
        return {
            **{name: getattr(self, name) for name in kept},
            "judged": self.judged,
            "licence": self.licence,
            "citation": self.citation,
            "address": self.address,
            "hub": list(hubs),
            "files": [" or ".join(form.files) for form in self.tables if form.files],
            "synonyms": list(self.synonyms),
            "note": self.note,
        }

    @property
    def tables(self) -> tuple[TableForm, ...]:
        """The forms of all tables."""
        return (self.queries, *self.join, *filter(None, (self.qrels, self.corpus)))


@cache
def presets() -> Mapping[str, Preset]:
    """Return name -> preset of the whole table, in the order of the files."""
    found: dict[str, Preset] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        for name, preset in _read(path).items():
            if name in found:
                raise ConfigError(f"{path.name}: the set {name!r} is in another file already")
            found[name] = preset
    return MappingProxyType(found)


def find_preset(name: str) -> Preset | None:
    """Return the preset with a name or synonym; None if there is none."""
    if not NAME.fullmatch(name):
        return None
    table = presets()
    return table.get(name) or next((p for p in table.values() if name in p.synonyms), None)


def preset_of(name: str) -> Preset:
    """Return the preset with a name; raise `ConfigError` with the nearest name."""
    found = find_preset(name)
    if found is None:
        raise ConfigError(f"data: unknown set {name!r}{nearest(name)}", key="set", value=name)
    return found


def published_factors(source: DataSource) -> dict[str, str]:
    """Return the family and the language of a published set, axes of tables; {} for another set."""
    found = find_preset(source.published)
    return {"family": found.family, "language": found.language} if found else {}


def nearest(name: str) -> str:
    """Return the end of an error message about an unknown name, with the nearest published set.

    >>> nearest("sciqq")
    ". No published set has this name; did you mean 'sciq'? `ragstone data list` shows the sets"
    """
    hint = nearest_name(name, presets())
    return f". No published set has this name{hint}{'' if hint else ';'} {_LIST}"


def _read(path: Path) -> dict[str, Preset]:
    document = read_yaml(path, "table of published data sets")
    shared = document.get("shared", {})
    made = {}
    for name, row in document["sets"].items():
        words = {"set": name, **shared.get("with", {}), **row.get("with", {})}
        whole = {"family": path.stem, **shared, **row, "name": name}
        whole.pop("with", None)
        made[name] = _preset(_filled(whole, words))
    return made


def _filled(value: Any, words: Mapping[str, Any]) -> Any:
    """Return a value with the words in its texts replaced."""
    if isinstance(value, str):
        return _WORD.sub(lambda match: str(words.get(match[1], match[0])), value)
    if isinstance(value, list):
        return tuple(_filled(item, words) for item in value)
    if isinstance(value, Mapping):
        return {_filled(key, words): _filled(item, words) for key, item in value.items()}
    return value


def _preset(row: dict[str, Any]) -> Preset:
    for name in ("queries", "qrels", "corpus"):
        if row.get(name) is not None:
            row[name] = _form(row[name])
    row["join"] = tuple(_form(one) for one in row.get("join", ()))
    return Preset(**row)


def _form(row: Mapping[str, Any]) -> TableForm:
    known = {one.name for one in fields(TableForm)}
    if unknown := sorted(map(str, row.keys() - known)):
        raise ConfigError(f"a table has no key {unknown[0]!r}{did_you_mean(unknown[0], known)}")
    hub = row.get("hub")
    return TableForm(**{**row, "hub": None if hub is None else Hub(**hub)})
