"""The server: sessions, roles, foreign requests, people's pages, events and failures."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.served_site import asked, browser, form_token, label, made_site, sign_in

from ragstone.annotation.app import make_app
from ragstone.annotation.pages import PAGES
from ragstone.annotation.sessions import cookie_name
from ragstone.web import limits
from ragstone.web.security import POLICY
from ragstone.web.server import running


def test_the_printed_address_opens_a_session_without_a_redirect(tmp_path: Path) -> None:
    """The answer is the page; the cookie is for this server's pages alone, and no header has it."""
    site = made_site(tmp_path)

    async def ask() -> None:
        async with asked(site) as (address, client):
            full = f"{address}?key={site.key}"
            async with client.get(full, allow_redirects=False) as reply:
                text, cookie = await reply.text(), reply.headers["Set-Cookie"]
                assert reply.status == 200
                assert reply.headers["Content-Security-Policy"] == POLICY
                # The files of the page are asked for without the key.
                assert reply.headers["Referrer-Policy"] == "strict-origin"
            assert "The page Task" in text
            assert site.key not in text
            assert 'href="/task.json"' in text
            assert cookie.startswith(cookie_name(site))
            assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
            assert "Secure" not in cookie
            async with client.post(f"{address}events", json=label("1")) as reply:
                assert (await reply.json())["confirmed"] == [{"client_id": "1", "sequence": 1}]
            async with client.get(full) as reply:
                assert "Set-Cookie" not in reply.headers
            async with client.get(f"{address}?key=old") as reply:
                assert reply.status == 200

    asyncio.run(ask())
    assert [one.person for one in site.database.events()] == ["owner"]


def test_a_key_of_an_earlier_start_opens_nothing(tmp_path: Path) -> None:
    """The key is new at each start; the one a browser is started with works once."""
    site = made_site(tmp_path)
    later = made_site(tmp_path)
    assert site.key != later.key

    async def ask() -> None:
        async with asked(later) as (address, client):
            async with client.get(f"{address}?key={site.key}") as reply:
                assert reply.status == 401
                assert "not of this start of the server" in await reply.text()
            once = f"{address}?key={later.first_key}"
            async with browser() as first, first.get(once) as reply:
                assert reply.status == 200
            async with client.get(once) as reply:
                assert reply.status == 401

    asyncio.run(ask())


def test_an_open_project_is_read_without_a_session_and_changed_with_one(tmp_path: Path) -> None:
    """Once somebody is named, reading needs a session too; the printed address still works."""
    site = made_site(tmp_path)
    pages = ("", "task", "task.json", "results", "people", "export.jsonl")

    async def statuses(address: str, client: Any) -> list[int]:
        return [(await client.get(f"{address}{page}")).status for page in pages]

    async def ask() -> None:
        async with asked(site) as (address, client):
            assert await statuses(address, client) == 6 * [200]
            for path in ("events", "withdraw", "people", "sign-out"):
                async with client.post(f"{address}{path}", json={}) as reply:
                    assert reply.status == 401
            async with client.get(f"{address}sign-in") as reply:
                assert "Nobody has a token" in await reply.text()
            site.database.add_person("ann", "annotator")
            assert await statuses(address, client) == 6 * [401]
            async with client.get(f"{address}task") as reply:
                text = await reply.text()
                assert 'name="token"' in text
                assert "The page Task" not in text
                assert "Results" not in text
            async with client.get(f"{address}alive") as reply:
                assert reply.status == 200
            async with client.get(f"{address}?key={site.key}") as reply:
                assert reply.status == 200
            assert await statuses(address, client) == 6 * [200]

    asyncio.run(ask())


ALLOWED = {
    "annotator": {"", "task", "task.json"},
    "reviewer": {"", "task", "task.json", "review"},
    "owner": {
        *("", "task", "task.json", "review", "results", "results.json"),
        *("people", "people.json", "export.jsonl"),
    },
}


@pytest.mark.parametrize("role", ALLOWED)
def test_roles_see_their_pages_alone(tmp_path: Path, role: Any) -> None:
    """Every other page is 403, whatever its form; tabs of other roles are not shown."""
    site = made_site(tmp_path, is_open=False)
    token = site.database.add_person("ann", role)

    async def ask() -> None:
        async with asked(site) as (address, client):
            found = {one: (await client.get(f"{address}{one}")).status for one in ALLOWED["owner"]}
            assert set(found.values()) == {401}
            await sign_in(client, address, token)
            found = {one: (await client.get(f"{address}{one}")).status for one in ALLOWED["owner"]}
            assert {one for one, status in found.items() if status == 200} == ALLOWED[role]
            assert set(found.values()) <= {200, 403}
            async with client.get(f"{address}task") as reply:
                assert ("Results" in await reply.text()) == (role == "owner")
            body = {"item_id": "q1", "reason": "twice"}
            async with client.post(f"{address}withdraw", json=body) as reply:
                assert reply.status == (200 if role == "owner" else 403)
            form = {"form": await form_token(client, f"{address}task"), "do": "end", "name": "x"}
            async with client.post(f"{address}people", data=form) as reply:
                assert reply.status == (200 if role == "owner" else 403)

    asyncio.run(ask())


@pytest.mark.parametrize("role", ["annotator", "reviewer"])
def test_the_pages_of_a_project_keep_to_their_roles(tmp_path: Path, role: Any) -> None:
    """Results, people and the export are the owner's; so are the plain data of their pages."""
    site = made_site(tmp_path, is_open=False)
    token = site.database.add_person("ann", role)
    pages = [one for one in PAGES if not one.tasks or "support" in one.tasks]
    closed = {one.path for one in pages if role not in one.roles}
    assert {"/people", "/quality"} <= closed

    async def ask() -> None:
        async with running(make_app(site)) as address, browser() as client:
            await sign_in(client, address, token)
            for path in [*closed, *(f"{one}.json" for one in closed), "/export.jsonl"]:
                async with client.get(f"{address.rstrip('/')}{path}") as reply:
                    assert reply.status == 403, path
            async with client.get(address) as reply:
                text = await reply.text()
            assert reply.status == 200
            for path in closed:
                assert f'href="{path}"' not in text

    asyncio.run(ask())


def test_no_page_of_another_address_changes_anything(tmp_path: Path) -> None:
    """Foreign hosts and origins, bodies that forms can send, and forms without their token."""
    site = made_site(tmp_path)
    token = site.database.add_person("ann", "owner")

    async def ask() -> None:
        async with asked(site) as (address, client):
            await sign_in(client, address, token)
            events = f"{address}events"
            for headers in (
                {"Origin": "http://evil.example"},
                {"Origin": "null"},
                {"Origin": address.rstrip("/").replace("http", "https")},
                {"Origin": "http://127.0.0.1:1"},
                {"Host": "evil.example"},
                {"Host": "127.0.0.1:1"},
            ):
                async with client.post(events, json=label("1"), headers=headers) as reply:
                    assert reply.status == 403
            async with client.get(address, headers={"Host": "evil.example"}) as reply:
                assert reply.status == 403
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
                headers = {"Content-Type": kind}
                async with client.post(events, data=b'{"a": 1}', headers=headers) as reply:
                    assert reply.status == 415
            other = "0" * 64
            for path, form in (("people", {"do": "add", "name": "eve"}), ("sign-out", {})):
                for given in (form, form | {"form": other}, form | {"form": site.key}):
                    async with client.post(f"{address}{path}", data=given) as reply:
                        assert reply.status == 403
            async with client.post(f"{address}session", data={"token": token}) as reply:
                assert reply.status == 403
            own = {"Origin": address.rstrip("/")}
            async with client.post(events, json=label("2"), headers=own) as reply:
                assert reply.status == 200

    asyncio.run(ask())
    assert [one.event.client_id for one in site.database.events()] == ["2"]
    assert [one.name for one in site.database.people()] == ["ann"]


def test_projects_on_two_ports_do_not_sign_each_other_out(tmp_path: Path) -> None:
    """Browsers send the cookies of a host to all of its ports."""
    one, two = made_site(tmp_path / "one"), made_site(tmp_path / "two")

    async def ask() -> None:
        async with asked(one) as (first, client), asked(two) as (second, _):
            await client.get(f"{first}?key={one.key}")
            await client.get(f"{second}?key={two.key}")
            assert len(client.cookie_jar) == 2
            for address in (first, second):
                async with client.post(f"{address}events", json=label("1")) as reply:
                    assert reply.status == 200

    asyncio.run(ask())


def test_sessions_survive_a_restart_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signing out ends one session; an owner, a new token and a removal end all of a person."""
    site = made_site(tmp_path, is_open=False)
    token = site.database.add_person("ann", "annotator")
    owner = site.database.add_person("lee", "owner")

    async def ask() -> None:
        async with asked(site) as (address, client), browser() as other, browser() as boss:
            page = f"{address}task"
            await sign_in(client, address, token)
            await sign_in(other, address, token)
            await sign_in(boss, address, owner)
            form = {"form": await form_token(client, page)}
            async with client.post(f"{address}sign-out", data=form) as reply:
                assert reply.url.path == "/sign-in"
            assert (await client.get(page)).status == 401
            assert (await other.get(page)).status == 200
            end = {"form": await form_token(boss, f"{address}people"), "do": "end", "name": "ann"}
            async with boss.post(f"{address}people", data=end) as reply:
                assert "1 session of ann ended" in await reply.text()
            assert (await other.get(page)).status == 401

            await sign_in(client, address, token)
            async with boss.post(f"{address}people", data={**end, "do": "token"}) as reply:
                fresh = (await reply.text()).split('<code class="token" tabindex="0">')[1]
            assert (await client.get(page)).status == 401
            async with client.post(f"{address}session", json={"token": token}) as reply:
                assert reply.status == 403
            await sign_in(client, address, fresh.split("<")[0])
            async with asked(made_site(tmp_path, is_open=False)) as (again, _):
                assert (await client.get(f"{again}task")).status == 200
            async with boss.post(f"{address}people", data={**end, "do": "remove"}) as reply:
                assert "ann was removed" in await reply.text()
            assert (await client.get(page)).status == 401
            monkeypatch.setattr(limits, "SESSION_DAYS", 0)
            async with asked(made_site(tmp_path, is_open=False)) as (again, _):
                assert (await boss.get(f"{again}task")).status == 401

    asyncio.run(ask())


def test_the_page_of_people_refuses_what_is_wrong(tmp_path: Path) -> None:
    """Each message has the value; a hostile name is text; nobody ends their own session here."""
    site = made_site(tmp_path)
    owner = site.database.add_person("lee", "owner")
    cases = [
        (400, {"do": "nothing", "name": "x"}, "There is no action"),
        (400, {"do": "add", "name": "x", "role": "king"}, "There is no role"),
        (400, {"do": "add", "name": "", "role": "owner"}, "must have 1 to"),
        (400, {"do": "add", "name": "a\u0000b", "role": "owner"}, "printable"),
        (400, {"do": "add", "name": 101 * "x", "role": "owner"}, "must have 1 to 100"),
        (400, {"do": "add", "name": "lee", "role": "owner"}, "already"),
        (400, {"do": "add", "name": "agent", "role": "owner"}, "is reserved"),
        (409, {"do": "add", "name": "owner", "role": "owner"}, "with the printed address"),
        (400, {"do": "token", "name": "nobody"}, "no person"),
        (409, {"do": "remove", "name": "lee"}, "your own session"),
    ]

    async def ask() -> None:
        async with asked(site) as (address, client):
            await sign_in(client, address, owner)
            page = f"{address}people"
            form = {"form": await form_token(client, page)}
            for status, values, said in cases:
                async with client.post(page, data={**form, **values}) as reply:
                    assert (reply.status, said in await reply.text()) == (status, True), values
            hostile = {**form, "do": "add", "name": "<script>alert(1)</script>", "role": "reviewer"}
            async with client.post(page, data=hostile) as reply:
                text = await reply.text()
                assert reply.status == 200
                assert "<script>alert" not in text
                assert "&lt;script&gt;alert(1)" in text
            async with client.get(f"{page}.json") as reply:
                rows = {one["name"]: one for one in (await reply.json())["people"]}
            assert rows["lee"]["sessions"] == 1
            assert rows["<script>alert(1)</script>"]["role"] == "reviewer"

    asyncio.run(ask())


def test_wrong_tokens_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some wrong tokens within a minute, an address is refused for a while."""
    monkeypatch.setattr(limits, "WRONG_TOKENS", 2)
    monkeypatch.setattr(limits, "WRONG_TOKEN_SECONDS", 0.01)
    site = made_site(tmp_path, is_open=False)
    token = site.database.add_person("ann", "annotator")

    async def ask() -> None:
        async with asked(site) as (address, client):
            form = {"form": await form_token(client, f"{address}sign-in"), "token": "wrong"}
            for status, said in ((403, "No person"), (403, "No person"), (429, "Try again in")):
                async with client.post(f"{address}session", data=form) as reply:
                    assert (reply.status, said in await reply.text()) == (status, True)
            async with client.post(f"{address}session", json={"token": token}) as reply:
                assert reply.status == 429

    asyncio.run(ask())


def test_tokens_are_in_no_file_and_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither tokens of people, nor those of sessions and forms, nor the key of the address."""
    site = made_site(tmp_path)
    secrets = [site.key, site.first_key, site.database.add_person("ann", "annotator")]
    caplog.set_level(logging.DEBUG)

    async def ask() -> None:
        async with asked(site) as (address, client):
            await client.get(f"{address}?key={site.key}")
            async with browser() as other:
                await sign_in(other, address, secrets[2])
                secrets.extend(cookie.value for cookie in other.cookie_jar)
            form = await form_token(client, f"{address}people")
            data = {"form": form, "do": "add", "name": "bea", "role": "reviewer"}
            async with client.post(f"{address}people", data=data) as reply:
                text = await reply.text()
            secrets.append(text.split('<code class="token" tabindex="0">')[1].split("<")[0])
            secrets.extend(cookie.value for cookie in client.cookie_jar)
            await client.post(f"{address}session", json={"token": "wrong-token-of-eve"})
            await client.get(f"{address}nothing?key={site.key}")

    asyncio.run(ask())
    secrets.append("wrong-token-of-eve")
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    out = capfd.readouterr()
    said = caplog.text + out.out + out.err
    assert len(secrets) == 7
    assert b"ann" in kept
    for secret in secrets:
        assert secret.encode() not in kept
        assert secret not in said


def test_events_are_confirmed_once_and_show_what_other_tabs_did(tmp_path: Path) -> None:
    """A second copy has the same number; the answer has the label that counts now."""
    site = made_site(tmp_path)

    async def post(client: Any, address: str, *events: Any) -> Any:
        async with client.post(f"{address}events", json=list(events)) as reply:
            assert reply.status == 200
            return await reply.json()

    async def ask() -> None:
        async with asked(site) as (address, client):
            await client.get(f"{address}?key={site.key}")
            first = await post(client, address, label("1", "yes"), label("2", "no", "q2"))
            again = await post(client, address, label("1", "yes"))
            assert first["confirmed"][0]["sequence"] == again["confirmed"][0]["sequence"]
            # Another tab of the same person was later: the server's order counts.
            await post(client, address, label("3", "no", client_time="1999-01-01"))
            late = await post(client, address, label("1", "yes"))
            assert [one["value"] for one in late["current"]["q1"]] == ["no"]
            unknown = await post(client, address, label("4", "no", "q9"), label("5", "no", "q2"))
            assert [one["client_id"] for one in unknown["confirmed"]] == ["5"]
            assert unknown["refused"][0]["client_id"] == "4"
            assert "q9" in unknown["refused"][0]["reason"]

    asyncio.run(ask())
    assert site.database.count() == 4


def test_malformed_and_large_events_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is JSON with the number of the event; nothing is kept."""
    monkeypatch.setattr(limits, "VIEW_POST_BYTES", 3_000)
    site = made_site(tmp_path)
    wrong = [
        b"",
        b"{",
        b"[1]",
        b'{"client_id": "1", "kind": "reply", "item_id": "q1"}',
        b'{"client_id": "1", "kind": "label"}',
        b'{"client_id": "1", "kind": "label", "item_id": "q1", "seconds": -1}',
        b'{"client_id": "1", "kind": "label", "item_id": "q1", "more": 1}',
    ]

    async def ask() -> None:
        async with asked(site) as (address, client):
            await client.get(f"{address}?key={site.key}")
            headers = {"Content-Type": "application/json"}
            for body in wrong:
                async with client.post(f"{address}events", data=body, headers=headers) as reply:
                    assert (reply.status, "error" in await reply.json()) == (400, True), body
            large = label("1", 3_000 * "x")
            async with client.post(f"{address}events", json=large) as reply:
                assert reply.status == 413
                assert "more than 3,000 bytes" in (await reply.json())["error"]

    asyncio.run(ask())
    assert site.database.count() == 0


def test_a_failing_database_is_503_and_the_outbox_keeps_the_events(tmp_path: Path) -> None:
    """The answer is JSON; when the database is back, the same events are kept."""
    site = made_site(tmp_path)

    def execute(statement: str) -> None:
        with sqlite3.connect(tmp_path / "annotation.db") as connection:
            connection.execute(statement)

    async def ask() -> None:
        async with asked(site) as (address, client):
            await client.get(f"{address}?key={site.key}")
            execute("ALTER TABLE event RENAME TO away")
            async with client.post(f"{address}events", json=label("1")) as reply:
                assert reply.status == 503
                assert "error" in await reply.json()
            execute("ALTER TABLE away RENAME TO event")
            async with client.post(f"{address}events", json=label("1")) as reply:
                assert reply.status == 200

    asyncio.run(ask())
    assert site.database.count() == 1


def test_names_of_this_machine_and_of_a_proxy(tmp_path: Path) -> None:
    """A proxy adds TLS: its pages are of https, and their cookies are sent over it alone."""
    site = made_site(tmp_path, is_open=False)
    token = site.database.add_person("ann", "annotator")
    proxy = "labels.example.org"

    async def ask() -> None:
        async with asked(site, ["Lab-PC"], [proxy]) as (address, client):
            port = address.rstrip("/").rpartition(":")[2]
            sent = {"token": token}
            for host, origin, status, secure in (
                (f"lab-pc:{port}", f"http://lab-pc:{port}", 200, False),
                ("lab-pc", "http://lab-pc", 403, False),
                (proxy, f"https://{proxy}", 200, True),
                (proxy, f"http://{proxy}", 403, False),
                (f"{proxy}:{port}", f"https://{proxy}:{port}", 403, False),
            ):
                headers = {"Host": host, "Origin": origin}
                async with client.post(f"{address}session", json=sent, headers=headers) as reply:
                    assert reply.status == status
                    assert ("Secure" in reply.headers.get("Set-Cookie", "")) == secure

    asyncio.run(ask())


def test_bytes_that_are_no_text_are_no_token(tmp_path: Path) -> None:
    """Neither as a cookie nor in a form nor as a key of an address."""
    site = made_site(tmp_path, is_open=False)
    site.database.add_person("ann", "annotator")

    async def ask() -> None:
        async with asked(site) as (address, client):
            for value in ("\udcff", "\udcff\udcfe", 5000 * "x", '"', "%00"):
                headers = {"Cookie": f"{cookie_name(site)}={value}"}
                async with client.get(f"{address}task", headers=headers) as reply:
                    assert reply.status == 401
            for form in (b"form=%ff&token=%ff", b"form[]=1", b"%00=%00", b"\xff"):
                plain = {"Content-Type": "application/x-www-form-urlencoded"}
                async with client.post(f"{address}session", data=form, headers=plain) as reply:
                    assert reply.status in (400, 403)
            for kind in ("application/x-www-form-urlencoded; charset=x", "multipart/form-data"):
                headers = {"Content-Type": kind}
                async with client.post(f"{address}session", data=b"a", headers=headers) as reply:
                    assert reply.status in (400, 403)
            for key in ("%FF", "%ED%A0%80", "%00"):
                async with client.get(f"{address}?key={key}") as reply:
                    assert reply.status == 401
            for body in (b"[]", b'{"token": null}', b'{"token": ["x"]}', b"\xff", b"{}"):
                given = {"Content-Type": "application/json"}
                async with client.post(f"{address}session", data=body, headers=given) as reply:
                    assert reply.status in (400, 403)
                    assert "error" in await reply.json()

    asyncio.run(ask())


def test_unknown_pages_and_methods(tmp_path: Path) -> None:
    """A page for people, JSON for scripts, and a way out."""
    site = made_site(tmp_path)

    async def ask() -> None:
        async with asked(site) as (address, client):
            async with client.get(f"{address}%3Cb%3E") as reply:
                text = await reply.text()
                assert reply.status == 404
                assert "&lt;b&gt;" in text
                assert 'href="/"' in text
            async with client.get(f"{address}nothing.json") as reply:
                assert reply.status == 404
                assert "There is no page" in (await reply.json())["error"]
            async with client.put(f"{address}events") as reply:
                assert reply.status == 405
            async with client.get(f"{address}assets/..%2fapp.py") as reply:
                assert reply.status == 404

    asyncio.run(ask())
