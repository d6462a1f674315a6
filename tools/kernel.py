"""Compile the optional kernel of the answer metrics: `make kernel`.

    python tools/kernel.py                     into the package, where it is found
    python tools/kernel.py --flag=-fsanitize=address --output /tmp/kernel.so

It needs a C compiler (`$CC`, cc, gcc or clang) and nothing else.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from ragstone.core.token_kernel import LIBRARY, SOURCE, source_digest


def compiler() -> list[str] | None:
    """Return the command of a C compiler; None if there is none."""
    named = shlex.split(os.environ.get("CC", ""))
    found = next((one for one in ("cc", "gcc", "clang") if shutil.which(one)), None)
    return named or ([found] if found else None)


def compile_kernel(output: Path, flags: Sequence[str] = ()) -> None:
    """Compile the kernel; the file appears when it is complete."""
    command = compiler()
    if command is None:
        raise SystemExit("no C compiler: set CC, or install gcc or clang")
    made = output.with_name(f"{output.name}.{os.getpid()}")
    subprocess.run(
        [
            *command, "-std=c99", "-O3", "-shared", "-fPIC",
            "-fvisibility=hidden", f'-DSOURCE_DIGEST="{source_digest()}"', *flags,
            "-o", str(made), str(SOURCE),
        ],
        check=True,
    )  # fmt: skip
    made.replace(output)


def main() -> None:
    """Compile it as the arguments say."""
    parser = argparse.ArgumentParser(description="Compile the kernel of the answer metrics.")
    parser.add_argument("--output", type=Path, default=LIBRARY)
    parser.add_argument("--flag", action="append", default=[], help="for the compiler; repeatable")
    given = parser.parse_args()
    compile_kernel(given.output, given.flag)
    print(f"{given.output}: {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
