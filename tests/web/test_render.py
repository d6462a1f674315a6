"""The templates of a package and the files that all pages share."""

from __future__ import annotations

from ragstone.web.render import Templates


def test_a_package_has_the_shared_files_besides_its_own() -> None:
    """A page of annotation loads the shared style."""
    templates = Templates("ragstone.annotation")
    assert {"pages.css", "annotate.css"} <= set(templates.assets)
    assert templates.asset_address("pages.css").startswith("/assets/pages.css?v=")
