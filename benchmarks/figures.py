"""Reproduce the published figures of docs/figures.yaml and report those that no longer hold.

    python benchmarks/figures.py                     commands of up to 5 minutes
    python benchmarks/figures.py --minutes 120       longer ones too
    python benchmarks/figures.py startup metrics     some commands, by name

Each command runs once. The numbers of a figure are found by the entry's `value`: a path into the
JSON that the command prints or writes to {json} (`/start/import`), or a regular expression with one
group per number. Without `value` each number must occur somewhere in the output.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
_PAGES: Final = ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")
DATA: Final = os.environ.get("RAGSTONE_SHARED_DATA", "../shared/data")
_CODE: Final = re.MULTILINE | re.DOTALL
_NUMBER: Final = re.compile(r"(?<![\w.])[+-]?(?:\d[\d,]*\.?\d*|\.\d+)")


@cache
def read_figures() -> dict[str, Any]:
    """Return docs/figures.yaml: `kinds`, `allowed` and `commands`."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "docs/figures.yaml").read_text("utf-8"))
    return found


def pages() -> list[str]:
    """Return the paths of the documentation's pages, from the root of the repository."""
    found = (ROOT / "docs").rglob("*.md")
    return [*_PAGES, *sorted(str(path.relative_to(ROOT)) for path in found)]


def sections(page: str) -> dict[str, str]:
    """Return anchor -> text of each section of a page, without code blocks."""
    text = re.sub(
        r"^ *```.*?^ *```", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    parts = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    found = {"": parts[0]}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found[anchor] = found.get(anchor, "") + body
    return found


def blocks(text: str) -> list[str]:
    """Return the paragraphs, list items and tables of a section, each on one line."""
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )", text)]


def allowed(page: str) -> list[str]:
    """Return the numbers of a page that are not measured: parameters, limits and the like."""
    found: dict[str, list[str]] = read_figures()["allowed"]
    return [*found["everywhere"], *found.get(page, [])]


def figures_of(block: str, known: Iterable[str] = ()) -> list[str]:
    """Return the figures of a block, without inline code and without the `known` texts."""
    for text in sorted(known, key=len, reverse=True):
        block = re.sub(rf"(?<![\w.]){re.escape(text)}(?!\w)", "*", block)
    kinds = "|".join(f"(?:{kind})" for kind in read_figures()["kinds"])
    return [match[0] for match in re.finditer(kinds, re.sub(r"`[^`]+`", "`", block))]


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are printed, without thousands separators."""
    return [found.replace(",", "").rstrip(".") for found in _NUMBER.findall(text)]


def holds(published: str, measured: float, tolerance: float) -> bool:
    """Return whether a measured number rounds to the published one, or is close enough to it."""
    unit = 10.0 ** -len(published.partition(".")[2])
    return abs(measured - float(published)) <= unit * 0.501 + tolerance * abs(float(published))


def published_numbers(entry: dict[str, Any]) -> list[str]:
    """Return the numbers of a figure, or those of all figures in a block."""
    if "figure" in entry:
        return numbers(entry["figure"])
    page, _, anchor = entry["where"].partition("#")
    named = [b for b in blocks(sections(page)[anchor]) if b.startswith(entry["block"])]
    found = [figure for block in named for figure in figures_of(block, allowed(page))]
    return [number for figure in found for number in numbers(figure)]


def measured_numbers(entry: dict[str, Any], output: str) -> list[float]:
    """Return the numbers that an entry's `value` finds; all numbers if it has no `value`."""
    value, scale = entry.get("value"), float(entry.get("scale", 1))
    if value is None:
        return [float(number) for number in numbers(output)]
    if value.startswith("/"):
        found = json.loads(output[output.index("{") :])
        for key in value[1:].split("/"):
            found = found[int(key) if isinstance(found, list) else key]
        return [float(found) * scale]
    match = re.search(value, output, re.MULTILINE)
    return [float(g.replace(",", "")) * scale for g in match.groups()] if match else []


def problem(entry: dict[str, Any], output: str, tolerance: float) -> str:
    """Return why a published figure or block does not hold, or "" if it does."""
    tolerance = entry.get("tolerance", tolerance)
    published, measured = published_numbers(entry), measured_numbers(entry, output)
    if not measured:
        return f"the output has no {entry['value']!r}"
    if "value" in entry:
        pairs = zip(published, measured, strict=False)
        return "; ".join(f"now {m:.6g}" for p, m in pairs if not holds(p, m, tolerance))
    absent = [p for p in published if not any(holds(p, m, tolerance) for m in measured)]
    return f"not in the output: {', '.join(absent)}" if absent else ""


def obstacle(command: dict[str, Any], minutes: float) -> str:
    """Return why a command cannot run here, or "" if it can."""
    for need in command.get("needs", []):
        path = ROOT / need.format(data=DATA)
        if not (path.exists() if "/" in need or "{" in need else find_spec(need)):
            return f"needs {need.format(data=DATA)}"
    slow = command.get("minutes", 1) > minutes
    return f"takes {command['minutes']} minutes (--minutes)" if slow else ""


def run(command: str) -> str | None:
    """Return the JSON that a command writes or else its output, or None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        places = {
            "python": sys.executable,
            "data": DATA,
            "store": ROOT / ".ragstone" / "figures",
            "json": Path(folder) / "figures.json",
            "out": folder,
        }
        for name, place in places.items():
            command = command.replace(f"{{{name}}}", str(place))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env={**os.environ, "PATH": path, "RAGSTONE_SHARED_DATA": DATA},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        written = Path(folder) / "figures.json"
        output = written.read_text("utf-8") if written.exists() else done.stdout.decode()
        return output if done.returncode == 0 else None


def problems(command: dict[str, Any]) -> Iterator[str]:
    """Yield a line per figure that does not hold after a run of its command."""
    output = run(command["run"])
    if output is None:
        yield f"the command failed: {command['run']}"
        return
    for entry in [] if command.get("asserted") else command["figures"]:
        if found := problem(entry, output, command.get("tolerance", 0)):
            yield f"{entry['where']}: {entry.get('figure') or entry['block']}: {found}"


def main() -> int:
    """Print one line per figure that does not hold and per command that did not run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commands", nargs="*")
    parser.add_argument("--minutes", type=float, default=5)
    chosen = parser.parse_args()
    wrong = 0
    for name, command in read_figures()["commands"].items():
        if chosen.commands and name not in chosen.commands:
            continue
        if reason := obstacle(command, chosen.minutes):
            print(f"{name}: not run, {reason}; measured {command['date']}")
            continue
        found = list(problems(command))
        print("\n".join([f"{name}: {len(command['figures'])} entries", *found]), flush=True)
        wrong += len(found)
    print(f"{wrong} figures do not hold")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
