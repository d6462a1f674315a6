"""Whether a secret of any kind, in any place, is in a file or on the screen after any command.

    python benchmarks/planted_secrets.py [--kinds 12] [--json]

Secrets of 12 kinds are planted in 8 places: in an address, a header and the body of a request, as
`{env:NAME}`, as `{file:PATH}` and in plain text. An experiment per kind has a system per place. Its
server repeats all that it received: as it is, in JSON escapes, URL-encoded, as HTML and in base64,
in answers, errors and redirects; another system raises an exception with the secrets. After 19
commands, with a second run whose secrets are others, also the folders of two trackers, all files
but the experiment's own, each row of SQLite and Parquet, compressed streams and all output are
searched for the secrets in each of these forms. `planted_workers.py` searches what workers leave.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import html
import io
import json
import os
import random
import re
import sqlite3
import string
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote, quote_plus, unquote, urlsplit

PLACES = {
    "address, env": {"url": "URL?sig={env:SECRET_0}"},
    "address, file": {"url": "URL?sig={file:secret_1.txt}"},
    "address, plain": {"url": "URL?top_k=5&sig=QUOTED"},
    "header, env": {"url": "URL", "headers": {"X-Tenant": "{env:SECRET_3}"}},
    "header, file": {"url": "URL", "headers": {"Authorization": "Bearer {file:secret_4.txt}"}},
    "header, plain": {"url": "URL", "headers": {"Authorization": "Bearer PLAIN"}},
    "body, env": {"url": "URL", "body": {"query": "{query}", "more": "{env:SECRET_6}"}},
    "body, plain": {"url": "URL", "body": {"query": "{query}", "api_key": "PLAIN"}},
}
_QUOTED = (0, 1)
"""Places in addresses: a value there must be URL-encoded."""
_WORDS = string.ascii_letters + string.digits


def _word(draw: random.Random, length: int, letters: str = _WORDS) -> str:
    return "".join(draw.choices(letters, k=length))


def _jwt(draw: random.Random) -> str:
    parts = (_word(draw, 30), _word(draw, 60), _word(draw, 40))
    return "eyJhbGciOiJIUzI1NiJ9" + ".".join(parts)


KINDS: dict[str, Callable[[random.Random], str]] = {
    "model key": lambda draw: f"sk-proj-{_word(draw, 40)}",
    "code host": lambda draw: f"ghp_{_word(draw, 36)}",
    "cloud key": lambda draw: f"AKIA{_word(draw, 16, string.ascii_uppercase + string.digits)}",
    "chat bot": lambda draw: f"xoxb-{_word(draw, 12, string.digits)}-{_word(draw, 24)}",
    "signed token": _jwt,
    "long bearer": lambda draw: f"{_word(draw, 60)}~{_word(draw, 20)}+/",
    "user and password": lambda draw: base64.b64encode(f"me:{_word(draw, 14)}".encode()).decode(),
    "session": lambda draw: f"sid={_word(draw, 26)}",
    "password with signs": lambda draw: f"p/{_word(draw, 3)}\"&+%='\\{_word(draw, 6)}",
    "signature": lambda draw: base64.b64encode(draw.randbytes(32)).decode(),
    "private key": lambda draw: base64.b64encode(draw.randbytes(90)).decode(),
    "hexadecimal": lambda draw: draw.randbytes(16).hex(),
}


class _Echo(BaseHTTPRequestHandler):
    """A server that repeats all that it receives, in several forms."""

    def do_POST(self) -> None:
        """Answer, refuse or redirect, by the number of the query."""
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = unquote(urlsplit(self.path).query)
        told = "\n".join([query, *map(str, self.headers.values()), *_texts(json.loads(asked))])
        forms = [told, quote(told), quote_plus(told), html.escape(told)]
        forms += [base64.b64encode(b"a" * n + told.encode()).decode() for n in range(3)]
        number = int((re.search(r"number (\d)", asked) or [0, 0])[1])
        answer = {"answer": "Paris " + " ".join(forms), "steps": [], "passage_ids": forms[:1]}
        content = json.dumps({"error": {"message": told}} if number == 2 else answer)
        if number == 1:
            content = content.replace("/", "\\/")
            content = re.sub(r"(?<=[a-z])[a-z](?=[a-z])", lambda c: f"\\u{ord(c[0]):04x}", content)
            content = content.replace('"\\u0061nswer"', '"answer"')
            content = json.dumps({**json.loads(content)}) if '"answer"' not in content else content
        self.send_response({2: 400, 3: 302}.get(number, 200))
        if number == 3:
            self.send_header("Location", f"http://127.0.0.1:9/?{quote(told)}")
        raw = content.encode()
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in plain data, which JSON does not escape."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from _texts(inner)


@contextlib.contextmanager
def echo_server() -> Iterator[str]:
    """Run the server, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask"
    finally:
        server.shutdown()
        server.server_close()


def plant(folder: Path, url: str, secrets: list[str]) -> None:
    """Write an experiment whose places contain these secrets, with its data."""
    folder.mkdir(exist_ok=True)
    systems: dict[str, Any] = {}
    for number, (place, written) in enumerate(PLACES.items()):
        value = quote(secrets[number], safe="") if number in _QUOTED else secrets[number]
        os.environ[f"SECRET_{number}"] = value
        (folder / f"secret_{number}.txt").write_text(f"{value}\n")
        text = json.dumps(written).replace("URL", url)
        text = text.replace("QUOTED", quote(secrets[number], safe=""))
        filled = text.replace("PLAIN", json.dumps(secrets[number])[1:-1])
        systems[place.replace(", ", "-")] = {
            "generator": {"name": "http", **json.loads(filled), "passage_ids": "passage_ids"}
        }
    systems["raises"] = {"generator": {"name": "callable", "function": "parts.py:answer"}}
    document = {
        "data": "data",
        "store": "store",
        "systems": systems,
        "settings": ["none"],
        "metrics": ["Match", "F1"],
        "correct": "Match",
    }
    # JSON is YAML.
    (folder / "experiment.yaml").write_text(json.dumps(document, ensure_ascii=False, indent=1))
    (folder / "parts.py").write_text(
        "import os\n\n\ndef answer(task):\n"
        "    told = [v for k, v in sorted(os.environ.items()) if k.startswith('SECRET_')]\n"
        "    raise KeyError(f'cannot use {told}')\n"
    )
    rows = [{"_id": str(n), "text": f"What is number {n}?"} for n in range(5)]
    (folder / "data" / "qrels").mkdir(parents=True, exist_ok=True)
    files: dict[str, list[dict[str, Any]]] = {
        "queries.jsonl": [{**row, "answers": ["Paris"]} for row in rows],
        "corpus.jsonl": [{"_id": "p1", "title": "", "text": "Paris is a city."}],
    }
    for name, lines in files.items():
        (folder / "data" / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    judged = "".join(f"{n}\tp1\t1\n" for n in range(5))
    (folder / "data" / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")


COMMANDS = (
    ("run", "experiment.yaml"),
    ("show", "experiment.yaml"),
    ("show", "experiment.yaml", "--json"),
    ("why", "0", "experiment.yaml"),
    ("report", "experiment.yaml", "-o", "report.html"),
    ("passport", "experiment.yaml", "-o", "passport.json"),
    ("export", "experiment.yaml", "--to", "scores", "-o", "scores.csv"),
    ("calls", "export", "store"),
    ("export", "experiment.yaml", "-o", "inspector.json"),
    ("store", "check", "store"),
    ("run", "experiment.yaml", "--reuse", "--keep-failed", "--track", "mlflow"),
    ("run", "experiment.yaml", "--reuse", "--keep-failed", "--track", "wandb"),
)
AGAIN = (
    ("run", "experiment.yaml", "--replay"),
    ("run", "experiment.yaml"),
    ("run", "experiment.yaml", "--reuse", "--keep-failed", "--track", "mlflow"),
    ("run", "experiment.yaml", "--reuse", "--keep-failed", "--track", "wandb"),
    ("diff", "passport.json", "experiment.yaml"),
    ("compare", "experiment.yaml:header-env", "experiment.yaml:body-env"),
    ("run", "experiment.yaml", "systems.address-env.generator.url=http://127.0.0.1:9/?token=PLAIN"),
)
"""Commands after all secrets have been replaced."""
TRACKERS = {
    "WANDB_MODE": "offline",
    "WANDB_DIR": "FOLDER/tracked",
    "WANDB_DATA_DIR": "FOLDER/tracked/data",
    "WANDB_CACHE_DIR": "FOLDER/tracked/cache",
    "WANDB_BASE_URL": "https://me:{env:SECRET_0}@tracker.example",
    "WANDB_API_KEY": "{file:secret_1.txt}",
    "MLFLOW_TRACKING_URI": "sqlite:///FOLDER/tracked.db?timeout=9&sig={env:SECRET_0}",
}
"""Variables for the trackers; the addresses have secrets."""


def run_command(arguments: tuple[str, ...]) -> tuple[int, str]:
    """Run a command as a new process would, and return its exit code and all that it prints."""
    from ragstone.cli.commands import run
    from ragstone.core.redacted_stream import redact_streams
    from ragstone.core.redaction import forget

    forget()
    folder = str(Path.cwd())
    os.environ.update({key: value.replace("FOLDER", folder) for key, value in TRACKERS.items()})
    out, before = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), sys.argv
    sys.argv = ["ragstone", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            redact_streams()
            code = run()
    finally:
        sys.argv = before
        forget()
        if "wandb" in sys.modules:  # it would keep the folder of the first command
            sys.modules["wandb"].teardown()
    return code, out.buffer.getvalue().decode()


def forms_of(secret: str) -> list[bytes]:
    """Return each form in which a secret may be found, made apart from Ragstone's own code."""
    raw = secret.encode()
    found = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(json.dumps(secret))[3:-3],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        "".join(f"\\u{ord(c):04x}" for c in secret),
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        html.escape(secret),
        repr(secret)[1:-1],
    }
    for before in range(3):
        text = base64.b64encode(b"x" * before + raw).decode()
        # The first and the last characters depend on what is beside the secret.
        core = text[(0, 2, 3)[before] : (before + len(raw)) * 8 // 6]
        found |= {core, core.replace("+", "-").replace("/", "_")}
    return [one.encode() for one in found] + [secret.encode("utf-16-le")]


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the content of each file that was written, also unpacked and row by row."""
    own = {"experiment.yaml", *(f"secret_{n}.txt" for n in range(len(PLACES)))}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name in own:
            continue
        raw = path.read_bytes()
        yield str(path.relative_to(folder)), raw
        yield f"{path.relative_to(folder)}, unpacked", b"\n".join(_unpacked(path, raw))


def _unpacked(path: Path, raw: bytes) -> Iterator[bytes]:
    if raw[:16] == b"SQLite format 3\0":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            yield "\n".join(connection.iterdump()).encode("utf-8", "replace")
    if path.suffix == ".parquet":
        from arro3.io import read_parquet

        yield str(read_parquet(str(path)).read_all().to_struct_array().to_pylist()).encode()
    for found in re.finditer(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]", raw):
        with contextlib.suppress(OSError, EOFError, zlib.error):
            stream = raw[found.start() :]
            is_gzip = stream[:1] == b"\x1f"
            yield gzip.decompress(stream) if is_gzip else zlib.decompressobj().decompress(stream)


def leaks(
    secrets: list[str], texts: Iterable[tuple[str, bytes]], names: Iterable[str] = PLACES
) -> list[str]:
    """Return where a secret was found; secrets are of these places or kinds, in turn."""
    places = list(names)
    forms = [
        (number % len(places), form) for number, s in enumerate(secrets) for form in forms_of(s)
    ]
    return sorted(
        {
            f"{places[number]} in {name}"
            for name, content in texts
            for number, form in forms
            if form in content
        }
    )


def open_files(folder: Path) -> list[str]:
    """Return the files of the store, and the reports, that others can read."""
    mine = [folder / "report.html", folder / "passport.json", *(folder / "store").rglob("*")]
    return [
        str(one.relative_to(folder)) for one in mine if one.exists() and one.stat().st_mode & 0o077
    ]


@contextlib.contextmanager
def nothing_removed() -> Iterator[None]:
    """Let no value be long enough to be removed in the block, to see what the search finds."""
    from ragstone.core import limits

    with mock.patch.object(limits, "MIN_SECRET_CHARACTERS", 10**9):
        yield


def campaign(kinds: list[str], seed: int = 0) -> dict[str, Any]:
    """Return what was found for some kinds of secrets."""
    draw, found, searched, codes, mine = random.Random(seed), list[str](), 0, list[str](), 0
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as temporary, echo_server() as url:
        for kind in kinds:
            folder = Path(temporary) / kind.replace(" ", "-")
            drawn = [KINDS[kind](draw) for _ in range(2 * len(PLACES))]
            told = list[tuple[str, bytes]]()
            with contextlib.chdir(folder.parent):
                for secrets, commands in ((drawn[:8], COMMANDS), (drawn[8:], AGAIN)):
                    plant(folder, url, secrets)
                    os.chdir(folder)
                    for arguments in commands:
                        given = tuple(
                            a.replace("PLAIN", quote(secrets[5], safe="")) for a in arguments
                        )
                        code, printed = run_command(given)
                        told.append((f"output of {arguments[0]}", printed.encode()))
                        if code not in (0, 1, 3):
                            codes.append(f"{kind}: {' '.join(arguments)}: {code}: {printed[-300:]}")
            files = list(contents(folder))
            searched += len(files) + len(told)
            mine += sum(b"***" in content for _, content in (*files, *told))
            found += [f"{kind}: {one}" for one in leaks(drawn, [*files, *told])]
            found += [f"{kind}: others can read {one}" for one in open_files(folder)]
    return {
        "planted": 16 * len(kinds),
        "searched": searched,
        "with a mark": mine,
        "found": found,
        "codes": codes,
    }


def main() -> int:
    """Print what was found; the exit code is 1 if a secret was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", type=int, default=len(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    began = time.process_time()
    result = campaign(list(KINDS)[: chosen.kinds], chosen.seed)
    with nothing_removed():
        result["control"] = len(campaign(list(KINDS)[:1], chosen.seed)["found"])
    result["cpu_seconds"] = round(time.process_time() - began, 1)
    if chosen.json:
        print(json.dumps(result, indent=1))
    else:
        print(
            f"{len(result['found'])} of {result['planted']} planted secrets found, of "
            f"{chosen.kinds} kinds in {len(PLACES)} places; {result['searched']} files, unpacked "
            f"contents and outputs searched, {result['with a mark']} with *** in place of one; "
            f"{result['control']} finds in a control of one kind without removal; "
            f"{result['cpu_seconds']} CPU s"
        )
        print("\n".join([*result["found"], *result["codes"]]))
    return bool(result["found"])


if __name__ == "__main__":
    sys.exit(main())
