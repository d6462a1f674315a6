"""The identity of an endpoint in keys: the parts of its definition that count.

Two endpoints that are written differently have different identities, unless the user names the
parts that count. Values that may be secrets (headers, query strings, environment variables) are in
an identity as digests. The key of these digests is a file in the store, so that a store keeps its
replies if it is moved, and a published digest cannot be guessed from a list of likely values.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from ragstone.core.atomic_files import private_file
from ragstone.core.environment import REFERENCE, resolved
from ragstone.errors import ConfigError, StoreError, did_you_mean

ADDRESS: Final = ("scheme", "host", "port", "path", "query")
"""Parts of an address; the name `url` selects them all."""
KEY_FILE: Final = "identity.key"
_DIGITS: Final = 24
_PORTS: Final = {"http": "80", "https": "443"}

digest_folder: Final[ContextVar[Path | None]] = ContextVar("digest_folder", default=None)
"""The folder with the key of digests; a run sets it to its store. Without one the key is empty."""


def identify(
    parts: Mapping[str, Any],
    chosen: str | Sequence[str],
    *,
    where: str,
    credentials: Mapping[str, str] | None = None,
) -> str:
    """Return the identity of an endpoint as text.

    Args:
        parts: name -> plain data of the parts that count by default.
        chosen: the option `identity`: a text is the identity itself; a list names the parts that
            count; a list whose names begin with + or - adds to the default parts or removes some.
        where: the component, for errors.
        credentials: name -> text with references, whose value counts only if it is chosen.

    Raises:
        ConfigError: a name is unknown, or no part is left.

    >>> identify({"model": "m", "port": "80"}, ["-port"], where="chat")
    '{"model":"m"}'
    """
    if isinstance(chosen, str) and chosen:
        return chosen
    known = {*parts, *(credentials or ()), *({"url"} if parts.keys() & set(ADDRESS) else ())}
    names = _chosen_names(parts, list(chosen), known, where) if chosen != "" else set(parts)
    found = {name: value for name, value in parts.items() if name in names}
    for name, text in (credentials or {}).items():
        if name in names:
            found[name] = keyed_digest(resolved(text, f"{where}, identity"))
    if not found:
        raise ConfigError(
            f"{where}: identity leaves nothing that distinguishes this system from another; name "
            f"at least one of {', '.join(sorted(known))}",
            key="identity",
        )
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()


def model_identity(
    protocol: str,
    model: str,
    urls: Sequence[str],
    references: Sequence[str],
    chosen: str | Sequence[str],
    *,
    where: str,
) -> str:
    """Return the identity of a named model at some addresses; see `identify` for `chosen`."""
    parts = {"protocol": protocol, "model": model, **address_parts(urls)}
    return identify(parts, chosen, where=where, credentials=credentials_of(references))


def credentials_of(references: Sequence[str]) -> dict[str, str]:
    """Return the names of references in an identity, each with its place in a text."""
    return {reference: f"{{{reference}}}" for reference in references}


def _chosen_names(
    parts: Mapping[str, Any], chosen: Sequence[str], known: set[str], where: str
) -> set[str]:
    signed = [str(name) for name in chosen if str(name)[:1] in {"+", "-"}]
    names = set(parts) if signed else set()
    for written in map(str, chosen):
        name = written.lstrip("+-")
        # Names of headers have no case.
        name = name.lower() if name.lower().startswith("header:") else name
        if name not in known:
            raise ConfigError(
                f"{where}: identity has no part {name!r}{did_you_mean(name, known)}; the parts are "
                f"{', '.join(sorted(known))}",
                key="identity",
                value=written,
            )
        members = set(ADDRESS) if name == "url" else {name}
        names = names - members if written.startswith("-") else names | members
    return names


def address_parts(urls: Sequence[str]) -> dict[str, str]:
    """Return the parts of some addresses as written; a query string is a digest.

    >>> address_parts(["https://a.example/v1"])
    {'scheme': 'https', 'host': 'a.example', 'port': '443', 'path': '/v1', 'query': ''}
    """
    found = []
    for url in sorted(urls):
        split = urlsplit(REFERENCE.sub(lambda one: re.sub(r"\W", ".", one[1]), url))
        port = str(split.port or _PORTS.get(split.scheme, ""))
        query = keyed_digest(split.query) if split.query else ""
        found.append((split.scheme, split.hostname or "", port, split.path, query))
    return {name: " ".join(values[place] for values in found) for place, name in enumerate(ADDRESS)}


def keyed_digest(value: str) -> str:
    """Return a digest of a value that must not be in any file, with the key of the store."""
    folder = digest_folder.get()
    key = b"" if folder is None else _key(folder / KEY_FILE)
    return hmac.new(key, value.encode(), "sha256").hexdigest()[:_DIGITS]


def hidden_mark(value: str, store: Path) -> str:
    """Return what a record in a store contains in place of a value; see `MARK`."""
    key = _key(store / KEY_FILE)
    marks = (hmac.new(key, text.encode(), "sha256").hexdigest() for text in ("", value))
    return "hidden-{:.8}-{:.16}".format(*marks)


def _key(path: Path) -> bytes:
    """Return the key in a file, which is created if it does not exist."""
    try:
        if not path.exists():
            own = path.with_name(f".tmp-{secrets.token_hex(8)}")
            private_file(own).write_text(secrets.token_hex(32), encoding="ascii")
            # Of several processes that start together, the first one decides.
            with contextlib.suppress(FileExistsError):
                os.link(own, path)
            own.unlink()
        return path.read_bytes()
    except OSError as error:
        raise StoreError(
            f"cannot use {path}, the key of digests of headers: {error.strerror or error}; "
            "set a writable folder with store=PATH"
        ) from error
