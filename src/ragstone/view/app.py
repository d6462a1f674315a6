"""The server's application: its routes, checks and error pages."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson
from aiohttp import web

from ragstone.core.times import utc_text
from ragstone.errors import RagstoneError
from ragstone.view.page import ActionAnswer, Document, ViewAction, ViewPage
from ragstone.view.page_templates import TEMPLATES
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.answers import Handler, asset_response, guarded, json_bytes, json_response
from ragstone.web.errors import PageError, StateText, page_error
from ragstone.web.page_query import TWIN, PageQuery
from ragstone.web.security import new_token, same_token

_LOG: Final = logging.getLogger(__name__)
_THREADS: Final = 2


def make_app(
    view: StoreView, pages: Iterable[ViewPage], actions: Iterable[ViewAction] = ()
) -> web.Application:
    """Return the application that serves some pages of a store."""
    server = _Server(view, list(pages), list(actions))
    app = web.Application(
        client_max_size=limits.VIEW_POST_BYTES, middlewares=[server.guard, server.explain]
    )
    app.router.add_get("/", server.first)
    app.router.add_get("/alive", server.alive)
    app.router.add_get("/assets/{name}", server.asset)
    for page in server.pages:
        app.router.add_get(f"{page.path}{TWIN}", functools.partial(server.twin, page))
        for path in (f"{page.path}/", page.path):
            app.router.add_get(path, functools.partial(server.page, page))
    for action in server.actions:
        handler = functools.partial(server.read if action.reads else server.act, action)
        app.router.add_route("GET" if action.reads else "POST", action.path, handler)
    app.on_cleanup.append(server.close)
    return app


class _Server:
    """The handlers of one start of the server; pages are made in threads."""

    def __init__(self, view: StoreView, pages: list[ViewPage], actions: list[ViewAction]) -> None:
        self.view, self.pages, self.actions = view, pages, actions
        self.token = new_token()
        self.threads = ThreadPoolExecutor(_THREADS, "ragstone-view")
        # A button may ask a model: pages do not wait for it.
        self.buttons = ThreadPoolExecutor(_THREADS, "ragstone-button")

    async def close(self, _app: web.Application) -> None:
        for threads in (self.threads, self.buttons):
            threads.shutdown(wait=False, cancel_futures=True)

    async def first(self, _request: web.Request) -> web.Response:
        raise web.HTTPFound(self.pages[0].path)

    async def alive(self, _request: web.Request) -> web.Response:
        return json_response(json_bytes({"alive": True}))

    async def asset(self, request: web.Request) -> web.Response:
        return asset_response(TEMPLATES, request.match_info["name"])

    async def page(self, page: ViewPage, request: web.Request) -> web.Response:
        """Answer with a page."""
        query = _query(request)

        def made() -> str:
            return self._html(page, query, page.make(self.view, query))

        return web.Response(text=await self._in_thread(made), content_type="text/html")

    async def twin(self, page: ViewPage, request: web.Request) -> web.Response:
        """Answer with the plain data of a page."""
        query = _query(request)

        def made() -> bytes:
            body = json_bytes(page.make(self.view, query))
            lines = {"secret": self.view.secret_lines(), "machine_qrels": self.view.qrels_lines()}
            known = {key: value for key, value in lines.items() if value}
            return json_bytes({**orjson.loads(body), **known}) if known else body

        return json_response(await self._in_thread(made))

    async def act(self, action: ViewAction, request: web.Request) -> web.Response:
        """Run the action of a button, unless its page is stale."""
        form = await request.post()
        # A browser sends the lines of a field with the line ends of the Internet.
        values = {n: v.replace("\r\n", "\n") for n, v in form.items() if isinstance(v, str)}
        token, basis = values.pop("token", ""), values.pop("basis", "")

        def made() -> Any:
            if not same_token(token, self.token):
                return self._stale(action, values, "The server was started again.")
            now = action.basis(self.view, values)
            if now != basis:
                return self._stale(action, values, "The store has changed since.", now)
            return action.run(self.view, values)

        return self._answered(await self._in_thread(made, self.buttons))

    async def read(self, action: ViewAction, request: web.Request) -> web.Response:
        """Answer with a file that is made of the values in the address."""
        values = _query(request).values
        return self._answered(await self._in_thread(lambda: action.run(self.view, values)))

    def _answered(self, answer: ActionAnswer | str) -> web.Response:
        if isinstance(answer, str):
            return web.Response(text=answer, status=409, content_type="text/html")
        if answer.page is not None:
            text = self._html(answer.page, answer.query, answer.document)
            return web.Response(text=text, status=422, content_type="text/html")
        if answer.file_name:
            named = {"Content-Disposition": f'attachment; filename="{answer.file_name}"'}
            headers = {**named, "Content-Type": answer.content_type}
            return web.Response(body=answer.body, headers=headers)
        if answer.address:
            raise web.HTTPSeeOther(answer.address)
        return json_response(json_bytes(answer.document))

    def _stale(
        self, action: ViewAction, values: Mapping[str, str], why: str, basis: str | None = None
    ) -> str:
        """Return the page of a stale button: all that was entered, and a button that sends it."""
        if basis is None:
            basis = action.basis(self.view, values)
        return self._html(
            ViewPage(action.path, "Stale page", "stale.html", lambda _view, _query: {}),
            PageQuery(action.path),
            {"why": why, "action": action.path, "values": dict(values), "basis": basis},
        )

    def _html(self, page: ViewPage, query: PageQuery, document: Document) -> str:
        return TEMPLATES.render(
            page.template,
            page=document,
            query=query,
            title=page.title,
            tabs=[one for one in self.pages if one.tab],
            current=page.marks or page.path,
            store=str(self.view.root),
            notes=[*self.view.secret_lines(), *self.view.qrels_lines()],
            token=self.token,
            made=utc_text()[11:16],
            twin=query.twin,
        )

    async def _in_thread(
        self, made: Callable[[], Any], threads: ThreadPoolExecutor | None = None
    ) -> Any:
        return await asyncio.get_running_loop().run_in_executor(threads or self.threads, made)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse foreign requests; add the security headers to every answer."""
        return await guarded(request, handler)

    @web.middleware
    async def explain(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Turn errors into pages, or into plain data for the address of a twin."""
        try:
            return await handler(request)
        except PageError as error:
            return self._error(request, error)
        except RagstoneError as error:
            return self._error(request, page_error(error))
        except web.HTTPNotFound:
            state = StateText(f"There is no page {request.path}.", link="/", link_text="Start")
            return self._error(request, PageError(404, state))
        except web.HTTPRequestEntityTooLarge:
            most = limits.VIEW_POST_BYTES
            said = f"The form is larger than {most:,} bytes. Nothing was changed."
            return self._error(request, PageError(413, StateText(said)))
        except web.HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - a page must not end the server
            _LOG.exception("the page %s failed", request.path)
            said = f"The page could not be made: {type(error).__name__}."
            then = "The terminal of the server has the details. The other pages are not affected."
            return self._error(request, PageError(500, StateText(said, then)))

    def _error(self, request: web.Request, error: PageError) -> web.Response:
        if request.path.endswith(TWIN):
            document = {"error": error.state, "status": error.status}
            return json_response(json_bytes(document), status=error.status)
        page = ViewPage(request.path, error.state.said[:80], "error.html", lambda _v, _q: {})
        text = self._html(page, PageQuery(request.path), {"state": error.state})
        return web.Response(text=text, status=error.status, content_type="text/html")


def _query(request: web.Request) -> PageQuery:
    """Return the address of a request; of equal names the last value counts."""
    path = request.path.removesuffix(TWIN if request.path.endswith(TWIN) else "/")
    return PageQuery(path, dict(request.match_info), dict(request.query))
