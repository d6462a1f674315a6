"""The pages of a project and the calls of their scripts, one file per page."""

from __future__ import annotations

from typing import Final

from ragstone.annotation.pages.agreement import AGREEMENT
from ragstone.annotation.pages.conversation import CONVERSATION_CALLS, CONVERSATION_PAGE
from ragstone.annotation.pages.disagreements import DISAGREEMENTS
from ragstone.annotation.pages.label import LABEL, LABEL_ITEM
from ragstone.annotation.pages.people import PEOPLE_PAGE
from ragstone.annotation.pages.progress import PROGRESS
from ragstone.annotation.pages.quality import QUALITY
from ragstone.annotation.pages.review import REVIEW_PAGE
from ragstone.annotation.pages.withdraw import WITHDRAW
from ragstone.annotation.site import SiteCall, SitePage

PAGES: Final[tuple[SitePage, ...]] = (
    CONVERSATION_PAGE,
    REVIEW_PAGE,
    LABEL,
    LABEL_ITEM,
    DISAGREEMENTS,
    PROGRESS,
    QUALITY,
    PEOPLE_PAGE,
    AGREEMENT,
)
"""In the order of the navigation; the first one that a task has is at `/`."""
CALLS: Final[tuple[SiteCall, ...]] = (*CONVERSATION_CALLS, WITHDRAW)
