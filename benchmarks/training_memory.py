"""Memory of training steps on the bundled model: as planned, and as measured.

    python -m benchmarks.training_memory
    python -m benchmarks.training_memory --batch 4 --dtype bfloat16 --checkpointing
    python -m benchmarks.training_memory --device cuda

Each row is a process of its own: peak memory of two training steps beyond the loaded weights
(on a CPU: Linux alone). Prompts are random tokens of three lengths; the targets have six tokens.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ragstone.core.resources import available_cpus, size
from ragstone.core.tables import TextTable
from ragstone.models.causal_lm import load_causal_lm
from ragstone.models.locate import find_model
from ragstone.training.causal import CausalLearner
from ragstone.training.examples import Example
from ragstone.training.fitting import Fitting, Schedule
from ragstone.training.memory import step_memory
from ragstone.training.recipe import Optim, Recipe
from ragstone.training.weights import with_adapter

STATUS = Path("/proc/self/status")
ROWS = [
    ["--batch", "1"],
    ["--batch", "4"],
    ["--batch", "8"],
    ["--batch", "4", "--dtype", "bfloat16"],
    ["--batch", "4", "--checkpointing"],
    ["--batch", "4", "--packing"],
]


def main() -> None:
    """Measure one row, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--tokens", type=int, default=250)
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--packing", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--base", default="smollm2-135m-instruct")
    given = parser.parse_args()
    if given.batch:
        sys.stdout.write(json.dumps(measured(given)) + "\n")
        return
    found = []
    for row in ROWS:
        command = [sys.executable, "-m", "benchmarks.training_memory", *row]
        command += ["--device", given.device, "--base", given.base]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        one = json.loads(done.stdout.splitlines()[-1])
        cells = [" ".join(row), size(one["planned"]), size(one["measured"])]
        found.append([*cells, f"{one['measured'] / one['planned']:.2f}", f"{one['seconds']:.1f}"])
    headers = ["step", "planned", "measured", "measured / planned", "seconds per step"]
    sys.stdout.write(f"{TextTable(headers, found)}\n")


def measured(given: argparse.Namespace) -> dict[str, float]:
    """Return planned and measured bytes beyond the weights, and the time of a step."""
    import torch

    torch.set_num_threads(available_cpus())
    modes = {"checkpointing": given.checkpointing, "packing": given.packing, "dtype": given.dtype}
    recipe = Recipe(base=given.base, data="", output="", device=given.device, optim=Optim(**modes))
    _, model = load_causal_lm(find_model(given.base), given.base, given.device, given.dtype)
    learner = CausalLearner(with_adapter(model, recipe), 0, recipe)
    drawn = random.Random(0)
    lengths = [given.tokens - 6 - 20 * (place % 3) for place in range(given.batch)]
    prompts = [tuple(drawn.randrange(5, 40_000) for _ in range(length)) for length in lengths]
    examples = [Example(prompt, tuple(range(6, 12))) for prompt in prompts]
    planned = step_memory(learner, examples).beyond_weights
    gc.collect()
    before = _bytes("VmRSS", given.device)
    seconds = _two_steps(learner, examples, recipe.optim)
    peak = _bytes("VmHWM", given.device)
    return {"planned": planned, "measured": peak - before, "seconds": seconds}


def _two_steps(learner: Any, examples: list[Example], optim: Optim) -> float:
    schedule = Schedule(2, len(examples), 9, 9)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        Fitting(learner, examples, [], optim, schedule, 0, Path(folder)).run()
    return (time.perf_counter() - started) / 2


def _bytes(name: str, device: str) -> int:
    """Return the memory in use (VmRSS), which starts a new peak, or the peak (VmHWM)."""
    if device == "cuda":
        import torch

        if name == "VmHWM":
            return int(torch.cuda.max_memory_allocated())
        torch.cuda.reset_peak_memory_stats()
        return int(torch.cuda.memory_allocated())
    if name == "VmRSS":
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    main()
