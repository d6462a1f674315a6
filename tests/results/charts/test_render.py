"""Charts as files: SVG, PNG and Vega-Lite, drawn without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.building.compare_generated import GeneratedSet, comparison_chart
from ragstone.errors import ConfigError, MissingDependency, StoreError
from ragstone.results.charts.charts import (
    adaptability_chart,
    answers_chart,
    retrieval_charts,
    turns_chart,
)
from ragstone.results.charts.heat_map import correlation_chart
from ragstone.results.charts.means import composition_chart
from ragstone.results.charts.parts import Spec
from ragstone.results.charts.render import write_chart
from ragstone.statistics.label_agreement import composition
from ragstone.statistics.metric_correlations import correlations

SCRIPT = "<script>alert('x')</script>"
CONTROLS = "bell\x07 nul\x00 escape\x1b[31m \ufffe \udc00"
LONG_EMOJI = "\U0001f600" * 80
OUTSIDE = (*HOSTILE, SCRIPT, CONTROLS, LONG_EMOJI, "var(--ink)", "container", "names[datum.value]")
"""Texts that could be run as code, replaced, or cause a failure."""


def generated(name: str, label: str, *, kept: bool = True) -> GeneratedSet:
    """Return a generated test set with one label."""
    summary: dict[str, Any] = {
        "kept": {label: 3} if kept else {},
        "rejected": {f"{label}: no question": 1, "repeats the question of q1": 2},
        "asked_against_obtained": {label: {label: 3, "summary": 1}} if kept else {},
        "ratings": {label: {"stand_alone": 4.0, "findable": 1.25}} if kept else {},
        "ratings_read": {label: {"stand_alone": 4}} if kept else {},
        "tokens_per_kept": 105.0 if kept else None,
        "calls_per_kept": 1.5 if kept else None,
        "tokens": 1234,
        "calls": 12,
    }
    return GeneratedSet(name, summary)


def compared(name: str) -> Spec:
    """Return the comparison of two generated sets, one of which has no kept item."""
    return comparison_chart([generated(name, name), generated("none", "x", kept=False)])


def composed(name: str) -> Spec:
    """Return the shares of a label whose name, value and data set are one text."""
    return composition_chart(name, {name: composition([name, "summary"]), "b": composition(["x"])})


def correlated(name: str) -> Spec:
    """Return the heat map of a metric, a judge and a group with one name."""
    values = [1.0, 2.0, 4.0, 3.0]
    columns = {name: values, "constant": [1.0] * 4}
    return correlation_chart(
        correlations(columns, {name: values[::-1]}, groups=[name, name, "b", "b"], resamples=20)
    )


DRAWINGS: list[Callable[[str], Spec]] = [compared, composed, correlated]


@pytest.fixture(scope="module")
def report_charts(tmp_path_factory: pytest.TempPathFactory) -> list[Spec]:
    """Return the charts of a report on hostile text."""
    results = made_results(tmp_path_factory.mktemp("store"), systems=HOSTILE, texts=HOSTILE)
    charts = [answers_chart(results), adaptability_chart(results), turns_chart(results)]
    return [chart for chart in charts if chart] + [chart for _, chart in retrieval_charts(results)]


def drawn(spec: Spec, folder: Path, **options: Any) -> str:
    """Return a chart as SVG text that is well-formed and needs nothing else."""
    path = folder / "chart.svg"
    write_chart(spec, path, **options)
    text = path.read_text(encoding="utf-8")
    names = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}  # noqa: S314 - ours
    assert names <= {"svg", "g", "path", "rect", "line", "text", "title", "defs", "clipPath"}
    assert not re.search(r'(href|src|fill|stroke)="(url|http|data|var)', text)
    return text


def rules(part: Any) -> Any:
    """Return a specification without the places in which every text is shown as it is."""
    if isinstance(part, dict):
        shown = {"$schema", "data", "params", "description"}
        # A title is shown as it is, except that of a field.
        shown |= set() if "field" in part else {"title"}
        return {key: rules(value) for key, value in part.items() if key not in shown}
    return [rules(one) for one in part] if isinstance(part, list) else part


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("text", OUTSIDE)
def test_texts_from_outside_are_drawn_as_texts(
    draw: Callable[[str], Spec], text: str, tmp_path: Path
) -> None:
    """No label runs, changes a colour, or breaks the drawing."""
    svg = drawn(draw(text), tmp_path)

    assert "<script" not in svg
    assert "<img" not in svg
    if text == SCRIPT:
        assert "&lt;script&gt;alert" in svg
    if text == "var(--ink)":
        assert "var(--ink)" in svg


def test_the_reports_charts_are_drawn_too(report_charts: list[Spec], tmp_path: Path) -> None:
    """Every chart of the report can be written as a file in both colour schemes."""
    assert len(report_charts) == 6
    for spec in report_charts:
        light, dark = drawn(spec, tmp_path), drawn(spec, tmp_path, dark=True)

        assert 'fill="#ffffff"' in light
        assert 'fill="#15181d"' in dark
        assert "<text" in light


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("suffix", [".svg", ".png", ".json"])
def test_the_same_chart_gives_the_same_bytes(
    draw: Callable[[str], Spec], suffix: str, tmp_path: Path
) -> None:
    """A picture is reproducible, and drawing does not change the specification."""
    spec, before = draw("a"), json.dumps(draw("a"))
    for name in ("first", "second"):
        write_chart(spec, tmp_path / f"{name}{suffix}")

    assert (tmp_path / f"first{suffix}").read_bytes() == (tmp_path / f"second{suffix}").read_bytes()
    assert json.dumps(spec) == before


def test_the_width_is_that_of_the_drawing_area(tmp_path: Path) -> None:
    """A chart fits a narrow and a wide place."""
    widths = {}
    for width in (360, 1280):
        svg = drawn(composed("a"), tmp_path, width=width)
        found = re.search(r'<svg[^>]* width="(\d+)"', svg)
        assert found
        widths[width] = int(found[1])

    assert widths == {360: 360, 1280: 1280}


def test_png_and_json_files_have_the_format_of_their_suffix(tmp_path: Path) -> None:
    """A PNG has its signature; JSON is a specification that needs no page."""
    write_chart(compared("a"), tmp_path / "chart.PNG")
    write_chart(compared("a"), tmp_path / "chart.json")
    spec = json.loads((tmp_path / "chart.json").read_text())

    assert (tmp_path / "chart.PNG").read_bytes().startswith(b"\x89PNG")
    assert spec["$schema"].endswith("/vega-lite/v6.json")
    assert "var(--" not in json.dumps(spec)
    assert "container" not in json.dumps(spec)


def test_sets_with_one_name_stay_apart(tmp_path: Path) -> None:
    """Folders with the same name are numbered."""
    svg = drawn(comparison_chart([generated("out", "x"), generated("out", "y")]), tmp_path)

    assert {"1. out: x (n=4)", "2. out: y (n=4)"} <= set(re.findall(r">([^<]+)</text>", svg))


def test_no_address_is_loaded(report_charts: list[Spec], tmp_path: Path) -> None:
    """Data at an address is refused, and no chart has images or links."""
    data = {"data": {"url": "http://127.0.0.1:9/data.json"}, "mark": "point", "encoding": {}}
    for suffix in (".svg", ".png"):
        with pytest.raises(ValueError, match="url not allowed"):
            write_chart(composed("a") | {"layer": [data]}, tmp_path / f"chart{suffix}")

    for spec in [*report_charts, *(draw("a") for draw in DRAWINGS)]:
        assert not re.search(r'"(image|url|href)"|//', json.dumps(rules(spec)))


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("text", HOSTILE)
def test_names_are_data(draw: Callable[[str], Spec], text: str) -> None:
    """No domain, expression or title of a tooltip holds a name."""
    assert json.dumps(text)[1:-1] not in json.dumps(rules(draw(text)))


def test_a_chart_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown suffix, a folder that is absent, and a package that is not installed."""
    spec = composed("a")
    with pytest.raises(ConfigError, match=r"unknown suffix '\.gif'; use one of \.svg, \.png"):
        write_chart(spec, tmp_path / "chart.gif")
    with pytest.raises(StoreError, match="cannot write the chart"):
        write_chart(spec, tmp_path / "absent" / "chart.json")

    monkeypatch.setattr(util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[plot\]'"):
        write_chart(spec, tmp_path / "chart.svg")
    write_chart(spec, tmp_path / "chart.json")
    assert [path.name for path in tmp_path.iterdir()] == ["chart.json"]
