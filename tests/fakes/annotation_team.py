"""A project that people work on together: `ragstone annotate` as a process, named people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from click.testing import CliRunner

from ragstone.annotation.connections import VARIABLE
from ragstone.annotation.database import Database
from ragstone.annotation.project import Project
from ragstone.cli.annotate import command as annotate
from ragstone.cli.data import command as data

if TYPE_CHECKING:
    from ragstone.annotation.people import PersonRole

DESKTOP: Final[Mapping[str, Any]] = {"viewport": {"width": 1280, "height": 800}}
PHONE: Final[Mapping[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 3,
}


class Team:
    """The server of a project, which can be killed, and a browser of their own for each person."""

    def __init__(
        self, folder: Path, database: str, browser: Any, roles: Mapping[str, PersonRole]
    ) -> None:
        from benchmarks.annotate_shared import ServerProcess

        self.project, self.database, self.browser = Project.open(folder), database, browser
        opened = Database.of(self.project, database)
        self._tokens = {name: opened.add_person(name, role) for name, role in roles.items()}
        opened.close()
        self.told: list[str] = []
        self._contexts: list[Any] = []
        self.server = ServerProcess(self.project, database)
        self.server.start()

    def page(self, person: str, device: Mapping[str, Any] = DESKTOP) -> Any:
        """Return a page on which a person signed in with the token, as people do."""
        context = self.browser.new_context(**device)
        self._contexts.append(context)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("pageerror", lambda error: self.told.append(f"{person}: {error}"))
        page.goto(f"{self.server.address}/")
        page.get_by_label("Token").fill(self._tokens[person])
        page.keyboard.press("Enter")
        page.locator(f"body[data-person={person}]").wait_for()
        return page

    def restart(self) -> None:
        """Start the server again, after it was killed, at its port."""
        self.server.start()

    def labels(self) -> dict[tuple[str, str, str, str], Any]:
        """Return (person, item, question, part) -> the label that counts."""
        return labels_of(self.project.folder, self.database)

    def close(self) -> None:
        """End the browsers and the server."""
        for context in self._contexts:
            context.close()
        self.server.kill()


def labels_of(folder: Path, database: str) -> dict[tuple[str, str, str, str], Any]:
    """Return (person, item, question, part) -> the label that counts in a project."""
    opened = Database.of(Project.open(folder), database)
    try:
        return {
            (one.person, one.item_id, one.field, one.part): one.value for one in opened.labels()
        }
    finally:
        opened.close()


def printed(*arguments: str, database: str = "") -> Any:
    """Return what `ragstone annotate` or `ragstone data` prints with --json.

    Args:
        arguments: `annotate` or `data`, and the rest of the line.
        database: the address of the database; that of the project if it is empty.
    """
    group = {"annotate": annotate, "data": data}[arguments[0]]
    environment = {VARIABLE: database}
    done = CliRunner().invoke(group, [*arguments[1:], "--json"], env=environment)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def written_project(folder: Path, items: Sequence[Mapping[str, Any]], **settings: Any) -> Path:
    """Write a project with items, and return its folder."""
    folder.mkdir(parents=True)
    lines = "".join(json.dumps(one) + "\n" for one in items)
    (folder / "items.jsonl").write_text(lines, encoding="utf-8")
    # JSON is YAML.
    (folder / "project.yaml").write_text(json.dumps({"name": "ferry", **settings}))
    return folder
