"""The jobs in promptfoo: `equals` of an own Python function, and the judge llm-rubric.

`node_modules` lies in the environment whose Python runs this script. `equals` takes one gold
answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from my_rag import (  # type: ignore[import-not-found]  # a file beside this one
    ROWS,
    hand_over,
)

PROGRAM = Path(sys.prefix) / "node_modules" / ".bin" / "promptfoo"
PROVIDER = """\
from my_rag import answer


def call_api(prompt, options, context):
    return {"output": answer(prompt)}
"""


def config(job: str) -> dict[str, Any]:
    """Return the configuration of a job."""
    tests = [
        {
            "vars": {
                "query": row["query"],
                "answer": row["answer"],
                "gold": row["gold_answers"][0],
            }
        }
        for row in ROWS
    ]
    if job.startswith(("own", "failing")):
        Path("provider.py").write_text(PROVIDER)
        made = {"providers": ["file://provider.py"], "prompts": ["{{query}}"]}
    else:
        made = {"providers": ["echo"], "prompts": ["{{answer}}"]}
    check: dict[str, Any] = {"type": "equals", "value": "{{gold}}"}
    if job.startswith(("verdicts", "calls")):
        model = {"apiBaseUrl": os.environ["PEER_URL"], "apiKey": "none"}
        check = {
            "type": "llm-rubric",
            "value": "The answer to {{query}} is right.",
            "provider": {"id": "openai:chat:fake", "config": model},
        }
    return {**made, "defaultTest": {"assert": [check]}, "tests": tests}


def evaluate(job: str) -> dict[str, Any]:
    """Evaluate with the defaults, except for the number of calls at once."""
    Path("config.json").write_text(json.dumps(config(job)))
    command = [
        str(PROGRAM),
        "eval",
        "-c",
        "config.json",
        "-j",
        "64",
        "--no-table",
        "-o",
        "out.json",
    ]
    names = {"PYTHONPATH": str(Path(__file__).parent), "PROMPTFOO_PYTHON": sys.executable}
    subprocess.run(command, env={**os.environ, **names}, check=False)
    stats = json.loads(Path("out.json").read_text())["results"]["stats"]
    passed, failed, errors = (stats[kind] for kind in ("successes", "failures", "errors"))
    total = passed + failed + errors
    said = f"{passed} passed, {failed} failed, {errors} errors"
    return {"mean": passed / total, "n": total, "said": said}


if __name__ == "__main__":
    hand_over(**evaluate(sys.argv[1]))
