"""Make test sets of 30 passages with the bundled model by every strategy, and report on them.

    python benchmarks/generation.py OUT               run (kept call by call), then report
    python benchmarks/generation.py OUT --report      report alone

Each set is labelled and critiqued; the sample set's own queries are labelled by both taxonomies
and held against their labels. The report is Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from ragstone.building.compare_generated import fates, read_generated
from ragstone.cli.data import command

STRATEGIES: Final = ("statements", "single", "evolution", "adversarial", "multi-hop")
UNLABELLED: Final = ("adversarial", "multi-hop")
"""Their labels record how a query was made; the bundled model can only contradict them."""
TAXONOMIES: Final = {"know-your-rag": "taxonomy", "mtrag-question-types": "question_type"}
LEAST: Final = 3
SHOWN: Final = 5


def call(*arguments: str) -> str:
    """Run a command of `ragstone data` and return its output."""
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    return str(done.output)


def make(out: Path, count: int) -> None:
    """Generate, label and compare."""
    for strategy in STRATEGIES:
        # Pairs of linked passages are rarer than passages.
        sample = count * (4 if strategy == "multi-hop" else 1)
        options = ["--strategy", strategy, "--count", str(count), "--sample", str(sample)]
        options += ["--rounds", "1", "--max-tokens", "160", "--critique"]
        options += ["--no-label"] if strategy in UNLABELLED else []
        sys.stderr.write(call("generate", "sample", str(out / strategy), *options))
    for taxonomy in TAXONOMIES:
        target = ["-o", str(out / f"{taxonomy}.jsonl"), "--calls", str(out / "labels.sqlite")]
        options = ["--limit", str(count), "--no-explain", "--taxonomy", taxonomy]
        sys.stderr.write(call("label", "sample", *target, *options))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def items(folder: Path) -> list[dict[str, Any]]:
    """Return the items of a generated set."""
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


def above(rows: Sequence[Mapping[str, Any]]) -> int:
    """Count the kept items of which no rating that could be read is below 3."""
    kept = [row for row in rows if row["kept"]]
    return sum(all(value >= LEAST for value in row["ratings"].values()) for row in kept)


def count_of(summary: Mapping[str, Any], label: str, name: str) -> object:
    """Return of how many ratings a mean is."""
    return summary.get("ratings_read", {}).get(label, {}).get(name, "?")


def told(out: Path) -> Iterator[str]:
    """Yield the tables."""
    made = [name for name in STRATEGIES if (out / name / "summary.json").is_file()]
    sets = [read_generated(out / name) for name in made]
    rows = []
    for one in sets:
        held = one.summary
        kept, per = sum(held["kept"].values()), held["tokens_per_kept"]
        rejected = Counter({n: c for n, c in fates(held).items() if n != "kept"})
        most = ", ".join(f"{name} {count}" for name, count in rejected.most_common(SHOWN))
        cost = "-" if per is None else f"{per:,.0f} / {held['calls_per_kept']:.1f}"
        in_all = held.get("tokens_per_kept_in_all")
        judged = "-" if in_all is None else f"{in_all:,.0f}"
        good = above(items(out / one.name))
        rows.append([one.name, held["tried"], kept, good, most or "-", cost, judged])
    head = ["strategy", "tried", "kept", "no rating below 3", "rejected at"]
    yield table([*head, "tokens / calls a kept item", "tokens with labels, ratings"], rows)
    for one in sets:
        yield f"**{one.name}**: " + "; ".join(
            f"{reason} ({count})"
            for reason, count in list(one.summary["rejected"].items())[: 2 * SHOWN]
        )
    names = [n for one in sets for held in one.summary["ratings"].values() for n in held]
    names = list(dict.fromkeys(names))
    ratings = [
        [one.name, label]
        + [
            f"{held[n]:.2f} ({count_of(one.summary, label, n)})" if n in held else "-"
            for n in names
        ]
        for one in sets
        for label, held in one.summary["ratings"].items()
    ]
    yield table(["strategy", "label", *names], ratings)
    for taxonomy, label in TAXONOMIES.items():
        path = out / f"{taxonomy}.jsonl"
        if path.is_file():
            yield f"```\n{call('agreement', 'sample', '--field', label, '--model', str(path))}```"


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--count", type=int, default=30)
    asked = parser.parse_args()
    if not asked.report:
        asked.out.mkdir(parents=True, exist_ok=True)
        make(asked.out, asked.count)
    print("\n\n".join(told(asked.out)))


if __name__ == "__main__":
    main()
