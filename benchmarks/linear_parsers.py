"""Parsers of texts from outside on adversarial inputs of 10,000 and of 100,000 characters.

For each parser and each input that makes a naive pattern take quadratic time, the CPU seconds at
both lengths and their ratio are printed. A parser is linear if the ratio is near 10; it counts as
superlinear if the ratio is above 25 and the parse takes over half a second.
"""

from __future__ import annotations

import argparse
import contextlib
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import orjson

from ragstone.calls.reply_json import parse_reply
from ragstone.components.judges.reply_parsing import spoken
from ragstone.components.judges.verdict_schemas import Choice, Listing, Numbered, Rating
from ragstone.components.metrics.attack_success import obeys
from ragstone.components.metrics.match import occurs, without_echo
from ragstone.components.rerankers.permutation_parsing import read_order
from ragstone.components.translator import one_line, whole_text
from ragstone.core.likely_secrets import likely_secrets
from ragstone.core.parsing import parse_yaml
from ragstone.core.screen_text import message, safe
from ragstone.core.spec import parse_spec
from ragstone.errors import RagstoneError
from ragstone.statistics.correctness import Correctness
from ragstone.text.cited_sentences import cited_sentences

SHORT: Final = 10_000
LONG: Final = 100_000
MOST_RATIO: Final = 25.0
LEAST_SECONDS: Final = 0.5
UNITS: Final = (
    *(" ", "\n", "a", "1, ", "1 , ", "[1", "{", "“", "„", "- ", "1: ", "Rating: 5 "),
    *("yes, ", "Verdict: yes ", "*_", "[1], ", "<think>", "a.", "`", "日本", "\u2018"),
    *("x", "x-", "eyJ-", "a://", "token=", "-----BEGIN PRIVATE KEY-----"),
)
"""What an input repeats."""
ENDS: Final = ("", "\x01")


class Parser(NamedTuple):
    """A parser with its name."""

    name: str
    parse: Callable[[str], Any]


PARSERS: Final = (
    Parser("likely secrets", lambda text: list(likely_secrets({"a": text, "token": text}))),
    Parser("judge: rating", lambda text: Rating(1, 10).read(text)),
    Parser("judge: choice", lambda text: Choice().read(text)),
    Parser("judge: choice of material", lambda text: Choice().read(text, [text[:2000], "yes"])),
    Parser("judge: list", lambda text: Listing().read(text)),
    Parser("judge: numbered", lambda text: Numbered(3).read(text)),
    Parser("judge: thinking", spoken),
    Parser("reranker: order", lambda text: read_order(text, 10)),
    Parser("reply: JSON", lambda text: parse_reply(text.encode("utf-8", "surrogatepass"))),
    Parser("translation: one line", lambda text: one_line(text, "a text")),
    Parser("translation: whole text", lambda text: whole_text(text, "a text")),
    Parser("Match", lambda text: occurs(text, ["a b", "1", "日本 x"])),
    Parser(
        "Match: echo", lambda text: without_echo(f"{text} is it a red one?", "is it a red one?")
    ),
    Parser("attack-success", lambda text: obeys(f"{text} KOR", "KOR", [text[:2000]])),
    Parser("citations", lambda text: list(cited_sentences(text))),
    Parser("spec", lambda text: parse_spec(text[:20_000], where="spec")),
    Parser("rule of correct answers", Correctness.parse),
    Parser("YAML", lambda text: parse_yaml(text.encode("utf-8", "surrogatepass"))),
    Parser("message", message),
    Parser("terminal", safe),
)


def seconds(parser: Parser, unit: str, end: str, length: int) -> float:
    """Return the CPU seconds of one parse; an input that is refused counts too."""
    text = (unit * (length // len(unit) + 1))[:length] + end
    began = time.process_time()
    with contextlib.suppress(RagstoneError, ValueError):
        parser.parse(text)
    return time.process_time() - began


def measured(chosen: str) -> Iterator[dict[str, Any]]:
    """Yield the slowest input of each parser."""
    for parser in PARSERS:
        if chosen not in parser.name:
            continue
        rows = []
        for unit in UNITS:
            for end in ENDS:
                short = seconds(parser, unit, end, SHORT)
                if short > 20 * LEAST_SECONDS:  # a longer one would take minutes
                    rows.append((short * 100, short, 100.0, unit + end))
                    continue
                long = seconds(parser, unit, end, LONG)
                rows.append((long, short, long / max(short, 1e-4), unit + end))
        bad = [row for row in rows if row[2] > MOST_RATIO and row[0] > LEAST_SECONDS]
        long, short, ratio, text = max(bad or rows)
        yield {
            "parser": parser.name,
            "inputs": len(rows),
            "superlinear": len(bad),
            "slowest": text,
            "short_seconds": short,
            "long_seconds": long,
            "ratio": ratio,
        }


def main() -> int:
    """Print the slowest input per parser; exit code 1 if one takes superlinear time."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--parser", default="", help="Part of a parser's name (default: all).")
    given = options.parse_args()
    rows = list(measured(given.parser))
    conditions = {"python": platform.python_version(), "characters": [SHORT, LONG]}
    if given.json:
        print(
            orjson.dumps(
                {"conditions": conditions, "parsers": rows}, option=orjson.OPT_INDENT_2
            ).decode()
        )
    else:
        print(f"Python {conditions['python']}, {SHORT:,} and {LONG:,} characters, CPU seconds")
        for row in rows:
            print(
                f"{row['parser']:<28}{row['inputs']:>5} inputs  {row['superlinear']:>3} superlinear"
                f"  slowest {row['slowest']!r}: {row['short_seconds']:.3f} -> "
                f"{row['long_seconds']:.3f}, ratio {row['ratio']:.0f}"
            )
    return any(row["superlinear"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
