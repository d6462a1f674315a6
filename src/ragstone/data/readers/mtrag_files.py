"""The files of an mtRAG folder: which ones are tasks, conversations, judgements and corpora.

Tasks and conversations are found by their form. The folders `tasks`, `generation_tasks` and
`conversations` come first; a folder may contain other files of the same form, such as those of
synthetic conversations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ragstone.core.parsing import parse_json
from ragstone.core.regular_files import is_there
from ragstone.data.readers.rows import FieldError, Row, listed, opened, parsed, read_bytes, reading
from ragstone.errors import DatasetError

Form: TypeAlias = Literal["tasks", "conversations"]
_ENDS: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_LINES: Final = (".jsonl", ".jsonl.gz")
_HEAD: Final = 1 << 20
"""Bytes of a file that decide its form."""
_NAN: Final = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))|-?\b(?:NaN|Infinity)\b', re.DOTALL)
"""A text, which stays as it is, or a number that JSON does not have."""
_FIELD: Final = re.compile(rb'(?<!\\)"(messages|input)"\s*:')
_OUTPUT: Final = re.compile(rb'(?<!\\)"(predictions|model_id)"\s*:')
_FOLDERS: Final[Mapping[Form, tuple[str, ...]]] = {
    "tasks": ("tasks", "generation_tasks"),
    "conversations": ("conversations",),
}
_CORPORA: Final = ("corpus", "corpora")


def document_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield place and object of JSON lines, or of a JSON list; NaN is read as null."""
    if path.name.endswith(_LINES):
        found = ((f"line {number}", row) for number, row in parsed(path, _loads))
    else:
        with reading(path, "the list"):
            content = _loads(read_bytes(path))
        if type(content) is not list:
            raise DatasetError(f"{path}: expected a JSON list of conversations or tasks")
        found = ((f"row {number}", row) for number, row in enumerate(content, start=1))
    for place, row in found:
        with reading(path, place):
            checked = Row.of(row)
        yield place, checked


def _loads(content: bytes) -> Any:
    try:
        if b"NaN" not in content:
            return parse_json(content)
        return parse_json(_NAN.sub(lambda found: found[1] or b"null", content))
    except ValueError as error:
        raise FieldError(f"not valid JSON: {error}") from error


def sources(folder: Path, wanted: Form | Literal["auto"]) -> list[Path]:
    """Return the files with the turns; `auto` prefers tasks to conversations."""
    forms: tuple[Form, ...] = ("tasks", "conversations") if wanted == "auto" else (wanted,)
    elsewhere: list[Path] = []
    for form in forms:
        usual = files(folder, *_FOLDERS[form])
        if found := [path for path in usual if _form(path) in (form, None)]:
            return _references(found)
        other = [path for path in _others(folder) if _form(path) == form]
        if len({path.parent for path in other}) == 1:
            return _references(other)
        elsewhere += other
    if elsewhere:
        places = sorted({str(path.parent.relative_to(folder)) for path in elsewhere})
        raise DatasetError(
            f"{folder} contains {' or '.join(forms)} in several folders: {listed(places)}; name "
            f"one file as the path, for example {elsewhere[0]}"
        )
    raise DatasetError(
        f"{folder} contains no {' or '.join(forms)}: looked in all folders for .json and .jsonl "
        f"files, plain or .gz, whose rows have the field 'input' (tasks) or 'messages' "
        f"(conversations)"
    )


def _references(found: list[Path]) -> list[Path]:
    """Return the tasks with gold passages, if others are the same tasks with retrieved ones."""
    return [path for path in found if path.name.startswith("reference.")] or found


def _others(folder: Path) -> list[Path]:
    """Return the files outside corpora that are not the output of a system."""
    inner = (p for p in sorted(folder.rglob("*")) if p.name.endswith(_ENDS) and is_there(p))
    outside = (p for p in inner if not set(_CORPORA) & set(p.relative_to(folder).parts[:-1]))
    return [path for path in outside if not _OUTPUT.search(_head(path))]


def _form(path: Path) -> Form | Literal["other"] | None:
    """Return the form of a file's rows; None if it is not known."""
    head = _head(path)
    if head.lstrip().startswith(b"{") and not path.name.endswith(_LINES):
        return "other"
    found = _FIELD.search(head)
    if found is None:
        return "other" if b'"_id"' in head else None
    return "conversations" if found[1] == b"messages" else "tasks"


def _head(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(_HEAD)


def files(folder: Path | None, *names: str, ends: tuple[str, ...] = _ENDS) -> list[Path]:
    """Return the files of the first of these folders that exists."""
    inner = next((f for name in names if folder and (f := folder / name).is_dir()), None)
    return sorted(p for p in inner.rglob("*") if p.name.endswith(ends)) if inner else []


def qrels_files(folder: Path | None, wanted: Collection[str] | None) -> list[Path]:
    """Return the published judgements: TSV files in folders `qrels`, such as retrieval_tasks/qrels.

    The names of their files or folders contain the domain.
    """
    if folder is None:
        return []
    found = (p for p in sorted(folder.rglob("*")) if p.name.endswith((".tsv", ".tsv.gz")))
    inside = ((p, p.relative_to(folder)) for p in found)
    return [p for p, name in inside if "qrels" in name.parts[:-1] and _is_of(name, wanted)]


def corpus_files(folder: Path | None, wanted: Collection[str] | None) -> list[Path]:
    """Return the files of passages: of `corpus` or `corpora`, or of `corpora` beside the folder.

    Passages are preferred to whole documents, which have a folder of their own.

    Raises:
        DatasetError: there is such a folder, but no file of it can be read.
    """
    if folder is None:
        return []
    places = [*(folder / name for name in _CORPORA), folder.resolve().parent / "corpora"]
    place = next((place for place in places if place.is_dir()), None)
    if place is None:
        return []
    passages = place / "passage_level"
    inner = passages if passages.is_dir() else place
    found = [p for p in sorted(inner.rglob("*")) if p.name.endswith(_LINES)]
    kept = [p for p in found if _is_of(p.relative_to(inner), wanted)]
    if not kept:
        of = f" of the domains {listed(sorted(wanted))}" if wanted else ""
        there = [str(p.relative_to(inner)) for p in sorted(inner.rglob("*")) if p.is_file()]
        raise DatasetError(
            f"{inner} contains no passages{of}: looked for .jsonl files, plain or .gz, found "
            f"{listed(there) or 'nothing'}; unpack the files, or remove the folder to search the "
            f"passages inside the tasks"
        )
    return kept


def _is_of(name: Path, wanted: Collection[str] | None) -> bool:
    return wanted is None or any(domain in part for domain in wanted for part in name.parts)
