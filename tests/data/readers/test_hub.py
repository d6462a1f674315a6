"""The hub reader against a server on this machine that speaks the hub's protocol.

The client is the hub's own, in a process of its own, sent here by HF_ENDPOINT. What the real hub
does beyond this (Xet storage, redirects to a CDN, rate limits) is not tested.
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Array, DataType, Table
from arro3.io import write_parquet

from ragstone.core.registry import create
from ragstone.data.load import load_dataset
from ragstone.data.readers.hub import HubReader
from ragstone.errors import MissingDependency

pytest.importorskip("huggingface_hub", reason="needs the extra hub")

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROGRAM = """
import json, sys
from contextlib import nullcontext
from ragstone.data.load import load_dataset
from ragstone.errors import RagstoneError
from ragstone.core.fingerprint import digest_table
from ragstone.core.offline import no_network
written, offline = json.loads(sys.argv[1]), sys.argv[2] == "offline"
try:
    with no_network() if offline else nullcontext():
        dataset = load_dataset(written)
    corpus = dataset.corpus
    print(json.dumps([dataset.name, len(corpus), len(dataset.queries), digest_table(corpus.table)]))
except RagstoneError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


class Hub(http.server.BaseHTTPRequestHandler):
    """One repository, `lab/fruit`, at one commit, from a folder; counts the bytes it sends."""

    protocol_version = "HTTP/1.1"
    folder: Path
    sent: dict[str, int]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Answer as to a GET, without the body."""
        self.do_GET()

    def do_POST(self) -> None:
        """Tell about some paths."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked = json.loads(body)["paths"] if body.startswith("{") else body
        held = [
            self._entry(p) for p in self._files() if p.relative_to(self.folder).as_posix() in asked
        ]
        self._json(held)

    def do_GET(self) -> None:
        """Tell about the repository, its files, or give one of them."""
        path = self.path.partition("?")[0]
        if path.startswith("/api/datasets/lab/fruit/tree/"):
            self._json([self._entry(p) for p in self._files()])
        elif path.startswith("/api/datasets/lab/fruit/paths-info/"):
            self._json([])
        elif path.startswith("/api/datasets/lab/fruit"):
            revision = path.rpartition("/")[2]
            if revision not in {"main", COMMIT, "fruit"}:
                self._missing("RevisionNotFound")
                return
            siblings = [{"rfilename": p.relative_to(self.folder).as_posix()} for p in self._files()]
            self._json({"id": "lab/fruit", "sha": COMMIT, "siblings": siblings})
        elif path.startswith(f"/datasets/lab/fruit/resolve/{COMMIT}/"):
            self._file(self.folder / path.partition(COMMIT)[2].lstrip("/"))
        else:
            self._missing("RepoNotFound")

    def _files(self) -> list[Path]:
        return sorted(p for p in self.folder.rglob("*") if p.is_file())

    def _entry(self, path: Path) -> dict[str, Any]:
        name = path.relative_to(self.folder).as_posix()
        return {"type": "file", "path": name, "size": path.stat().st_size, "oid": f"{hash(name):x}"}

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self._body(body)

    def _missing(self, code: str) -> None:
        self._head(404, {"X-Error-Code": code, "X-Error-Message": code, "Content-Length": "0"})

    def _file(self, path: Path) -> None:
        content, status, headers = path.read_bytes(), 200, {}
        asked = self.headers.get("Range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            whole, start = len(content), int(first)
            content = content[start : int(last or whole - 1) + 1]
            status = 206
            headers["Content-Range"] = f"bytes {start}-{start + len(content) - 1}/{whole}"
        self.sent[path.name] = self.sent.get(path.name, 0) + (
            len(content) if self.command == "GET" else 0
        )
        headers |= {
            "Content-Length": str(len(content)),
            "ETag": f'"{path.name}-{path.stat().st_size}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        self._head(status, headers)
        self._body(content)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self, body: bytes) -> None:
        if self.command != "HEAD":
            self.wfile.write(body)


Load = Callable[..., list[Any]]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Load]:
    """Give what loads a data set in another process, for which the hub is a server here."""
    Hub.folder, Hub.sent = tmp_path / "repository", {}
    Hub.folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    environment |= {
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(tmp_path / "kept"),
    }

    def load(written: object, mode: str = "online") -> list[Any]:
        program = [sys.executable, "-c", PROGRAM, json.dumps(written), mode]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: list[Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    yield load
    server.shutdown()
    thread.join()
    server.server_close()


def _write(name: str, rows: int, words: int = 40) -> None:
    path = Hub.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    ids = [f"p{n}" for n in range(rows)]
    texts = [" ".join(f"w{n * 7 + m}" for m in range(words)) for n in range(rows)]
    columns: dict[str, Any] = {
        "_id": Array(ids, type=DataType.string()),
        "text": Array(texts, type=DataType.string()),
    }
    write_parquet(Table.from_pydict(columns), str(path), max_row_group_size=5_000)


def test_read_once_and_kept(hub: Load) -> None:
    """The tables are those of the folder; offline they come from the cache."""
    _write("corpus/test-00000-of-00001.parquet", 300)
    _write("queries/test-00000-of-00001.parquet", 5)
    (Hub.folder / "README.md").write_text("# Fruit")
    expected = load_dataset(Hub.folder)
    found = hub({"name": "hub", "repo": "lab/fruit"})
    assert found == ["lab/fruit@01234567", 300, 5, expected.corpus.digest]
    sent = dict(Hub.sent)
    assert "README.md" not in sent
    assert hub({"name": "hub", "repo": "lab/fruit"}) == found
    assert hub("hub(lab/fruit)", "offline") == found
    assert Hub.sent == sent, "nothing is fetched twice"


def test_a_subset_is_streamed(hub: Load) -> None:
    """The first passages need a part of the file, and the name contains the limit."""
    _write("corpus.parquet", 40_000, words=60)
    _write("queries.parquet", 5)
    name, passages, _, _ = hub({"name": "hub", "repo": "lab/fruit", "limit": 100})
    assert (name, passages) == ("lab/fruit@01234567, first 100 passages", 100)
    assert Hub.sent["corpus.parquet"] < (Hub.folder / "corpus.parquet").stat().st_size * 0.7


def test_json_lines_are_read_too(hub: Load) -> None:
    """A repository in BEIR's layout, as many are."""
    (Hub.folder / "corpus.jsonl").write_text('{"_id": "p1", "text": "one"}\n')
    (Hub.folder / "queries.jsonl").write_text('{"_id": "q1", "text": "one?"}\n')
    (Hub.folder / "qrels").mkdir()
    (Hub.folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tp1\t1\n")
    assert hub({"name": "hub", "repo": "lab/fruit"})[:3] == ["lab/fruit@01234567", 1, 1]
    kind, told = hub({"name": "hub", "repo": "lab/fruit", "limit": 1})
    assert kind == "DatasetError"
    assert "no Parquet files, and limit applies to those alone" in told


@pytest.mark.parametrize(
    ("written", "mode", "told"),
    [
        ({"repo": "lab/nothing"}, "online", "the hub has no data set 'lab/nothing'"),
        ({"repo": "lab/fruit", "revision": "old"}, "online", "no revision 'old'"),
        ({"repo": "lab/fruit"}, "offline", "is not in the cache"),
        ({"repo": "a b/c/d"}, "online", "cannot get a b/c/d"),
        ({"repo": "lab/fruit"}, "online", "neither Parquet files nor queries.jsonl; found x.txt"),
    ],
)
def test_errors_of_the_hub(hub: Load, written: dict[str, str], mode: str, told: str) -> None:
    """Each error names the missing thing and a remedy."""
    (Hub.folder / "x.txt").write_text("x")
    kind, message = hub({"name": "hub", **written}, mode)
    assert kind == "DatasetError"
    assert told in message


def test_an_absent_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependency, match=r"ragstone\[hub\]"):
        create("datasets", "hub(lab/fruit)", where="data").read()
    assert HubReader("lab/fruit").revision == "main"
