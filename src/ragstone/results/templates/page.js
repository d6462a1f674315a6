// Shared functions of the page: making elements, the theme, sorting tables.
"use strict";

const ragstone = {};

// Elements of one text, which is aligned and ordered by its own script. Others need a `dir`.
ragstone.BLOCKS = new Set("td th li dd dt blockquote pre caption figcaption legend label option textarea input".split(" "));

// Children that are strings become text nodes, so no text is parsed as HTML.
ragstone.make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  if (ragstone.BLOCKS.has(tag)) element.dir = "auto";
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

// Reads or stores a preference; some browsers refuse to store one for local files.
ragstone.remember = (key, value) => {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  return value;
};

ragstone.startTheme = () => {
  const button = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  const kept = ragstone.remember("ragstone-theme");
  apply(themes.includes(kept) ? kept : "auto");
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
    ragstone.remember("ragstone-theme", next);
    apply(next);
  });
};

ragstone.startSorting = () => {
  for (const table of document.querySelectorAll("table.sortable")) {
    table.querySelectorAll("button[data-sort]").forEach((button, column) => {
      button.addEventListener("click", () => ragstone.sortTable(table, button.closest("th"), column));
    });
  }
};

// Gives each cell its heading, for narrow pages on which rows are stacked, and marks the tables that
// are wider than their place. Without scripts such tables scroll.
ragstone.startTables = () => {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.classList.toggle("overflows", target.scrollWidth > target.clientWidth + 1);
    }
  });
  for (const place of document.querySelectorAll(".scroll")) {
    const table = place.querySelector("table:not(.board):not(.differences)");
    if (table) ragstone.labelCells(table);
    place.classList.toggle("stacks", table !== null);
    seen.observe(place);
  }
};

ragstone.labelCells = (table) => {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => {
      if (cell.tagName === "TD") cell.dataset.label = heads[column];
    });
  }
};

// The first click sorts numbers in descending and names in ascending order, the second one reverses.
// Cells without a value are last in either order.
ragstone.sortTable = (table, heading, column) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, value: row.cells[column].dataset.value }));
  const numeric = heading.classList.contains("number");
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const direction = heading.getAttribute("aria-sort") === first ? other : first;
  const sign = direction === "ascending" ? 1 : -1;
  rows.sort((a, b) => {
    if (a.value === undefined || b.value === undefined) return (a.value === undefined) - (b.value === undefined);
    return sign * (numeric ? a.value - b.value : a.value.localeCompare(b.value));
  });
  table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", direction);
  body.append(...rows.map(({ row }) => row));
};
