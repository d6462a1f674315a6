// The list of queries with filters by words, label and outcome; a long list is shown in pieces.
"use strict";

ragstone.PIECE = 100;
ragstone.MOST_VALUES = 40;
ragstone.MOST_MARKS = 48;
ragstone.HOLDS = { ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, "<": (a, b) => a < b };
ragstone.WORDS = {
  right: "correct",
  partly: "partly correct",
  wrong: "wrong",
  failed: "failed",
  not_applicable: "not applicable",
  noise_vulnerability: "noise vulnerability",
  context_acceptability: "context acceptability",
  context_insensitivity: "context insensitivity",
  context_misinterpretation: "context misinterpretation",
};

// The outcomes of a query: one per system and setting, per ranking, and per adaptability class.
ragstone.columns = (pages) => [
  ...pages.trials.map((trial, place) => ({
    group: trial.setting,
    name: `${trial.system} under ${trial.setting}`,
    outcome: (query) => ragstone.outcome(query.trials[place]?.scores, pages.correct, pages),
    shown: true,
  })),
  ...pages.rankers.map((system, place) => ({
    group: "retrieval",
    name: `${system}: retrieval`,
    outcome: (query) => ragstone.outcome(query.rankings[place]?.scores, null),
    shown: pages.trials.length === 0,
  })),
  ...pages.adaptability.map(([system, setting], place) => ({
    group: "adaptability",
    name: `${system}: adaptability, ${setting}`,
    outcome: (query) => query.outcomes[place],
    shown: false,
  })),
];

// The outcome by one metric, or by the first one for null; null if there is no score.
ragstone.outcome = (scores, metric, rule = {}) => {
  const score = (scores ?? []).find(([name]) => metric === null || name === metric);
  if (!score) return null;
  const [, value, status] = score;
  if (value === null) return status;
  if (rule.condition) return ragstone.HOLDS[rule.condition.split(" ")[0]](value, rule.threshold) ? "right" : "wrong";
  return value >= 1 ? "right" : value > 0 ? "partly" : "wrong";
};

ragstone.startList = (pages) => {
  const { make } = ragstone;
  const columns = ragstone.columns(pages);
  const search = make("input", { type: "search", placeholder: "words in the query, answer or id", id: "search" });
  const label = make("select", { id: "label" }, ragstone.labelOptions(pages.queries));
  const trial = make("select", { id: "trial" }, make("option", { value: "" }, "any"), columns.map((column, place) => make("option", { value: place }, column.name)));
  const outcome = make("select", { id: "outcome" });
  const list = make("ul", { class: "queries" });
  const status = make("span", { role: "status" });
  const more = make("button", { type: "button", hidden: true });
  document.getElementById("query-list").append(
    make("div", { class: "filters" }, [["Search", search], ["Label", label], ["System and setting", trial], ["Outcome", outcome]].map(([text, field]) => make("label", {}, text, field))),
    make("div", { class: "status" }, status, ragstone.legend(pages)),
    list,
    make("p", {}, more),
  );

  let found = pages.queries;
  const words = pages.queries.map(ragstone.searchable);
  const grow = () => {
    const shown = list.children.length;
    list.append(...found.slice(shown, shown + ragstone.PIECE).map((query) => ragstone.listItem(query, columns)));
    const left = found.length - list.children.length;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(left, ragstone.PIECE)} more of ${left}`;
  };
  const fillOutcomes = () => {
    const chosen = trial.value === "" ? columns.filter((c) => c.group !== "adaptability") : [columns[trial.value]];
    const seen = new Set(pages.queries.flatMap((query) => chosen.map((column) => column.outcome(query))));
    outcome.replaceChildren(
      make("option", { value: "" }, "any"),
      ...Object.keys(ragstone.WORDS).filter((key) => seen.has(key)).map((key) => make("option", { value: key }, ragstone.WORDS[key])),
    );
  };
  const filter = () => {
    const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [name, value] = label.value ? JSON.parse(label.value) : [];
    const chosen = trial.value === "" ? columns : [columns[trial.value]];
    found = pages.queries.filter((query, place) =>
      terms.every((word) => words[place].includes(word)) &&
      (name === undefined || query.labels[name] === value) &&
      (outcome.value === "" || chosen.some((column) => column.outcome(query) === outcome.value)));
    ragstone.found = found;
    list.replaceChildren();
    grow();
    status.textContent = `${found.length} of ${pages.queries.length} queries`;
  };
  search.addEventListener("input", filter);
  label.addEventListener("change", filter);
  outcome.addEventListener("change", filter);
  trial.addEventListener("change", () => {
    fillOutcomes();
    filter();
  });
  more.addEventListener("click", grow);
  fillOutcomes();
  filter();
};

ragstone.searchable = (query) =>
  [query.id, query.text, query.rewrite, ...query.gold, ...query.trials.map((trial) => trial?.answer ?? "")].join("\n").toLowerCase();

// Labels with few values; a label with one value per query, such as an id, would fill the list.
ragstone.labelOptions = (queries) => {
  const values = new Map();
  for (const query of queries) {
    for (const [name, value] of Object.entries(query.labels)) {
      if (!values.has(name)) values.set(name, new Map());
      values.get(name).set(value, (values.get(name).get(value) ?? 0) + 1);
    }
  }
  const groups = [...values].filter(([, counts]) => counts.size <= ragstone.MOST_VALUES).map(([name, counts]) =>
    ragstone.make("optgroup", { label: name }, [...counts].sort().map(([value, count]) =>
      ragstone.make("option", { value: JSON.stringify([name, value]) }, `${name}: ${value} (${count})`))));
  return [ragstone.make("option", { value: "" }, "any"), ...groups];
};

ragstone.legend = (pages) => {
  const by = pages.trials.length ? pages.correct : pages.queries[0]?.rankings[0]?.scores[0]?.[0] ?? "the first metric";
  return ragstone.make("span", { class: "legend" }, `by ${by}${pages.condition && pages.trials.length ? ` ${pages.condition}` : ""}:`, ["right", "partly", "wrong", "failed", "not_applicable"].map((key) =>
    ragstone.make("span", {}, ragstone.mark(key, ""), ` ${ragstone.WORDS[key]}`)));
};

ragstone.mark = (outcome, name) => {
  const title = name ? `${name}: ${ragstone.WORDS[outcome] ?? "no score"}` : null;
  return ragstone.make("i", { class: `mark ${outcome ?? "not_applicable"}`, title, role: title ? "img" : null, "aria-label": title, "aria-hidden": title ? null : "true" });
};

ragstone.listItem = (query, columns) => {
  const { make } = ragstone;
  const meta = [query.id, ...Object.values(query.labels)].join(" · ");
  return make("li", {}, make("a", { href: ragstone.address(query.id) },
    make("span", { class: "text", dir: "auto" }, query.text),
    make("span", { class: "meta" }, meta),
    make("span", { class: "strip" }, ragstone.strip(query, columns.filter((each) => each.shown)))));
};

// A mark per system and setting, grouped by setting; with too many marks, a count per outcome.
ragstone.strip = (query, columns) => {
  const groups = new Map();
  for (const column of columns) {
    const key = columns.length > ragstone.MOST_MARKS ? column.outcome(query) : column.group;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(column);
  }
  if (columns.length > ragstone.MOST_MARKS) {
    return [...groups].map(([outcome, members]) => ragstone.make("span", {}, ragstone.mark(outcome, ""), ` ${members.length}`));
  }
  return [...groups.values()].map((members) =>
    ragstone.make("span", {}, members.map((column) => ragstone.mark(column.outcome(query), column.name))));
};

ragstone.address = (id) => `#query/${encodeURIComponent(id)}`;
