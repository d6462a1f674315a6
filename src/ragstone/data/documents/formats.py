"""The formats of documents: by the end of a file's name, its parser and the packages it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from ragstone.core.component import Component
from ragstone.data.documents.pieces import ParsedFile
from ragstone.errors import MissingDependency

EXTRA: Final = "documents"
_PDF: Final = ("pdf:parse_pdf", "pypdfium2", "liteparse", "markdown-it-py")
_OFFICE: Final = ("office:parse_office", "firecrawl-anydoc")
_HTML: Final = ("html:parse_html", "html-to-markdown")
_FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    ".txt": ("plain:parse_text",),
    ".md": ("markdown:parse_markdown", "markdown-it-py"),
    ".csv": ("plain:parse_csv",),
    ".tsv": ("plain:parse_csv",),
    ".eml": ("mail:parse_mail", "html-to-markdown"),
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": _PDF,
    **dict.fromkeys((".docx", ".pptx", ".xlsx", ".epub", ".odt", ".rtf", ".doc"), _OFFICE),
}
"""End of the name -> place of the parser, and the distributions that it needs."""
SUFFIXES: Final = tuple(_FORMATS)
"""Ends of the names of files that are documents, in lower case."""
_MODULES: Final = {
    "firecrawl-anydoc": "anydoc",
    "html-to-markdown": "html_to_markdown",
    "markdown-it-py": "markdown_it",
}
"""Distribution -> its module, if that has another name."""


@dataclass(frozen=True)
class FileParser(Component):
    """The parser of files whose names have one end.

    Args:
        suffix: the end of the names, such as ".pdf".
    """

    suffix: str
    computed_with = (
        *(f"ragstone.data.documents.{of[0]}" for of in dict.fromkeys(_FORMATS.values())),
        "ragstone.data.documents.decoding:decode",
        "ragstone.data.documents.pieces:table_text",
    )

    @property
    def content_revision(self) -> dict[str, str]:
        """The versions of the packages that parse."""
        return {name: _version(name) for name in (*_FORMATS[self.suffix][1:], "charset-normalizer")}

    @property
    def is_slow(self) -> bool:
        """Whether the result is worth keeping: the text of other formats is read as it is."""
        return len(_FORMATS[self.suffix]) > 1

    def require(self) -> None:
        """Raise `MissingDependency` if a package of the parser is not installed."""
        for name in _FORMATS[self.suffix][1:]:
            if find_spec(_MODULES.get(name, name)) is None:
                raise MissingDependency(f"reading {self.suffix} files", name, EXTRA)

    def parse(self, content: bytes) -> ParsedFile:
        """Return the content of a file of these bytes.

        Raises:
            UnreadableFile: it cannot be read. The packages raise errors of their own too.
        """
        module, _, function = _FORMATS[self.suffix][0].partition(":")
        parser = getattr(import_module(f"ragstone.data.documents.{module}"), function)
        found: ParsedFile = parser(content, self.suffix)
        return found


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
