"""Comparing generated test sets, as Know Your RAG's figures 2, 3 and 5 do.

What became of the items that were tried, labels asked against labels obtained, critique profiles
and cost per kept item: one picture, an SVG file that any browser shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from ragstone.building.write import SUMMARY
from ragstone.data.readers.rows import json_document
from ragstone.errors import DatasetError

# Okabe and Ito's colours, told apart by colour-blind readers; black letters stand on the light.
_COLOURS: Final = (
    "#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#0072b2", "#999999",
)  # fmt: skip
_WIDTH, _LEFT, _ROW, _BAR, _RIGHT = 980, 230, 24, 18, 20
_LEGEND, _NARROWEST = 4, 14
_TOP_RATING: Final = 5.0
_DARK: Final = (0, 114, 178)
_KEPT: Final = "kept"


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


def fates(summary: Mapping[str, Any]) -> dict[str, int]:
    """Return what became of the items tried: kept, or the step at which they were rejected.

    >>> fates({"kept": {"summary": 2}, "rejected": {"facts: the model refused": 1}})
    {'kept': 2, 'facts': 1}
    """
    found = Counter({_KEPT: sum(summary["kept"].values())})
    for reason, count in summary["rejected"].items():
        step = reason.partition(":")[0]
        found["repeated"] += count * ("repeats the question" in step)
        found[step] += count * ("repeats the question" not in step)
    return {name: count for name, count in found.items() if count}


def comparison_svg(sets: Sequence[GeneratedSet]) -> str:
    """Return the figure; what a set lacks is left out of it."""
    body: list[str] = []
    y = 10.0
    for title, rows in (("What became of the items tried", list(_fate_rows(sets))),
                        ("Labels obtained, by label asked", list(_label_rows(sets)))):  # fmt: skip
        drawn, y = _stacked(title, rows, y) if rows else ([], y)
        body += drawn
    for drawing in (_ratings, _costs):
        drawn, y = drawing(sets, y)
        body += drawn
    return _svg(body, y)


def composition_svg(label: str, sets: Mapping[str, Mapping[str, int]]) -> str:
    """Return a figure of data sets side by side: how often each value of a label was given.

    Args:
        label: its name.
        sets: data set -> value -> count.
    """
    rows = [(f"{name} (n={sum(counts.values()):,})", counts) for name, counts in sets.items()]
    return _svg(*_stacked(f"Label {label}", rows, 10.0))


def _svg(body: Sequence[str], height: float) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'width="{_WIDTH}" height="{height:.0f}" font-family="sans-serif" font-size="12">'
    )
    white = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, white, *body, "</svg>\n"])


Rows = Sequence[tuple[str, Mapping[str, int]]]


def _fate_rows(sets: Sequence[GeneratedSet]) -> Iterator[tuple[str, Mapping[str, int]]]:
    for one in sets:
        found = fates(one.summary)
        if found:
            yield f"{one.name} (n={sum(found.values())})", found


def _label_rows(sets: Sequence[GeneratedSet]) -> Iterator[tuple[str, Mapping[str, int]]]:
    for one in sets:
        for asked, counts in one.summary["asked_against_obtained"].items():
            yield f"{one.name}: {asked} (n={sum(counts.values())})", counts


def _title(text: str, y: float) -> str:
    return f'<text x="10" y="{y + 14:.0f}" font-size="14" font-weight="bold">{escape(text)}</text>'


def _stacked(title: str, rows: Rows, y: float) -> tuple[list[str], float]:
    """Draw one bar a row, its parts in shares of the whole with their counts."""
    series = list(dict.fromkeys(name for _, counts in rows for name in counts))
    colour = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(series)}
    drawn = [_title(title, y)]
    y += 26
    for place, name in enumerate(series):
        left, row = 10 + (place % _LEGEND) * 235, y + (place // _LEGEND) * 18
        drawn.append(f'<rect x="{left}" y="{row}" width="11" height="11" fill="{colour[name]}"/>')
        drawn.append(f'<text x="{left + 16}" y="{row + 10}">{escape(name)}</text>')
    y += 18 * -(-len(series) // _LEGEND) + 6
    room = _WIDTH - _LEFT - _RIGHT
    for name, counts in rows:
        drawn.append(f'<text x="10" y="{y + 13}">{escape(name)}</text>')
        x, total = float(_LEFT), sum(counts.values()) or 1
        for part in (part for part in series if counts.get(part)):
            width = room * counts[part] / total
            told = f"{part}: {counts[part]} of {total}"
            drawn.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BAR}" '
                f'fill="{colour[part]}"><title>{escape(told)}</title></rect>'
            )
            if width >= _NARROWEST:
                drawn.append(f'<text x="{x + 4:.1f}" y="{y + 13:.1f}">{counts[part]}</text>')
            x += width
        y += _ROW
    return drawn, y + 18


def _ratings(sets: Sequence[GeneratedSet], y: float) -> tuple[list[str], float]:
    """Draw a table of mean ratings, the darker the better, with how many each is of."""
    rows = [(one, label) for one in sets for label in one.summary["ratings"]]
    names = list(dict.fromkeys(n for one, label in rows for n in one.summary["ratings"][label]))
    if not rows:
        return [], y
    drawn = [_title("Mean critique ratings, 1 to 5 (number of ratings)", y)]
    y += 26
    wide = (_WIDTH - _LEFT - _RIGHT) / len(names)
    for place, name in enumerate(names):
        x = _LEFT + wide * (place + 0.5)
        said = escape(name.replace("_", " "))
        drawn.append(
            f'<text x="{x:.1f}" y="{y + 10}" text-anchor="middle" font-size="10">{said}</text>'
        )
    y += 16
    for one, label in rows:
        drawn.append(f'<text x="10" y="{y + 15}">{escape(f"{one.name}: {label}")}</text>')
        held = one.summary["ratings"][label]
        read = one.summary.get("ratings_read", {}).get(label, {})
        for place, name in enumerate(names):
            if name in held:
                cell = (_LEFT + wide * place, y, wide)
                drawn += _cell(f"{one.name}: {label}, {name}", cell, held[name], read.get(name))
        y += _ROW
    return drawn, y + 18


def _cell(
    told: str, cell: tuple[float, float, float], rating: float, n: int | None
) -> Iterator[str]:
    x, y, wide = cell
    share = (rating - 1) / (_TOP_RATING - 1)
    red, green, blue = (round(255 - share * (255 - dark)) for dark in _DARK)
    letters = "#fff" if share > 0.7 else "#000"  # noqa: PLR2004 - from where on black is hard to read
    shown = f"{rating:.2f}" + (f" ({n})" if n is not None else "")
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide - 2:.1f}" height="{_ROW - 2}" '
        f'fill="rgb({red},{green},{blue})"><title>{escape(told)}: {shown}</title></rect>'
    )
    yield (
        f'<text x="{x + wide / 2:.1f}" y="{y + 15:.1f}" text-anchor="middle" font-size="11" '
        f'fill="{letters}">{shown}</text>'
    )


def _costs(sets: Sequence[GeneratedSet], y: float) -> tuple[list[str], float]:
    """Draw what a kept item cost; a set without one has what all its items cost together."""
    costs = [one.summary["tokens_per_kept"] or 0.0 for one in sets]
    drawn = [_title("Tokens to write a kept item", y)]
    y += 26
    room = (_WIDTH - _LEFT - _RIGHT) * 0.6
    for one, cost in zip(sets, costs, strict=True):
        held = one.summary
        drawn.append(f'<text x="10" y="{y + 13}">{escape(one.name)}</text>')
        width = room * cost / (max(costs) or 1.0)
        said = f"{cost:,.0f} tokens, {held['calls_per_kept']:.1f} calls" if cost else (
            f"none kept; {held['tokens']:,} tokens and {held['calls']:,} calls were spent"
        )  # fmt: skip
        if cost:
            drawn.append(
                f'<rect x="{_LEFT}" y="{y:.1f}" width="{width:.1f}" height="{_BAR}" '
                f'fill="{_COLOURS[0]}"><title>{escape(said)}</title></rect>'
            )
        drawn.append(f'<text x="{_LEFT + width + 6:.1f}" y="{y + 13}">{escape(said)}</text>')
        y += _ROW
    return drawn, y + 10
