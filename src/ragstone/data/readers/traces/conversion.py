"""Files of traces as rows of queries with answers, and the outcome of every span and trace.

The files are read twice: first to count the spans of each trace, then to make the row of a trace
when its last span was read. Memory is that of the traces that are open at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.data.corpus import Corpus
from ragstone.data.readers.answer_rows import query_id_of
from ragstone.data.readers.traces import genai, langfuse, openinference
from ragstone.data.readers.traces.files import FileNotes, read_spans
from ragstone.data.readers.traces.span import TraceSpan
from ragstone.data.readers.traces.trace_rows import trace_row
from ragstone.data.readers.traces.tree import TraceTree

WRITTEN_AGAINST: Final = {part.NAME: part.VERSION for part in (genai, openinference, langfuse)}
"""Convention -> its versions that are read."""
INCOMPLETE: Final = (
    "the trace is incomplete: the parent of a span is not in the files (--keep-incomplete makes a "
    "row of what is there)"
)


REPEATED: Final = "the query was asked before; the id of the row ends with #2, #3 and so on"
DROPPED: Final = (
    "attributes of a span were dropped when it was recorded, so that passages may be missing; "
    "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"
)


@dataclass
class Conversion:
    """The outcomes of the spans and traces of some files."""

    spans: int = 0
    traces: int = 0
    rows: int = 0
    without_row: Counter[str] = field(default_factory=Counter)
    """Reason -> traces without a row."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Reason -> spans that no row uses."""
    notes: Counter[str] = field(default_factory=Counter)
    """Missing part of rows, and why -> rows."""
    conventions: Counter[str] = field(default_factory=Counter)
    """Convention -> spans."""
    schema_urls: Counter[str] = field(default_factory=Counter)
    """Schema that spans of a convention name -> spans."""
    cuts: list[str] = field(default_factory=list)
    """File, line or byte of each place from which on a file could not be read."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the JSON of the command line."""
        conventions = {
            name: {"spans": spans, "written_against": WRITTEN_AGAINST[name]}
            for name, spans in self.conventions.items()
        }
        return {**vars(self), "conventions": conventions}

    def __str__(self) -> str:
        """Return the counts and reasons, one per line."""
        lines = [f"{self.rows:,} rows of {self.traces:,} traces with {self.spans:,} spans"]
        for name, spans in self.conventions.items():
            lines.append(f"  {name}: {spans:,} spans (read as {WRITTEN_AGAINST[name]})")
        lines += [f"  schema {url}: {spans:,} spans" for url, spans in self.schema_urls.items()]
        for title, noun, reasons in (
            ("No row", "traces", self.without_row),
            ("Not used", "spans or records", self.skipped),
            ("Notes", "rows or spans", self.notes),
        ):
            lines += ["", f"{title} ({noun}):"] if reasons else []
            shown = reasons.most_common(limits.SHOWN_FAILURES)
            lines += [f"  {count:,}  {reason}" for reason, count in shown]
            left = len(reasons) - len(shown)
            lines += [f"  and {left:,} other reasons; --json lists them all"] if left else []
        lines += ["", "Cut:", *(f"  {cut}" for cut in self.cuts)] if self.cuts else []
        # Reasons repeat texts of the files, which must not move the cursor of a terminal.
        return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


@dataclass
class TraceConverter:
    """Makes rows of files of traces.

    Args:
        paths: the files; a trace may be spread over several.
        corpus: texts of passages of which spans carry the id alone.
        system: name of the system of all rows; "" takes the names of the services.
        keep_incomplete: make rows of traces of which a part is missing.
    """

    paths: Sequence[Path]
    corpus: Corpus | None = None
    system: str = ""
    keep_incomplete: bool = False
    found: Conversion = field(default_factory=Conversion)
    _ids: Counter[str] = field(default_factory=Counter)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows in the order in which their traces end; `found` is complete after it.

        Raises:
            DatasetError: a file is not one of traces, or a span is malformed.
            MissingDependency: a file is protobuf, and the extra `traces` is not installed.
        """
        notes = FileNotes()
        left = Counter(span.trace_id for path in self.paths for span in read_spans(path, notes))
        self.found.spans, self.found.traces = left.total(), len(left)
        self.found.cuts, self.found.skipped = notes.cuts, notes.skipped
        too_large = {name for name, spans in left.items() if spans > limits.MAX_TRACE_SPANS}
        if too_large:
            reason = f"the trace has more than {limits.MAX_TRACE_SPANS:,} spans, the maximum"
            self.found.without_row[reason] = len(too_large)
        held: dict[str, list[TraceSpan]] = {}
        for span in (span for path in self.paths for span in read_spans(path, FileNotes())):
            if span.trace_id in too_large:
                continue
            held.setdefault(span.trace_id, []).append(span)
            left[span.trace_id] -= 1
            if not left[span.trace_id]:
                yield from self.rows_of(held.pop(span.trace_id))

    def rows_of(self, spans: Sequence[TraceSpan]) -> Iterator[dict[str, Any]]:
        """Yield the rows of one trace, and count the outcomes of its spans."""
        tree = TraceTree(spans)
        self._count(tree, len(spans))
        if not any(span.operation for span in tree.spans):
            self.found.without_row["no span of it follows a known convention"] += 1
        elif not tree.is_complete and not self.keep_incomplete:
            self.found.without_row[INCOMPLETE] += 1
        else:
            for tops in tree.queries():
                row = trace_row(tree, tops, self.corpus, self.found.notes)
                if isinstance(row, str):
                    self.found.without_row[row] += 1
                else:
                    self.found.rows += 1
                    yield self.named(row)

    def named(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with the name of its system and the id of its query.

        The id is the digest of the query, as for data sets without ids. The second row of a system
        and a query ends with #2.
        """
        if self.system:
            row["system"] = self.system
        query_id = query_id_of(row["query"])
        key = f"{row.get('system', '')} {query_id}"
        self._ids[key] += 1
        if self._ids[key] > 1:
            query_id = f"{query_id}#{self._ids[key]}"
            self.found.notes[REPEATED] += 1
        return {"query_id": query_id, **{k: v for k, v in row.items() if k != "query_id"}}

    def _count(self, tree: TraceTree, written: int) -> None:
        """Count the spans of a trace by convention, and those that are not used."""
        unique = list(tree.spans)
        if written > len(unique):
            self.found.skipped["it was written twice"] += written - len(unique)
        for span in unique:
            if span.operation is None:
                self.found.skipped["it follows no known convention"] += 1
                continue
            self.found.conventions[span.operation.convention] += 1
            if span.schema_url:
                self.found.schema_urls[span.schema_url] += 1
            if span.has_dropped:
                self.found.notes[DROPPED] += 1
