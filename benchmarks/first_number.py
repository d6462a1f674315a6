"""How long `ragstone try` takes for a file of 50 recorded answers: seconds, and processor time.

    python benchmarks/first_number.py [--rounds 5]

Each answer has five contexts of about 100 words. Each round runs in an empty folder, so that
nothing is kept from another one.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RAGSTONE = Path(sys.executable).with_name("ragstone")
ANSWERS = 50
SENTENCE = "The ferry to island {n} leaves quay {quay} at {hour} on every working day of the year. "


def row(n: int) -> dict[str, Any]:
    """Return a question with its gold answer, an answer and five contexts; a third is wrong."""
    hour = 6 + n % 12
    text = SENTENCE.format(n=n, quay=n % 7, hour=hour) * 6
    return {
        "query": f"When does the ferry to island {n} leave?",
        "gold_answers": [str(hour)],
        "contexts": [f"{place}. {text}" for place in range(5)],
        "answer": f"It leaves at {hour + (n % 3 == 0)}.",
    }


def measured() -> tuple[float, float]:
    """Return the seconds of one run and its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(row(n)) for n in range(ANSWERS)]
        Path(folder, "rows.jsonl").write_text("\n".join(lines))
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [str(RAGSTONE), "try", "rows.jsonl"]
        subprocess.run(command, check=True, cwd=folder, capture_output=True)
        seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print both as medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = [measured() for _ in range(parser.parse_args().rounds)]
    seconds, processor = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(f"{ANSWERS} recorded answers: {seconds:.1f} s, {processor:.1f} s of processor time")


if __name__ == "__main__":
    main()
