// Starts the page of a comparison: the theme, sorting, and the filters of flipped queries.
"use strict";

(() => {
  ragstone.startTheme();
  ragstone.startTables();
  ragstone.startSorting();
  const filters = document.getElementById("filters");
  if (filters === null) return;
  const field = (id) => document.getElementById(id);
  const entries = [...field("flips").children].map((entry) => ({
    entry,
    words: entry.textContent.toLowerCase(),
    changes: [...entry.querySelectorAll(".change")],
  }));

  // A comparison of two systems has no field for the pair.
  const fits = (change, name) => ["", undefined, change.dataset[name]].includes(field(name)?.value);

  const show = () => {
    const wanted = field("words").value.trim().toLowerCase();
    let shown = 0;
    for (const { entry, words, changes } of entries) {
      const fitting = changes.filter((one) => ["metric", "pair", "outcome", "cause"].every((name) => fits(one, name)));
      changes.forEach((one) => { one.hidden = !fitting.includes(one); });
      entry.hidden = fitting.length === 0 || !words.includes(wanted);
      shown += entry.hidden ? 0 : 1;
    }
    field("shown").textContent = `${shown} of ${entries.length} queries shown`;
  };

  filters.hidden = false;
  filters.addEventListener("input", show);
  show();
})();
