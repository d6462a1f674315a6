"""Your own system as an HTTP service: what is sent and what comes back are mapped by templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

import orjson

from ragstone.calls.client import Calls
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request
from ragstone.components.generators.external_base import (
    PLAIN,
    ask_own,
    check_takes_context,
    hand_over,
)
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import Template, show_history, show_passages
from ragstone.errors import ConfigError
from ragstone.types import Prediction, Task

_TEXTS: Final = frozenset({"query", "query_id", "context", "history"})
_WHOLE: Final = frozenset({"{messages}", "{passages}", "{history}"})
"""A value that is nothing but one of these becomes a list."""
_SECRET_HEADERS: Final = {"authorization", "x-api-key", "api-key", "cookie"}


@dataclass(frozen=True)
class Http:
    """Answers with a service of yours, asked by POST with JSON.

    In `body`, texts are templates with the variables `{query}`, `{query_id}`, `{context}` and
    `{history}`; a value that is only `"{messages}"`, `"{passages}"` or `"{history}"` becomes a
    list. `answer` and `passage_ids` say where things stand in the reply: names and numbers joined
    by points, `*` for every item of a list (`choices.0.message.content`, `sources.*.id`). A
    streamed reply (server-sent events or JSON lines) is put together from its parts.

    Args:
        url: where to post to; several addresses separated by blanks are a pool.
        body: what is sent.
        answer: where the answer is in the reply.
        passage_ids: where the ids of what it retrieved are; empty if it does not say.
        headers: further headers; `{api_key}` stands for the key.
        api_key_env: the environment variable that holds the key.
        release: name a new one when the system changes, so that kept answers are asked anew.
        concurrency: calls at once at most.
    """

    url: str = field(metadata=NOT_IN_CACHE_KEY)
    body: Mapping[str, Any] = field(default_factory=lambda: {"query": "{query}"})
    answer: str = "answer"
    passage_ids: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    release: str = ""
    concurrency: int = field(default=8, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1
    may_retrieve: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check addresses, templates and headers before anything is run."""
        used = _variables(self.body)
        if not used & {"query", "messages"}:
            raise ConfigError("http, body: the query is not sent; use {query} or {messages}")
        for name, value in self.headers.items():
            if name.lower() in _SECRET_HEADERS and "{api_key}" not in value:
                raise ConfigError(
                    f"http, headers: {name!r} would be written into manifests; put the key in an "
                    "environment variable, name it with api_key_env and write {api_key} here"
                )
        _ = self.endpoint

    @property
    def revision(self) -> str:
        """Where the service is, without the port."""
        return self.endpoint.identity

    @cached_property
    def endpoint(self) -> Endpoint:
        """The service as something that can be asked."""
        urls = tuple(self.url.split())
        places = sorted({f"{urlsplit(u).hostname}{urlsplit(u).path}" for u in urls})
        made_of = [self.answer, self.passage_ids, self.release]
        return Endpoint(
            self.url.split("?", 1)[0],
            urls,
            api_key_env=self.api_key_env,
            protocol="http",
            identity=f"http:{','.join(places)} {orjson.dumps(made_of).decode()}",
            wire=_MappedWire(self.answer, self.passage_ids, self.headers),
            concurrency=self.concurrency,
        )

    def check(self, calls: Calls) -> None:
        """Raise unless the key is set and somebody listens at the address."""
        calls.check(self.endpoint)

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order."""
        takes = bool(_variables(self.body) & {"context", "passages"})
        way = "put {context} or {passages} into its body"
        check_takes_context(tasks, f"the service {self.endpoint.model}", way, takes=takes)
        requests = [Request((("body", self._body(task)),), PLAIN) for task in tasks]
        return ask_own(tasks, requests, self.endpoint, calls)

    def _body(self, task: Task) -> str:
        given = hand_over(task)
        said = [("user" if m.role == "user" else "assistant", m.text) for m in task.query.history]
        said.append(("user", task.query.text))
        lists = {
            "{messages}": [{"role": role, "content": text} for role, text in said],
            "{passages}": given["passages"],
            "{history}": given["history"],
        }
        texts = {
            "query": task.query.text,
            "query_id": task.query.query_id,
            "context": show_passages(task.context.passages),
            "history": show_history(task.query.history),
        }
        return orjson.dumps(_filled(self.body, texts, lists)).decode()


def _filled(value: Any, texts: Mapping[str, str], lists: Mapping[str, Any]) -> Any:
    """Return a body with its templates filled in."""
    if isinstance(value, str):
        return lists[value] if value in _WHOLE else Template(value, "http, body").render(texts)
    if isinstance(value, Mapping):
        return {name: _filled(item, texts, lists) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, texts, lists) for item in value]
    return value


def _variables(value: Any) -> frozenset[str]:
    """Return the variables that a body uses; an unknown one is a `ConfigError`."""
    if isinstance(value, str):
        if value in _WHOLE:
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
class _MappedWire:
    """Sends a body that is already written, and finds the answer in what comes back."""

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
        """Return the reply's JSON objects: one, or the parts of a stream."""
        try:
            return [orjson.loads(raw)]
        except orjson.JSONDecodeError:
            lines = [line.removeprefix(b"data:").strip() for line in raw.splitlines()]
            parts = [orjson.loads(line) for line in lines if line.startswith(b"{")]
            if not parts:
                raise
            return parts

    def reply(self, payload: Any) -> Reply:
        texts = [t for part in payload for t in _found(part, self.answer) if isinstance(t, str)]
        if not texts:
            held = orjson.dumps(payload[0] if payload else None)[:200].decode("utf-8", "replace")
            raise AttemptError(
                f"the reply has no text at {self.answer!r}: {held}; correct 'answer'"
            )
        ids = None
        if self.passage_ids:
            parts = [_found(part, self.passage_ids) for part in payload]
            listed: list[Any] = next((part for part in reversed(parts) if part), [])
            flat = listed[0] if len(listed) == 1 and isinstance(listed[0], list) else listed
            ids = tuple(str(item) for item in flat)
        return Reply("".join(texts), passage_ids=ids)


def _found(value: Any, path: str) -> list[Any]:
    """Return what stands at a path; nothing where the path leads nowhere.

    >>> _found({"sources": [{"id": "a"}, {"id": "b"}]}, "sources.*.id")
    ['a', 'b']
    """
    held = [value]
    for step in path.split("."):
        following: list[Any] = []
        for item in held:
            if step == "*" and isinstance(item, list):
                following += item
            elif isinstance(item, list) and step.isdigit() and int(step) < len(item):
                following.append(item[int(step)])
            elif isinstance(item, dict) and step in item:
                following.append(item[step])
        held = following
    return held
