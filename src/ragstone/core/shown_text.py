"""Texts from outside as a page shows them."""

from __future__ import annotations

import re
from typing import Final

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown_controls(page: str) -> str:
    """Return a page with the codes of the characters that HTML forbids or that no reader sees."""
    return _CONTROLS.sub(lambda one: f"\\x{ord(one[0]):02x}", page)
