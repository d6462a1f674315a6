"""Many files parsed at once; the results are kept in a store, so that a rerun parses none again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Self

import orjson

from ragstone.core import limits
from ragstone.core.progress import progress
from ragstone.core.regular_files import open_regular
from ragstone.core.resources import available_cpus
from ragstone.core.store import Store
from ragstone.data.documents.formats import FileParser
from ragstone.data.documents.pieces import ParsedFile, Piece, UnreadableFile
from ragstone.data.documents.processes import ParsingProcess
from ragstone.errors import StoreError

_STEP: Final = "documents"
_FILE: Final = "pieces.json"
_store: ContextVar[Store | None] = ContextVar("parses", default=None)


@contextmanager
def parses_kept_in(store: Store) -> Iterator[None]:
    """Keep the files parsed in the block in a store, by their content."""
    token = _store.set(store)
    try:
        yield
    finally:
        _store.reset(token)


def parse_files(files: Mapping[str, Path]) -> Iterator[tuple[str, ParsedFile | str]]:
    """Yield the name of each file with its pieces, or with the reason why it cannot be read.

    Raises:
        MissingDependency: a package is not installed.
    """
    for suffix in sorted({path.suffix.lower() for path in files.values()}):
        FileParser(suffix).require()
    workers = min(available_cpus(), len(files))
    with (
        _Parsers(workers, _store.get()) as parsers,
        progress("Reading documents", len(files)) as bar,
    ):
        executor = ThreadPoolExecutor(workers)
        try:
            for name, found in zip(files, executor.map(parsers.parse, files.values()), strict=True):
                bar.advance()
                yield name, found
        finally:
            # After Ctrl-C no file is waited for.
            parsers.stop()
            executor.shutdown(cancel_futures=True)


@dataclass
class _Parsers:
    """Processes that parse, each used by one thread at a time."""

    count: int
    store: Store | None

    def __enter__(self) -> Self:
        self._all = [ParsingProcess() for _ in range(self.count)]
        self._free: SimpleQueue[ParsingProcess] = SimpleQueue()
        for process in self._all:
            self._free.put(process)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._all:
            process.close()

    def stop(self) -> None:
        """Let every file that is being parsed end now."""
        for process in self._all:
            process.stop()

    def parse(self, path: Path) -> ParsedFile | str:
        """Return the content of a file, or why it cannot be read."""
        try:
            content = _content(path)
            parser = FileParser(path.suffix.lower())
            return self._kept(parser, content) or self._parsed(parser, content)
        except OSError as error:
            return error.strerror or str(error)
        except UnreadableFile as error:
            return str(error)

    def _kept(self, parser: FileParser, content: bytes) -> ParsedFile | None:
        if self.store is None or not parser.is_slow:
            return None
        folder = self.store.kept_files(_STEP, _made_of(parser, content))
        if folder is None:
            return None
        found = orjson.loads((folder / _FILE).read_bytes())
        return ParsedFile([Piece(**p) for p in found["pieces"]], found["title"], found["notes"])

    def _parsed(self, parser: FileParser, content: bytes) -> ParsedFile:
        process = self._free.get()
        try:
            found = process.parse(parser, content)
        finally:
            self._free.put(process)
        if self.store is not None and parser.is_slow:
            text = orjson.dumps(asdict(found))
            # A store that cannot be written is reported by the run: the files are parsed again.
            with suppress(StoreError):
                self.store.files(
                    _STEP, _made_of(parser, content), lambda f: (f / _FILE).write_bytes(text)
                )
        return found


def _made_of(parser: FileParser, content: bytes) -> dict[str, object]:
    return {"parser": parser, "content": hashlib.sha256(content).hexdigest()}


def _content(path: Path) -> bytes:
    with open_regular(path) as file:
        content = file.read(limits.MAX_PARSED_FILE_BYTES + 1)
    if len(content) > limits.MAX_PARSED_FILE_BYTES:
        raise UnreadableFile(
            f"it has more than {limits.MAX_PARSED_FILE_BYTES:,} bytes, the maximum of a document; "
            "split it"
        )
    if not content:
        raise UnreadableFile("it is empty")
    return content
