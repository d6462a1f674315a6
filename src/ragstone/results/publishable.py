"""Plain data without credentials and without paths of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ragstone.core.component import TEMPLATE_FIELD

HIDDEN: Final = "(not shown)"
_SECRET: Final = re.compile("(^|[_-])(key|token|secret|password|authorization|cookie)$", re.I)  # noqa: FURB167 - shorter
_PATH: Final = re.compile(r"(?:~?/|[A-Za-z]:\\)\S[^\n]*")
_PATH_IN_SPEC: Final = re.compile(r"(?<=[(=,'\"\[\s])(?:~?/|[A-Za-z]:\\)[^\s,()'\"\[\]]*[/\\]")
_SPEC: Final = re.compile(r"[\w./:-]+\(.*\)(@\d+)?")
_URL: Final = re.compile(r"(https?://)(?:[^/@\s]*@)?([^?\s,()'\"\[\]]*)(?:\?[^\s,()'\"\[\]]*)?")


def publishable(value: Any, key: str = "") -> Any:
    """Return plain data without credentials, queries of URLs and folders of this machine.

    >>> publishable({"path": "/home/me/answers.jsonl", "url": "https://me:pw@host/v1?sig=1"})
    {'path': 'answers.jsonl', 'url': 'https://host/v1'}
    >>> publishable({"headers": {"X": "abc"}, "api_key_env": "KEY", "data": "mirage(/a/b)"})
    {'headers': {'X': '(not shown)'}, 'api_key_env': 'KEY', 'data': 'mirage(b)'}
    """
    if isinstance(value, Mapping):
        if key == "headers":
            return dict.fromkeys(value, HIDDEN)
        return {name: publishable(inner, str(name)) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [publishable(inner, key) for inner in value]
    if isinstance(value, str) and value and not TEMPLATE_FIELD.search(key):
        return HIDDEN if _SECRET.search(key) else publishable_text(value)
    return value


def publishable_text(text: str) -> str:
    """Return a value without credentials in URLs; a path becomes the name of its file."""
    if _PATH.fullmatch(text):
        return re.split(r"[/\\]", text.rstrip("/\\"))[-1]
    without = _PATH_IN_SPEC.sub("", text) if _SPEC.fullmatch(text) else text
    return _URL.sub(r"\1\2", without)
