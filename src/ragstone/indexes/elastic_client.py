"""Elasticsearch and OpenSearch over HTTP: a server's facts, and writing an index of our own.

Searches are calls (see `ragstone.components.retrievers.elastic_searches`); everything else is here.
"""

from __future__ import annotations

import base64
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from typing import Any, Final, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import orjson

from ragstone.calls.scheduler import RetryPolicy
from ragstone.core import limits
from ragstone.core.environment import resolved, secret
from ragstone.core.offline import is_loopback
from ragstone.core.parsing import parse_json
from ragstone.errors import CallError, ConfigError
from ragstone.indexes.own_index import OwnIndex

Flavour = Literal["elasticsearch", "opensearch"]

POSITION: Final = "position"
TEXT: Final = "text"
VECTOR: Final = "vector"
"""Fields of an index of our own."""
_ABSENT: Final = 404
_TRANSIENT: Final = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class SearchEngine:
    """A server at an address; nothing is sent before a method is called.

    Args:
        url: the address.
        api_key_env: environment variable with an API key, or NAME:PASSWORD.
        flavour: the kind of server; "" asks it.
        retry_policy: time-outs and retries.
    """

    url: str
    api_key_env: str = ""
    flavour: Flavour | Literal[""] = ""
    retry_policy: RetryPolicy = RetryPolicy()  # noqa: RUF009 - frozen

    @cached_property
    def kind(self) -> tuple[Flavour, tuple[int, ...]]:
        """The kind of server and its version; () if its kind was given."""
        if self.flavour:
            return self.flavour, ()
        found = self.send("GET", "")
        version = found.get("version") if isinstance(found, Mapping) else None
        if not isinstance(version, Mapping) or not version.get("number"):
            raise ConfigError(
                f"{self._shown} is neither Elasticsearch nor OpenSearch: it reports no version; "
                "check url, or name the kind with flavour",
                key="url",
            )
        opensearch = version.get("distribution") == "opensearch"
        numbers = tuple(int(number) for number in re.findall(r"\d+", str(version["number"])))
        return "opensearch" if opensearch else "elasticsearch", numbers

    def fields(self, index: str) -> dict[str, Mapping[str, Any]]:
        """Return the fields of an index or alias, with the settings of each.

        Raises:
            ConfigError: there is no such index, or it has no document.
        """
        found = self.send("GET", f"{path_of(index)}/_mapping", absent={})
        if not found:
            raise ConfigError(
                f"{self._shown} has no index {index!r}; it has {_listed(self._names())}",
                key="index",
                value=index,
            )
        if not self.count(index):
            raise ConfigError(f"the index {index!r} at {self._shown} is empty", key="index")
        mappings = [one.get("mappings", {}).get("properties", {}) for one in found.values()]
        return dict(field for properties in mappings for field in _flat(properties))

    def count(self, index: str, query: Mapping[str, Any] | None = None) -> int:
        """Return the number of documents that match a query, by default of all."""
        body = {"query": query} if query else {}
        return int(self.send("POST", f"{path_of(index)}/_count", body)["count"])

    def send(self, method: str, path: str, body: object = None, *, absent: Any = None) -> Any:
        """Return the parsed response to a request, after retries if the server was busy.

        Args:
            method: GET, POST or PUT.
            path: the path below the address; its parts are escaped.
            body: plain data, or lines of JSON as bytes.
            absent: the value for a response of 404; None raises an error.

        Raises:
            CallError: the server is unreachable, or refused the request.
        """
        for attempt in range(1, self.retry_policy.attempts + 1):
            try:
                return self._sent(method, path, body)
            except HTTPError as error:
                if error.code == _ABSENT and absent is not None:
                    return absent
                if error.code not in _TRANSIENT or attempt == self.retry_policy.attempts:
                    raise self._refusal(error) from error
            except URLError as error:
                raise CallError(
                    f"cannot connect to {self._shown} ({error.reason}); is the server running "
                    "there?"
                ) from error
            except (OSError, HTTPException) as error:
                if attempt == self.retry_policy.attempts:
                    cause = str(error) or type(error).__name__
                    raise CallError(f"{self._shown} closed the connection: {cause}") from error
            time.sleep(self.retry_policy.wait(attempt, random.random()))  # noqa: S311 - jitter
        raise CallError(f"{self._shown} does not respond")

    def _sent(self, method: str, path: str, body: object) -> Any:
        address = resolved(self.url, "the address of the search engine").rstrip("/")
        raw = body if isinstance(body, bytes) else None if body is None else orjson.dumps(body)
        key = secret(self.api_key_env, f"the key of {self._shown}")
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        headers = {"Content-Type": kind, **authorization(key)}
        request = Request(f"{address}/{path}", raw, headers, method=method)  # noqa: S310 - checked
        with self._opener(address).open(request, timeout=self.retry_policy.timeout) as response:
            received = response.read(limits.MAX_RESPONSE_BYTES + 1)
        if len(received) > limits.MAX_RESPONSE_BYTES:
            raise CallError(
                f"the response of {self._shown} exceeds the maximum response size of "
                f"{limits.MAX_RESPONSE_BYTES:,} bytes"
            )
        try:
            return parse_json(received)
        except ValueError as error:
            raise CallError(
                f"{self._shown} did not return JSON; is this the address of a search engine?"
            ) from error

    @staticmethod
    def _opener(address: str) -> OpenerDirector:
        # A proxy from the environment cannot reach this machine's loopback address.
        proxies = [ProxyHandler({})] if is_loopback(urlsplit(address).hostname or "") else []
        return build_opener(_NoRedirect(), *proxies)

    def _refusal(self, error: HTTPError) -> CallError:
        with error:
            message = reason_in(error.read(limits.MAX_RESPONSE_BYTES)) or str(error.reason)
        advice = ""
        if error.code in {401, 403}:
            named = f"the value of {self.api_key_env} is wrong, or may not read this index"
            advice = named if self.api_key_env else "name an environment variable with api_key_env"
        return CallError(
            f"{self._shown} refused with {error.code}: {message}{advice and f'; {advice}'}",
            value=error.code,
        )

    def _names(self) -> list[str]:
        """Return the indexes and aliases that are not hidden; empty if they may not be listed."""
        try:
            indexes = self.send("GET", "_cat/indices?format=json")
            aliases = self.send("GET", "_cat/aliases?format=json")
        except CallError:
            return []
        names = [*(one["index"] for one in indexes), *(one["alias"] for one in aliases)]
        return sorted({name for name in names if not name.startswith(".")})

    @property
    def _shown(self) -> str:
        return self.url.split("?", 1)[0]


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: the key would be sent to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return None, which makes the redirect an error."""


@dataclass(frozen=True)
class OwnElasticIndex(OwnIndex):
    """An index of our own: one document per passage, whose id is its position."""

    engine: SearchEngine
    name: str
    rows: int
    approximate: bool = False
    """Whether a graph of the vectors is built."""

    @property
    def shown(self) -> str:
        """The index, for messages."""
        return f"the index {self.name!r}"

    def exists(self) -> bool:
        """Return whether the index was created, after its documents became visible."""
        return bool(self.engine.send("POST", f"{path_of(self.name)}/_refresh", absent={}))

    def create(self, dimension: int | None) -> None:
        """Create the index with one shard: word statistics are those of all passages."""
        flavour, _ = self.engine.kind
        fields: dict[str, Any] = {POSITION: {"type": "integer"}}
        settings: dict[str, Any] = {"number_of_shards": 1}
        if dimension is None:
            fields[TEXT] = {"type": "text"}
        elif flavour == "opensearch":
            fields[VECTOR] = {"type": "knn_vector", "dimension": dimension}
            if self.approximate:
                settings["index.knn"] = True
                fields[VECTOR]["method"] = {
                    "name": "hnsw",
                    "engine": "lucene",
                    "space_type": "cosinesimil",
                }
        else:
            graph = {"similarity": "cosine"} if self.approximate else {}
            fields[VECTOR] = {
                "type": "dense_vector",
                "dims": dimension,
                "index": self.approximate,
                **graph,
            }
        body = {"settings": settings, "mappings": {"properties": fields}}
        self.engine.send("PUT", path_of(self.name), body)

    def count(self, start: int = 0, stop: int | None = None) -> int:
        """Return the number of documents, in total or from one position up to another."""
        between = {"range": {POSITION: {"gte": start, "lt": stop}}}
        return self.engine.count(self.name, None if stop is None else between)

    def write(self, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the documents from a position on."""
        lines: list[bytes] = []
        for position, row in enumerate(rows, start=start):
            lines.append(orjson.dumps({"index": {"_id": str(position)}}))
            document = {POSITION: position, **row}
            lines.append(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY))
        body = b"\n".join(lines) + b"\n"
        found = self.engine.send("POST", f"{path_of(self.name)}/_bulk", body)
        errors = [one["index"]["error"] for one in found["items"] if "error" in one["index"]]
        if errors:
            raise CallError(
                f"{self.shown} refused {len(errors):,} of {len(rows):,} passages: "
                f"{error_text(errors[0])}; what was written is kept: run again to continue"
            )

    def finish(self) -> None:
        """Make the documents visible."""
        self.engine.send("POST", f"{path_of(self.name)}/_refresh")


def path_of(index: str) -> str:
    """Return an index as a part of a path; several names and patterns are kept."""
    return quote(index, safe=",*")


def authorization(key: str) -> dict[str, str]:
    """Return the header of an API key or of NAME:PASSWORD; empty for "".

    >>> authorization("elastic:changeme")
    {'Authorization': 'Basic ZWxhc3RpYzpjaGFuZ2VtZQ=='}
    """
    if not key:
        return {}
    if ":" in key:
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}
    return {"Authorization": f"ApiKey {key}"}


def error_text(error: Any) -> str:
    """Return the type and reason of an error in a response, with its cause, on one line.

    >>> error_text({"type": "parsing_exception", "reason": "unknown query [mach]"})
    'parsing_exception: unknown query [mach]'
    """
    if not isinstance(error, Mapping):
        return " ".join(str(error).split())[: limits.MAX_SERVER_ERROR_CHARACTERS]
    causes = [error, *(error.get("root_cause") or ()), error.get("caused_by") or {}]
    reasons = [f"{one.get('type')}: {one.get('reason')}" for one in causes if one.get("reason")]
    text = "; ".join(dict.fromkeys(reasons)) or str(error)
    return " ".join(text.split())[: limits.MAX_SERVER_ERROR_CHARACTERS]


def reason_in(raw: bytes) -> str:
    """Return the text of the error in a response, or ""."""
    try:
        payload = parse_json(raw)
    except ValueError:
        return ""
    found = payload.get("error") if isinstance(payload, Mapping) else None
    return error_text(found) if found else ""


def _flat(properties: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a mapping with full names: objects, and the subfields of fields."""
    for name, field in properties.items():
        yield f"{before}{name}", field
        for inner in ("properties", "fields"):
            yield from _flat(field.get(inner, {}), f"{before}{name}.")


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[: limits.MAX_LISTED_FILES]]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more if shown else "none that may be listed"
