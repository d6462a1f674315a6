"""How long replies of a judge take to read, beside MT-Bench's two patterns.

    python benchmarks/judge_parsing.py [--rounds 5] [--json FILE]

The replies are those of the bundled model to `RB_llm` and `equivalence` about answers of TruthfulQA
and mtRAG (`judge_replies.json`, written by `judge_parse_rate.py --replies`), again and again until
there are 30,000. Each is read with the answer under judgement, whose own words do not count. The
peer looks for `[[8]]` or `[8]`, as the judges of MT-Bench do, or for the words yes and no; it knows
nothing of thinking, quotations, JSON or contradictions, and reads fewer or wrong verdicts. Seconds
are those of the processor, the least of the rounds, which both take in turns.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from judge_parse_rate import JUDGES, SETS, judge_calls  # type: ignore[import-not-found]
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    hand_over,
    in_turns,
    need_data,
)

from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict_schemas import Choice, Rating

COUNT = 30_000
REPEATS = 10
"""How often the peer, which is fast, searches the replies in each round."""
REPLIES = Path(__file__).with_name("judge_replies.json")
FORMS: dict[str, Rating | Choice] = {"ratings": Rating(1, 10), "words": Choice()}
PATTERNS = {
    "ratings": (re.compile(r"\[\[(\d+\.?\d*)\]\]"), re.compile(r"\[(\d+\.?\d*)\]")),
    "words": (re.compile(r"\b(yes|no)\b", re.IGNORECASE),),
}

Pairs = list[tuple[str, tuple[str, ...]]]


def replies(name: str) -> Pairs:
    """Return replies to a judge, each with the texts under judgement."""
    said: list[str] = json.loads(REPLIES.read_text(encoding="utf-8"))[name]
    calls = judge_calls(JUDGES[name], str(DATA), SETS[name])[1]
    found = [(text, call.material) for text, call in zip(said, calls, strict=True)]
    return list(islice(cycle(found), COUNT))


def read(form: Any, many: Pairs) -> int:
    """Read replies; return how many had a verdict."""
    count = 0
    for reply, material in many:
        try:
            form.read(reply, material)
            count += 1
        except Unreadable:
            pass
    return count


def searched(patterns: Iterable[re.Pattern[str]], many: Pairs) -> int:
    """Search replies as MT-Bench does; return how many had a verdict."""
    return sum(any(pattern.search(reply) for pattern in patterns) for reply, _ in many)


def measure(name: str, rounds: int) -> Measured:
    """Measure one kind of verdict."""
    many, form, patterns = replies(name), FORMS[name], PATTERNS[name]
    share, theirs = read(form, many) / COUNT, searched(patterns, many) / COUNT
    best = in_turns(
        {
            "ours": lambda: read(form, many),
            "peer": lambda: [searched(patterns, many) for _ in range(REPEATS)],
        },
        rounds,
    )
    return Measured(
        job=f"reading {name} of judges",
        n=COUNT,
        unit="CPU us",
        ours=best["ours"] / COUNT * 1e6,
        peer=best["peer"] / REPEATS / COUNT * 1e6,
        against="MT-Bench's patterns",
        conditions=f"best of {rounds} in turn, replies of smollm2-135m, verdicts in {share:.0%} of "
        f"them (patterns: {theirs:.0%})",
    )


def main() -> None:
    """Print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    need_data("truthfulqa", "mtrag")
    hand_over([measure(name, options.rounds) for name in FORMS], options.json)


if __name__ == "__main__":
    main()
