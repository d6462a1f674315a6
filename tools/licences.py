"""Write docs/licences.md, the licences of all dependencies: `python tools/licences.py`.

A licence is what the metadata of the installed package states: the expression of SPDX, or the field
License, or the classifiers. What a package needs is followed, so dependencies of dependencies are
listed too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "licences.md"
OWN: Final = "ragstone"
PERMISSIVE: Final = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD", "CC0-1.0", "HPND", "ISC", "MIT"}
    | {"MIT-CMU", "PSF-2.0", "Unlicense", "Zlib", "BSL-1.0", "Unicode-3.0"}
)
PER_FILE: Final = frozenset({"MPL-2.0"})
"""Changes of its own files must be published; programs that use them are free."""
_NAMES: Final = {
    r"apache( software)?( license)?[ ,]*(version )?(2(\.0)?)?( license)?": "Apache-2.0",
    r"(the )?mit( license)?": "MIT",
    r"(new |modified )?bsd( license)?": "BSD",
    r"(new bsd|3-clause bsd license|bsd 3-clause( license)?|bsd-3)": "BSD-3-Clause",
    r"python software foundation license": "PSF-2.0",
    r"mozilla public license 2\.0 \(mpl 2\.0\)": "MPL-2.0",
    r"isc license \(iscl\)": "ISC",
}
_LONGEST: Final = 80
_ABOVE: Final = """# Licences of the dependencies

`make licences` writes this page from the metadata of the installed packages. *Needed by* names the
core, or else the first [extra](commands.md#extras) or group of development that brings the package.
A test checks that each package of the core has a permissive licence, or the MPL-2.0, which binds
changes of its own files alone; and that no extra brings the GPL (`psycopg`, the driver of
PostgreSQL, has the LGPL, and is imported as it is). Packages that were not installed: """


def canonical(name: str) -> str:
    """Return a package's name as an index compares it.

    >>> canonical("Typing_Extensions")
    'typing-extensions'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(name: str) -> str:
    """Return the licence that an installed package states; "" if it states none."""
    stated = distribution(name).metadata.json
    field = str(stated.get("license") or "").strip()
    classifiers = [
        str(one).rpartition("::")[2].strip()
        for one in stated.get("classifier", [])
        if str(one).startswith("License ::") and not str(one).endswith("OSI Approved")
    ]
    short = field if len(field) <= _LONGEST and "\n" not in field else ""
    found = str(stated.get("license_expression") or "").strip()
    return found or _spdx(short) or " AND ".join(sorted(map(_spdx, classifiers)))


def _spdx(text: str) -> str:
    """Return the short name of a licence that is written out.

    >>> _spdx("Apache Software License"), _spdx("MPL-2.0 AND MIT")
    ('Apache-2.0', 'MPL-2.0 AND MIT')
    """
    found = (short for name, short in _NAMES.items() if re.fullmatch(name, text.lower()))
    return next(found, text)


def allowed(text: str, names: frozenset[str]) -> bool:
    """Return whether an expression can be met by some licences alone.

    >>> allowed("GPL OR MIT", PERMISSIVE), allowed("MPL-2.0 AND (ISC OR MIT)", PERMISSIVE)
    (True, False)
    """
    while inner := re.search(r"\(([^()]*)\)", text):
        met = next(iter(names)) if allowed(inner[1], names) else "not met"
        text = text[: inner.start()] + met + text[inner.end() :]
    either = (both.split(" AND ") for both in text.split(" OR "))
    return any(all(one.strip() in names for one in both) for both in either)


def declared() -> tuple[list[str], dict[str, list[str]], dict[str, list[str]]]:
    """Return the requirements of the core, of each extra, and of each group for development."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found = tomllib.load(file)
    project = found["project"]
    return project["dependencies"], project["optional-dependencies"], found["dependency-groups"]


def closure(written: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield the packages that requirements need, and whether each is installed."""
    seen: set[tuple[str, str]] = set()
    told: set[str] = {OWN}
    waiting = [(Requirement(one), "") for one in written]
    while waiting:
        asked, extra = waiting.pop()
        if asked.marker and not asked.marker.evaluate({"extra": extra}):
            continue
        name = canonical(asked.name)
        new = {(name, one) for one in ("", *asked.extras)} - seen
        seen |= new
        try:
            needed = [] if name == OWN else requires(name) or []
        except PackageNotFoundError:
            needed = None
        if name not in told:
            told.add(name)
            yield name, needed is not None
        waiting += [(Requirement(one), extra) for _, extra in new for one in needed or []]


def listed() -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return package -> its licence and who needs it; and the packages that are not installed."""
    core, extras, groups = declared()
    absent: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    needs = {"core": core, **extras, **{f"{name} (group)": one for name, one in groups.items()}}
    for who, written in needs.items():
        for name, installed in closure(written):
            if not installed:
                absent.append(name)
            elif name not in found:
                found[name] = (licence(name), who)
    return found, sorted(set(absent) - set(found))


def page() -> str:
    """Return the page of licences."""
    found, absent = listed()
    rows = [f"| {name} | {text} | {who} |\n" for name, (text, who) in sorted(found.items())]
    missing = ", ".join(f"`{name}`" for name in absent) or "none"
    return (
        f"{_ABOVE}{missing}.\n\n| package | licence | needed by |\n| --- | --- | --- |\n"
        + "".join(rows)
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
