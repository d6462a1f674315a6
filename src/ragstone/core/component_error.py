"""The error that reports an exception of your own component."""

from __future__ import annotations

import tempfile
import traceback
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from ragstone.core.atomic_files import private_file
from ragstone.core.redaction import redacted
from ragstone.core.times import utc_text
from ragstone.errors import ComponentError

error_log: Final[ContextVar[Path | None]] = ContextVar("error_log", default=None)
"""The file for tracebacks of your own components; a run sets it to a file in its store."""

_PACKAGE: Final = Path(__file__).resolve().parents[1]


def component_error(part: object, error: Exception, item: object = None) -> ComponentError:
    """Return the error that reports an exception of your own component.

    It contains the exception, the line of your code and the item. The traceback is appended to the
    file of `error_log`.
    """
    name = type(part).__name__
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((f for f in reversed(frames) if _PACKAGE not in Path(f.filename).parents), None)
    place = f" in {Path(frame.filename).name}, line {frame.lineno}" if frame else ""
    query_id = str(getattr(getattr(item, "query", item), "query_id", ""))
    log = _kept_traceback(name, error)
    return ComponentError(
        f"{name} raised {type(error).__name__}: {error}{place}"
        f"{f' (query {query_id!r})' if query_id else ''}{f'; traceback: {log}' if log else ''}",
        component=name,
        query_id=query_id,
        traceback_path=log,
        path=frame.filename if frame else None,
        line=frame.lineno if frame else None,
    )


def _kept_traceback(name: str, error: Exception) -> Path | None:
    """Append a traceback to the file, and return the file; None if it cannot be written."""
    try:
        log = error_log.get() or Path(tempfile.gettempdir(), "ragstone-errors.log")
        told = redacted("".join(traceback.format_exception(error)))
        with private_file(log).open("a", encoding="utf-8") as file:
            file.write(f"{utc_text()} {name}\n{told}\n")
    except OSError:
        return None
    return log
