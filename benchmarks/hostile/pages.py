"""The pages of the campaign, and what a browser must not find on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from benchmarks.hostile.inputs import QUERIES, SYSTEMS, query_id
from benchmarks.hostile.texts import NAME

_TRIAL: Final = f"experiment=hostile&system={quote(SYSTEMS[0])}&setting=gold"
VIEW: Final[Mapping[str, tuple[str, ...]]] = {
    "/experiments": ("/experiments",),
    "/leaderboard": ("/leaderboard", "/leaderboard?metric=Match", f"/leaderboard?q={quote(NAME)}"),
    "/compare": (
        "/compare",
        "/compare?a={a}&b={b}&by=kind".format(
            a=quote(f"hostile:{SYSTEMS[0]}:gold"), b=quote(f"hostile:{SYSTEMS[1]}:gold")
        ),
    ),
    "/causes": ("/causes", f"/causes?{_TRIAL}", f"/causes?{_TRIAL}&q={quote(NAME)}"),
    "/queries": (
        "/queries",
        f"/queries?{_TRIAL}",
        f"/queries?{_TRIAL}&right=no&page=2",
        f"/queries?q={quote(NAME)}",
    ),
    "/labels": ("/labels", "/labels?experiment=hostile&label=kind", f"/labels?label={quote(NAME)}"),
    "/judges": ("/judges",),
    "/calls": ("/calls", "/calls?experiment=hostile"),
    "/history": ("/history", "/history?experiment=hostile"),
    "/traces": ("/traces", f"/traces?text={quote(NAME)}"),
    "/query/{query_id:.+}": (
        *(f"/query/{quote(query_id(n))}?{_TRIAL}" for n in range(QUERIES)),
        f"/query/{quote(NAME)}",
    ),
    "/experiment/{name}": ("/experiment/hostile", f"/experiment/{quote(NAME, safe='')}"),
    "/conversation/{conversation_id:.+}": (
        f"/conversation/{quote(f'c0 {NAME}')}?experiment=hostile",
        f"/conversation/{quote(f'c1 {NAME}')}?experiment=hostile",
        f"/conversation/{quote(NAME)}",
    ),
}
"""Route of `ragstone view` -> addresses."""
ITEM: Final = "{item}"
ANNOTATE: Final[Mapping[str, tuple[str, ...]]] = {
    "/conversation": ("/conversation", f"/conversation?item={ITEM}"),
    "/review": ("/review", f"/review?item={ITEM}"),
    "/label": ("/label", f"/label?item={ITEM}"),
    "/item": (f"/item?item={ITEM}",),
    "/disagreements": ("/disagreements",),
    "/progress": ("/progress",),
    "/quality": ("/quality",),
    "/people": ("/people",),
    "/agreement": (f"/agreement?item={ITEM}",),
}
"""Route of `ragstone annotate` -> addresses; `ITEM` is each item in turn."""
FILES: Final[Mapping[str, str]] = {
    "report.html": "report e.yaml --queries all -o",
    "campaign.html": "report campaign.yaml -o",
    "comparison.html": "compare e.yaml:SYSTEM0:gold e.yaml:SYSTEM1:gold --by kind --html",
    "board.html": "leaderboard store --html",
    "history.html": "history e.yaml -o",
    "plot.html": "plot leaderboard e.yaml -o",
    "effects.html": "effects e.yaml --metric Match -o",
    "sensitivity.html": "sensitivity e.yaml --metric Match --metric F1 --over metric -o",
    "ratings.html": "data ratings ratings.jsonl --html",
    "pairs.html": "data ratings pairs.jsonl --html",
    "labels.svg": "data label-stats data --label kind --chart",
    "correlations.svg": "judge correlate e.yaml --against equivalence --by kind --chart",
    "compared.svg": "data compare data other --chart",
    "history.svg": "history e.yaml -o",
    "effects.svg": "effects e.yaml --metric Match -o",
}
"""Page or picture -> the command that writes it, before its name."""

LOOK: Final = r"""() => {
  const bad = [];
  if (window.canary !== undefined) bad.push("a script of the data ran");
  if (window.length) bad.push(`${window.length} frames`);
  for (const one of document.querySelectorAll("*")) {
    for (const {name, value} of one.attributes) {
      if (/^on/i.test(name)) bad.push(`the attribute ${name} of ${one.tagName}`);
      if (/^\s*(javascript|vbscript):/i.test(value) && /href|src|action/i.test(name))
        bad.push(`${name}=${value.slice(0, 40)}`);
    }
    const name = one.tagName.toLowerCase();
    if (name === "script" && !/json/.test(one.type) && /canary/.test(one.textContent))
      bad.push(`a script: ${one.textContent.slice(0, 60)}`);
    if (/^(iframe|base|object|embed|foreignobject)$/.test(name)) bad.push(`<${name}>`);
    if (name === "meta" && /refresh/i.test(one.httpEquiv)) bad.push("<meta refresh>");
    if (name === "style" && /canary/.test(one.textContent)) bad.push("a style of the data");
    if (name === "img" && one.getAttribute("src") === "x") bad.push("<img>");
    if (name === "form" && /^\/canary/.test(one.getAttribute("action"))) bad.push("a form");
  }
  const root = document.documentElement;
  const text = document.body ? document.body.innerText : root.textContent;
  // A part of a page, which a script asks for, has no style of its own.
  const styled = document.styleSheets.length > 0;
  const wide = styled ? root.scrollWidth - root.clientWidth : 0;
  let widest = "";
  if (wide > 0 && document.body) {
    const over = [...document.body.querySelectorAll("*")].filter(
      (one) => one.getBoundingClientRect().right > root.clientWidth + 1);
    const last = over.at(-1);
    if (last) widest = `${last.tagName}.${last.className} in ${last.parentElement.className}`;
  }
  return {bad, text, wide, widest, styled};
}"""
OPEN: Final = """() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
}"""


def page_routes() -> tuple[set[str], set[str]]:
    """Return the routes of the pages of `view` and of `annotate`."""
    from ragstone.annotation.pages import PAGES as OF_PROJECTS
    from ragstone.view.pages import PAGES as OF_STORES

    return {one.path for one in OF_STORES}, {one.path for one in OF_PROJECTS}
