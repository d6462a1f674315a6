"""Texts that look like a key or a password: the names beside them, addresses and known forms."""

from __future__ import annotations

import base64
import binascii
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from ragstone.core import limits
from ragstone.core.component import TEMPLATE_FIELD
from ragstone.core.environment import REFERENCE
from ragstone.core.redaction import known, remember

_LOG: Final = logging.getLogger(__name__)
MARK: Final = re.compile(r"\bhidden-([0-9a-f]{8})-([0-9a-f]{16})\b")
"""What a record contains in place of a value: marks of the key of a store, and of the value."""
_NAME: Final = (
    r"(?:[A-Za-z0-9]+[_-])*(?:api[_-]?key|apikey|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|subscription[_-]?key|token|secret|sslpassword|password|passwd|pwd|authorization|cookie"
    r"|signature|sig|credentials?|session[_-]?id)"
)
"""The name of an option, a header or a query parameter whose value is secret."""
SECRET_NAME: Final = re.compile(_NAME, re.IGNORECASE)
_ASSIGNED: Final = re.compile(
    rf"(?<![A-Za-z0-9_{{-]){_NAME}[\"']?\s?[=:]\s?[\"']?([^\s\"'&,;)<>{{}}\[\]]+)", re.IGNORECASE
)
_OPTION: Final = re.compile(rf"(?<!\S)--?{_NAME}\s+(\S+)", re.IGNORECASE)
"""An option of a command."""
_IN_QUERY: Final = re.compile(r"[?&](?:key|code|auth|k)=([^\s\"'&#,;)]+)", re.IGNORECASE)
_USER: Final = re.compile(r"(?<=[A-Za-z0-9+.-])://[^\s/@:\"']*:([^\s/\"']*)@")
_FORMS: Final = re.compile(
    r"\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bAIza[A-Za-z0-9_-]{30,}"
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?<=Bearer )[A-Za-z0-9_.~+/-]{16,}=*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----BEGIN)[\s\S])*?"
    r"-----END [A-Z ]*PRIVATE KEY-----"
)
"""Keys of well-known services, signed tokens and private keys."""
_SCHEME: Final = re.compile(r"(?:Bearer|Basic|ApiKey|Token|Digest)\s+", re.IGNORECASE)
_PLAIN_HEADERS: Final = frozenset({"accept", "accept-language", "content-type", "user-agent"})


_RANDOM: Final = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])[A-Za-z0-9+/_=.~-]{20,}")
"""The value of a header that looks random."""


class LikelySecret(NamedTuple):
    """A text that looks like a secret, and its place in a document."""

    place: str
    value: str


def remember_likely(document: Any, where: str) -> None:
    """Remove the likely secrets in plain data from all that is written, with a notice for each."""
    before = set(known())
    for place, value in likely_secrets(document):
        remember([value])
        if value not in before:
            before.update(known())
            _LOG.warning(
                "note: %s: %s looks like a secret in plain text; no output contains it, but the "
                "file does: put it into an environment variable NAME and write {env:NAME}, or into "
                "a file and write {file:PATH}",
                *(where, place or "a text"),
            )


def likely_secrets(value: Any, place: str = "", key: str = "") -> Iterator[LikelySecret]:
    """Yield the texts in plain data that look like secrets; references are none.

    >>> list(likely_secrets({"body": {"api_key": "0123456789"}}))
    [LikelySecret(place='body.api_key', value='0123456789')]
    >>> list(likely_secrets({"headers": {"Cookie": "id={env:SESSION}"}, "api_key_env": "MY_KEY"}))
    []
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if key == "headers" and not is_plain_header(str(name)):
                yield from _whole_header(f"{place}.{name}".lstrip("."), inner)
            yield from likely_secrets(inner, f"{place}.{name}".lstrip("."), str(name))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from likely_secrets(inner, f"{place}.{number}".lstrip("."), key)
    elif isinstance(value, str):
        found = dict.fromkeys(_in_text(MARK.sub("", REFERENCE.sub("", value)), key))
        long = (one for one in found if len(one) >= limits.MIN_SECRET_CHARACTERS)
        yield from (LikelySecret(place, one) for one in long)


def is_plain_header(name: str) -> bool:
    """Return whether a header has no secret, whatever its value."""
    return name.lower() in _PLAIN_HEADERS


def _whole_header(place: str, value: Any) -> Iterator[LikelySecret]:
    if isinstance(value, str) and _RANDOM.fullmatch(MARK.sub("", REFERENCE.sub("", value))):
        yield LikelySecret(place, value)


def _in_text(text: str, key: str) -> Iterator[str]:
    if SECRET_NAME.fullmatch(key):
        yield from _credentials(text)
    yield from _FORMS.findall(text)
    if TEMPLATE_FIELD.search(key):
        return
    for pattern in (_ASSIGNED, _OPTION, _IN_QUERY, _USER):
        for found in pattern.findall(text):
            yield from _credentials(unquote(found))


def _credentials(text: str) -> Iterator[str]:
    """Yield the parts of a value that are secret on their own."""
    bare = _SCHEME.sub("", text, count=1).strip()
    if re.search(r"[\s<>\[\]{}]", bare) and "=" not in bare:
        # A sentence or a placeholder, such as "<|endoftext|>".
        return
    yield bare
    for part in re.split(r"[;,]\s*", bare):
        name, equals, value = part.partition("=")
        if equals and name and value.strip("="):
            yield value
    try:
        decoded = base64.b64decode(bare, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return
    user, colon, password = decoded.partition(":")
    if user and colon and decoded.isprintable():
        yield password
