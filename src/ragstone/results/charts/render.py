"""Charts as files: SVG and PNG by vl-convert, or the specification as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

from ragstone.core.environment import require
from ragstone.errors import ConfigError, StoreError
from ragstone.results.charts.parts import Spec

SUFFIXES: Final = (".svg", ".png", ".json")
_OUTSIDE: Final = ("data", "params", "description")
"""Keys of a specification whose texts come from outside and are shown unchanged."""
_NOT_XML: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ASTRAL: Final = re.compile(r"[\U00010000-\U0010ffff]")
_SHORT: Final = 12
"""Length of a text that is never cut in a chart, in characters."""


def write_chart(spec: Spec, path: Path, *, width: int = 760, dark: bool = False) -> None:
    """Write a chart as SVG, PNG or Vega-Lite JSON, depending on the suffix of the path.

    The drawing area is `width` pixels wide.

    Raises:
        ConfigError: the suffix is not one of the three.
        MissingDependency: SVG and PNG need the extra `plot`, which is not installed.
        StoreError: the file cannot be written.
    """
    check_chart_path(path)
    spec = standalone(spec, width=width, dark=dark)
    try:
        path.write_bytes(_drawn(spec, path.suffix.lower()))
    except OSError as error:
        raise StoreError(f"cannot write the chart {path}: {error.strerror or error}") from error


def check_chart_path(path: Path) -> None:
    """Raise `ConfigError` for an unknown suffix, `MissingDependency` without the extra `plot`."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"chart {path}: unknown suffix {suffix!r}; use one of {', '.join(SUFFIXES)}"
        )
    if suffix != ".json":
        require(f"a chart as {suffix[1:].upper()}", "plot", "vl_convert")


def standalone(spec: Spec, *, width: int, dark: bool = False) -> Spec:
    """Return a specification that does not depend on the report's CSS or on the page's width."""
    css = (resources.files("ragstone.results") / "templates" / "report.css").read_text("utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", css)
    colours = {f"var(--{name})": pair[dark] for name, *pair in pairs}
    values: Mapping[str, Any] = {"container": width, **colours}
    fixed: Spec = _mapped(spec, lambda text: values.get(text) or _safe_text(text))
    if "vconcat" in spec:
        # Expressions contain the signal `width`, which Vega-Lite defines only for single charts.
        fixed["params"] = [*fixed["params"], {"name": "width", "value": width}]
    return fixed | {"background": colours["var(--paper)"]}


def _mapped(part: Any, change: Callable[[str], Any]) -> Any:
    """Return a part of a specification with its texts changed; texts from outside are made safe."""
    if isinstance(part, dict):
        return {
            key: _mapped(value, _safe_text if key in _OUTSIDE else change)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_mapped(one, change) for one in part]
    return change(part) if isinstance(part, str) else part


def _safe_text(text: str) -> str:
    r"""Return a text that vl-convert can draw.

    vl-convert aborts the process at a character that XML forbids. It fails if it cuts a text within
    a character of two UTF-16 units, so these are replaced in long texts.

    >>> _safe_text("a\x1b[1m")
    'a\\x1b[1m'
    """
    text = _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return text if len(text) <= _SHORT else _ASTRAL.sub("\ufffd", text)


def _drawn(spec: Spec, suffix: str) -> bytes:
    if suffix == ".json":
        import orjson

        return orjson.dumps(spec, option=orjson.OPT_INDENT_2)
    import vl_convert

    if suffix == ".svg":
        return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()
    return vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
