"""Report phrases of odd English in sources and docs: `python tools/plain_english.py [PATH ...]`.

A line of the output is FILE:LINE, the phrase and a replacement. The exit code is 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PLACES: Final = (
    *("src", "tests", "docs", "examples", "benchmarks", "tools"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml"),
)
SUFFIXES: Final = {".py", ".md", ".html", ".js", ".yaml", ".toml"}
# `~` is a gap between two words; a line break may bring a comment's sign or a string's quotes.
_GAP: Final = r"""[\s#"']+"""
_ADVICE: Final = {
    r"\bso~many\b": 'write n, the name of the parameter or "this many"',
    r"(?<!there )(?<!there\n)\bis~no~": 'write "is not a", "has no" or "there is no"',
    r"\b(?:that|which|they|these)~are~no\b(?!~(?:longer|more))": 'write "are not"',
    r"\bbe~had\b": 'write "is available", "is installed" or "can be downloaded"',
    r"\bfor~want~of\b": 'write "because ..."',
    r"\bone's~own\b": 'write "your own"',
    r"\banew\b": 'write "again"',
    r"\bhangs?~on\b": 'write "depends on"',
    r"""\bhelp\s*=\s*\(?\s*[rf]?["']Of~""": "begin the help text with a noun or a verb",
}
_PROMPTS: Final = ("it is no question", "of you is no instruction")
"""Phrases of prompts: a change would cost every user the replies that are stored for them."""
_PHRASES: Final = [
    (re.compile(phrase.replace("~", _GAP), re.IGNORECASE), advice)
    for phrase, advice in _ADVICE.items()
]


def odd_phrases(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, phrase, replacement) for each odd phrase of a text; lines count from 1."""
    for prompt in _PROMPTS:
        text = text.replace(prompt, prompt.replace(" no ", " *** "))
    for pattern, advice in _PHRASES:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield line, " ".join(match[0].split()), advice


def files_in(places: Iterable[Path]) -> list[Path]:
    """Return the places that are files and the text files in the places that are folders."""
    places = list(places)
    found = {path for place in places for path in place.rglob("*") if path.suffix in SUFFIXES}
    return sorted(found | {place for place in places if place.is_file()})


def main(arguments: list[str]) -> int:
    """Write the findings to standard output and return the exit code."""
    count = 0
    for path in files_in(map(Path, arguments) if arguments else (ROOT / name for name in PLACES)):
        for line, phrase, advice in sorted(odd_phrases(path.read_text(encoding="utf-8"))):
            sys.stdout.write(f"{path}:{line}: {phrase!r}: {advice}\n")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
