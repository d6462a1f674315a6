"""Right-to-left texts, and texts without spaces, on every kind of page in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
import yaml
from tests.browser.served_pages import served
from tests.fakes.labelled_project import made_site, plain_items
from tests.fakes.served_project import served_site

from ragstone.experiment.load import load_experiment
from ragstone.results.kept_board import write_report
from ragstone.view.store_view import StoreView

TEXTS: Final = {
    "ar": (
        "ما هي عاصمة مصر؟",
        "القاهرة",
        "تقع القاهرة (عاصمة مصر) على نهر النيل، ويسكنها أكثر من 9,5 مليون نسمة.",
    ),
    "he": (
        "מהי בירת מצרים?",
        "קהיר",
        "קהיר (Cairo) היא בירת מצרים והעיר הגדולה בה, והיא שוכנת על גדות הנילוס.",
    ),
    "zh": (
        "埃及的首都是哪一座城市",
        "开罗",
        "开罗是埃及的首都和最大的城市位于尼罗河畔人口超过九百万" * 12,
    ),
    "th": (
        "เมืองหลวงของประเทศอียิปต์คือเมืองใด",
        "กรุงไคโร",
        "กรุงไคโรเป็นเมืองหลวงของประเทศอียิปต์ตั้งอยู่ริมแม่น้ำไนล์" * 12,
    ),
}
"""Language -> a query, its answer and its passage."""
RIGHT_TO_LEFT: Final = ("ar", "he")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
WITHOUT_DIRECTION = """() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (!/[\\u0590-\\u08ff]/.test(data) || /[A-Za-z]/.test(data)) continue;
    if (parentElement.closest("script, style, svg, [dir], bdi")) continue;
    found.push(parentElement.outerHTML);
  }
  return found;
}"""
SIDES = """(text) => [...document.querySelectorAll("[dir=auto], bdi")]
  .filter((one) => one.textContent.trim().startsWith(text) && one.checkVisibility())
  .map((one) => [one, getComputedStyle(one)])
  .map(([one, style]) => [one.tagName, style.direction, style.textAlign, one.textContent])"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the store and the report of an experiment that ran."""
    made = tmp_path_factory.mktemp("directions")
    data = made / "set"
    (data / "qrels").mkdir(parents=True)
    texts = TEXTS.items()
    queries = [
        {"_id": f"{name}/1", "text": query, "answers": [gold], "language": name, "topic": gold}
        for name, (query, gold, _) in texts
    ]
    corpus = [{"_id": f"{name}/p", "title": gold, "text": p} for name, (_, gold, p) in texts]
    for file, rows in (("queries", queries), ("corpus", corpus)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (data / f"{file}.jsonl").write_text(lines, "utf-8")
    judged = "".join(f"{name}/1\t{name}/p\t1\n" for name in TEXTS)
    (data / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", "utf-8")
    document = {
        "name": "scripts",
        "data": str(data),
        "store": str(made / "store"),
        "systems": {"نظام": {"retriever": "bm25", "generator": "gold"}},
        "settings": ["none", "gold", "retrieved(2)"],
        "metrics": ["R@1", "Match"],
    }
    path = made / "e.yaml"
    path.write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
    load_experiment(path).run()
    view = StoreView(made / "store")
    write_report(view.results("scripts"), made / "report.html")
    return made


def project_items() -> list[dict[str, Any]]:
    """Return an item per language."""
    items = plain_items(len(TEXTS))
    for item, (query, gold, passage) in zip(items, TEXTS.values(), strict=True):
        item |= {"query": query, "gold_answers": [gold]}
        item["passages"] = [{"passage_id": f"{gold}-1", "title": gold, "text": passage}]
    return items


@pytest.fixture(scope="module")
def addresses(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Serve the pages, and yield name -> address."""
    with ExitStack() as stack:
        made = made_site(tmp_path_factory.mktemp("site"), project_items(), order="file")
        site, _ = stack.enter_context(made)
        view = stack.enter_context(served(StoreView(folder / "store")))
        label = stack.enter_context(served_site(site))
        report = (folder / "report.html").as_uri()
        of = "experiment=scripts"
        yield {
            "report": report,
            **{f"report of {n}": f"{report}#query/{quote(f'{n}/1', safe='')}" for n in TEXTS},
            "leaderboard": f"{view}/leaderboard?{of}",
            "queries": f"{view}/queries?{of}",
            "labels": f"{view}/labels?{of}",
            "experiment": f"{view}/experiment/scripts",
            **{f"query of {n}": f"{view}/query/{quote(n)}/1?{of}&setting=gold" for n in TEXTS},
            "label": label,
        }


@pytest.mark.parametrize("width", [390, 1280])
def test_every_script_fits_and_has_its_direction(
    addresses: dict[str, str], browser: Any, width: int
) -> None:
    """No page scrolls sideways, and no text of the data is without a direction of its own."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    for name, address in addresses.items():
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert (name, page.evaluate(OVERFLOW) <= 0) == (name, True)
        assert (name, page.evaluate(WITHOUT_DIRECTION)) == (name, [])
    page.close()


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_text_is_aligned_at_the_side_of_its_script(
    addresses: dict[str, str], browser: Any, name: str
) -> None:
    """Queries, answers and passages, also below their titles, in headings and in cells."""
    side = "rtl" if name in RIGHT_TO_LEFT else "ltr"
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    for kind in ("report of", "query of"):
        page.goto("about:blank")
        page.goto(addresses[f"{kind} {name}"])
        query, gold, passage = TEXTS[name]
        for text, inside in ((query, query), (gold, passage)):
            found = page.evaluate(SIDES, text)
            assert any(inside[:20] in one[3] for one in found)
            assert {one[1] for one in found} == {side}
            assert {one[2] for one in found if one[0] not in {"BDI", "SPAN"}} <= {"start"}
    page.close()


def test_a_gold_answer_is_marked_inside_a_text_of_either_direction(
    addresses: dict[str, str], browser: Any
) -> None:
    """The mark covers the answer alone, and lies inside its passage."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    for name, (_, gold, _) in TEXTS.items():
        page.goto(addresses[f"query of {name}"])
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        marks = page.evaluate(
            """() => [...document.querySelectorAll(".passage mark")].map((mark) => {
              const boxes = [mark, mark.closest("th")].map((one) => one.getBoundingClientRect());
              const [inner, outer] = boxes;
              return [mark.textContent, inner.left >= outer.left && inner.right <= outer.right];
            })"""
        )
        assert [gold, True] in marks
        assert all(one == [gold, True] for one in marks)
    page.close()
