"""Data sets of a hub, at a pinned revision: cached files, or streamed ones for a subset."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ragstone.core import limits
from ragstone.core.offline import network_forbidden
from ragstone.data.dataset import DataSource
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
_HTTP_CLIENTS: Final = frozenset({"httpx", "httpx2", "requests"})
_PLAIN: Final = ("corpus.jsonl*", "queries.jsonl*", "conversations.jsonl*", "qrels.tsv*", "qrels/*")


@dataclass(frozen=True)
class HubReader(Layout):
    """Reads a data set of the Hugging Face hub, or of the hub in HF_ENDPOINT.

    Parquet files are found as by the reader `parquet`, with the same parameters; a repository
    without them is read as a folder of JSON lines. Files are stored in the hub's own cache and read
    from there when offline. With `limit`, Parquet files are streamed: only the parts with the first
    passages are fetched, and nothing is stored.

    A branch or tag is resolved to a commit first, which is part of the data set's name. HF_TOKEN,
    or the token of the hub's own login command, gives access to private repositories.

    Args:
        repo: name of the data set: organisation/name.
        revision: branch, tag or commit.
    """

    requires_extra = "hub"

    repo: str
    revision: str = "main"

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` if it is missing or malformed."""
        with hub_errors(self.repo, self.revision):
            files = hub_files(self.repo, self.revision, is_streamed=bool(self.limit))
            names = files.names()
            if any(name.endswith(".parquet") for name in names):
                dataset = read_layout(files, self)
            else:
                dataset = self._read_plain(files, names)
            address = f"https://huggingface.co/datasets/{self.repo}"
            return replace(dataset, source=DataSource(address=address, revision=files.folder.name))

    def _read_plain(self, files: CachedFiles, names: list[str]) -> Dataset:
        """Read the JSON lines of a repository; they are always fetched as a whole."""
        if self.limit:
            raise DatasetError(
                f"{files.title} has no Parquet files, and limit applies to those alone; remove it"
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
class CachedFiles(FolderFiles):
    """The cached files of a revision, in a folder named by the commit."""

    repo: str

    @property
    def title(self) -> str:
        """Repository and commit."""
        return f"{self.repo}@{self.folder.name[:8]}"


@dataclass(frozen=True)
class HubFiles(CachedFiles):
    """The files of a repository at one commit, cached in the folder when they are read."""

    is_streamed: bool

    def names(self) -> list[str]:
        """Return the paths of all files in the repository."""
        return sorted(_package().HfApi().list_repo_files(self.repo, **self._at))

    def open(self, name: str) -> BinaryIO:
        """Open a file: streamed in blocks, or cached as a whole."""
        if not self.is_streamed:
            return super().open(name)
        path = f"datasets/{self.repo}@{self.folder.name}/{name}"
        opened: BinaryIO = self._system.open(path, "rb", block_size=_BLOCK)
        return opened

    def path(self, name: str) -> Path:
        """Return the path of a file in the cache; fetch it if it is missing."""
        return Path(_package().hf_hub_download(self.repo, name, **self._at))

    @property
    def _at(self) -> dict[str, str]:
        return {"repo_type": "dataset", "revision": self.folder.name}

    @cached_property
    def _system(self) -> Any:
        return _package().HfFileSystem()


def hub_files(repo: str, revision: str, *, is_streamed: bool = False) -> CachedFiles:
    """Return the files of a data set at a revision: from the hub, or from the cache if offline.

    To be called, and the files read, within `hub_errors`.
    """
    if network_forbidden() or _package().constants.HF_HUB_OFFLINE:
        return _cached(repo, revision)
    return _remote(repo, revision, is_streamed)


def _remote(repo: str, revision: str, is_streamed: bool) -> HubFiles:
    commit = _package().HfApi().dataset_info(repo, revision=revision).sha
    if commit != revision:
        _LOG.warning(
            "%s: revision %s is %s today; write revision: %s to read the same files every time",
            *(repo, revision, commit, commit),
        )
    return HubFiles(_snapshots(repo) / commit, repo, is_streamed)


def _cached(repo: str, revision: str) -> CachedFiles:
    """Return the cached files; a branch or tag means the only commit in the cache."""
    folder = _snapshots(repo)
    commits = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if revision in commits:
        return CachedFiles(folder / revision, repo)
    if not commits or _COMMIT.fullmatch(revision):
        raise DatasetError(
            f"{repo} at {revision} is not in the cache, and offline nothing is "
            f"fetched; run once with a connection"
        )
    if len(commits) > 1:
        raise DatasetError(
            f"{repo} is in the cache at several commits; offline, write one of them: "
            f"revision: {' or '.join(commits)}"
        )
    return CachedFiles(folder / commits[0], repo)


def _snapshots(repo: str) -> Path:
    """Return the folder of the hub's cache with one folder per commit."""
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.file_download import repo_folder_name

    return Path(HF_HUB_CACHE) / repo_folder_name(repo_id=repo, repo_type="dataset") / "snapshots"


def _package() -> Any:
    try:
        import huggingface_hub
        import huggingface_hub.constants
        import huggingface_hub.errors
    except ImportError as error:
        raise MissingDependency("data set reader 'hub'", "huggingface-hub", "hub") from error
    return huggingface_hub


@contextmanager
def hub_errors(repo: str, revision: str) -> Iterator[None]:
    """Turn errors of the hub's client into a `DatasetError` with a remedy."""
    errors = _package().errors
    try:
        yield
    except errors.GatedRepoError as error:
        raise DatasetError(
            f"{repo} needs its owners' permission; request access there, then set HF_TOKEN"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise DatasetError(
            f"the hub has no data set {repo!r}, or it is private; check organisation/name, or set "
            f"HF_TOKEN"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise DatasetError(f"{repo} has no revision {revision!r}") from error
    except (errors.HFValidationError, errors.HfHubHTTPError, OSError) as error:
        raise DatasetError(f"cannot get {repo} at {revision} from the hub: {error}") from error
    except Exception as error:
        # Errors of the connection are classes of the HTTP client, whose name varies by version.
        if type(error).__module__.partition(".")[0] not in _HTTP_CLIENTS:
            raise
        raise DatasetError(
            f"cannot reach the hub for {repo} at {revision}: {error}; with HF_HUB_OFFLINE=1 the "
            "files in the hub's cache are read"
        ) from error
