"""A process that reads one input after the other and says what became of each.

It reads lines `KIND TAB NUMBER TAB SEED`, or `FOLDER` of a kept input, and writes a line of JSON
per input. A bound on its address space turns a demand for gigabytes into an error of this process.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Final

from .cases import Case, make

MEMORY: Final = 2**30
"""Bytes of the process that an input may make it use."""
_SPARE: Final = 2**31
"""Address space beyond that of the start: threads and mapped files use some without memory."""
MESSAGE: Final = 1000
"""Characters of a message."""
KEPT: Final = "case.json"


def keep(case: Case, folder: Path) -> None:
    """Write an input and how it is read, to be repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    case.write(folder)
    facts: dict[str, Any] = {"kind": case.kind, "how": case.how, "to": case.to}
    facts |= {"mutations": case.said, "names": sorted(case.files)}
    (folder / KEPT).write_text(json.dumps(facts, indent=1))


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def _size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def judge(  # noqa: PLR0911 - one per outcome
    how: str, path: Path, folder: Path, names: list[str]
) -> tuple[str, str]:
    """Read an input and return what became of it, in a word and in a sentence."""
    from ragstone.errors import RagstoneError

    from .entries import ENTRIES, Nonsense, Refused

    try:
        ENTRIES[how](path, folder)
    except Nonsense as error:
        return "nonsense", str(error)[:600]
    except Refused as error:
        return ("long", str(error)[:600]) if len(str(error)) > MESSAGE else ("refused", str(error))
    except RagstoneError as error:
        said = str(error)
        if len(said) > MESSAGE:
            return "long", f"{len(said):,} characters: {said[:300]}"
        if not any(Path(name).name.partition(".")[0] in said for name in (*names, folder.name)):
            return "unnamed", said
        return "refused", said
    except MemoryError:
        return "memory", traceback.format_exc(limit=-3)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "traceback", _where(error)
    return "accepted", ""


def _where(error: BaseException) -> str:
    """Return the exception and the innermost places of the package that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if "/ragstone/" in f.filename] or frames
    places = " < ".join(
        f"{f.filename.rpartition('/ragstone/')[2]}:{f.lineno} {f.name}" for f in inside[:-4:-1]
    )
    return f"{type(error).__name__}: {str(error)[:200]} at {places}"


def read(case: Case | Path, scratch: Path) -> dict[str, Any]:
    """Read one input in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="input", dir=scratch))
    if isinstance(case, Case):
        names, how, path = sorted(case.files), case.how, case.write(folder)
    else:
        facts = json.loads((case / KEPT).read_text())
        folder.rmdir()
        shutil.copytree(case, folder, symlinks=True)
        names, how, path = facts["names"], facts["how"], folder / facts["to"]
    os.chdir(folder)
    Path("/proc/self/clear_refs").write_text("5")
    began = time.process_time()
    outcome, detail = judge(how, path, folder, names)
    seconds, peak = time.process_time() - began, _peak()
    os.chdir(scratch)
    shutil.rmtree(folder, ignore_errors=True)
    if peak > MEMORY and outcome != "memory":
        outcome, detail = "memory", f"{peak / 2**20:,.0f} MB; {outcome}: {detail}"
    said = case.said if isinstance(case, Case) else ""
    return {"outcome": outcome, "detail": detail, "seconds": seconds, "peak": peak, "said": said}


def main() -> None:
    """Read inputs until the end of the list."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # an input may print
    from ragstone.data import load  # noqa: F401 - before the bound

    resource.setrlimit(resource.RLIMIT_AS, (_size() + _SPARE,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="fuzz") as scratch:
        for line in sys.stdin:
            given = line.rstrip("\n").split("\t")
            if len(given) == 1:
                case: Case | Path = Path(given[0]).resolve()
            else:
                case = make(given[0], int(given[1]), int(given[2]))
            answers.write(json.dumps(read(case, Path(scratch))) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
