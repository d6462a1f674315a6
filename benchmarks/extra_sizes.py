"""How many megabytes each extra adds to the core, from what is installed in this environment.

    python benchmarks/extra_sizes.py

The packages of an extra are those that it requires here, and those that they require in turn, less
the packages of the core. Their size is that of their installed files, without compiled bytecode.
An extra of which a package is missing here has no size.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

MEGABYTE = 1e6


def needed(name: str, extras: Iterable[str] = (), seen: set[str] | None = None) -> set[str]:
    """Return the packages that a package requires with these extras, itself included.

    Raises:
        PackageNotFoundError: one of them is not installed.
    """
    found = set() if seen is None else seen
    for extra in ("", *extras):
        key = f"{canonical(name)}[{extra}]"
        if key in found:
            continue
        found.add(key)
        for text in distribution(name).requires or []:
            wanted = Requirement(text)
            if wanted.marker and not wanted.marker.evaluate({"extra": extra}):
                continue
            if not extra and wanted.marker and "extra" in str(wanted.marker):
                continue
            needed(wanted.name, wanted.extras, found)
    return found


def canonical(name: str) -> str:
    """Return a package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(found: Iterable[str]) -> set[str]:
    """Return the names of packages, without their extras and Ragstone itself."""
    return {key.partition("[")[0] for key in found} - {"ragstone"}


def size_of(name: str) -> float:
    """Return the megabytes of a package's installed files."""
    files = [one for one in distribution(name).files or [] if one.suffix != ".pyc"]
    paths = [path for path in (Path(str(one.locate())) for one in files) if path.is_file()]
    return sum(path.stat().st_size for path in paths) / MEGABYTE


def main() -> int:
    """Print a line per extra; return the exit status."""
    core = packages(needed("ragstone"))
    print(f"core | {len(core)} | {sum(map(size_of, core)):.1f}")
    for extra in sorted(distribution("ragstone").metadata.get_all("Provides-Extra") or []):
        try:
            added = packages(needed("ragstone", [extra])) - core
        except PackageNotFoundError as error:
            print(f"{extra} | not installed here: {error.name}")
            continue
        print(f"{extra} | {len(added)} | {sum(map(size_of, added)):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
