"""The page on which people answer the questions of a scheme, item by item."""

from __future__ import annotations

from typing import Final

from ragstone.annotation.site import Document, Site, SitePage, Visit


def _make(site: Site, visit: Visit) -> Document:
    return {"scheme": site.project.scheme, "items": len(site.project.items), "person": visit.person}


LABEL: Final = SitePage("/label", "Label", "label.html", _make, "Labels")
