"""One input: a seed, its mutations, and its files. Kind, number and seed decide all of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from .damage import NODES, bomb, damaged, packed, put
from .frames import change_frame, frame_bytes
from .protobuf import protobuf
from .seeds import SEEDS, Seed, Source
from .trees import TEXTS, TOKENS, VALUES, Raw, change, change_table, written

LARGEST: Final = 8_000_000
"""Bytes of a file; a larger one would measure the disk."""
_IN_MEMORY: Final = {"head", "body", "reply", "response", "view", "model"}
"""Inputs that are not files."""


@dataclass(frozen=True)
class Case:
    """The files of an input, and the entry that reads them."""

    kind: str
    files: dict[str, tuple[bytes, str]]
    """Name -> content, and what is in place of the file, or ""."""
    how: str
    to: str
    said: str
    """The mutations, in words."""

    def write(self, folder: Path) -> Path:
        """Write the files and return what the entry reads."""
        for name, (content, node) in self.files.items():
            put(folder / name, content, node)
        return folder / self.to


def make(kind: str, number: int, seed: int) -> Case:
    """Return an input; every hundredth one is its seed as it is."""
    draw = Random(f"{seed}/{kind}/{number}")
    start = SEEDS[kind][number % len(SEEDS[kind])]
    target = draw.choice(start.targets)
    said = [target]
    files = {name: (_bytes(one, name, draw), "") for name, one in start.files.items()}
    if number % 100 < len(SEEDS[kind]) and number < 100:
        return Case(kind, files, start.how, start.to, "none")
    source = start.files[target]
    content, node = _mutated(source, target, draw, said), ""
    to, name = start.to, target
    if target not in _IN_MEMORY and draw.random() < 0.1:
        if source.form != "parquet" and draw.random() < 0.6:
            name = f"{target}.gz"
            is_bomb = draw.random() < 0.08
            content = bomb(content, draw) if is_bomb else packed(content, draw)
            said.append("bomb" if is_bomb else "gzip")
        elif draw.random() < 0.3:
            node = draw.choice(NODES)
            said.append(node)
    del files[target]
    files[name] = (content[:LARGEST], node)
    return Case(kind, files, start.how, name if to == target else to, ", ".join(said))


def _mutated(source: Source, name: str, draw: Random, said: list[str]) -> bytes:
    """Return the bytes of a source with mutations of its structure, its bytes, or both."""
    of_bytes = draw.random() < (0.5 if source.form == "parquet" else 0.25)
    count = 0 if of_bytes and draw.random() < 0.7 else draw.choice((1, 1, 1, 2, 3))
    changed = source
    for _ in range(count):
        changed = _changed(changed, draw)
    said.append(f"structure {count}")
    content = _bytes(changed, name, draw)
    for _ in range(draw.choice((1, 1, 2, 4)) if of_bytes else 0):
        content = damaged(content, draw)
        said.append("bytes")
    return content


def _changed(source: Source, draw: Random) -> Source:  # noqa: PLR0911 - one per form
    content = copy.deepcopy(source.content)
    match source.form:
        case "lines":
            at = draw.randrange(len(content)) if content else 0
            if not content or draw.random() < 0.2:
                content = change(content, draw)
            else:
                content[at] = change(content[at], draw)
            return Source("lines", content if isinstance(content, list) else [content])
        case "json":
            return Source("json", change(content, draw))
        case "table":
            return Source("table", change_table(content, draw), source.break_)
        case "protobuf":
            return Source("protobuf", change(content, draw))
        case "frame":
            return Source("frame", change_frame(content, draw))
        case "parquet":
            from .columns import change_columns

            return Source("parquet", change_columns(dict(content), draw))
    return Source("text", _changed_text(content, draw))


def _changed_text(content: str, draw: Random) -> str:
    """Return a text with one mutation of its lines or words."""
    parts = content.split("\n")
    at, how = draw.randrange(len(parts)), draw.randrange(9)
    line = parts[at]
    if how == 0:
        del parts[at]
    elif how == 1:
        parts[at:at] = [line] * draw.choice((1, 1, 50, 3000))
    elif how == 2:
        parts[at] = draw.choice((" ", "\t", "    ", "- ", "? ", "  - ")) + line
    elif how == 3:
        parts[at] = line.lstrip()
    elif how == 4:
        parts.insert(at, draw.choice(_LINES))
    else:
        words = line.split(" ")
        place = draw.randrange(len(words))
        token = _plain(draw.choice((*TEXTS, *VALUES, *TOKENS, *_WORDS)))
        words[place : place + (how < 7)] = [token]
        parts[at] = " ".join(words)
    return "\n".join(parts)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return written(value).decode("utf-8", "surrogateescape")


_BOMB: Final = "\n".join(
    [f"a0: &a0 [{', '.join('x' * 9)}]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
)
_LINES: Final = (
    *(_BOMB, "a: &a [*a]", "&x a: *x", "<<: {a: 1}", "a: !!python/object/apply:os.getcwd []"),
    *("---", "...", "%YAML 9.9", "? [a, b]\n: c", "a: |\n  x\n y", "[" * 2000, "{a: " * 1500),
    *("- a", "!!binary x", "a: !!set {b}", "2001-01-01: 2001-13-45", "a: 1:60:60", "a: 0o777"),
    *("data: [data, data]", "systems: {}", "metrics: []", "settings: [retrieved(99999999999)]"),
    *("sample: {limit: -1}", "sample: {seed: 1e308}", "repeat: 99999999", "name: ../../x", "x: ~"),
    *('{"rating": 1e308}', f"Rating: [[{'9' * 5000}]]", "[[" * 4000, "Verdict: [[yes]] [[no]]"),
    *("{" * 2000, '{"a":' * 2000, "1: yes", "²: yes", "1. " * 3000, "<think>" * 2000, "```" * 2000),
    *("yes " * 5000, "\n".join(f"{n}: yes" for n in range(2000)), "> " * 4000, '"' * 8001),
)  # fmt: skip
_WORDS: Final = (
    *("*a", "&a", "!!float", "!!int 9e9", "[a", "{a: b", "|", ">", "#", "%", "@", "`", "~", "null"),
    *("bm25(k1=1e308)", "bm25(" + "(" * 500, "bm25(k1=[1,2,3])", "retrieved(²)", "gold+gold(1)"),
    *("nDCG@99999999999999999999", "nDCG@²", "nDCG@-1", "F1(beta=nan)", "R@1e3", "{env:HOME}"),
    *("[[11]]", "[[NaN]]", "10/0", "1e308/10", "八", "\uff11\uff10", "yes/no", "no, yes"),
    *("(" * 4000, "*" * 4000),
)  # fmt: skip


def _bytes(source: Source, name: str, draw: Random) -> bytes:  # noqa: PLR0911 - one per form
    """Return a source as the bytes of a file."""
    ascii_only = draw.random() < 0.8
    match source.form:
        case "lines":
            rows = source.content if isinstance(source.content, list) else [source.content]
            return b"".join(written(row, ascii_only=ascii_only) + b"\n" for row in rows)
        case "json":
            return written(source.content, ascii_only=ascii_only)
        case "table":
            return _table(source.content, source.break_)
        case "protobuf":
            return protobuf(source.content)
        case "frame":
            return frame_bytes(source.content)
        case "parquet":
            from .columns import parquet

            return parquet(source.content, draw)
    if name == "head":
        return _table(source.content, source.break_)
    return str(source.content).encode(
        "utf-8", "surrogateescape" if _raw(source.content) else "surrogatepass"
    )


def _raw(content: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in content)


def _table(rows: Sequence[Sequence[Any]], break_: str) -> bytes:
    lines = (break_.join(str(cell) for cell in row) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "surrogatepass")


__all__ = ["LARGEST", "Case", "Raw", "Seed", "make"]
