"""Your own system as an HTTP service: templates map the request and the reply."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import orjson

from ragstone.calls.identity import address_parts, credentials_of, identify, keyed_digest
from ragstone.calls.reply_json import parse_reply
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request
from ragstone.components.generators.external_base import (
    NO_SAMPLING,
    ExternalSystem,
    as_plain_data,
)
from ragstone.components.generators.own_reply import FIELDS, read_answer
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.environment import REFERENCE, references_in, referred
from ragstone.core.likely_secrets import remember_likely
from ragstone.core.prompts import Template, show_history, show_passages
from ragstone.errors import ConfigError
from ragstone.types import Message, Task

_TEXTS: Final = frozenset({"query", "query_id", "context", "history"})
_LISTS: Final = frozenset({"{messages}", "{passages}", "{history}"})
"""A value that is exactly one of these becomes a list."""
_SECRET_HEADERS: Final = {"authorization", "x-api-key", "api-key", "cookie"}
_CREDENTIALS: Final = {f"header:{name}" for name in _SECRET_HEADERS}
_SENT: Final = re.compile(rf"\{{(env|file)::|{REFERENCE.pattern}")
"""In the body of a call: `{env::` is the text `{env:` of a query, `{env:NAME}` is a reference."""
_BEGINNING: Final = re.compile(r"\{(env|file):")


@dataclass(frozen=True)
class Http(ExternalSystem):
    """Answers with your own service, called by POST with JSON.

    In `body`, texts are templates with the variables `{query}`, `{query_id}`, `{context}` and
    `{history}`; a value that is only `"{messages}"`, `"{passages}"` or `"{history}"` becomes a
    list. `answer` and `passage_ids` are paths in the reply: names and numbers joined by points,
    with `*` for every item of a list (`choices.0.message.content`, `sources.*.id`). If
    `answer` is not set, the other fields of a reply (docs/calls.md) need no path. The parts of a
    streamed reply (server-sent events or JSON lines) are joined.

    `{env:NAME}` in the address, a header or the body is replaced by the value of an environment
    variable, and `{file:PATH}` by the content of a file; both are neither stored nor shown. The
    service behind the address is unknown, so each run asks all queries again, unless `release`
    declares the version of your system.

    Args:
        url: address of the service; several, separated by spaces, are a pool.
        body: body of a request.
        answer: path of the answer in the reply.
        passage_ids: path of the ids of the passages that it retrieved; empty if not reported.
        contexts: path of the context of its answer, texts or objects with `text` and `id`; empty if
            not reported.
        headers: further headers; `{api_key}` is replaced by the key.
        api_key_env: environment variable that contains the key.
        show: names of query parameters and headers whose values a record shows.
        concurrency: maximum number of parallel calls.
        steps: path of the steps of an answer, objects with `query` and `passages`; empty if not
            reported.
        confidence: path of the confidence, from 0 to 1; empty if not reported.
    """

    url: str = field(metadata=NOT_IN_CACHE_KEY)
    body: Mapping[str, Any] = field(default_factory=lambda: {"query": "{query}"})
    answer: str = "answer"
    passage_ids: str = ""
    contexts: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    show: list[str] = field(default_factory=list, metadata=NOT_IN_CACHE_KEY)
    concurrency: int = field(default=8, metadata=NOT_IN_CACHE_KEY)
    # The identity contains these paths if they are set.
    steps: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    confidence: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    context_hint = "put {context} or {passages} into its body"

    def __post_init__(self) -> None:
        """Raise `ConfigError` if an address, a template or a header is wrong."""
        if not _variables(self.body) & {"query", "messages"}:
            raise ConfigError("http, body: the query is not sent; use {query} or {messages}")
        remember_likely({"url": self.url, "headers": self.headers, "body": self.body}, "http")
        _ = self.endpoint

    @property
    def asks_again(self) -> bool:
        """Whether no release is declared: another version may run behind the address."""
        return not self.release

    @property
    def takes_context(self) -> bool:
        """Whether the body contains the passages."""
        return bool(_variables(self.body) & {"context", "passages"})

    @cached_property
    def endpoint(self) -> Endpoint:
        """The service as an endpoint."""
        urls = tuple(self.url.split())
        return Endpoint(
            self.url.split("?", 1)[0],
            urls,
            api_key_env=self.api_key_env,
            protocol="http",
            identity=self.versioned(self._identity(urls)),
            references=references_in([self.body, self.headers]),
            wire=_MappedFormat(self.answer, self._paths, self.headers),
            concurrency=self.concurrency,
        )

    @property
    def _paths(self) -> dict[str, str]:
        """Field of a reply -> its path, besides the answer."""
        names = ("passage_ids", "contexts", "steps", "confidence")
        return {name: path for name in names if (path := getattr(self, name))}

    def _identity(self, urls: Sequence[str]) -> str:
        """Return the parts that distinguish this service from another one."""
        headers = {f"header:{name.lower()}": value for name, value in self.headers.items()}
        parts = {
            **address_parts(urls),
            "method": "POST",
            "body": self.body,
            "answer": self.answer,
            "passage_ids": self.passage_ids,
            **self._paths,
            **{n: keyed_digest(v) for n, v in headers.items() if n not in _CREDENTIALS},
        }
        references = references_in([self.url, self.body, self.headers])
        key = f"{{env:{self.api_key_env}}}" if self.api_key_env else ""
        credentials = credentials_of(references) | ({"api_key_env": key} if key else {})
        credentials |= {
            name: value.replace("{api_key}", key)
            for name, value in headers.items()
            if name in _CREDENTIALS
        }
        return identify(parts, self.identity, where="http", credentials=credentials)

    def request(self, task: Task) -> Request:
        """Return the call whose message is the body for a task."""
        given, roles = as_plain_data(task), {"user": "user", "agent": "assistant"}
        messages = [*task.query.history, Message("user", task.query.text)]
        lists = {
            "{messages}": [{"role": roles[m.role], "content": m.text} for m in messages],
            "{passages}": given["passages"],
            "{history}": given["history"],
        }
        texts = {
            "query": task.query.text,
            "query_id": task.query.query_id,
            "context": show_passages(task.context.passages),
            "history": show_history(task.query.history),
        }
        body = orjson.dumps(_filled(self.body, texts, _escaped(lists))).decode()
        return Request((("body", body),), NO_SAMPLING)


def _filled(value: Any, texts: Mapping[str, str], lists: Mapping[str, Any]) -> Any:
    """Return a body with its templates filled in."""
    if isinstance(value, str):
        return lists[value] if value in _LISTS else _rendered(value, texts)
    if isinstance(value, Mapping):
        return {name: _filled(item, texts, lists) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, texts, lists) for item in value]
    return value


def _rendered(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables filled in; references stay as they are."""
    # `split` returns the references at the odd places.
    pieces = REFERENCE.split(text)
    plain = [Template(piece, "http, body").render(_escaped(values)) for piece in pieces[::2]]
    named = [f"{{{reference}}}" for reference in pieces[1::2]]
    return "".join(itertools.chain(*itertools.zip_longest(plain, named, fillvalue="")))


def _escaped(value: Any) -> Any:
    """Return data in which no text can be taken for a reference."""
    if isinstance(value, str):
        return _BEGINNING.sub(r"{\1::", value)
    if isinstance(value, Mapping):
        return {name: _escaped(item) for name, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list) else value


def _variables(value: Any) -> frozenset[str]:
    """Return the variables of a body; raise `ConfigError` for an unknown one."""
    if isinstance(value, str):
        if value in _LISTS:
            return frozenset({value.strip("{}")})
        found = Template(REFERENCE.sub("", value), "http, body").variables
        if found - _TEXTS:
            raise ConfigError(
                f"http, body: unknown variable {{{min(found - _TEXTS)}}} in {value!r}; known: "
                "{query}, {query_id}, {context}, {history}, and as a whole value {messages}, "
                "{passages}"
            )
        return found
    items = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list | tuple):
        return frozenset().union(*(_variables(item) for item in items))
    return frozenset()


@dataclass(frozen=True)
class _MappedFormat:
    """Sends the body of a request as it is, and finds the answer in the reply by its path."""

    answer: str
    paths: Mapping[str, str]
    extra_headers: Mapping[str, str]

    def url(self, base_url: str) -> str:
        return base_url

    def headers(self, api_key: str) -> Mapping[str, str]:
        values = {"api_key": api_key}
        made = {
            name: "".join(
                piece if place % 2 else Template(piece, f"http, headers, {name}").render(values)
                for place, piece in enumerate(_with_secrets(value, name))
            )
            for name, value in self.extra_headers.items()
        }
        if api_key and not any("{api_key}" in value for value in self.extra_headers.values()):
            made["Authorization"] = f"Bearer {api_key}"
        return made

    def body(self, model: str, request: Request) -> bytes:
        def sent(found: re.Match[str]) -> str:
            value = f"{{{found[1]}:" if found[1] else referred(found[2], "http, body")
            return orjson.dumps(value).decode()[1:-1]

        return _SENT.sub(sent, request.messages[0][1]).encode()

    def decode(self, raw: bytes) -> Any:
        """Return the JSON objects of a reply: one, or the parts of a stream."""
        try:
            return [parse_reply(raw)]
        except orjson.JSONDecodeError:
            lines = [line.removeprefix(b"data:").strip() for line in raw.splitlines()]
            parts = [parse_reply(line) for line in lines if line.startswith(b"{")]
            if not parts:
                raise
            return parts

    def reply(self, payload: Any) -> Reply:
        texts = [t for part in payload for t in _at_path(part, self.answer) if isinstance(t, str)]
        if not texts:
            maximum = limits.MAX_EXCERPT_CHARACTERS
            shown = orjson.dumps(payload[0] if payload else None)[:maximum].decode(
                "utf-8", "replace"
            )
            raise AttemptError(
                f"the reply has no text at {self.answer!r}: {shown}; set `answer` "
                "to its path in the reply, for example result.text",
                kind="unreadable",
            )
        own = {name: part[name] for part in payload for name in FIELDS if name in part}
        given: dict[str, Any] = own if self.answer == "answer" else {}
        for name, path in self.paths.items():
            found = _listed(payload, path)
            if name == "passage_ids":
                found = list(map(str, found))
            given[name] = found if name != "confidence" else found[0] if found else None
        return read_answer({**given, "answer": "".join(texts)}, "the service")


def _listed(payload: Any, path: str) -> list[Any]:
    """Return the list at a path, in the last part of a reply that has one."""
    parts = [_at_path(part, path) for part in payload]
    listed: list[Any] = next((part for part in reversed(parts) if part), [])
    return listed[0] if len(listed) == 1 and isinstance(listed[0], list) else listed


def _with_secrets(text: str, header: str) -> list[str]:
    """Return the plain pieces of a header, and at the odd places the values of references."""
    pieces = REFERENCE.split(text)
    pieces[1::2] = [referred(one, f"http, headers, {header}") for one in pieces[1::2]]
    return pieces


def _at_path(value: Any, path: str) -> list[Any]:
    """Return the values at a path; empty if the path leads nowhere.

    >>> _at_path({"sources": [{"id": "a"}, {"id": "b"}]}, "sources.*.id")
    ['a', 'b']
    """
    found = [value]
    for step in path.split("."):
        following: list[Any] = []
        for item in found:
            if step == "*" and isinstance(item, list):
                following += item
            elif isinstance(item, list) and step.isdigit() and int(step) < len(item):
                following.append(item[int(step)])
            elif isinstance(item, dict) and step in item:
                following.append(item[step])
        found = following
    return found
