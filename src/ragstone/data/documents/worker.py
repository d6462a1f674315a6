"""A process that parses files, which `ragstone.data.documents.processes` starts.

A parser may hang, crash, or fill the memory: then this process ends, and not the one that waits for
it. A request is one line of JSON with the end of the file's name and the number of its bytes, then
these bytes; a reply is one line of JSON. The process ends when standard input ends.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any, Final

import orjson

from ragstone.core import limits
from ragstone.data.documents.formats import FileParser
from ragstone.data.documents.pieces import ParsedFile, UnreadableFile

OUT_OF_MEMORY: Final = 70
"""Exit code of a process that reached the limit of its memory."""


def main() -> None:
    """Answer requests until standard input ends. The argument is the limit of memory in bytes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent.
    _limit_memory(int(sys.argv[1]))
    requests, replies = sys.stdin.buffer, _take_over_output()
    while line := requests.readline():
        request = orjson.loads(line)
        content = requests.read(request["bytes"])
        try:
            replies.write(_reply(request["suffix"], content) + b"\n")
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        replies.flush()


def _limit_memory(count: int) -> None:
    """Limit the address space of this process, on systems that can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (count, count))


def _take_over_output() -> IO[bytes]:
    """Return standard output for the replies alone; the output of parsers is discarded."""
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return replies


def _reply(suffix: str, content: bytes) -> bytes:
    try:
        return orjson.dumps(asdict(_cleaned(FileParser(suffix).parse(content))))
    except ImportError as error:
        return orjson.dumps({"missing": error.name or str(error)})
    except UnreadableFile as error:
        return orjson.dumps({"error": str(error)})
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of a native parser is none of Exception
        kind = type(error).__name__
        if kind == "EncryptedError":
            return orjson.dumps({"error": "it is encrypted: save a copy without a password"})
        reason = " ".join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]
        return orjson.dumps({"error": f"{kind}: {_encodable(reason)}"})


def _cleaned(found: ParsedFile) -> ParsedFile:
    """Return a file's pieces with text that can be kept; raise `UnreadableFile` if it is long."""
    length = sum(len(piece.text) for piece in found.pieces)
    if length > limits.MAX_TEXT_CHARACTERS:
        raise UnreadableFile(
            f"it has {length:,} characters, the maximum is {limits.MAX_TEXT_CHARACTERS:,}; split it"
        )
    made: list[Any] = [
        type(piece)(_encodable(piece.text), piece.level, piece.page)
        for piece in found.pieces
        if piece.text.strip()
    ]
    return ParsedFile(made, _encodable(found.title), dict(found.notes))


def _encodable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


if __name__ == "__main__":
    main()
