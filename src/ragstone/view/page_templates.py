"""The templates of the pages of a store."""

from __future__ import annotations

from typing import Final

from ragstone.causes.order import BY_NAME
from ragstone.view.tables import along, between, cut
from ragstone.web.render import Templates

GROUPS: Final = {
    "retrieval": "finding", "reading": "reading", "refusal": "refusing", "failure": "failed",
}  # fmt: skip
"""Group of causes -> the class of its mark."""


def _cause_class(name: str) -> str:
    """Return the class of the mark of a cause; refinements and undecided ones have that of none."""
    return GROUPS.get(BY_NAME[name].group, "open") if name in BY_NAME else "open"


TEMPLATES: Final = Templates(
    "ragstone.view",
    filters={"cause_group": _cause_class},
    functions={"along": along, "between": between, "cut": cut},
)
