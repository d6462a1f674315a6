"""Loading a data set by name, by path, or by a reader with parameters."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from ragstone.core import registry
from ragstone.core.component_error import component_error
from ragstone.core.freed_memory import give_back
from ragstone.core.regular_files import is_there
from ragstone.core.spec import Spec, parse_spec
from ragstone.core.user_code import class_name, is_ours
from ragstone.data.collections import rechunked, with_corpora
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset, DataSource
from ragstone.data.documents.corpus import DocumentFiles, with_documents
from ragstone.data.documents.files import is_pattern, matching
from ragstone.data.documents.formats import SUFFIXES
from ragstone.data.encyclopedias.pages import is_encyclopedia
from ragstone.data.languages import StatedLanguages, parse_languages
from ragstone.data.published.presets import NAME, find_preset, nearest, presets
from ragstone.data.readers.folder import read_corpus, read_corpus_alone
from ragstone.data.readers.parquet import USUAL_FILES
from ragstone.data.readers.rows import Row, has_end, read_bytes, show
from ragstone.data.readers.split_files import is_saved, splits_of
from ragstone.data.readers.table_files import TABLE_ENDS, is_json_lines, json_table, read_table
from ragstone.data.remote_files import local_copy
from ragstone.errors import (
    ComponentError,
    ConfigError,
    DatasetError,
    RagstoneError,
    UnknownComponent,
    did_you_mean,
)
from ragstone.text.language_names import LANGUAGE
from ragstone.version import __version__

_LOG: Final = logging.getLogger(__name__)
if TYPE_CHECKING:
    from ragstone.data.readers.encyclopedia import EncyclopediaReader

SAMPLE: Final = Path(__file__).parent / "sample"
"""Folder of the data set that is part of Ragstone."""

_LOOKED_FOR: Final = (
    "queries.jsonl or conversations.jsonl (Ragstone's own layout and BEIR's), "
    "queries.parquet (or queries-*.parquet, queries/*.parquet), dataset.json (MIRAGE), one .json "
    "file of the SQuAD form, a folder of the package datasets (state.json, dataset_dict.json, or "
    "files named by their split), other .parquet files (MIRAGE's hub copy), or documents (.pdf, "
    ".docx, .md, ...); the .json and .jsonl may be .gz"
)

_PATHS: Final = {"queries": "path"}
"""Another name of a key: beside `corpus`, the path is that of the queries."""
ENCYCLOPEDIA: Final = "encyclopedia"
"""Name of the reader of encyclopedias."""
_MIRAGE: Final = frozenset({"doc_pool", "num_doc_labels"})
"""Fields of MIRAGE's hub copy."""
_NO_TABLES: Final = tuple(end for end in SUFFIXES if end not in {".csv", ".tsv"})
"""Ends of the names of documents in a folder without a data set."""
_SQUAD: Final = b'"paragraphs"'
"""A field of SQuAD's form; a file that has it is not parsed to find its layout."""


@runtime_checkable
class Readable(Protocol):
    """A reader made in Python: your own class needs no other method."""

    def read(self) -> Dataset:
        """Return the data set."""
        ...


def load_dataset(
    written: str | Path | Mapping[str, Any] | Readable | Dataset, folder: Path | None = None
) -> Dataset:
    """Return the data set of a path, of a reader with parameters, or `sample`.

    Args:
        written: `sample`; a path, whose files decide the layout; a reader such as
            `{name: mirage, path: ...}` or `mirage(path)`; `{path: ..., <parameters>}`; or in Python
            a reader, or a data set, which is returned.
        folder: base of relative paths that do not exist in the current folder, and of your own
            reader files.

    Raises:
        DatasetError: the path does not exist, its layout is unknown, or a file is malformed.
        UnknownComponent: the reader is unknown.
        ConfigError: one of its parameters is unknown.
        ComponentError: your own reader failed.
    """
    if isinstance(written, Dataset):
        return written
    if isinstance(written, Readable):
        return _read(registry.create("readers", written, where="data"))
    named = named_reader(written, folder)
    try:
        stated = _take_languages(named, folder)
        chunker = _take_chunker(named, folder)
        documents = _take_documents(named, folder, chunker)
        given = _take_corpora(named, folder)
        reader = registry.create("readers", named, where="data", folder=folder)
        dangling: Any = getattr(reader, "dangling_qrels", "error")
        read = partial(_corpus_of, folder=folder)
        dataset = with_documents(_read(reader), documents)
        dataset = with_corpora(dataset, *given, dangling, read, stated=stated)
        if chunker is not None and documents is None:
            dataset = rechunked(dataset, chunker)
        return dataclasses.replace(dataset, source=_source(dataset.source, named))
    except OSError as error:
        problem = f"cannot read the data set {named.get('path')}: {error}"
        raise DatasetError(problem, path=named.get("path")) from error


def document_reader(written: str | Path, folder: Path | None = None) -> EncyclopediaReader | None:
    """Return the reader of a set without questions that reads one document at a time.

    It is None for other data sets. Raises the errors of `load_dataset`.
    """
    named = named_reader(written, folder)
    if named["name"] != ENCYCLOPEDIA:
        return None
    reader: EncyclopediaReader = registry.create("readers", named, where="data", folder=folder)
    return reader


def named_reader(written: Any, folder: Path | None) -> dict[str, Any]:
    """Return the name of a reader, with its parameters; the path is that of files that exist."""
    spec = _spec(written, folder)
    parameters, has_path = dict(spec.parameters), "path" in _fields(spec.name, folder)
    if has_path and "path" not in parameters and isinstance(parameters.get(""), str):
        parameters["path"] = parameters.pop("")
    path = parameters.get("path")
    if isinstance(path, str | Path) and has_path:
        parameters["path"] = str(_resolve(path, folder))
    elif not spec.name:
        raise ConfigError(f"data: the key 'path' must be a path, found {path!r}")
    try:
        return {"name": spec.name or layout(Path(parameters["path"])), **parameters}
    except OSError as error:
        problem = f"cannot read the data set {path}: {error}"
        raise DatasetError(problem, path=Path(parameters["path"])) from error


def _corpus_of(path: str, folder: Path | None) -> Corpus:
    """Return the passages of a key `corpus`: of a file, of a folder, or of a reader."""
    found = _found(Path(path), folder)
    if found and found.is_file() and not is_encyclopedia(found):
        return read_corpus(found)
    alone = read_corpus_alone(found) if found else None
    return (alone or load_dataset(path, folder)).corpus


def _part(written: object, folder: Path | None) -> str:
    """Return a path of the key `corpus` as that of a file that exists, or a reader as it is."""
    if isinstance(written, str) and _spec(written, folder).name:
        return written
    return str(_resolve(written, folder))  # type: ignore[arg-type]  # checked by _resolve


def _take_corpora(named: dict[str, Any], folder: Path | None) -> tuple[Any, Any]:
    """Take `corpus` and `collections` from a reader's parameters, if it has none such itself.

    The paths of corpora become those of the files that exist.
    """
    fields, corpus = _fields(str(named["name"]), folder), named.get("corpus")
    if "corpus" in fields and "collections" not in fields and not isinstance(corpus, Mapping):
        return None, named.pop("collections", None)
    if isinstance(corpus, Mapping):
        named["corpus"] = {name: _part(path, folder) for name, path in corpus.items()}
    elif corpus is not None:
        named["corpus"] = _part(corpus, folder)
    if "collections" in fields:
        return None, None
    return named.pop("corpus", None), named.pop("collections", None)


def _take_languages(named: dict[str, Any], folder: Path | None) -> StatedLanguages:
    """Take `language` from a reader's parameters, if it has none such itself."""
    own = LANGUAGE in _fields(str(named["name"]), folder)
    return StatedLanguages() if own else parse_languages(named.pop(LANGUAGE, None))


def _take_chunker(named: dict[str, Any], folder: Path | None) -> Any:
    """Take the `chunker` from a reader's parameters, if it has none such itself."""
    if "chunker" not in named or "chunker" in _fields(str(named["name"]), folder):
        return None
    written = named.pop("chunker")
    return registry.create("chunkers", written, where="data, chunker", folder=folder)


def _take_documents(
    named: dict[str, Any], folder: Path | None, chunker: Any
) -> DocumentFiles | None:
    """Take `documents` from a reader's parameters; None without them."""
    if "documents" not in named:
        return None
    if "corpus" in named:
        raise ConfigError("data: 'documents' and 'corpus' are both the passages; keep one of them")
    written = named.pop("documents")
    if not isinstance(written, str | Path):
        raise ConfigError(f"data: the key 'documents' must be a path, found {written!r}")
    questions = named.get("path")
    left_out = [Path(questions)] if isinstance(questions, str | Path) else []
    return DocumentFiles(str(_resolve(written, folder)), chunker, left_out)


def _source(known: DataSource, named: Mapping[str, Any]) -> DataSource:
    """Return the source of a data set, with its reader and path."""
    path = named.get("path")
    if path == str(SAMPLE):
        known = DataSource(address="ragstone", revision=__version__, licence="Apache-2.0")
    return dataclasses.replace(
        known, reader=str(named["name"]), path=None if path is None else Path(path)
    )


def _read(reader: Any) -> Dataset:
    """Run a reader; an exception of your own reader becomes a `ComponentError`."""
    try:
        dataset = reader.read()
    except Exception as error:
        if is_ours(type(reader)) or isinstance(error, RagstoneError | OSError):
            raise
        raise component_error(reader, error) from error
    if isinstance(dataset, Dataset):
        give_back()
        return dataset
    name = class_name(type(reader))
    raise ComponentError(
        f"the reader {name!r} returned {dataset!r}, not a Dataset; return, "
        "for example Dataset.from_records(queries=[...], passages=[...])",
        component=name,
    )


def _spec(written: object, folder: Path | None) -> Spec:
    """Return the reader with its parameters; its name is "" if the files decide the layout.

    A text is a path if the path exists, or if it does not begin with the name of a reader.
    """
    if isinstance(written, Mapping) and "name" not in written and {"path", "queries"} & {*written}:
        return Spec("", {_PATHS.get(key, str(key)): value for key, value in written.items()})
    if isinstance(written, str):
        name = written.partition("(")[0].strip()
        is_reader = name in registry.known("readers") or (":" in name and "/" not in name)
        # The published sets are read from files, which a path that exists does not need.
        if (is_reader or NAME.fullmatch(name)) and _found(Path(written), folder) is None:
            is_reader = is_reader or find_preset(name) is not None
        else:
            is_reader = False
        if is_reader:
            return _published(parse_spec(written, where="data"))
    is_path = isinstance(written, str | Path)
    return Spec("", {"path": written}) if is_path else _published(parse_spec(written, where="data"))


def _published(spec: Spec) -> Spec:
    """Return the reader of a published set for its name, and another reader as it is."""
    name = spec.name
    if name in registry.known("readers") or ":" in name:
        return spec
    preset = find_preset(name)
    if preset is None:
        readers = registry.known("readers")
        hint = did_you_mean(name, [*readers, *presets()]).partition(" Known: ")[0]
        raise UnknownComponent(
            f"data: unknown reader or published set {name!r}{hint.removesuffix('.')}; the readers "
            f"are {', '.join(readers)}, and `ragstone data list` shows the sets",
            value=name,
        )
    parameters = {key or "path": value for key, value in spec.parameters.items()}
    return Spec("published", {**parameters, "set": preset.name}, text=spec.text)


def _fields(name: str, folder: Path | None) -> frozenset[str]:
    """Return the parameters of a reader; a reader of a hub has no `path`."""
    if not name:
        return frozenset({"path"})
    fields = dataclasses.fields(registry.find("readers", name, where="data", folder=folder))
    return frozenset(field.name for field in fields)


def _found(path: Path, folder: Path | None) -> Path | None:
    with suppress(RuntimeError):  # the name begins with "~", but is not a user's home
        path = local_copy(path) or path.expanduser()
    candidates = [path] if folder is None or path.is_absolute() else [path, folder / path]
    return next((one for one in candidates if _is_found(one)), None)


def _is_found(path: Path) -> bool:
    """Return whether there is a file or folder, or a file that a pattern matches."""
    try:
        if path.exists() or path.is_symlink():
            return True
    except OSError:  # such as a name that is too long
        return False
    return is_pattern(str(path)) and any(matching(path))


def _resolve(written: str | Path, folder: Path | None) -> Path:
    if written == "sample":
        return SAMPLE
    path = Path(written)
    found = _found(path, folder)
    if found is None:
        looked = dict.fromkeys([Path.cwd(), *([] if folder is None else [folder.resolve()])])
        name = str(path).partition("(")[0]
        hint = nearest(name) if NAME.fullmatch(name) else ""
        raise DatasetError(
            f"no data set {show(str(path))}: there is no such file or folder in "
            f"{', nor in '.join(map(str, looked))}; write a path, 'sample', or a reader such as "
            f"{{name: mirage, path: ...}}{hint}"
        )
    return found


def layout(path: Path) -> str:
    """Return the name of the reader for a path, by the names of its files."""
    if not path.is_dir():
        return _layout_of_file(path)
    entries = sorted(entry for entry in path.iterdir() if is_there(entry))
    names = {entry.name.removesuffix(".gz") for entry in entries}
    if names & {"queries.jsonl", "queries.tsv", "conversations.jsonl", "corpus.jsonl"}:
        return "ragstone"
    if any(any(path.glob(pattern.format("queries"))) for pattern in USUAL_FILES):
        return "parquet"
    if "dataset.json" not in names and (found := _layout_of_splits(path)):
        return found
    if "dataset.json" in names or any(path.rglob("*.parquet")):
        return "mirage"
    documents = [entry.name for entry in entries if entry.name.endswith((".json", ".json.gz"))]
    if len(documents) > 1:
        raise DatasetError(
            f"{path} contains {len(documents)} JSON files; name one of them, for example "
            f"{path / documents[0]}; found {', '.join(documents)}"
        )
    if documents or any(entry.suffix.lower() in _NO_TABLES for entry in path.rglob("*")):
        return "squad" if documents else "documents"
    there = ", ".join(sorted(names)) or "nothing"
    raise DatasetError(f"{path} contains no data set: looked for {_LOOKED_FOR}; found {there}")


def _layout_of_splits(path: Path) -> str:
    """Return the layout of a folder of the package `datasets`, or of pages; "" if it is none."""
    if is_encyclopedia(path):
        return ENCYCLOPEDIA
    if is_saved(path):
        return "table"
    first = next(iter(splits_of(path).values()), [])
    found = _layout_of_file(first[0]) if first else ""
    return "" if found == "squad" else found


def _layout_of_file(path: Path) -> str:
    if not is_there(path):
        return "documents"  # The path is a pattern.
    if is_encyclopedia(path):
        return ENCYCLOPEDIA
    if has_end(path, ".json"):
        is_mirage = path.name.removesuffix(".gz") == "dataset.json"
        return "mirage" if is_mirage else _layout_of_json(path)
    if has_end(path, ".jsonl", ".parquet", ".arrow"):
        return _layout_of_rows(path)
    if has_end(path, *TABLE_ENDS):
        return "table"
    if path.name.lower().endswith(SUFFIXES):
        return "documents"
    raise DatasetError(
        f"cannot tell the format of {path} from its name; expected .csv, .tsv, .xlsx, .json, "
        ".jsonl or .parquet (a table of questions, SQuAD's form or MIRAGE's hub copy); for the "
        "other layouts, name the folder; documents are the key 'documents' beside the questions"
    )


def _layout_of_json(path: Path) -> str:
    content = read_bytes(path)
    if _SQUAD in content:
        return "squad"
    if content.lstrip().startswith(b"[") or is_json_lines(content):
        return "table"
    # A damaged file is reported by the reader.
    with suppress(DatasetError):
        return "squad" if json_table(path) is None else "table"
    return "squad"


def _layout_of_rows(path: Path) -> str:
    _, row = next(iter(read_table(path)), (0, Row()))
    return "mirage" if _MIRAGE & row.keys() else "table"
