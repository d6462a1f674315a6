"""The application of annotation: sessions, pages, events and the export."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson
from aiohttp import web

from ragstone.annotation.database import Person
from ragstone.annotation.events import read_events
from ragstone.annotation.export import rating_lines
from ragstone.annotation.pages import CALLS, PAGES
from ragstone.annotation.site import Document, Site, SiteCall, SitePage, Visit
from ragstone.data.readers.rows import FieldError
from ragstone.errors import RagstoneError
from ragstone.web import limits
from ragstone.web.answers import Handler, asset_response, guarded, json_bytes, json_response
from ragstone.web.errors import PageError, StateText, page_error
from ragstone.web.page_query import TWIN, PageQuery
from ragstone.web.render import Templates
from ragstone.web.security import same_token

_LOG: Final = logging.getLogger(__name__)
COOKIE: Final = "ragstone_session"
TEMPLATES: Final = Templates("ragstone.annotation")
_MONTH: Final = 30 * 24 * 3600
_THREADS: Final = 4
_JSON: Final = "application/json"


def make_app(site: Site, hosts: Sequence[str] = ()) -> web.Application:
    """Return the application of a project.

    Args:
        site: the project, its database and its agent.
        hosts: names under which other machines reach this one; none for this machine alone.
    """
    server = _Server(site, hosts)
    app = web.Application(
        client_max_size=limits.VIEW_POST_BYTES, middlewares=[server.guard, server.explain]
    )
    app.router.add_get("/", server.first)
    app.router.add_get("/alive", server.alive)
    app.router.add_get("/assets/{name}", server.asset)
    app.router.add_post("/session", server.sign_in)
    app.router.add_post("/events", server.events)
    app.router.add_get("/export.jsonl", server.export)
    for page in server.pages:
        app.router.add_get(f"{page.path}{TWIN}", functools.partial(server.twin, page))
        app.router.add_get(page.path, functools.partial(server.page, page))
    for call in CALLS:
        app.router.add_post(call.path, functools.partial(server.call, call))
    app.on_cleanup.append(server.close)
    return app


class _Server:
    """The handlers of one start; the database is asked in threads."""

    def __init__(self, site: Site, hosts: Sequence[str]) -> None:
        self.site, self.hosts = site, hosts
        task = site.project.task
        self.pages = [page for page in PAGES if not page.tasks or task in page.tasks]
        self.threads = ThreadPoolExecutor(_THREADS, "ragstone-annotate")
        # Events wait for neither pages nor agents.
        self.writer = ThreadPoolExecutor(1, "ragstone-events")

    async def close(self, _app: web.Application) -> None:
        for threads in (self.threads, self.writer):
            threads.shutdown(wait=False, cancel_futures=True)

    async def alive(self, _request: web.Request) -> web.Response:
        return json_response(json_bytes({"alive": True}))

    async def asset(self, request: web.Request) -> web.Response:
        return asset_response(TEMPLATES, request.match_info["name"])

    async def first(self, request: web.Request) -> web.StreamResponse:
        """Answer with the first page; the printed address opens a session as well."""
        given = request.query.get("key", "")
        if not (given and self.site.is_open and same_token(given, self.site.key)):
            return await self.page(self.pages[0], request)
        person = Person(self.site.name, "owner")
        token = await self._in_thread(lambda: self.site.database.open_session(person.name))
        response = await self._page(self.pages[0], request, person)
        _set_cookie(response, token)
        return response

    async def sign_in(self, request: web.Request) -> web.StreamResponse:
        """Open the session of a named person, by a form with their token."""
        token = str((await request.post()).get("token", "")).strip()
        person = await self._in_thread(lambda: self.site.database.person_of_token(token))
        if person is None:
            said = "No person of this project has this token."
            raise PageError(403, StateText(said, "Ask the owner of the project for another one."))
        session = await self._in_thread(lambda: self.site.database.open_session(person.name))
        response = web.HTTPSeeOther("/")
        _set_cookie(response, session)
        raise response

    async def page(self, page: SitePage, request: web.Request) -> web.StreamResponse:
        person = await self._person(request, page.roles)
        return await self._page(page, request, person)

    async def _page(
        self, page: SitePage, request: web.Request, person: Person
    ) -> web.StreamResponse:
        visit = Visit(person, _query(request))

        def made() -> str:
            return self._html(page, visit, page.make(self.site, visit))

        return web.Response(text=await self._in_thread(made), content_type="text/html")

    async def twin(self, page: SitePage, request: web.Request) -> web.Response:
        """Answer with the plain data of a page."""
        visit = Visit(await self._person(request, page.roles), _query(request))
        return json_response(await self._in_thread(lambda: json_bytes(page.make(self.site, visit))))

    async def call(self, call: SiteCall, request: web.Request) -> web.Response:
        """Answer a call of a page's script."""
        person = await self._poster(request, call.roles)
        body = await self._body(request)
        found = await self._in_thread(lambda: json_bytes(call.run(self.site, person, body)))
        return json_response(found)

    async def events(self, request: web.Request) -> web.Response:
        """Keep events; the answer names those that are kept, second copies included."""
        person = await self._poster(request)
        try:
            given = read_events(await request.read())
        except FieldError as error:
            return json_response(json_bytes({"error": str(error)}), status=400)
        kept = await self._in_thread(
            lambda: self.site.database.append(person.name, given), self.writer
        )
        confirmed = [{"client_id": k.event.client_id, "sequence": k.sequence} for k in kept]
        return json_response(json_bytes({"confirmed": confirmed}))

    async def export(self, request: web.Request) -> web.Response:
        """Answer with all labels in the form of ratings."""
        await self._person(request, ("owner",))
        lines = await self._in_thread(lambda: list(rating_lines(self.site)))
        return web.Response(body=b"".join(lines), content_type="application/x-ndjson")

    async def _person(self, request: web.Request, roles: Sequence[str]) -> Person:
        """Return who asks for something; an open project can be read without a session."""
        person = await self._signed_in(request)
        if person is None and self.site.is_open:
            person = Person(self.site.name, "owner")
        if person is None:
            raise PageError(401, StateText("Sign in with your token."))
        return _with_role(person, roles)

    async def _poster(
        self, request: web.Request, roles: Sequence[str] = ("annotator", "reviewer", "owner")
    ) -> Person:
        """Return who changes something; a session and a body of JSON are needed.

        Pages of other addresses can send neither the cookie nor JSON.
        """
        person = await self._signed_in(request)
        if person is None:
            said = "There is no session. Open the address that the server printed, or sign in."
            raise PageError(401, StateText(said))
        if request.content_type != _JSON:
            raise PageError(415, StateText(f"The body must be {_JSON}."))
        return _with_role(person, roles)

    async def _signed_in(self, request: web.Request) -> Person | None:
        token = request.cookies.get(COOKIE, "")
        if not token:
            return None

        def found() -> Person | None:
            name = self.site.database.person_of_session(token)
            return None if name is None else self.site.person(name)

        person: Person | None = await self._in_thread(found)
        return person

    async def _body(self, request: web.Request) -> Mapping[str, Any]:
        try:
            body = orjson.loads(await request.read())
        except orjson.JSONDecodeError as error:
            raise PageError(400, StateText(f"The body is not JSON: {error}.")) from error
        if not isinstance(body, dict):
            raise PageError(400, StateText("The body must be a JSON object."))
        return body

    def _html(self, page: SitePage, visit: Visit, document: Document) -> str:
        project = self.site.project
        return TEMPLATES.render(
            page.template,
            page=document,
            query=visit.query,
            title=page.title,
            tabs=[one for one in self.pages if one.tab and visit.person.role in one.roles],
            current=page.path,
            store=project.name,
            person=visit.person,
            task=project.task,
            digest=self.site.digest,
            token="",
            made="",
            twin=visit.query.twin,
        )

    async def _in_thread(
        self, made: Callable[[], Any], threads: ThreadPoolExecutor | None = None
    ) -> Any:
        return await asyncio.get_running_loop().run_in_executor(threads or self.threads, made)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse foreign requests; add the security headers to every answer."""
        return await guarded(request, handler, self.hosts)

    @web.middleware
    async def explain(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Turn errors into pages, or into plain data for scripts."""
        try:
            return await handler(request)
        except PageError as error:
            return self._error(request, error)
        except RagstoneError as error:
            return self._error(request, page_error(error))
        except web.HTTPNotFound:
            state = StateText(f"There is no page {request.path}.", link="/", link_text="Start")
            return self._error(request, PageError(404, state))
        except web.HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - a page must not end the server
            _LOG.exception("the page %s failed", request.path)
            said = f"The request failed: {type(error).__name__}."
            then = "The terminal of the server has the details. Nothing that was kept is lost."
            return self._error(request, PageError(500, StateText(said, then)))

    def _error(self, request: web.Request, error: PageError) -> web.Response:
        if request.method == "POST" or request.path.endswith((TWIN, ".jsonl")):
            document = {"error": error.state.said, "way_out": error.state.then}
            return json_response(json_bytes(document), status=error.status)
        page = SitePage(request.path, error.state.said[:80], "site_error.html", lambda _s, _v: {})
        visit = Visit(Person("", "annotator"), PageQuery(request.path))
        text = self._html(page, visit, {"state": error.state, "status": error.status})
        return web.Response(text=text, status=error.status, content_type="text/html")


def _with_role(person: Person, roles: Sequence[str]) -> Person:
    if person.role in roles:
        return person
    said = f"This is for the {' or the '.join(roles)} of the project."
    raise PageError(403, StateText(said, f"{person.name} is {person.role}."))


def _set_cookie(response: web.StreamResponse, token: str) -> None:
    response.set_cookie(COOKIE, token, max_age=_MONTH, httponly=True, samesite="Strict", path="/")


def _query(request: web.Request) -> PageQuery:
    path = request.path.removesuffix(TWIN if request.path.endswith(TWIN) else "/")
    values = {name: value for name, value in request.query.items() if name != "key"}
    return PageQuery(path, dict(request.match_info), values)
