"""The bundled model before and after a training on nq_singlehop.

    python benchmarks/trained_generator.py DATA OUT [--steps 120] [--limit 250]
        [--base NAME] [--device cpu] [--method lora] [--with local]

DATA is the folder of public data sets. Trains an adapter on contexts with the gold passage, half of
them with two misleading ones, and measures base and adapter on queries whose documents the training
never reads. About 90 minutes of two
cores; a second run resumes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml
from click.testing import CliRunner

from ragstone.cli.train import command

SETTINGS = ("gold", "gold+noise(2)", "none", "noise(1)")


def main() -> None:
    """Train, then print the gains per setting."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--limit", type=int, default=250)
    parser.add_argument("--base", default="smollm2-135m-instruct")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--method", default="lora")
    parser.add_argument("--with", dest="generator", default="local")
    given = parser.parse_args()
    recipe = {
        "device": given.device,
        "method": given.method,
        "base": given.base,
        "data": str(given.data / "nq_singlehop"),
        "setting": ["gold", "gold+noise(2)"],
        "optim": {"steps": given.steps, "batch": 4, "lr": 2e-4, "validations": 6},
        "validation": 0.03,
        "test": 0.25,
        "max_tokens": 1024,
        "output": str(given.out / "trained"),
    }
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "t.yaml"
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")
    print(_run("generator", str(path)))
    settings = [part for setting in SETTINGS for part in ("--setting", setting)]
    store = ["--store", str(given.out / "store"), "--limit", str(given.limit)]
    answered_by = ["--with", given.generator]
    print(_run("gains", str(given.out / "trained"), *settings, *store, *answered_by))


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


if __name__ == "__main__":
    main()
