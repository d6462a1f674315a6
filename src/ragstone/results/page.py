"""Pages: one HTML file from a template, with its own styles and scripts, that loads nothing."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ragstone.core.shown_text import BLOCKS, CELLS, page_environment, shown_controls
from ragstone.results.glossary import setting_meaning
from ragstone.results.judge_notes import note_lines
from ragstone.results.wording import (
    STATUS_TITLES,
    attempt_text,
    count,
    interval_text,
    left_out_text,
    not_applicable_text,
    number,
    seconds,
    signed_interval,
    trusted_text,
)
from ragstone.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(template: str, style: str, scripts: Sequence[str], **data: Any) -> str:
    """Return a page whose content security policy allows only its own style and scripts.

    Control characters of its texts are shown as codes.
    """
    policy = _policy(style, list(scripts))
    page = _environment().get_template(template)
    made = page.render(**data, style=style, scripts=scripts, policy=policy, version=__version__)
    return shown_controls(made)


def _policy(style: str, scripts: list[str]) -> str:
    """Return a content security policy that allows only the scripts and styles of this file."""
    allowed = " ".join(map(_source_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def asset(name: str) -> str:
    """Return the text of a style, a script or another file beside the templates."""
    return (resources.files("ragstone.results") / "templates" / name).read_text("utf-8")


@cache
def _environment() -> Environment:
    environment = page_environment(("ragstone.results",), (*BLOCKS, *CELLS))
    environment.filters |= {
        "note_lines": note_lines,
        "number": number,
        "interval": lambda value: interval_text(value).strip(),
        "count": count,
        "difference": lambda value: signed_interval(value, None),
        "differences": lambda ends: signed_interval(None, ends).strip(),
        "seconds": seconds,
        "moment": _moment,
        "meaning": setting_meaning,
        "left_out": left_out_text,
        "not_applicable": not_applicable_text,
        "attempt": attempt_text,
        "trusted": trusted_text,
        "status": lambda status: STATUS_TITLES.get(status, status).capitalize(),
        "pretty": lambda value: json.dumps(value, indent=1, ensure_ascii=False, default=asdict),
    }
    # `tojson` escapes <, >, & and ', so no text can end its script element.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


def _moment(text: str | None) -> str:
    """Return a time of a record as text for people.

    >>> _moment("2026-03-02T10:04:31+00:00")
    '2 March 2026, 10:04 UTC'
    """
    if text is None:
        return "not finished"
    moment = dt.datetime.fromisoformat(text).astimezone(dt.UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
