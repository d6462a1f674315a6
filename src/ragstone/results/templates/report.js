// Starts the page; its address selects the overview or the page of a query.
"use strict";

(() => {
  const pages = JSON.parse(document.getElementById("pages").textContent);
  const byId = new Map(pages.queries.map((query) => [query.id, query]));
  const overview = document.getElementById("overview");
  const article = document.getElementById("query-page");
  const title = document.title;
  let position = 0;

  const show = () => {
    const match = location.hash.match(/^#query\/(.*)$/s);
    if (!match) {
      leave();
      return;
    }
    if (article.hidden) position = scrollY;
    let id = match[1];
    try {
      id = decodeURIComponent(id);
    } catch {
      // An address with a stray percent sign is used unchanged.
    }
    const query = byId.get(id);
    overview.hidden = true;
    article.hidden = false;
    if (query === undefined) {
      article.replaceChildren(
        ragstone.make("p", {}, ragstone.make("a", { href: "#queries", id: "back" }, "← All queries")),
        ragstone.make("h2", { tabindex: "-1" }, `This report has no page for query ${id}`),
      );
    } else {
      article.replaceChildren(...ragstone.queryPage(pages, query));
    }
    document.title = `${id} – ${title}`;
    scrollTo(0, 0);
    article.querySelector("h2").focus({ preventScroll: true });
  };

  // The way back from the page of a query leads to the same position in the list.
  const leave = () => {
    if (article.hidden) return;
    article.hidden = true;
    overview.hidden = false;
    article.replaceChildren();
    document.title = title;
    if (location.hash === "#queries" && position > 0) scrollTo(0, position);
    else document.getElementById(location.hash.slice(1))?.scrollIntoView();
  };

  const save = document.getElementById("save-passport");
  const passport = document.getElementById("passport").textContent;
  save.href = URL.createObjectURL(new Blob([passport], { type: "application/json" }));
  save.hidden = false;

  ragstone.startTheme();
  ragstone.startTables();
  ragstone.startSorting();
  ragstone.startList(pages);
  window.addEventListener("hashchange", show);
  show();
  if (typeof vega !== "undefined") ragstone.drawCharts();
})();
