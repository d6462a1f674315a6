"""What every component declares about itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_IN_CACHE_KEY: Final[Mapping[str, bool]] = {"not_in_key": True}
"""Metadata of a dataclass field that cannot change the component's output."""
