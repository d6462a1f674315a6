"""The share of a small model's replies in which a verdict is read, by this parser and an earlier.

    python benchmarks/judge_parse_rate.py ../shared/data --store STORE [--replies FILE]

The replies are those of the bundled model in free text, at most 24 tokens each: ratings of
`RB_llm` for 50 answers of TruthfulQA and 50 of mtRAG, and words of `equivalence` for the first
50. The earlier
parser is that of the commit before a bare number was read; git has its text. `--replies` writes the
replies, for `judge_parsing.py`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ragstone.calls.client import Calls
from ragstone.calls.types import Reply, Request
from ragstone.components.judges import verdict_schemas
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import ModelJudge
from ragstone.core.registry import create
from ragstone.evaluation.human_grades import read_human_set
from ragstone.protocols import Services
from ragstone.statistics.proportions import proportion

EARLIER: Final = "94fcd4a4^"
FOLDER: Final = "src/ragstone/components/judges"
ROOT: Final = Path(__file__).resolve().parents[1]
ANSWERS: Final = 50
JUDGES: Final[dict[str, dict[str, Any]]] = {
    "ratings": {"name": "RB_llm", "explain": False},
    "words": {"name": "equivalence"},
}
SETS: Final = {"ratings": ("truthfulqa", "mtrag"), "words": ("truthfulqa",)}
EXAMPLES: Final = 6


def earlier_schemas() -> ModuleType:
    """Return the schemas of verdicts, with their parser, of the earlier commit."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("reply_parsing", "verdict_schemas"):
            shown = ["git", "show", f"{EARLIER}:{FOLDER}/{name}.py"]
            text = subprocess.check_output(shown, cwd=ROOT, text=True)
            text = text.replace("ragstone.components.judges.reply_parsing", "earlier_reply_parsing")
            module = _loaded(f"earlier_{name}", Path(folder, f"{name}.py"), text)
    return module


def _loaded(name: str, path: Path, text: str) -> ModuleType:
    path.write_text(text, encoding="utf-8")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge_calls(
    written: Mapping[str, Any], data: str, names: Sequence[str]
) -> tuple[ModelJudge, list[JudgeCall[Any]]]:
    """Return a judge of the bundled model, and its calls about answers of some sets."""
    made = {**written, "model": "local", "structured": False, "max_tokens": 24}
    judge = create("judges", made, where="judge")
    calls: list[JudgeCall[Any]] = []
    for name in names:
        graded = read_human_set(f"{data}/{name}").sample(ANSWERS, seed=0)
        calls += [call for one in graded.items for call in judge.calls_for(one.item)]
    return judge, calls


def replies_of(
    judge: ModelJudge, calls: Sequence[JudgeCall[Any]], services: Services
) -> list[tuple[str, JudgeCall[Any]]]:
    """Return the first replies of a judge's model, with their calls."""
    (backend,) = judge.backends
    backend = backend.with_sampling(**judge.sampling_changes)
    requests = [Request(call.messages, backend.sampling) for call in calls]
    ended = backend.ask(requests, services, title="replies")
    pairs = zip(ended, calls, strict=True)
    return [(reply.text, call) for reply, call in pairs if isinstance(reply, Reply)]


def share(count: int, n: int) -> str:
    """Return a share with its interval, as it is shown in the docs."""
    found = proportion(count, n)
    if found.value is None or found.interval is None:
        return "no reply"
    low, high = (round(100 * bound) for bound in found.interval)
    return f"{count} of {n} = {round(100 * found.value)} % [{low} %, {high} %]"


def main() -> None:
    """Print a row per judge and parser, and the most frequent replies that are not read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder of public data sets")
    parser.add_argument("--store", default=".ragstone", type=Path)
    parser.add_argument("--replies", type=Path, help="write the replies here")
    options = parser.parse_args()
    earlier = earlier_schemas()
    forms: dict[str, tuple[Any, Any]] = {
        "ratings": (earlier.Rating(1, 10), verdict_schemas.Rating(1, 10)),
        "words": (earlier.Choice(), verdict_schemas.Choice()),
    }
    said: dict[str, list[str]] = {}
    print("| replies | read before | read now |")
    print("|---|---|---|")
    options.store.mkdir(parents=True, exist_ok=True)
    with Calls.at(options.store / "calls.sqlite") as kept:
        for name, written in JUDGES.items():
            asked = judge_calls(written, options.data, SETS[name])
            found = replies_of(*asked, Services(calls=kept))
            said[name] = [text for text, _ in found]
            cells, unread = [], Counter[str]()
            for form in forms[name]:
                read = 0
                unread.clear()
                for text, call in found:
                    try:
                        form.read(text, call.material)
                        read += 1
                    except ValueError:  # either `Unreadable`
                        unread[text.strip()] += 1
                cells.append(share(read, len(found)))
            print(f"| {name} |", " | ".join(cells), "|", flush=True)
            for text, count in unread.most_common(EXAMPLES):
                print(f"    not read, {count} times: {text!r}", file=sys.stderr)
    if options.replies:
        options.replies.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
