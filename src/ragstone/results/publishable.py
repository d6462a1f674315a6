"""Plain data without credentials and without paths of this machine.

A record hides values with a digest whose key is in its store, so that two records of one store
show whether the values differ. A passport contains these marks too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.calls.identity import KEY_FILE, hidden_mark
from ragstone.core.component import TEMPLATE_FIELD
from ragstone.core.environment import REFERENCE
from ragstone.core.likely_secrets import MARK, is_plain_header, likely_secrets

HIDDEN: Final = "(not shown)"
_SECRET: Final = re.compile("(^|[_-])(key|token|secret|password|authorization|cookie)$", re.I)  # noqa: FURB167 - shorter
_PATH: Final = re.compile(r"(?:~?/|[A-Za-z]:\\)\S[^\n]*")
_PATH_IN_SPEC: Final = re.compile(r"(?<=[(=,'\"\[\s])(?:~?/|[A-Za-z]:\\)[^\s,()'\"\[\]]*[/\\]")
_SPEC: Final = re.compile(r"[\w./:-]+\(.*\)(@\d+)?")
_URL: Final = re.compile(r"(https?://)(?:([^/@\s]*)@)?([^?\s,()'\"\[\]]*)(?:\?([^\s,()'\"\[\]]*))?")


def publishable(value: Any, key: str = "", show: Collection[str] = ()) -> Any:
    """Return plain data without credentials, queries of URLs and folders of this machine.

    >>> publishable({"path": "/home/me/answers.jsonl", "url": "https://me:pw@host/v1?sig=1"})
    {'path': 'answers.jsonl', 'url': 'https://host/v1'}
    >>> publishable({"headers": {"X": "abc"}, "api_key_env": "KEY", "data": "mirage(/a/b)"})
    {'headers': {'X': '(not shown)'}, 'api_key_env': 'KEY', 'data': 'mirage(b)'}
    """
    if isinstance(value, Mapping):
        show = _shown(value, show)
        if key == "headers":
            return {n: v if _may_show(n, v, show) else HIDDEN for n, v in value.items()}
        return {name: publishable(inner, str(name), show) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [publishable(inner, key, show) for inner in value]
    if isinstance(value, str) and value and not TEMPLATE_FIELD.search(key):
        hidden = _SECRET.search(key) and _plain_part(value)
        return HIDDEN if hidden else publishable_text(value, show)
    return value


def publishable_text(text: str, show: Collection[str] = ()) -> str:
    """Return a value without credentials in URLs; a path becomes the name of its file."""
    if _PATH.fullmatch(text):
        return re.split(r"[/\\]", text.rstrip("/\\"))[-1]
    without = _PATH_IN_SPEC.sub("", text) if _SPEC.fullmatch(text) else text

    def shown(url: re.Match[str]) -> str:
        pairs = (one.partition("=") for one in (url[4] or "").split("&"))
        kept = "&".join("".join(one) for one in pairs if one[1] and _may_show(one[0], one[2], show))
        return f"{url[1]}{url[3]}{'?' if kept else ''}{kept}"

    return _URL.sub(shown, without)


def recordable(value: Any, store: Path) -> Any:
    """Return plain data as a record in a store contains it: with marks in place of secrets.

    Values in the query of a URL and of headers are hidden too, unless `show` beside them has their
    names. References stay. Without the key of the store, a mark is the word "hidden".
    """
    return _recordable(value, lambda text: hidden_mark(text, store), "", ())


def comparable(value: Any, store: Path) -> Any:
    """Return plain data as `recordable`; a store without a key gets none."""
    if (store / KEY_FILE).exists():
        return recordable(value, store)
    return _recordable(value, lambda _: "hidden", "", ())


def has_hidden(value: Any) -> bool:
    """Return whether plain data contain a mark in place of a value."""
    return MARK.search(str(value)) is not None


def _recordable(value: Any, mark: Callable[[str], str], key: str, show: Collection[str]) -> Any:
    if isinstance(value, Mapping):
        show = _shown(value, show)
        if key == "headers":
            return {n: v if _may_show(n, v, show) else mark(str(v)) for n, v in value.items()}
        return {name: _recordable(inner, mark, str(name), show) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_recordable(inner, mark, key, show) for inner in value]
    if isinstance(value, str) and value and not TEMPLATE_FIELD.search(key):
        text = _URL.sub(lambda url: _marked(url, mark, show), value)
        for secret in sorted({one.value for one in likely_secrets({key: text})}, key=len)[::-1]:
            text = text.replace(secret, mark(secret))
        return text
    return value


def _marked(url: re.Match[str], mark: Callable[[str], str], show: Collection[str]) -> str:
    """Return a URL with marks in place of its password and of the values of its query."""

    def shown(pair: str) -> str:
        name, equals, given = pair.partition("=")
        return pair if not equals or _may_show(name, given, show) else f"{name}={mark(given)}"

    user, query = url[2], url[4]
    if user and ":" in user and _plain_part(user):
        user = mark(user)
    whole = f"{url[1]}{f'{user}@' if user else ''}{url[3]}"
    return whole if query is None else f"{whole}?{'&'.join(map(shown, query.split('&')))}"


def _shown(value: Mapping[Any, Any], show: Collection[str]) -> Collection[str]:
    given = value.get("show")
    return [str(name) for name in given] if isinstance(given, list | tuple) else show


def _may_show(name: str, value: Any, show: Collection[str]) -> bool:
    known = is_plain_header(name) or name.lower() in {one.lower() for one in show}
    return known or not isinstance(value, str) or not _plain_part(value)


def _plain_part(text: str) -> str:
    """Return what remains of a value without references, marks and the scheme of a key."""
    rest = MARK.sub("", REFERENCE.sub("", text.replace("{api_key}", "")))
    return re.sub(r"^(Bearer|Basic|ApiKey|Token)?\s*$", "", rest)
