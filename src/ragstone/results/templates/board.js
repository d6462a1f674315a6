// Starts the page of a leaderboard: the theme, and the filter of rows.
"use strict";

(() => {
  ragstone.startTheme();
  ragstone.startTables();
  const field = (id) => document.getElementById(id);
  const table = document.querySelector(".board");
  const rows = [...table.tBodies[0].rows];

  const show = () => {
    const wanted = field("words").value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.dataset.words.includes(wanted);
    table.classList.toggle("filtered", wanted !== "");
    const shown = rows.filter((row) => !row.hidden).length;
    field("shown").textContent = `${shown} of ${rows.length} rows shown`;
  };

  field("filters").hidden = false;
  field("words").addEventListener("input", show);
  show();
})();
