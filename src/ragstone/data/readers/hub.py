"""Data sets from a hub: a revision is pinned, files are kept, and a subset is streamed."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final

from ragstone.core import limits
from ragstone.core.offline import network_forbidden
from ragstone.data.readers.folder import FolderReader
from ragstone.data.readers.parquet import FolderFiles, Layout, read_layout
from ragstone.data.readers.rows import listed
from ragstone.errors import DatasetError, MissingDependency

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset

_LOG: Final = logging.getLogger(__name__)
_COMMIT: Final = re.compile("[0-9a-f]{40}")
_BLOCK: Final = 4 << 20
"""Bytes fetched at a time while streaming."""
_PLAIN: Final = ("corpus.jsonl*", "queries.jsonl*", "conversations.jsonl*", "qrels.tsv*", "qrels/*")


@dataclass(frozen=True)
class HubReader(Layout):
    """Reads a data set of the Hugging Face hub (or of the one that HF_ENDPOINT names).

    Parquet files are found as by the reader `parquet`, with the same parameters; a repository
    without them is read as a folder of JSON lines. Files are kept in the hub's own cache, and are
    read from there when offline. With `limit`, Parquet files are streamed instead: only what the
    first passages need is fetched, and nothing is kept.

    A revision that can move (a branch, a tag) is looked up first; the data set's name says the
    commit that was read. HF_TOKEN, or the token that the hub's own command keeps, opens private
    repositories.
    """

    version: ClassVar[int] = 1

    repo: str
    """Of the data set: organisation/name."""
    revision: str = "main"
    """Branch, tag or commit."""

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` where there is none, or a malformed one."""
        with _faults(self.repo, self.revision):
            files = _kept(self) if network_forbidden() else _remote(self)
            names = files.names()
            if not any(name.endswith(".parquet") for name in names):
                return self._read_plain(files, names)
            return read_layout(files, self)

    def _read_plain(self, files: HubFiles | KeptFiles, names: list[str]) -> Dataset:
        """Read the JSON lines of a repository: fetched in whole, for they cannot be cut."""
        if self.limit:
            raise DatasetError(
                f"{files.title} has no Parquet files, and limit cuts those alone; leave it out"
            )
        paths = [files.path(n) for n in names if any(fnmatch(n, p) for p in _PLAIN)]
        if not paths:
            raise DatasetError(
                f"{files.title} has neither Parquet files nor queries.jsonl; found "
                f"{listed(names, limits.MAX_LISTED_FILES) or 'nothing'}"
            )
        folder = next(p.parent if p.parent.name != "qrels" else p.parent.parent for p in paths)
        dataset = FolderReader(folder, self.split, self.dangling_qrels).read()
        return replace(dataset, name=files.title)


@dataclass(frozen=True)
class KeptFiles(FolderFiles):
    """The files of a revision that are in the cache."""

    repo: str

    @property
    def title(self) -> str:
        """Repository and commit; the cache calls the folder of a revision by its commit."""
        return _title(self.repo, self.folder.name)


@dataclass(frozen=True)
class HubFiles:
    """The files of a repository at one commit."""

    repo: str
    commit: str
    is_streamed: bool

    @property
    def title(self) -> str:
        """Repository and commit."""
        return _title(self.repo, self.commit)

    def names(self) -> list[str]:
        """Return the paths of all files."""
        found = (
            _package().HfApi().list_repo_files(self.repo, repo_type="dataset", revision=self.commit)
        )
        return sorted(found)

    def open(self, name: str) -> BinaryIO:
        """Open a file: streamed in blocks, or fetched in whole and kept."""
        if not self.is_streamed:
            return self.path(name).open("rb")
        opened: BinaryIO = self._system.open(
            f"datasets/{self.repo}@{self.commit}/{name}", "rb", block_size=_BLOCK
        )
        return opened

    def path(self, name: str) -> Path:
        """Return where a file is in the cache, fetched if need be."""
        return Path(
            _package().hf_hub_download(self.repo, name, repo_type="dataset", revision=self.commit)
        )

    @cached_property
    def _system(self) -> Any:
        return _package().HfFileSystem()


def _remote(reader: HubReader) -> HubFiles:
    info = _package().HfApi().dataset_info(reader.repo, revision=reader.revision)
    if info.sha != reader.revision:
        _LOG.warning(
            "%s: revision %s is %s today; write revision: %s to read the same for ever",
            *(reader.repo, reader.revision, info.sha, info.sha),
        )
    return HubFiles(reader.repo, info.sha, bool(reader.limit))


def _kept(reader: HubReader) -> KeptFiles:
    """Return the files in the cache; a revision that can move means the only commit kept there."""
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.file_download import repo_folder_name

    name = repo_folder_name(repo_id=reader.repo, repo_type="dataset")
    folder = Path(HF_HUB_CACHE) / name / "snapshots"
    commits = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if reader.revision in commits:
        return KeptFiles(folder / reader.revision, reader.repo)
    if not commits or _COMMIT.fullmatch(reader.revision):
        raise DatasetError(
            f"{reader.repo} at {reader.revision} is not kept here, and offline nothing is fetched; "
            f"run once with a connection"
        )
    if len(commits) > 1:
        raise DatasetError(
            f"{reader.repo} is kept at several commits; offline, say which: revision: "
            f"{' or '.join(commits)}"
        )
    return KeptFiles(folder / commits[0], reader.repo)


def _title(repo: str, commit: str) -> str:
    return f"{repo}@{commit[:8]}"


def _package() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError as error:
        raise MissingDependency("data set reader 'hub'", "huggingface-hub", "hub") from error
    return huggingface_hub


@contextmanager
def _faults(repo: str, revision: str) -> Iterator[None]:
    """Turn what the hub's client raises into a `DatasetError` with the way out."""
    errors = _package().errors
    try:
        yield
    except errors.GatedRepoError as error:
        raise DatasetError(
            f"{repo} is only for those whom its owners let in; ask there, then set HF_TOKEN"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise DatasetError(
            f"the hub has no data set {repo!r}, or it is private; check organisation/name, or set "
            f"HF_TOKEN"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise DatasetError(f"{repo} has no revision {revision!r}") from error
    except (errors.HFValidationError, errors.HfHubHTTPError, OSError) as error:
        raise DatasetError(f"the hub could not give {repo} at {revision}: {error}") from error
