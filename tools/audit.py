"""Audit the locked dependencies: `python tools/audit.py PIP_AUDIT`; `make audit` calls it.

PIP_AUDIT, the program pip-audit, asks the package index for the known vulnerabilities of the
versions in `requirements/dev.lock`. Not every index knows any, and there may be no network; the
output states for how many packages there was an answer. These checks need no network:

- each package is pinned to one version, by hashes of its files, and comes from no address;
- the locked versions are those that pyproject.toml allows;
- the versions of this environment that differ from the locked ones are listed.

The exit code is 1 if a version has a known vulnerability or a check fails.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools.licences import OWN, canonical, declared

LOCK: Final = Path(__file__).resolve().parents[1] / "requirements" / "dev.lock"
_PIN: Final = re.compile(r"([a-zA-Z0-9._-]+)==([^\s;]+)(?:\s*;\s*(.+))?")
_SECONDS: Final = 300


def pins(text: str) -> Iterator[tuple[Requirement, str, int]]:
    """Yield each requirement of a lock, its version and its number of hashes.

    Raises:
        ValueError: a line is not a pinned version.
    """
    for entry in text.replace("\\\n", " ").splitlines():
        line = entry.partition(" #")[0].strip()
        if not line or line.startswith("#"):
            continue
        words, *hashes = line.split(" --hash=")
        found = _PIN.fullmatch(words.strip())
        if found is None or any(
            not re.fullmatch(r"sha256:[0-9a-f]{64}", h.strip()) for h in hashes
        ):
            raise ValueError(f"not a version with hashes: {line[:100]!r}")
        yield Requirement(words), found[2], len(hashes)


def problems(text: str) -> list[str]:
    """Return what is wrong with the text of a lock; nothing if it can be installed as it is."""
    try:
        locked = list(pins(text))
    except ValueError as error:
        return [str(error)]
    found = [f"{asked.name} has no hash" for asked, _, hashes in locked if not hashes]
    return found + [
        f"{wanted} is not met: {', '.join(have) or 'not locked'}"
        for wanted, have in _wanted([(asked, number) for asked, number, _ in locked])
        if not have or not all(wanted.specifier.contains(one, prereleases=True) for one in have)
    ]


def _wanted(
    locked: Sequence[tuple[Requirement, str]],
) -> Iterator[tuple[Requirement, list[str]]]:
    """Yield each requirement of the core and of the group dev, with its locked versions."""
    core, extras, groups = declared()
    own = [Requirement(one) for one in groups["dev"] if canonical(Requirement(one).name) == OWN]
    names = [extra for one in own for extra in one.extras]
    for text in [*core, *groups["dev"], *(one for name in names for one in extras[name])]:
        wanted = Requirement(text)
        if canonical(wanted.name) != OWN:
            same = canonical(wanted.name)
            yield wanted, [number for one, number in locked if canonical(one.name) == same]


def other_versions(text: str) -> list[str]:
    """Return the packages of this environment whose version is not the locked one."""
    found = []
    for asked, number, _ in pins(text):
        if asked.marker is None or asked.marker.evaluate():
            try:
                here = version(asked.name)
            except PackageNotFoundError:
                here = "none"
            if here != number:
                found.append(f"{asked.name}: {here}, locked {number}")
    return found


def vulnerable(program: str, lock: Path = LOCK) -> tuple[list[str], int, int, str]:
    """Return the known vulnerabilities, the packages with an answer, all of them, and a reason.

    The reason is why the program gave no answer at all; "" if it gave one.
    """
    options = ["--require-hashes", "--disable-pip", "--format=json", "--progress-spinner=off"]
    command = [program, *options, "--requirement", str(lock)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
        rows: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], 0, 0, f"{type(error).__name__}: {error}"
    except (ValueError, LookupError):
        return [], 0, 0, " ".join(done.stderr.split())[-300:] or f"exit code {done.returncode}"
    found = [
        f"{row['name']} {row['version']}: {one['id']}, mended in {one['fix_versions'] or 'none'}"
        for row in rows
        for one in row.get("vulns", ())
    ]
    return found, sum("vulns" in row for row in rows), len(rows), ""


def main(program: str) -> int:
    """Print the findings; return the exit code."""
    text = LOCK.read_text(encoding="utf-8")
    wrong = problems(text)
    print(f"The lock: {'no problem' if not wrong else ''}", *wrong, sep="\n  ")
    others = other_versions(text)
    print(f"This environment: {len(others)} versions are not the locked ones", *others, sep="\n  ")
    known, answered, packages, reason = vulnerable(program)
    if not answered:
        told = reason or "the package index knows no vulnerabilities"
        print(f"Known vulnerabilities: NOT CHECKED ({told}). Run it where the index has them.")
    else:
        print(f"Known vulnerabilities: {len(known)} in {answered} of {packages} packages", *known)
    return 1 if wrong or known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
