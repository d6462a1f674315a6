"""The report: one HTML file that loads nothing and shows hostile text as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.errors import StoreError
from ragstone.results.kept_board import write_report
from ragstone.results.record import Attempt

LOADING = {"src", "href", "action", "data", "poster", "srcset", "formaction", "background"}


class _Reader(HTMLParser):
    """Collects the tags, scripts, styles and texts of a file."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.text: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)
        elif self._open == "style":
            self.styles[-1] += data
        else:
            self.text.append(data)

    @property
    def pages(self) -> dict[str, Any]:
        """The embedded pages of queries."""
        found: dict[str, Any] = next(
            json.loads(text) for held, text in self.scripts if held.get("id") == "pages"
        )
        return found


def _read(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> _Reader:
    """Return a report full of hostile text, read."""
    folder = tmp_path_factory.mktemp("hostile")
    results = made_results(folder / "store", systems=HOSTILE, texts=HOSTILE)
    return _read(write_report(results, folder / "report.html"))


def test_nothing_is_loaded(hostile: _Reader) -> None:
    """No attribute that a browser would load refers to an address outside the file."""
    for tag, attributes in hostile.tags:
        for name in LOADING & attributes.keys():
            target = attributes[name] or ""
            assert target.startswith("#") or target == "data:,", f"<{tag} {name}={target!r}>"
    assert not any("@import" in style or "url(" in style for style in hostile.styles)


def test_hostile_text_stays_text(hostile: _Reader) -> None:
    """Names with markup are text and create no element or script."""
    tags = {tag for tag, _ in hostile.tags}
    text = "".join(hostile.text)

    assert "img" not in tags
    assert not any(text.startswith("document.title") for _, text in hostile.scripts)
    for name in HOSTILE:
        assert name in text


def test_the_pages_are_unchanged(hostile: _Reader) -> None:
    """The embedded JSON parses and contains every hostile string unchanged."""
    pages = hostile.pages
    held = json.dumps(pages, ensure_ascii=False)

    assert len(pages["queries"]) == 12
    for text in HOSTILE:
        assert json.dumps(text, ensure_ascii=False)[1:-1] in held
    assert pages["trials"][0]["system"] == HOSTILE[0]


def test_the_policy_allows_this_files_own_scripts_only(hostile: _Reader) -> None:
    """The policy contains the hash of every script; it allows neither eval nor inline scripts."""
    policy = next(
        a["content"] or ""
        for t, a in hostile.tags
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    running = [text for held, text in hostile.scripts if held.get("type") != "application/json"]

    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert policy.count("'sha256-") == len(running) + len(hostile.styles)
    for text in (*running, *hostile.styles):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_no_script_writes_html() -> None:
    """The scripts of the page insert data only as text nodes."""
    folder = Path(__file__).resolve().parents[2] / "src" / "ragstone" / "results" / "templates"
    for script in folder.glob("*.js"):
        source = script.read_text(encoding="utf-8")
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", source
        )
        assert found is None, f"{script.name}: {found}"


def test_tables_contain_the_numbers(tmp_path: Path) -> None:
    """Means, intervals, n and failures are in the text of the page, without scripts and charts."""
    results = made_results(tmp_path / "store")
    text = " ".join("".join(_read(write_report(results, tmp_path / "report.html")).text).split())
    summary = results.answer_cells[0].summary

    assert summary.interval is not None
    low, high = summary.interval
    told = rf"{summary.mean:.3f}( best)? \[{low:.3f}, {high:.3f}\] n {summary.n}"
    assert re.search(told, text)
    assert f"{summary.failed} failed" in text
    assert f"{summary.not_applicable} n/a" in text


def test_the_limit_of_query_pages_is_shown(tmp_path: Path) -> None:
    """If pages are left out, the page contains their number."""
    reader = _read(write_report(made_results(tmp_path / "s"), tmp_path / "r.html", queries=5))

    assert len(reader.pages["queries"]) == 5
    assert "the first 5 of 12 queries" in "".join(reader.text)


def test_an_unfinished_experiment_is_marked(tmp_path: Path) -> None:
    """A report on a stopped run is marked as such."""
    results = made_results(tmp_path / "s", finished=False)

    assert "has not finished" in "".join(_read(write_report(results, tmp_path / "r.html")).text)


def test_a_newer_attempt_that_is_incomplete_is_a_notice(tmp_path: Path) -> None:
    """The report shows the finished results, and how to resume the newer run."""
    results = made_results(tmp_path / "s")
    after = results.record.finished or ""
    Attempt("2026-03-03T10:00:00+00:00", after, "", 2, 1, 8, 3).save(results.store, "made")

    text = "".join(_read(write_report(results, tmp_path / "r.html")).text)

    assert "1 of 2 rankings and 3 of 8 trials are complete; to resume: run the experiment" in text
    assert "has not finished" not in text


def test_retrieval_alone_makes_a_report(tmp_path: Path) -> None:
    """Without answers the report is about retrieval."""
    reader = _read(write_report(made_results(tmp_path / "s", settings=()), tmp_path / "r.html"))
    sections = {held.get("id") for tag, held in reader.tags if tag == "section"}

    assert sections == {*("retrieval", "changes", "populations", "queries", "reading", "record")}


def test_a_report_is_replaced_in_one_piece(tmp_path: Path) -> None:
    """Writing again leaves one file, readable by the user alone."""
    results, path = made_results(tmp_path / "s"), tmp_path / "out" / "r.html"
    write_report(results, path)
    write_report(results, path, queries=0)

    assert [p.name for p in path.parent.iterdir()] == ["r.html"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_unwritable_place_is_an_error_that_names_it(tmp_path: Path) -> None:
    """A file in place of the folder is an error, not a traceback."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"cannot write the report .*file"):
        write_report(made_results(tmp_path / "s"), tmp_path / "file" / "r.html")


def test_a_chart_with_some_of_the_systems_is_labelled(tmp_path: Path) -> None:
    """If a chart contains only the best systems, its caption contains their number."""
    results = made_results(tmp_path / "s", systems=[f"s{n}" for n in range(10)], settings=())

    assert "the best 8 of 10 systems" in "".join(
        _read(write_report(results, tmp_path / "r.html")).text
    )
