"""Whether hostile text in any field reaches a terminal or a page as more than text.

    python benchmarks/hostile_text.py [--part commands] [--only WORDS] [--keep FOLDER]

A data set, an experiment, answers, traces, labels, passages, names and reasons contain 40 texts:
escapes of terminals, 8-bit controls, marks of direction, markup, scripts, templates, long words,
NUL. Each command of the command line runs on them: on a terminal, without one, and both with
`--json`. No control of the data may be in what is printed, and JSON must be JSON. Each page is
opened in Chromium at 390 and 1,280 pixels: no script of the data may run, nothing may be asked of
another address, and no text may make a page wider than its window. A test fails if a command or a
page has no row.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.hostile.browse import browse
from benchmarks.hostile.commands import commands
from benchmarks.hostile.inputs import QUERIES
from benchmarks.hostile.texts import BROKEN, TEXTS


def main() -> None:
    """Run the campaign and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=("commands", "pages"), help="only this part")
    parser.add_argument("--only", help="beginnings of commands or routes, with commas between")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--keep", type=Path, help="folder of a campaign that goes on")
    given = parser.parse_args()
    wrong, only = 0, tuple(given.only.split(",")) if given.only else ()
    with tempfile.TemporaryDirectory(prefix="hostile-") as temporary:
        folder = given.keep or Path(temporary) / "folder\x1b[2J\u202e"
        folder.mkdir(exist_ok=True, parents=True)
        if given.part != "pages":
            found = list(commands(folder, only, given.queries))
            wrong += sum(bool(one.problems) for one in found)
            sys.stdout.write(
                f"{len({one.command for one in found})} commands, {len(found)} outputs of "
                f"{len({one.row for one in found})} command lines, "
                f"{len(TEXTS) + len(BROKEN)} texts, {wrong} outputs with a problem\n"
            )
        if given.part != "commands":
            seen = list(browse(folder, only, given.queries))
            bad = sum(bool(one.problems) for one in seen)
            wrong += bad
            sys.stdout.write(
                f"{len({one.route for one in seen})} kinds of pages, "
                f"{len({one.page for one in seen})} pages, {len(seen)} visits, "
                f"{sum(one.shows for one in seen)} with a hostile text, {bad} with a problem\n"
            )
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
