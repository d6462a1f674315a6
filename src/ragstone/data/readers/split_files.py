"""The files of a folder of the package `datasets`: saved to disk, or a copy of a hub's repository.

`save_to_disk` writes Arrow files and their list `state.json`; with several splits, one such folder
per split and their list `dataset_dict.json`. A repository has files named by their split:
`data/train-00000-of-00002.parquet`, `test.jsonl`, `data/validation/0000.parquet`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.regular_files import is_there
from ragstone.data.readers.rows import json_document, listed
from ragstone.errors import ConfigError, DatasetError, did_you_mean

_STATE: Final = "state.json"
_SPLITS: Final = "dataset_dict.json"
_ROWS: Final = re.compile(r"[^.].*\.(parquet|arrow|jsonl|csv|tsv|json)(\.gz)?")
_SHARD: Final = re.compile(r"([^/]+)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\..+")
_WORD: Final = "(train|training|validation|valid|val|dev|test|testing|eval|evaluation)"
_FOLDER: Final = re.compile(rf"{_WORD}/[^/]+")
_FILE: Final = re.compile(rf"(?:[^/]+[-_.])?{_WORD}(?:[-_][^/]+)?\.[^/]+")
"""Names of files by their split: `test/0000.parquet`; `test.csv`, `qa_test.jsonl`."""


def is_saved(folder: Path) -> bool:
    """Return whether a folder was written by `save_to_disk`."""
    return is_there(folder / _STATE) or is_there(folder / _SPLITS)


def split_files(folder: Path, split: str = "") -> list[Path]:
    """Return the files of one split of a folder, in the order of their rows.

    Args:
        folder: the folder.
        split: name of the split; "" for the only one.

    Raises:
        ConfigError: there is no such split, or there are several and none is named.
        DatasetError: a file is missing, or the folder has no split.
    """
    if is_there(folder / _STATE):
        if split:
            raise ConfigError(f"{folder} is one split; remove split: {split}")
        return _saved_files(folder)
    found = splits_of(folder)
    if not found:
        raise DatasetError(
            f"{folder} is not a table that can be read: it contains neither {_STATE} nor "
            f"{_SPLITS}, nor files named by their split, such as test.jsonl or "
            "data/test-00000-of-00001.parquet",
            path=folder,
        )
    if split and split not in found:
        hint = did_you_mean(split, found)
        raise ConfigError(f"{folder} has no split {split!r}{hint}; it has {', '.join(found)}")
    if not split and len(found) > 1:
        first, *_ = found
        raise ConfigError(
            f"{folder} has the splits {', '.join(found)}; name one, as in "
            f"{{path: {folder}, split: {first}}} for data, or give the path of its file or folder"
        )
    files = found[split or next(iter(found))]
    return [one for path in files for one in (_saved_files(path) if path.is_dir() else [path])]


def splits_of(folder: Path) -> dict[str, list[Path]]:
    """Return split -> its files, or its folder of `save_to_disk`; empty without any."""
    if is_there(folder / _SPLITS):
        listing = json_document(folder / _SPLITS)
        names = listing.get("splits") if isinstance(listing, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DatasetError(f"{folder / _SPLITS} has no list 'splits'", path=folder / _SPLITS)
        return {name: [folder / Path(name).name] for name in names}
    found, single = dict[str, list[Path]](), dict[str, list[Path]]()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        inner = name.removeprefix("data/")
        if not _ROWS.fullmatch(name) or not is_there(path):
            continue
        if match := _SHARD.fullmatch(inner) or _FOLDER.fullmatch(inner):
            found.setdefault(match[1], []).append(path)
        elif match := _FILE.fullmatch(inner):
            single.setdefault(match[1], []).append(path)
    for split, paths in single.items():
        # Two files of one word, such as train_a.csv and train_b.csv, may be two sets.
        names = [split] if len(paths) == 1 else [path.name.split(".")[0] for path in paths]
        for split_name, path in zip(names, paths, strict=True):
            found.setdefault(split_name, []).append(path)
    return found


def _saved_files(folder: Path) -> list[Path]:
    """Return the Arrow files that `state.json` lists."""
    state = folder / _STATE
    listing = json_document(state)
    files = listing.get("_data_files") if isinstance(listing, dict) else None
    if not isinstance(files, list):
        raise DatasetError(f"{state} has no list '_data_files'", path=state)
    if listing.get("_indices_data_files"):
        raise DatasetError(
            f"{state}: the order of the rows is in a file of its own, as old versions of datasets "
            "wrote it; save the set again with flatten_indices()",
            path=state,
        )
    names = [one.get("filename") if isinstance(one, dict) else None for one in files]
    # Only the names count: a path would lead out of the folder.
    paths = [folder / Path(str(name)).name for name in names]
    if absent := [path.name for path in paths if not is_there(path)]:
        shown = listed(absent, limits.MAX_LISTED_FILES)
        raise DatasetError(f"{state} lists {shown}, which the folder lacks", path=state)
    return paths
