"""What is read: files, lines, documents and own components."""

from __future__ import annotations

from typing import Final

# Input

MAX_LINE_BYTES: Final = 64 * 2**20
"""A line of a data set: a whole book fits, and a file without line breaks does not fill memory."""
MAX_DOCUMENT_BYTES: Final = 2**30
"""An uncompressed file that is read as a whole: parsed JSON takes several times its size."""
MAX_NESTING_LEVELS: Final = 100
"""Lists and objects within each other, in JSON and YAML: deeper ones overflow the stack."""
MAX_SECRET_BYTES: Final = 2**16  # A file with one secret, such as a private key.
MAX_YAML_BYTES: Final = 2**20  # A YAML file; PyYAML needs several seconds per megabyte.
MAX_PROMPT_CHARACTERS: Final = 100_000  # A text of a prompt, which is sent with every query.
MAX_NAMED_CHARACTERS: Final = 60
"""A value in the name of a system; a longer one is shown by its number."""
MAX_YAML_COLLECTIONS: Final = 20_000
"""Lists and mappings in a YAML file with aliases expanded: nested aliases multiply."""
MAX_YAML_EXPANDED: Final = 16 * MAX_YAML_BYTES
"""Values and characters of a YAML file with aliases expanded: one text may have many aliases."""
MAX_YAML_MERGED_KEYS: Final = 100_000  # Keys that all `<<` of a file merge: nested ones multiply.
MAX_NUMBER_CHARACTERS: Final = 1000
"""Characters of a number in YAML; Python needs seconds for a million, and prints at most 4,300."""
MAX_CHECKED_PAGES: Final = 200_000
"""Pages of a Parquet file whose sizes are checked before it is read: at 1 MB each, of 200 GB."""
UNPACKED_BYTES: Final = 16 * 2**20
"""Bytes of a packed file, or of a page, that are unpacked whatever their number per packed byte."""
MAX_UNPACKED_RATIO: Final = 200
"""Unpacked bytes per packed byte beyond these: text has about 10, a bomb up to 1,000."""
MAX_TRACE_SPANS: Final = 50_000
"""Spans of one trace, which are in memory together; an agent in a loop writes without end."""
MAX_OTLP_BYTES: Final = 20 * 2**20
"""A request of traces over HTTP, unpacked: as OpenTelemetry's collector."""
OTLP_CONCURRENT_REQUESTS: Final = 4
"""Requests of traces that are in memory at once; the others wait."""
OTLP_REQUEST_SECONDS: Final = 30.0
"""Time for a request of traces to arrive; an exporter gives up after ten."""

# Documents, parsed in a process of their own

MAX_PARSED_FILE_BYTES: Final = 50 * 2**20
"""A file of a folder of documents; a manual of 400 pages with figures has about 10 MB."""
MAX_HTML_BYTES: Final = 10 * 2**20
"""An HTML page: one of 50 MB takes its parser 17 seconds and 2 GB."""
MAX_UNPACKED_BYTES: Final = 200 * 2**20
"""The texts inside of a presentation, unpacked: a small archive may contain gigabytes."""
MAX_PAGES: Final = 5000  # Pages of a PDF; about a minute of parsing.
MAX_TEXT_CHARACTERS: Final = 20_000_000  # Text of one file: seven times the Bible.
MAX_HEADING_CHARACTERS: Final = 200  # A heading; a longer one is a paragraph in large type.
MAX_GUESSED_HEADING_CHARACTERS: Final = 80
"""A line of an encyclopedia's plain text that may be a heading; a longer one is a paragraph."""
PARSE_SECONDS: Final = 60.0  # Parsing of a file; some malformed files keep a parser busy.
PARSE_BYTES: Final = 2 * 2**30
"""Memory of a process that parses, on Linux: 4 KB of PDF may ask for more than that."""
