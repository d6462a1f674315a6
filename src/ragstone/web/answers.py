"""Shared parts of the servers of pages: answers as JSON, files of the style, and the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import orjson
from aiohttp import web

from ragstone.web.render import Templates
from ragstone.web.security import HEADERS, refusal

_YEAR: Final = "public, max-age=31536000, immutable"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def json_bytes(document: object) -> bytes:
    """Return plain data as JSON; NaN, which browsers cannot read, becomes null."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    return orjson.dumps(document, default=str, option=options)


def json_response(body: bytes, status: int = 200) -> web.Response:
    """Return an answer with JSON."""
    return web.Response(body=body, status=status, content_type="application/json")


def asset_response(templates: Templates, name: str) -> web.Response:
    """Return a style or a script, which browsers may keep; raise 404 for another name."""
    if name not in templates.assets:
        raise web.HTTPNotFound
    kind, body = templates.assets[name]
    held = {"Cache-Control": _YEAR}
    response = web.Response(body=body, content_type=kind, charset="utf-8", headers=held)
    response.enable_compression()
    return response


async def guarded(
    request: web.Request,
    handler: Handler,
    hosts: Sequence[str] = (),
    proxies: Sequence[str] = (),
) -> web.StreamResponse:
    """Refuse foreign requests; add the security headers to every answer.

    Args:
        request: the request.
        handler: answers a request that is not refused.
        hosts: names of this machine, besides those of the loopback address.
        proxies: names of proxies that add TLS, with a port if addresses have it.
    """
    why = refusal(request, hosts, proxies)
    if why:
        response: web.StreamResponse = web.Response(text=why, status=403)
    else:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(HEADERS)
            raise
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
