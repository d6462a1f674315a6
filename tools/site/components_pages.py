"""Reference pages of the components, a page per kind, from the registry and the docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tools.site.page_text import anchor, code, docstring, escaped, linked, page, table

from ragstone.core.builtins import BUILT_IN, SYNONYMS
from ragstone.core.describe import describe_kind
from ragstone.core.registry import find

UP: Final = "../../"

GUIDES: Final[Mapping[str, Sequence[str]]] = {
    "readers": ("data", "published-data", "documents", "encyclopedias"),
    "chunkers": ("chunking",),
    "query_formers": ("conversations", "translation"),
    "embedders": ("embedders",),
    "retrievers": ("retrievers", "datastores"),
    "rerankers": ("rerankers",),
    "context_settings": ("concepts",),
    "processors": ("processors", "translation"),
    "generators": ("models", "calls", "prompts"),
    "judges": ("judges", "prompts"),
    "exporters": ("conversations", "retrievers"),
}
"""Kind -> the pages of docs/ that explain its components; metrics have pages of their own."""


def component_pages() -> dict[str, str]:
    """Return a page per kind of component but metrics, and the index."""
    found = {f"reference/components/{kind}.md": _kind_page(kind) for kind in GUIDES}
    rows = [
        (f"[{title(kind)}]({kind}.md)", str(len(BUILT_IN[kind])), f"`ragstone components {kind}`")
        for kind in GUIDES
    ]
    rows.append(
        (
            "[Metrics](../metrics/index.md)",
            str(len(BUILT_IN["metrics"])),
            "`ragstone components metrics`",
        )
    )
    found["reference/components/index.md"] = page(
        "# Components",
        f"A component is a name in an [experiment file]({UP}experiment-file.md), with its "
        f"parameters. [Your own components]({UP}own-components.md) are used in the same way.",
        table(("kind", "built in", "on the command line"), rows),
    )
    return found


def title(kind: str) -> str:
    """Return the heading of a kind.

    >>> title("context_settings")
    'Context settings'
    """
    return kind.replace("_", " ").capitalize()


def _kind_page(kind: str) -> str:
    guides = ", ".join(f"[{name}]({UP}{name}.md)" for name in GUIDES[kind])
    synonyms = [(code(new), code(old)) for new, old in SYNONYMS.get(kind, {}).items()]
    return page(
        f"# {title(kind)}",
        f"Guide: {guides}. A parameter that is not in the key cannot change the result: "
        "a change of it computes nothing again.",
        *[component_section(entry) for entry in built_in(kind)],
        "## Synonyms" if synonyms else "",
        table(("name", "means"), synonyms),
    )


def built_in(kind: str) -> list[dict[str, Any]]:
    """Return the descriptions of the built-in components of a kind, without those of plugins."""
    return [entry for entry in describe_kind(kind) if entry["name"] in BUILT_IN[kind]]


def component_section(entry: Mapping[str, Any], *more: str) -> str:
    """Return the section of a component: heading, docstring, packages and parameters."""
    found = find(entry["kind"], entry["name"], where="the reference")
    return page(
        f"## `{entry['name']}` {{ #{anchor(entry['name'])} }}",
        docstring(inspect.getdoc(found) or "", UP),
        *more,
        _packages(entry["requires"]),
        table(("parameter", "type", "default", "in key", "meaning"), parameters(entry)),
    ).strip("\n")


def _packages(requires: Sequence[str]) -> str:
    command = " ".join(f"'{package}'" for package in requires)
    return f"Needs `pip install {command}`." if requires else ""


def parameters(entry: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Return the rows of a component's parameters, without the cutoff of a metric that has none."""
    found = find(entry["kind"], entry["name"], where="the reference")
    unused = {"k"} if getattr(found, "cutoff", "") == "none" else set()
    return [
        (
            code(one["name"]),
            code(one["type"]),
            "required" if one["default"] is None else code(one["default"]),
            "yes" if one["in_key"] else "no",
            linked(one["help"], UP),
        )
        for one in entry["parameters"]
        if one["name"] not in unused
    ]


def summary(entry: Mapping[str, Any]) -> str:
    """Return the first line of a component's docstring."""
    return escaped(entry["summary"])
