"""Run the README and the tutorials with the built wheel: `python tools/shown_wheel.py [FOLDER]`.

Real models are asked and one is trained, too: this alone runs the demo of the README and the
tutorial of a training as a whole, which take minutes.

Builds the wheel, installs it with the extras of these pages into a new environment, and runs
`tools/shown.py` with its interpreter, with an empty home and each command as a process. The exit
code is that of the pages. FOLDER, a temporary one by default, keeps the environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
EXTRAS: Final = "documents,lang,local,train"
"""Those of the pages."""
TORCH: Final = "torch==2.13.0"
"""As in the tutorial of a training: pip resolves it to a wheel for CPUs."""
PAGES: Final = ("README.md", *sorted(f"docs/tutorials/{path.name}" for path in
                                     (ROOT / "docs" / "tutorials").iterdir()))  # fmt: skip


def main(arguments: list[str]) -> int:
    """Build, install and run; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="ragstone-wheel-") as made:
        folder = Path(arguments[0] if arguments else made).resolve()
        home = folder / "home"
        home.mkdir(parents=True)
        pip = [sys.executable, "-m", "pip", "--quiet"]
        subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder), str(ROOT)], check=True)
        (wheel,) = folder.glob("ragstone-*.whl")
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        requirement = f"ragstone[{EXTRAS}] @ {wheel.as_uri()}"
        packages = [TORCH, requirement, "pandas"]
        install = [python, "-m", "pip", "--quiet", "install", "--no-compile", *packages]
        subprocess.run(install, check=True)
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        environment.pop("PYTHONPATH", None)
        pages = [str(ROOT / page) for page in PAGES]
        command = [python, str(ROOT / "tools" / "shown.py"), "--processes", "--models", *pages]
        return subprocess.run(command, cwd=home, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
