"""Files of an object store, copied to this machine once and then read as any others.

    ~/.cache/ragstone/objects/4f1c.../corpus.jsonl.gz

The name of the folder is the digest of the address and of what the store says about the objects
(sizes and checksums or times), so a changed object is copied again. It appears by a rename.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

from ragstone.core.fingerprint import fingerprint
from ragstone.core.object_urls import SCHEMES, object_url
from ragstone.core.offline import NetworkForbidden, network_forbidden
from ragstone.core.resources import require_memory_and_disk
from ragstone.errors import DatasetError, MissingDependency, RagstoneError


def local_copy(written: str | Path) -> Path | None:
    """Return the local copy of a file or folder of an object store; None for other paths.

    Raises:
        DatasetError: there is no such object, or it cannot be read.
        MissingDependency: the extra `remote` is not installed.
    """
    url = object_url(written)
    if not url:
        return None
    scheme, _, place = url.partition("://")
    if "@" in place.partition("/")[0]:
        # Without the value: it may be a secret.
        raise DatasetError(
            f"data: the address at {scheme}:// contains '@'; write no credentials in it, and set "
            "the variables of the environment that the client of the object store reads"
        )
    if scheme in SCHEMES and network_forbidden():
        raise NetworkForbidden(f"offline: {url} is on another machine; copy it and write its path")
    return _copied(url)


def _copied(url: str) -> Path:
    try:
        import fsspec

        system, root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        # ValueError: a scheme whose package is unknown to this version.
        raise MissingDependency(f"the path {url}", "fsspec", "remote") from error
    try:
        return _kept(system, root.rstrip("/"), url)
    except FileNotFoundError as error:
        raise DatasetError(f"{url}: no such file or folder in the object store") from error
    except RagstoneError:
        raise
    except Exception as error:  # noqa: BLE001 - each client has errors of its own
        # Messages of clients may contain credentials.
        raise DatasetError(
            f"{url} cannot be read ({type(error).__name__}); check the address, the network and "
            "the credentials in the environment"
        ) from None


def _kept(system: Any, root: str, url: str) -> Path:
    names = [root] if system.isfile(root) else sorted(system.find(root))
    if not names:
        raise FileNotFoundError(url)
    objects = {name: system.info(name) for name in names}
    found = {name: system.ukey(name) for name in names}
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parent = base / "ragstone" / "objects"
    kept = parent / fingerprint({"url": url, "objects": found})[:32]
    name = PurePosixPath(root).name or "objects"
    if not kept.is_dir():
        parent.mkdir(parents=True, exist_ok=True)
        need = sum(info["size"] or 0 for info in objects.values())
        require_memory_and_disk(0, need, f"copying {url}", folder=parent)
        with tempfile.TemporaryDirectory(dir=parent) as temporary:
            target = Path(temporary) / "copy"
            for one in names:
                _copy(system, one, target / name / one.removeprefix(root).lstrip("/"))
            if not kept.is_dir():
                target.rename(kept)
    return kept / name


def _copy(system: Any, name: str, target: Path) -> None:
    if ".." in target.parts:
        raise DatasetError(f"the name {name!r} of an object contains '..'; give it another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    system.get_file(name, str(target))
