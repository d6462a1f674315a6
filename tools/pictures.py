"""Draw the pictures of the docs: `python tools/pictures.py` (or `make pictures`).

Each picture is what a reader sees: the page in a browser, after the command that makes it. Chromium
must be installed.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 820

sys.path.insert(0, str(ROOT))
from tests.browser.devtools import find_chromium, open_page, running_browser  # noqa: E402


def main() -> None:
    """Run the demo in an empty folder, and draw the first screen of its report."""
    browser = find_chromium()
    if browser is None:
        raise SystemExit("no chromium on this machine: install Debian's package chromium")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (["run", "demo"], ["report", "demo", "--output", "report.html"]):
            command = [str(Path(sys.executable).with_name("ragstone")), *arguments]
            subprocess.run(command, cwd=folder, check=True)
        with running_browser(browser) as address:
            picture = asyncio.run(_first_screen(address, Path(folder) / "report.html"))
    path = FOLDER / "report.png"
    path.write_bytes(picture)
    print(f"{path.relative_to(ROOT)}: {len(picture):,} bytes")


async def _first_screen(address: str, page_file: Path) -> bytes:
    async with open_page(address) as page:
        await page.resize(WIDTH, HEIGHT)
        await page.prefer("light")
        await page.open(page_file)
        return await page.picture()


if __name__ == "__main__":
    main()
