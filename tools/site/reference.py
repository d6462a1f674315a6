"""The reference of the docs site, generated: `pages()`, or `python -m tools.site.reference FOLDER`.

Commands come from the tree of commands, keys from the JSON Schema, components and metrics from the
registry, names from docs/stability.yaml, and all texts from help texts and docstrings.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the importer may be any program

from tools.site.api_pages import api_pages
from tools.site.commands_pages import command_pages
from tools.site.components_pages import component_pages
from tools.site.file_page import file_page
from tools.site.metrics_pages import metric_pages
from tools.site.page_text import page
from tools.site.stability import stability_page


def pages() -> dict[str, str]:
    """Return path below the site -> Markdown of every generated page."""
    found = {
        "reference/index.md": page(
            "# Reference",
            "- [Commands](commands/index.md)\n"
            "- [Keys of the experiment file](experiment-file.md)\n"
            "- [Components](components/index.md)\n"
            "- [Metrics](metrics/index.md)\n"
            "- [Python API](api/index.md)\n"
            "- [Stability](stability.md)",
        ),
        "reference/experiment-file.md": file_page(),
        "reference/stability.md": stability_page(),
    }
    for part in (command_pages, component_pages, metric_pages, api_pages):
        found.update(part())
    return found


def main() -> None:
    """Write the pages below a folder."""
    folder = Path(sys.argv[1])
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
