"""The application of annotation: sessions, pages, events and the export."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson
from aiohttp import web

from ragstone.annotation.blind import hidden_labels, named_event
from ragstone.annotation.events import Event, read_events
from ragstone.annotation.failures import failure
from ragstone.annotation.keeping import Receipt
from ragstone.annotation.pages import CALLS, PAGES
from ragstone.annotation.people import ROLES, Person, PersonRole
from ragstone.annotation.posted import events_answer, not_a_label, qualification_is_over
from ragstone.annotation.rating_export import rating_lines
from ragstone.annotation.review import refusal_of_post
from ragstone.annotation.sessions import (
    Caller,
    SignInError,
    WrongTokens,
    caller,
    check_role,
    cookie_name,
    form_token,
    reader,
    set_cookie,
)
from ragstone.annotation.site import Document, PageAct, Site, SiteCall, SitePage, Visit
from ragstone.annotation.writer import EventWriter
from ragstone.data.readers.rows import FieldError
from ragstone.web import limits
from ragstone.web.answers import Handler, asset_response, guarded, json_bytes, json_response
from ragstone.web.errors import PageError, StateText
from ragstone.web.page_query import TWIN, PageQuery
from ragstone.web.render import Templates
from ragstone.web.security import same_token

TEMPLATES: Final = Templates("ragstone.annotation")
_THREADS: Final = 4
_JSON: Final = "application/json"
_NOBODY: Final = Caller(Person("", "annotator"))


def make_app(
    site: Site,
    hosts: Sequence[str] = (),
    proxies: Sequence[str] = (),
    *,
    pages: Sequence[SitePage] = PAGES,
    calls: Sequence[SiteCall] = CALLS,
) -> web.Application:
    """Return the application of a project.

    Args:
        site: the project, its database and its agent.
        hosts: names under which other machines reach this one; none for this machine alone.
        proxies: names, with a port if it is in addresses, of proxies that add TLS.
        pages: pages in the order of the navigation; those of other tasks are left out.
        calls: calls of their scripts.
    """
    server = _Server(site, pages, hosts, proxies)
    app = web.Application(
        client_max_size=limits.VIEW_POST_BYTES, middlewares=[server.guard, server.explain]
    )
    app.router.add_get("/", server.first)
    app.router.add_get("/alive", server.alive)
    app.router.add_get("/assets/{name}", server.asset)
    app.router.add_get("/sign-in", server.sign_in_page)
    app.router.add_post("/session", server.sign_in)
    app.router.add_post("/sign-out", server.sign_out)
    app.router.add_post("/events", server.events)
    app.router.add_get("/export.jsonl", server.export)
    for page in server.pages:
        app.router.add_get(f"{page.path}{TWIN}", functools.partial(server.twin, page))
        app.router.add_get(page.path, functools.partial(server.page, page))
        if page.act is not None:
            app.router.add_post(page.path, functools.partial(server.act, page, page.act))
    for call in calls:
        app.router.add_post(call.path, functools.partial(server.call, call))
    app.on_cleanup.append(server.close)
    return app


class _Server:
    """The handlers of one start; the database is asked in threads."""

    def __init__(
        self, site: Site, pages: Sequence[SitePage], hosts: Sequence[str], proxies: Sequence[str]
    ) -> None:
        self.site, self.hosts, self.proxies = site, hosts, proxies
        task = site.project.task
        self.pages = [page for page in pages if not page.tasks or task in page.tasks]
        self.forms = {"/session", "/sign-out", *(one.path for one in self.pages if one.act)}
        self.cookie = cookie_name(site)
        self.wrong = WrongTokens()
        self.threads = ThreadPoolExecutor(_THREADS, "ragstone-annotate")
        self.writer = EventWriter(site.database, site.project.items)

    async def close(self, _app: web.Application) -> None:
        await self.writer.close()
        self.threads.shutdown(wait=False, cancel_futures=True)

    async def alive(self, _request: web.Request) -> web.Response:
        return json_response(json_bytes({"alive": True}))

    async def asset(self, request: web.Request) -> web.Response:
        return asset_response(TEMPLATES, request.match_info["name"])

    # Sessions

    async def first(self, request: web.Request) -> web.StreamResponse:
        """Answer with the first page; the printed address opens a session as well."""
        if not request.query.get("key"):
            return await self._first(request, await self._reader(request))
        found = await self._in_thread(lambda: caller(self.site, self._session(request)))
        if not self.site.opens(request.query["key"]):
            if found is not None:
                return await self._first(request, found)
            said = "The key in this address is not of this start of the server."
            raise SignInError(said, "Open the address that the server printed last.")
        if found is not None and found.person.name == self.site.name:
            return await self._first(request, found)
        opened: Caller = await self._in_thread(self._open)
        response = await self._first(request, opened)
        self._keep_session(request, response, opened.session)
        return response

    def _open(self) -> Caller:
        person = self.site.person(self.site.name) or Person(self.site.name, "owner")
        return Caller(person, self.site.database.open_session(person.name))

    async def sign_in_page(self, request: web.Request) -> web.StreamResponse:
        state = StateText("Sign in", "The owner of the project gave you a token.")
        if self.site.is_open and not await self._in_thread(self.site.database.people):
            then = "Open the address that the server printed. It opens a session."
            return self._state_page(request, 200, StateText("Nobody has a token", then))
        return self._state_page(request, 200, state, sign_in=True)

    async def sign_in(self, request: web.Request) -> web.StreamResponse:
        """Open the session of a named person, by a form or by JSON with their token."""
        self.wrong.check(request.remote or "")
        is_json = request.content_type == _JSON
        values = await self._body(request) if is_json else await self._form(request, self.site.key)
        token = str(values.get("token", "")).strip()
        person = await self._in_thread(lambda: self.site.database.person_of_token(token))
        if person is None:
            await self.wrong.add(request.remote or "")
            said = "No person of this project has this token."
            raise PageError(403, StateText(said, "Ask the owner of the project for another one."))
        session: str = await self._in_thread(lambda: self.site.database.open_session(person.name))
        if is_json:
            done = json_response(json_bytes({"person": person.name, "role": person.role}))
            self._keep_session(request, done, session)
            return done
        response = web.HTTPSeeOther("/")
        self._keep_session(request, response, session)
        raise response

    async def sign_out(self, request: web.Request) -> web.StreamResponse:
        """End the session of a browser."""
        found = await self._signed_in(request)
        await self._form(request, found.session)
        await self._in_thread(lambda: self.site.database.close_session(found.session))
        response = web.HTTPSeeOther("/sign-in")
        response.del_cookie(self.cookie, path="/")
        raise response

    # Pages

    async def page(self, page: SitePage, request: web.Request) -> web.StreamResponse:
        found = await self._reader(request)
        check_role(found.person, page.roles)
        return await self._page(page, request, found)

    async def act(self, page: SitePage, act: PageAct, request: web.Request) -> web.StreamResponse:
        """Run the action of a page's form, and answer with the page."""
        found = await self._signed_in(request)
        check_role(found.person, page.roles)
        values = await self._form(request, found.session)
        return await self._page(page, request, found, lambda visit: act(self.site, visit, values))

    async def twin(self, page: SitePage, request: web.Request) -> web.Response:
        """Answer with the plain data of a page."""
        found = await self._reader(request)
        check_role(found.person, page.roles)
        visit = Visit(found.person, _query(request))
        return json_response(await self._in_thread(lambda: json_bytes(page.make(self.site, visit))))

    async def call(self, call: SiteCall, request: web.Request) -> web.Response:
        """Answer a call of a page's script."""
        person = await self._poster(request, call.roles)
        body = await self._body(request)
        found = await self._in_thread(lambda: json_bytes(call.run(self.site, person, body)))
        return json_response(found)

    async def events(self, request: web.Request) -> web.Response:
        """Keep events; the answer names those that are kept, second copies included, and others."""
        person = await self._poster(request, ROLES)
        if request.query.get("person", person.name) != person.name:
            said = f"These events are of another person; this browser is now {person.name}'s."
            raise PageError(409, StateText(said, "Sign in as that person to send them."))
        try:
            given = read_events(await request.read())
            given = [named_event(self.site.project, person.name, one) for one in given]
        except FieldError as error:
            raise PageError(400, StateText(str(error))) from error
        receipts = await self._kept(person, given)
        answer = await self._soon(
            lambda: events_answer(self.site.database, person.name, given, receipts)
        )
        answer["current"] = hidden_labels(self.site.project, person.name, answer["current"])
        return json_response(json_bytes(answer))

    async def _kept(self, person: Person, events: Sequence[Event]) -> list[Receipt]:
        """Keep events; those about a conversation one by one, as each may allow the next one."""
        scheme = self.site.project.scheme
        if self.site.project.task != "conversation":
            wrong = await self._soon(lambda: self._wrong(person, events))
            kept = await self.writer.keep(person, [o for o in events if not wrong[o.client_id]])
            return kept + [Receipt(name, reason=said) for name, said in wrong.items() if said]
        questions = [one.name for one in scheme.questions]
        found = list[Receipt]()
        for one in events:
            checked = functools.partial(refusal_of_post, self.site.database, person, one, questions)
            reason = await self._in_thread(checked)
            refused = [Receipt(one.client_id, reason=reason)]
            found += refused if reason else await self.writer.keep(person, [one])
        return found

    def _wrong(self, person: Person, events: Sequence[Event]) -> dict[str, str]:
        """Return client id -> why an event is not kept; "" if it is."""
        scheme, name = self.site.project.scheme, person.name
        return {
            one.client_id: not_a_label(scheme, one) or qualification_is_over(self.site, name, one)
            for one in events
        }

    async def export(self, request: web.Request) -> web.Response:
        """Answer with all labels in the form of ratings."""
        check_role((await self._reader(request)).person, ("owner",))
        lines = await self._in_thread(lambda: list(rating_lines(self.site)))
        return web.Response(body=b"".join(lines), content_type="application/x-ndjson")

    # Who asks

    def _session(self, request: web.Request) -> str:
        return request.cookies.get(self.cookie, "")

    async def _reader(self, request: web.Request) -> Caller:
        """Return who asks for a page."""
        session = self._session(request)
        found: Caller = await self._soon(lambda: reader(self.site, session))
        return found

    async def _signed_in(self, request: web.Request) -> Caller:
        """Return who changes something, for which a session is needed."""
        session = self._session(request)
        found: Caller | None = await self._soon(lambda: caller(self.site, session))
        if found is None:
            then = "Open the address that the server printed, or sign in."
            raise SignInError("There is no session.", then)
        return found

    async def _poster(self, request: web.Request, roles: Sequence[PersonRole]) -> Person:
        """Return who posts JSON; pages of other addresses can send neither it nor the cookie."""
        found = await self._signed_in(request)
        if request.content_type != _JSON:
            raise PageError(415, StateText(f"The body must be {_JSON}."))
        check_role(found.person, roles)
        return found.person

    async def _form(self, request: web.Request, secret: str) -> dict[str, str]:
        """Return the values of a form that carries the token of a secret."""
        try:
            form = await request.post()
        except (ValueError, LookupError) as error:
            raise PageError(400, StateText("The form is malformed.")) from error
        values = {name: value for name, value in form.items() if isinstance(value, str)}
        if not same_token(values.pop("form", ""), form_token(secret)):
            said = "The form is of another session, or of an earlier start of the server."
            raise PageError(403, StateText(said, "Load its page again.", "", "/", "Start"))
        return values

    async def _body(self, request: web.Request) -> Mapping[str, Any]:
        try:
            body = orjson.loads(await request.read())
        except orjson.JSONDecodeError as error:
            raise PageError(400, StateText(f"The body is not JSON: {error}.")) from error
        if not isinstance(body, dict):
            raise PageError(400, StateText("The body must be a JSON object."))
        return body

    def _keep_session(
        self, request: web.Request, response: web.StreamResponse, session: str
    ) -> None:
        secure = request.host.lower() in self.proxies
        set_cookie(response, self.site, session, secure=secure)

    # Answers

    async def _first(self, request: web.Request, found: Caller) -> web.StreamResponse:
        role = found.person.role
        page = next((one for one in self.pages if role in one.roles), self.pages[0])
        check_role(found.person, page.roles)
        return await self._page(page, request, found)

    async def _page(
        self,
        page: SitePage,
        request: web.Request,
        found: Caller,
        make: Callable[[Visit], Document] | None = None,
    ) -> web.StreamResponse:
        visit = Visit(found.person, _query(request, page.path))

        def made() -> str:
            document = make(visit) if make else page.make(self.site, visit)
            return self._html(page, visit.query, document, found)

        done = self._soon(made) if page.quick else self._in_thread(made)
        return web.Response(text=await done, content_type="text/html")

    def _html(self, page: SitePage, query: PageQuery, document: Document, found: Caller) -> str:
        project, person = self.site.project, found.person
        tabs = [one for one in self.pages if one.tab and person.role in one.roles]
        return TEMPLATES.render(
            page.template,
            page=document,
            query=query,
            title=page.title,
            tabs=tabs if person.name else [],
            current=page.path,
            store=project.name,
            person=person,
            task=project.task,
            digest=self.site.digest,
            token=found.form_token,
            made="",
            twin=query.twin if page in self.pages else "",
        )

    async def _soon(self, made: Callable[[], Any]) -> Any:
        """Read a few rows; if the database is near, a thread would wait longer than read."""
        return made() if self.site.database.is_near else await self._in_thread(made)

    async def _in_thread(self, made: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, made)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse foreign requests; add the security headers to every answer."""
        response = await guarded(request, handler, self.hosts, self.proxies)
        if "key" in request.query:
            # The files of the page are asked for without its address.
            response.headers["Referrer-Policy"] = "strict-origin"
        return response

    @web.middleware
    async def explain(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Turn errors into pages, or into plain data for scripts."""
        try:
            return await handler(request)
        except web.HTTPRedirection:
            raise
        except Exception as error:  # noqa: BLE001 - a page must not end the server
            return self._error(request, failure(request, error))

    def _error(self, request: web.Request, error: PageError) -> web.Response:
        posted = request.method == "POST" and request.path not in self.forms
        if posted or request.path.endswith((TWIN, ".jsonl")) or request.content_type == _JSON:
            document = {"error": error.state.said, "way_out": error.state.then}
            return json_response(json_bytes(document), status=error.status)
        again = isinstance(error, SignInError) or request.path == "/session"
        return self._state_page(request, error.status, error.state, sign_in=again)

    def _state_page(
        self, request: web.Request, status: int, state: StateText, *, sign_in: bool = False
    ) -> web.Response:
        """Return a page that has a state instead of its content, with a field for a token."""
        form = form_token(self.site.key) if sign_in else ""
        page = SitePage(request.path, state.said[:80], "site_error.html", lambda _s, _v: {})
        document = {"state": state, "status": status, "sign_in": form}
        text = self._html(page, PageQuery(request.path), document, _NOBODY)
        return web.Response(text=text, status=status, content_type="text/html")


def _query(request: web.Request, first: str = "/") -> PageQuery:
    """Return the address of a request; `first` is the page that is at `/`."""
    path = request.path if request.path != "/" else first
    path = path.removesuffix(TWIN if path.endswith(TWIN) else "/")
    values = {name: value for name, value in request.query.items() if name != "key"}
    return PageQuery(path, dict(request.match_info), values)
