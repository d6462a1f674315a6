"""The owner's page of people: roles, tokens, sessions and work done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ragstone.annotation.people import ROLES, PersonActivity
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web.errors import PageError, StateText


def people_rows(site: Site) -> list[dict[str, Any]]:
    """Return the people of a project, those without a token at the end."""
    activity = site.database.activity()
    rows = [_row(one.name, one.role, activity, "token") for one in site.database.people()]
    named = {row["name"] for row in rows}
    if site.is_open and site.name not in named:
        rows.append(_row(site.name, "owner", activity, "printed address"))
        named.add(site.name)
    return rows + [_row(name, "", activity, "") for name in activity if name not in named]


def _row(
    name: str, role: str, activity: Mapping[str, PersonActivity], signs_in: str
) -> dict[str, Any]:
    done = activity.get(name, PersonActivity())
    return {
        "name": name,
        "role": role,
        "signs_in": signs_in,
        "sessions": done.sessions if signs_in else 0,
        "items": done.items,
    }


def _make(site: Site, _visit: Visit) -> Document:
    rows = people_rows(site)
    named = sum(row["signs_in"] == "token" for row in rows)
    return {"people": rows, "named": named, "done": None}


def _act(site: Site, visit: Visit, values: Mapping[str, str]) -> Document:
    """Run the action of a button, and return the page with its outcome."""
    action, name = values.get("do", ""), values.get("name", "").strip()
    if action not in _ACTIONS:
        raise PageError(400, StateText(f"There is no action {action!r}."))
    if action in ("remove", "token") and name == visit.person.name:
        said = "This would end your own session."
        then = "Another owner can do it, or `ragstone annotate people` in a terminal."
        raise PageError(409, StateText(said, then, link="/people", link_text="People"))
    if action == "add" and site.is_open and name == site.name:
        said = f"{name} signs in with the printed address."
        raise PageError(409, StateText(said, link="/people", link_text="People"))
    done = _ACTIONS[action](site, name, values)
    return {**_make(site, visit), "done": done}


def _add(site: Site, name: str, values: Mapping[str, str]) -> dict[str, str]:
    role = next((one for one in ROLES if one == values.get("role")), None)
    if role is None:
        raise PageError(400, StateText(f"There is no role {values.get('role', '')!r}."))
    return {"said": f"{name} was added as {role}.", "token": site.database.add_person(name, role)}


def _renew(site: Site, name: str, _values: Mapping[str, str]) -> dict[str, str]:
    token = site.database.renew_token(name)
    return {"said": f"{name} has a new token. The old one no longer works.", "token": token}


def _end(site: Site, name: str, _values: Mapping[str, str]) -> dict[str, str]:
    count = site.database.end_sessions(name)
    noun = "session" if count == 1 else "sessions"
    return {"said": f"{count} {noun} of {name} ended.", "token": ""}


def _remove(site: Site, name: str, _values: Mapping[str, str]) -> dict[str, str]:
    site.database.remove_person(name)
    return {"said": f"{name} was removed. The labels of {name} stay.", "token": ""}


_ACTIONS: Final = {"add": _add, "token": _renew, "end": _end, "remove": _remove}
PEOPLE_PAGE: Final = SitePage(
    "/people", "People", "people.html", _make, "People", roles=("owner",), act=_act
)
