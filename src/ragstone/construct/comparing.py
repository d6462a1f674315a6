"""Comparing generated test sets, as Know Your RAG's figures 2, 3 and 5 do: labels and ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from ragstone.construct.writing import SUMMARY
from ragstone.datasets.files import json_document
from ragstone.errors import DatasetError

# Okabe and Ito's colours, told apart by colour-blind readers.
_COLOURS: Final = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#777777",
)  # fmt: skip
_WIDTH, _LEFT, _ROW, _BAR = 860, 270, 26, 16
_TOP_RATING: Final = 5.0


@dataclass(frozen=True)
class GeneratedSet:
    """What a folder says of itself."""

    name: str
    summary: Mapping[str, Any]


def read_generated(folder: Path) -> GeneratedSet:
    """Return the summary of a generated test set; raise `DatasetError` where there is none."""
    path = folder / SUMMARY
    if not path.is_file():
        raise DatasetError(
            f"{folder} holds no {SUMMARY}; make a test set there: ragstone data generate"
        )
    held = json_document(path)
    if not isinstance(held, dict) or "asked_against_obtained" not in held:
        raise DatasetError(f"{path} is no summary of a generated test set")
    return GeneratedSet(folder.resolve().name, held)


@dataclass(frozen=True)
class _Bar:
    """One row of the figure: what it is called, and its parts with their widths from 0 to 1."""

    title: str
    parts: Sequence[tuple[str, float]]
    stacked: bool


def comparison_svg(sets: Sequence[GeneratedSet]) -> str:
    """Return a figure: labels obtained per label asked, and mean ratings per label and strategy."""
    labels = sorted({n for one in sets for c in _crossed(one).values() for n in c})
    names = list(dict.fromkeys(n for one in sets for r in _ratings(one).values() for n in r))
    blocks = [
        ("Labels obtained, by test set and label asked", labels, list(_label_bars(sets))),
        ("Mean critique ratings (1 to 5), by test set and label", names, list(_rating_bars(sets))),
    ]
    body: list[str] = []
    y = 10.0
    for title, series, bars in blocks:
        if bars:
            drawn, y = _block(title, series, bars, y)
            body.extend(drawn)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 10:.0f}" '
        f'width="{_WIDTH}" font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *body, "</svg>\n"])


def _crossed(one: GeneratedSet) -> Mapping[str, Mapping[str, int]]:
    held: Mapping[str, Mapping[str, int]] = one.summary["asked_against_obtained"]
    return held


def _ratings(one: GeneratedSet) -> Mapping[str, Mapping[str, float]]:
    held: Mapping[str, Mapping[str, float]] = one.summary["ratings"]
    return held


def _label_bars(sets: Sequence[GeneratedSet]) -> Iterator[_Bar]:
    for one in sets:
        for asked, counts in _crossed(one).items():
            total = sum(counts.values())
            parts = [(name, count / total) for name, count in sorted(counts.items())]
            yield _Bar(f"{one.name}: {asked} (n={total})", parts, stacked=True)


def _rating_bars(sets: Sequence[GeneratedSet]) -> Iterator[_Bar]:
    for one in sets:
        for label, held in _ratings(one).items():
            parts = [(name, (value - 1) / (_TOP_RATING - 1)) for name, value in held.items()]
            yield _Bar(f"{one.name}: {label}", parts, stacked=False)


def _block(
    title: str, series: Sequence[str], bars: Sequence[_Bar], y: float
) -> tuple[list[str], float]:
    colour = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(series)}
    drawn = [f'<text x="10" y="{y + 14}" font-weight="bold">{escape(title)}</text>']
    y += 24
    for place, name in enumerate(series):
        x, row = 10 + (place % 4) * 200, y + (place // 4) * 18
        drawn.append(f'<rect x="{x}" y="{row}" width="10" height="10" fill="{colour[name]}"/>')
        drawn.append(f'<text x="{x + 15}" y="{row + 10}">{escape(name)}</text>')
    y += 18 * ((len(series) + 3) // 4) + 8
    for bar in bars:
        drawn.append(f'<text x="10" y="{y + 12}">{escape(bar.title)}</text>')
        drawn.extend(_parts(bar, colour, y))
        y += _ROW if bar.stacked else max(_ROW, 6 * len(bar.parts) + 8)
    return drawn, y + 16


def _parts(bar: _Bar, colour: Mapping[str, str], y: float) -> Iterator[str]:
    room = _WIDTH - _LEFT - 20
    x = float(_LEFT)
    for place, (name, share) in enumerate(bar.parts):
        top, height = (y, _BAR) if bar.stacked else (y + 6 * place, 5)
        told = f"{name}: {share:.0%}" if bar.stacked else f"{name}: {1 + 4 * share:.2f}"
        yield (
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(share * room, 1):.1f}" '
            f'height="{height}" fill="{colour[name]}"><title>{escape(told)}</title></rect>'
        )
        x += share * room if bar.stacked else 0
