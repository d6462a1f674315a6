"""Whether a secret is in what workers raise, print, log or write, or in a command line.

    python benchmarks/planted_workers.py [--executors processes,dask,ray]

A driver knows secrets of the 12 kinds of `planted_secrets.py`. In workers that had started before,
a job prints them, warns and logs with them, keeps a traceback, and raises them: in arguments, in an
exception that makes its text of pieces, in the name of a file, each with another exception behind
it. The output of all processes, their files before and after the end of the cluster, and the
command lines of all processes of this machine are searched for each secret in many forms.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.planted_secrets import KINDS, leaks

PARTS = """
import base64, json, logging, sys, warnings
from pathlib import Path
from urllib.parse import quote

from ragstone.core.component_error import component_error, error_log


class Pieces(Exception):
    __slots__ = ("told",)

    def __init__(self, told):
        super().__init__("pieces")
        self.told = told

    def __str__(self):
        return "".join(self.told)


def secrets():
    return json.loads(Path("secrets.json").read_text())


def command_lines(_):
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:
            pass
    return len(lines), any(one.encode() in line for one in secrets() for line in lines)


def job(asked):
    number, way = asked
    one = secrets()[number]
    print("printed", one, file=sys.stderr)
    print("printed", quote(one), flush=True)
    warnings.warn(f"warned {one!r}")
    logging.getLogger("ragstone.test").warning("logged %s", [one])
    error_log.set(Path("errors.log"))
    try:
        raise KeyError(base64.b64encode(b"a" * (number % 3) + one.encode()).decode())
    except KeyError as error:
        print(component_error(job, error), file=sys.stderr)
        if way == "pieces":
            raise Pieces((one[:5], one[5:])) from error
        if way == "file":
            raise FileNotFoundError(2, "no file", "/" + one) from error
        raise ValueError(f"cannot use {one}", {"more": [one]}) from error
"""
DRIVER = """
import json, os, sys, traceback
from pathlib import Path

from parts import command_lines, job, secrets
from ragstone.core.executors.spec import executor_of
from ragstone.core.redaction import forget, remember

if __name__ == "__main__":
    executor = executor_of(sys.argv[1])
    list(executor.map(command_lines, [1]))  # the workers have started
    remember(secrets())
    raised = []
    for asked in [(n, way) for n in range(len(secrets())) for way in ("value", "pieces", "file")]:
        try:
            list(executor.map(job, [asked]))
        except Exception as error:
            raised.append("".join(traceback.format_exception(error)))
    searched, is_shown = list(executor.map(command_lines, [1]))[0]
    places = [path for path in Path(os.environ["TMPDIR"]).rglob("*") if path.is_file()]
    logs = b"".join(path.read_bytes() for path in places)
    executor.close()
    forget()
    Path("logs.bin").write_bytes(logs)
    Path("raised.txt").write_text("\\n".join(raised))
    Path("facts.json").write_text(json.dumps([len(raised), searched, is_shown]))
"""


def planted(executor: str, secrets: list[str], folder: Path) -> tuple[str, list[str], int]:
    """Return what the driver told, where a secret was found, and how many texts were searched.

    The folder is empty.
    """
    (folder / "secrets.json").write_text(json.dumps(secrets))
    (folder / "driver.py").write_text(DRIVER)
    (folder / "parts.py").write_text(PARTS)
    # Ray's sockets need a short path.
    temporary = tempfile.mkdtemp(prefix="w")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "driver.py", executor],
        cwd=folder,
        env=os.environ | {"TMPDIR": temporary, "HOME": temporary, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    texts = {"standard output": done.stdout, "standard error": done.stderr}
    for place in (folder, Path(temporary)):
        files = [one for one in place.rglob("*") if one.is_file() and one.name != "secrets.json"]
        texts |= {str(one.relative_to(place)): one.read_bytes() for one in files}
    shutil.rmtree(temporary)
    found = leaks(secrets, texts.items(), KINDS)
    raised, searched, is_shown = json.loads(texts.get("facts.json", b"[0, 0, false]"))
    found += ["a command line"] * is_shown
    ends = f"{raised} exceptions"
    if done.returncode or raised != 3 * len(secrets):
        ends += f", exit code {done.returncode}: {done.stderr.decode()[-1000:]}"
    return ends, found, len(texts) + searched


def main() -> int:
    """Print what was found; the exit code is 1 if a secret was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executors", default="processes,dask,ray")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    draw, every = random.Random(chosen.seed), list[str]()
    secrets = [make(draw) for make in KINDS.values()]
    for name in chosen.executors.split(","):
        executor = "processes(2)" if name == "processes" else f"{name}(workers=2)"
        with tempfile.TemporaryDirectory() as temporary:
            ends, found, searched = planted(executor, secrets, Path(temporary))
        every += found
        print(
            f"{executor}: {sum('raised.txt' in one for one in found)} exceptions with a secret of "
            f"{3 * len(secrets)}; {len(found)} finds in all; {ends}; {searched} files, "
            "outputs and command lines searched"
        )
        print("\n".join(found), end="\n" if found else "")
    return bool(every)


if __name__ == "__main__":
    sys.exit(main())
