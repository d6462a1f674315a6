"""Mutations of bytes and of files: cut, flipped, packed, or something else than a file."""

from __future__ import annotations

import gzip
import os
import struct
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

STRANGE: Final = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\t", b"\x1a", b"\xc3", b"\x80"),
    *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\x0b\x0c", b'"', b"\\", b"{", b"]"),
    *(b",", b":", b"NaN", b"1e999", b"9" * 40, b"\xc2\xb2", b"\xd9\xa3", b"\0" * 600, b" " * 5000),
)
NUMBERS: Final = (0, 1, -1, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1)
NODES: Final = ("pipe", "folder", "broken link", "link to itself", "zero", "null", "gone", "socket")


def damaged(content: bytes, draw: Random) -> bytes:  # noqa: PLR0911 - one per mutation
    """Return bytes with one mutation."""
    size = len(content)
    at = draw.randint(0, max(0, size - 1))
    end = min(size, at + draw.choice((1, 2, 4, 16, 64)))
    match draw.randrange(9):
        case 0:
            return content[:at]
        case 1 if size:
            flipped = content[at] ^ (1 << draw.randrange(8))
            return content[:at] + bytes([flipped]) + content[at + 1 :]
        case 2:
            return content[:at] + draw.choice(STRANGE) + content[at:]
        case 3:
            return content[:at] + content[end:]
        case 4:
            return content[:end] + content[at:end] * draw.choice((1, 3, 40)) + content[end:]
        case 5:
            number = struct.pack("<q", draw.choice(NUMBERS))[: draw.choice((1, 2, 4, 8))]
            return content[:at] + number + content[at + len(number) :]
        case 6:
            other = draw.randint(0, size)
            return content[other:] + content[:other]
        case 7:
            return content[:at] + bytes(draw.randrange(256) for _ in range(8)) + content[at + 8 :]
    return draw.choice(_WHOLE)(content)


def _utf16(content: bytes) -> bytes:
    return content.decode("utf-8", "replace").encode("utf-16")


_WHOLE = (
    lambda content: b"\xef\xbb\xbf" + content,
    lambda content: content.replace(b"\n", b"\r"),
    lambda content: content.replace(b"\n", b"\r\n"),
    lambda content: content.replace(b"\n", b""),
    lambda content: content.replace(b"\n", b"\n\n \n"),
    lambda content: content.rstrip(b"\n"),
    _utf16,
    lambda content: content[:0],
    lambda content: b"\0" * len(content),
    lambda content: content + content,
    lambda content: content[::-1],
    lambda content: b"\xef\xbb\xbf" * 3 + content,
)


def packed(content: bytes, draw: Random) -> bytes:
    """Return bytes as gzip: whole, in two members, cut, damaged, or not packed at all."""
    whole = gzip.compress(content, 1, mtime=0)
    match draw.randrange(7):
        case 0:
            half = len(content) // 2
            return gzip.compress(content[:half], 1, mtime=0) + gzip.compress(
                content[half:], mtime=0
            )
        case 1:
            return whole[: draw.randrange(len(whole))]
        case 2:
            return damaged(whole, draw)
        case 3:
            return content
        case 4:
            return whole + b"behind"
    return whole


@cache
def _member(block: bytes) -> bytes:
    return gzip.compress(block * (2**22 // len(block)), 9, mtime=0)


def bomb(content: bytes, draw: Random) -> bytes:
    """Return a small gzip file of some hundred megabytes."""
    line = content.partition(b"\n")[0][:2000] + b"\n"
    block = draw.choice((b"\0", b" ", b"[", b"\n", b"{},", line))
    return gzip.compress(content, 1, mtime=0) + _member(block) * draw.choice((20, 60, 300))


def put(path: Path, content: bytes, node: str = "") -> None:
    """Write a file, or make something else at its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match node:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "broken link":
            path.symlink_to("nowhere")
        case "link to itself":
            path.symlink_to(path.name)
        case "zero" | "null":
            path.symlink_to(f"/dev/{node}")
        case "socket":
            _socket(path)
        case "gone":
            pass
        case _:
            path.write_bytes(content)


def _socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        folder = os.open(path.parent, os.O_RDONLY)
        try:  # a path of a socket has at most 107 bytes
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
