"""Your own system as an HTTP service: templates map the request and the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, parse_reply
from ragstone.components.generators.external_base import (
    NO_SAMPLING,
    ExternalSystem,
    as_plain_data,
)
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import Template, show_history, show_passages
from ragstone.errors import ConfigError
from ragstone.types import Message, Task

_TEXTS: Final = frozenset({"query", "query_id", "context", "history"})
_LISTS: Final = frozenset({"{messages}", "{passages}", "{history}"})
"""A value that is exactly one of these becomes a list."""
_SECRET_HEADERS: Final = {"authorization", "x-api-key", "api-key", "cookie"}


@dataclass(frozen=True)
class Http(ExternalSystem):
    """Answers with your own service, called by POST with JSON.

    In `body`, texts are templates with the variables `{query}`, `{query_id}`, `{context}` and
    `{history}`; a value that is only `"{messages}"`, `"{passages}"` or `"{history}"` becomes a
    list. `answer` and `passage_ids` are paths in the reply: names and numbers joined by points,
    with `*` for every item of a list (`choices.0.message.content`, `sources.*.id`). The parts of a
    streamed reply (server-sent events or JSON lines) are joined.

    Args:
        url: address of the service; several, separated by spaces, are a pool.
        body: body of a request.
        answer: path of the answer in the reply.
        passage_ids: path of the ids of the passages that it retrieved; empty if not reported.
        headers: further headers; `{api_key}` is replaced by the key.
        api_key_env: environment variable that contains the key.
        release: version of your system; after a change, all calls are repeated.
        concurrency: maximum number of parallel calls.
    """

    url: str = field(metadata=NOT_IN_CACHE_KEY)
    body: Mapping[str, Any] = field(default_factory=lambda: {"query": "{query}"})
    answer: str = "answer"
    passage_ids: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    release: str = ""
    concurrency: int = field(default=8, metadata=NOT_IN_CACHE_KEY)
    context_hint = "put {context} or {passages} into its body"

    def __post_init__(self) -> None:
        """Raise `ConfigError` if an address, a template or a header is wrong."""
        if not _variables(self.body) & {"query", "messages"}:
            raise ConfigError("http, body: the query is not sent; use {query} or {messages}")
        for name, value in self.headers.items():
            if name.lower() in _SECRET_HEADERS and "{api_key}" not in value:
                raise ConfigError(
                    f"http, headers: {name!r} would be written into manifests; put the key in an "
                    "environment variable, name it with api_key_env and write {api_key} here"
                )
        _ = self.endpoint

    @property
    def content_revision(self) -> str:
        """The address of the service, without the port, and the paths in its reply."""
        return self.endpoint.identity

    @property
    def takes_context(self) -> bool:
        """Whether the body contains the passages."""
        return bool(_variables(self.body) & {"context", "passages"})

    @cached_property
    def endpoint(self) -> Endpoint:
        """The service as an endpoint."""
        urls = tuple(self.url.split())
        places = sorted({f"{urlsplit(u).hostname}{urlsplit(u).path}" for u in urls})
        read = orjson.dumps([self.answer, self.passage_ids, self.release]).decode()
        return Endpoint(
            self.url.split("?", 1)[0],
            urls,
            api_key_env=self.api_key_env,
            protocol="http",
            identity=f"http:{','.join(places)} {read}",
            wire=_MappedFormat(self.answer, self.passage_ids, self.headers),
            concurrency=self.concurrency,
        )

    def request(self, task: Task) -> Request:
        """Return the call whose message is the body for a task."""
        given, roles = as_plain_data(task), {"user": "user", "agent": "assistant"}
        messages = [*task.query.history, Message("user", task.query.text)]
        lists = {
            "{messages}": [{"role": roles[m.role], "content": m.text} for m in messages],
            "{passages}": given["passages"],
            "{history}": given["history"],
        }
        values = {
            "query": task.query.text,
            "query_id": task.query.query_id,
            "context": show_passages(task.context.passages),
            "history": show_history(task.query.history),
        }
        body = orjson.dumps(_filled(self.body, values, lists)).decode()
        return Request((("body", body),), NO_SAMPLING)


def _filled(value: Any, texts: Mapping[str, str], lists: Mapping[str, Any]) -> Any:
    """Return a body with its templates filled in."""
    if isinstance(value, str):
        return lists[value] if value in _LISTS else Template(value, "http, body").render(texts)
    if isinstance(value, Mapping):
        return {name: _filled(item, texts, lists) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, texts, lists) for item in value]
    return value


def _variables(value: Any) -> frozenset[str]:
    """Return the variables of a body; raise `ConfigError` for an unknown one."""
    if isinstance(value, str):
        if value in _LISTS:
            return frozenset({value.strip("{}")})
        found = Template(value, "http, body").variables
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
    passage_ids: str
    extra_headers: Mapping[str, str]

    def url(self, base_url: str) -> str:
        return base_url

    def headers(self, api_key: str) -> Mapping[str, str]:
        values = {"api_key": api_key}
        made = {
            name: Template(value, f"http, headers, {name}").render(values)
            for name, value in self.extra_headers.items()
        }
        if api_key and not any("{api_key}" in value for value in self.extra_headers.values()):
            made["Authorization"] = f"Bearer {api_key}"
        return made

    def body(self, model: str, request: Request) -> bytes:
        return request.messages[0][1].encode()

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
                f"the reply has no text at {self.answer!r}: {shown}; correct 'answer'",
                kind="unreadable",
            )
        ids = None
        if self.passage_ids:
            parts = [_at_path(part, self.passage_ids) for part in payload]
            listed: list[Any] = next((part for part in reversed(parts) if part), [])
            flat = listed[0] if len(listed) == 1 and isinstance(listed[0], list) else listed
            ids = tuple(str(item) for item in flat)
        return Reply("".join(texts), passage_ids=ids)


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
