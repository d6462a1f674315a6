"""A page in headless Chromium, driven over the DevTools protocol.

Needs no package beyond the core; a Chromium must be on the machine (`find_chromium`).
"""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
TIMEOUT_SECONDS: Final = 60.0
"""Timeout of one action, in seconds."""


def find_chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((found for name in names if (found := shutil.which(name))), None)


@dataclass
class Page:
    """A tab; collects errors, warnings and requested addresses of its page."""

    socket: aiohttp.ClientWebSocketResponse
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _number: int = 0

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; collect the events before it."""
        self._number += 1
        await self.socket.send_json({"id": self._number, "method": method, "params": parameters})
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                message = await self.socket.receive_json()
                if message.get("id") == self._number:
                    if "error" in message:
                        raise RuntimeError(f"{method}: {message['error']}")
                    result: dict[str, Any] = message["result"]
                    return result
                self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning"}:
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(json.dumps(parameters["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    async def open(self, path: Path, fragment: str = "") -> None:
        """Load a local file and wait until its scripts have run."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.send(f"{domain}.enable")
        await self.send("Page.navigate", url=path.as_uri() + fragment)
        await self.until("document.readyState === 'complete'")

    async def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        held = await self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in held:
            raise RuntimeError(f"{script}: {held['exceptionDetails']}")
        return held["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until an expression is true; raise `TimeoutError` if it stays false."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while not await self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"the condition stayed false: {condition}")
            await asyncio.sleep(0.02)

    async def resize(self, width: int, height: int = 900) -> None:
        """Set the size of the page's window."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def prefer(self, scheme: str) -> None:
        """Set `prefers-color-scheme`."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await self.send("Emulation.setEmulatedMedia", features=[feature])

    async def picture(self) -> bytes:
        """Return a screenshot of the window, as PNG."""
        taken = await self.send("Page.captureScreenshot")
        return base64.b64decode(taken["data"])


@asynccontextmanager
async def open_page(address: str) -> AsyncIterator[Page]:
    """Yield a new tab of a running browser."""
    async with aiohttp.ClientSession() as session:
        async with session.put(f"{address}/json/new") as reply:
            target = await reply.json()
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            yield Page(socket)
        async with session.get(f"{address}/json/close/{target['id']}"):
            pass


@contextmanager
def running_browser(path: str) -> Iterator[str]:
    """Run a browser with a new profile; yield its local DevTools address."""
    profile = tempfile.mkdtemp(prefix="ragstone-browser-")
    command = [path, *FLAGS, f"--user-data-dir={profile}"]
    no = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=no, stdout=no, stderr=no)
    try:
        yield f"http://127.0.0.1:{_port(Path(profile) / 'DevToolsActivePort', process)}"
    finally:
        process.terminate()
        process.wait(timeout=TIMEOUT_SECONDS)
        shutil.rmtree(profile, ignore_errors=True)


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        if file.exists() and (lines := file.read_text().splitlines()):
            return int(lines[0])
        if process.poll() is not None:
            raise RuntimeError(f"the browser ended with exit code {process.returncode}")
        time.sleep(0.02)
    raise TimeoutError("the browser did not write its DevTools port")


def driven_browser() -> Iterator[Any]:
    """Yield a Chromium that Playwright drives; skips the test if one of them is missing."""
    found, sync_api = find_chromium(), pytest.importorskip("playwright.sync_api")
    if found is None:
        pytest.skip("Chromium is not installed; install with: apt-get install chromium")
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
