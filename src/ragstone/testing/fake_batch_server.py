"""A fake batch server: the fake model server with the batch endpoint of OpenAI's protocol.

It has `POST /v1/files`, `GET /v1/files/ID/content`, `POST` and `GET /v1/batches`, and
`GET /v1/batches/ID`. A batch ends at the look after `looks` others. Its replies are those of
`FakeModelServer`, which also answers single calls.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, Final

import orjson
from aiohttp import web

from ragstone.testing.fake_model_server import FakeModelServer, prompt_mark, write_openai

ENDS: Final = ("completed", "expired", "failed", "cancelled")
"""Ways in which a batch may end."""
_PATH: Final = re.compile(r"/v1/(files|batches)(?:/([\w-]+))?(/content)?")
_PAGE_OF_BATCHES: Final = 100


@dataclass
class FakeBatchServer(FakeModelServer):
    """A batch server for tests: a context manager, with its address in `url`.

    Args:
        looks: number of looks at a batch that find it in progress.
        ends: how the first batches end (see `ENDS`); the others are completed. A batch that
            expired or was cancelled has the results of every other line, one that failed has none.
        line_errors: word of a prompt -> HTTP status of its line, `line_failures` times.
        line_failures: number of times that a prompt with such a word fails.
        trouble: path -> the fates of its first requests: "ok", an HTTP status such as "500",
            "cut" (the connection is closed before the request counts), "lost" (the request
            counts, and its response is lost) or "hang" (it counts, and there is no response).
        keeps_metadata: whether batches have the metadata that they were created with.
        most_requests: maximum number of lines in a file.
    """

    looks: int = 1
    ends: Sequence[str] = ()
    line_errors: Mapping[str, int] = field(default_factory=dict)
    line_failures: int = 10**9
    trouble: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keeps_metadata: bool = True
    most_requests: int = 50_000
    files: dict[str, bytes] = field(default_factory=dict)
    """File id -> content."""
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Batch id -> document, in the order of creation."""
    paid: Counter[str] = field(default_factory=Counter)
    """Prompt (see `prompt_mark`) -> number of batches with it, which a provider would charge."""
    seen: Counter[str] = field(default_factory=Counter)
    """Method and path without ids -> number of requests."""
    _looked: Counter[str] = field(default_factory=Counter)
    _failed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Check the faults and the ends."""
        super().__post_init__()
        for end in self.ends:
            if end not in ENDS:
                raise ValueError(f"unknown end {end!r}; known: {', '.join(ENDS)}")
        self._ends = iter(self.ends)
        self._trouble = {path: iter(kinds) for path, kinds in self.trouble.items()}
        self._numbers = itertools.count(1)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the response to a request."""
        found = _PATH.fullmatch(request.path)
        if found is None:
            return await super().handle(request)
        kind, name, content = found.groups()
        raw = await request.content.read()
        place = f"{request.method} {kind}{'/ID' if name else ''}{content or ''}"
        self.seen[place] += 1
        if self.api_key and not any(self.api_key in value for value in request.headers.values()):
            return _error(401, "incorrect API key")
        await asyncio.sleep(self.delay)
        trouble = next(self._trouble.get(place, iter(())), "ok")
        if trouble.isdigit():
            return _error(int(trouble), f"status {trouble} on demand")
        response = web.Response() if trouble == "cut" else self._respond_to(request, found, raw)
        if trouble == "hang":
            await asyncio.Event().wait()
        if trouble in {"cut", "lost"} and request.transport is not None:
            request.transport.close()
        return response

    def _respond_to(
        self, request: web.BaseRequest, found: re.Match[str], raw: bytes
    ) -> web.Response:
        kind, name, content = found.groups()
        if kind == "files" and request.method == "POST":
            return self._upload(request.headers["Content-Type"], raw)
        if kind == "batches" and request.method == "POST":
            return self._create(orjson.loads(raw))
        if kind == "batches" and not name:
            return self._list(request.query)
        if name not in (self.files if content else self.batches):
            return _error(404, f"no such {kind}: {name}")
        if content:
            return web.Response(body=self.files[name], content_type="application/octet-stream")
        return _json(self._look(name))

    def _upload(self, content_type: str, raw: bytes) -> web.Response:
        header = f"Content-Type: {content_type}\r\n\r\n".encode()
        form = BytesParser(EmailMessage, policy=HTTP).parsebytes(header + raw)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.walk()}
        if parts["purpose"].get_payload(decode=True) != b"batch":
            return _error(400, "the purpose of the file must be batch")
        return _json({"id": self._keep(parts["file"].get_payload(decode=True)), "object": "file"})

    def _keep(self, content: Any) -> str:
        name = f"file-{next(self._numbers)}"
        self.files[name] = content
        return name

    def _create(self, asked: dict[str, Any]) -> web.Response:
        content = self.files.get(asked["input_file_id"])
        if content is None or asked["endpoint"] != "/v1/chat/completions":
            return _error(400, "no such file, or an endpoint without batches")
        lines = [orjson.loads(line) for line in content.splitlines()]
        batch = {
            "id": f"batch_{next(self._numbers)}",
            "object": "batch",
            "status": "validating",
            "input_file_id": asked["input_file_id"],
            "metadata": asked.get("metadata") if self.keeps_metadata else None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        self.batches[batch["id"]] = batch
        if len(lines) > self.most_requests:
            error = {
                "code": "too_many_requests",
                "message": f"more than {self.most_requests} lines",
            }
            batch |= {"status": "failed", "errors": {"object": "list", "data": [error]}}
        else:
            self.paid.update(prompt_mark(line["body"]["messages"]) for line in lines)
        return _json(batch)

    def _list(self, query: Mapping[str, str]) -> web.Response:
        """Return a page of the batches, newest first."""
        names = list(self.batches)[::-1]
        if "after" in query:
            names = names[names.index(query["after"]) + 1 :]
        most = min(int(query.get("limit", "20")), _PAGE_OF_BATCHES)
        rows = [self.batches[name] for name in names[:most]]
        return _json({"object": "list", "data": rows, "has_more": len(names) > most})

    def _look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        self._looked[name] += 1
        if batch["status"] in ENDS:
            return batch
        if self._looked[name] <= self.looks:
            batch["status"] = "in_progress"
            return batch
        end = next(self._ends, "completed")
        if end == "failed":
            error = {"code": "token_limit_exceeded", "message": "too many tokens are enqueued"}
            batch |= {"status": end, "errors": {"object": "list", "data": [error]}}
            return batch
        lines = [orjson.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        done, failed = list[dict[str, Any]](), list[dict[str, Any]]()
        for place, line in enumerate(lines):
            skipped = end != "completed" and place % 2
            result = _unfinished(line, end) if skipped else self._result(line)
            response = result["response"]
            is_reply = response is not None and response["status_code"] == 200  # noqa: PLR2004
            (done if is_reply else failed).append(result)
        batch["request_counts"] |= {"completed": len(done), "failed": len(failed)}
        # Not in the order of the requests: clients must use the ids.
        for field_name, results in (("output_file_id", done[::-1]), ("error_file_id", failed)):
            if results:
                batch[field_name] = self._keep(b"\n".join(map(orjson.dumps, results)) + b"\n")
        batch["status"] = end
        return batch

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        """Return the line of a result file for a line of requests."""
        asked, mark = line["body"], prompt_mark(line["body"]["messages"])
        words = asked["messages"][-1]["content"].split()
        status = next((s for word, s in self.line_errors.items() if word in words), 200)
        if status != 200 and self._failed[mark] < self.line_failures:  # noqa: PLR2004
            self._failed[mark] += 1
            body: dict[str, Any] = {"error": {"message": "an error on demand", "code": "demanded"}}
        else:
            status, body = 200, write_openai(asked, self.answer(asked["messages"]))
            self.answered[mark] += 1
        return _line(line, {"status_code": status, "body": body})


def _unfinished(line: dict[str, Any], end: str) -> dict[str, Any]:
    error = {"code": f"batch_{end}", "message": "This request was not executed."}
    return {**_line(line, None), "error": error}


def _line(line: dict[str, Any], response: dict[str, Any] | None) -> dict[str, Any]:
    identity = f"batch_req_{line['custom_id'][:8]}"
    return {"id": identity, "custom_id": line["custom_id"], "response": response, "error": None}


def _json(document: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps(document), content_type="application/json")


def _error(status: int, message: str) -> web.Response:
    body = orjson.dumps({"error": {"message": message, "code": str(status)}})
    return web.Response(body=body, status=status, content_type="application/json")
