// The page of one query: its text, contexts, answers, scores and rankings.
"use strict";

ragstone.queryPage = (pages, query) => {
  const { make } = ragstone;
  const labels = Object.entries(query.labels);
  return [
    ragstone.crumbs(pages, query),
    make("header", {},
      make("p", { class: "eyebrow" }, "Query ", make("code", {}, query.id)),
      make("h2", { tabindex: "-1", dir: "auto" }, query.text),
      query.rewrite && make("p", {}, make("span", { class: "muted" }, "Stand-alone: "), make("bdi", {}, query.rewrite)),
      make("ul", { class: "chips", "aria-label": "Gold answers" },
        make("li", { class: "key" }, query.gold.length ? "Gold answers" : "No gold answer"),
        query.gold.map((answer) => make("li", { class: "gold", dir: "auto" }, answer))),
      labels.length > 0 && make("ul", { class: "chips", "aria-label": "Labels" },
        labels.map(([name, value]) => make("li", {}, make("span", { class: "key", dir: "ltr" }, `${name} `), make("bdi", {}, value))))),
    query.history.length > 0 && ragstone.part("Conversation so far", make("div", { class: "dialogue" },
      query.history.map(([role, text]) => make("div", { class: role, dir: "auto" }, make("span", { class: "role", dir: "ltr" }, role), text)))),
    pages.trials.length > 0 && ragstone.part("Answers", ragstone.settings(pages, query)),
    pages.rankers.length > 0 && ragstone.part("Rankings", make("div", { class: "rankings" },
      pages.rankers.map((system, place) => ragstone.ranking(pages, query, system, query.rankings[place])))),
  ].filter(Boolean);
};

ragstone.part = (title, ...children) =>
  ragstone.make("section", {}, ragstone.make("h3", {}, title), ...children);

// Links to the list, and to the previous and next query of the filtered list.
ragstone.crumbs = (pages, query) => {
  const { make } = ragstone;
  const listed = ragstone.found?.includes(query) ? ragstone.found : pages.queries;
  const place = listed.indexOf(query);
  const step = (other, text, id) => other && make("a", { href: ragstone.address(other.id), id }, text);
  return make("nav", { class: "crumbs", "aria-label": "Queries" },
    make("a", { href: "#queries", id: "back" }, "← All queries"),
    step(listed[place - 1], "Previous", "previous"),
    step(listed[place + 1], "Next", "next"),
    make("span", { class: "muted" }, `${place + 1} of ${listed.length}`));
};

// Settings in order; the systems of a setting that had the same context share one copy of it.
ragstone.settings = (pages, query) => {
  const settings = [...new Set(pages.trials.map((trial) => trial.setting))];
  return settings.map((setting) => {
    const groups = new Map();
    pages.trials.forEach((trial, place) => {
      const answer = query.trials[place];
      if (trial.setting !== setting || !answer) return;
      const key = `${answer.built} ${answer.context}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push([trial.system, answer]);
    });
    return ragstone.make("div", { class: "setting" },
      ragstone.make("h4", {}, setting),
      [...groups.values()].map((answers) => ragstone.group(pages, query, answers)));
  });
};

ragstone.group = (pages, query, answers) => {
  const { make } = ragstone;
  const [[, { built, context }]] = answers;
  const shown = pages.contexts[context] ?? [];
  const several = answers.length > 1 ? "answers" : "answer";
  const list = make("div", { class: "answers" }, shown.length > 0 && make("p", { class: "caps" }, several), answers.map(([system, answer]) => ragstone.answer(system, answer, ragstone.hops(pages, query, answer.hops))));
  if (shown.length === 0 && built === null) return make("div", { class: "group alone" }, list);
  return make("div", { class: "group" },
    make("div", {}, make("p", { class: "caps" }, `context: ${ragstone.counted(shown)}`), ragstone.passages(pages, query, shown), ragstone.before(pages, query, built)), list);
};

ragstone.counted = (shown) => `${shown.length} ${shown.length === 1 ? "passage" : "passages"}`;

ragstone.passages = (pages, query, shown) =>
  shown.map(([passage, origin]) => ragstone.passage(pages, query, passage, origin));

// The context before a processor changed it, folded.
ragstone.before = (pages, query, built) => {
  const { make } = ragstone;
  if (built === null) return null;
  const shown = pages.contexts[built];
  return make("details", { class: "before" },
    make("summary", {}, `Before processing: ${ragstone.counted(shown)}`), ragstone.passages(pages, query, shown));
};

ragstone.gradeWords = (grade) =>
  grade === undefined ? "not judged" : grade > 0 ? `relevant (${grade})` : `not relevant (${grade})`;

ragstone.passage = (pages, query, place, origin) => {
  const { make } = ragstone;
  const [id, text] = pages.passages[place];
  const grade = ragstone.gradeOfId(pages, query, id);
  return make("div", { class: grade > 0 ? "passage relevant" : "passage" },
    make("p", { class: "tags" }, make("span", { class: `tag ${origin}` }, origin), " ", make("b", {}, id), ` · ${ragstone.gradeWords(grade)}`),
    make("p", { class: "body", dir: "auto" }, text));
};

// A passage with two texts has two places; the grade belongs to its id.
ragstone.gradeOfId = (pages, query, id) =>
  query.grades.find(([place]) => pages.passages[place][0] === id)?.[1];

ragstone.answer = (system, answer, hops) => {
  const { make } = ragstone;
  const facts = [
    answer.seconds !== null && `${answer.seconds.toPrecision(3)} s`,
    answer.tokens[0] !== null && `${answer.tokens[0]} tokens in`,
    answer.tokens[1] !== null && `${answer.tokens[1]} out`,
  ].filter(Boolean);
  return make("div", { class: "answer" },
    make("p", { class: "who" }, make("bdi", {}, system)),
    answer.answer === null
      ? make("p", { class: "none" }, `No answer: ${answer.reason || "no reason given"}`)
      : make("blockquote", { dir: "auto" }, answer.answer === "" ? make("span", { class: "muted" }, "(an empty answer)") : answer.answer),
    ragstone.scores(answer.scores),
    ragstone.repeats(answer.repeats),
    answer.confidence !== null && make("p", { class: "muted small" }, `Confidence that the system states: ${ragstone.decimal(answer.confidence)}`),
    answer.own && make("p", { class: "muted small" }, `Passages reported by the system: ${answer.own.join(", ") || "none"}`),
    facts.length > 0 && make("p", { class: "muted small" }, facts.join(" · ")),
    hops);
};

// Every answer to a query that was asked again, folded; the scores of the page are their means.
ragstone.repeats = (repeats) => {
  const { make } = ragstone;
  if (repeats.length === 0) return null;
  return make("details", { class: "before" },
    make("summary", {}, `${repeats.length} repeats; the scores are means`),
    repeats.map(({ number, verdict, answer, reason, scores }) => make("div", {},
      make("p", { class: "caps" }, verdict > 0 ? `answer ${number + 1}, verdict ${verdict + 1}` : `answer ${number + 1}`),
      verdict === 0 && (answer === null
        ? make("p", { class: "none" }, `No answer: ${reason || "no reason given"}`)
        : make("blockquote", { dir: "auto" }, answer === "" ? make("span", { class: "muted" }, "(an empty answer)") : answer)),
      ragstone.scores(scores))));
};

// The searches of a system of several hops, folded: what each one asked and found.
ragstone.hops = (pages, query, hops) => {
  const { make } = ragstone;
  if (hops === null) return null;
  const gold = (place) => ragstone.gradeOfId(pages, query, pages.passages[place][0]) > 0;
  return make("div", { class: "hops" },
    make("p", { class: "caps" }, `${hops.length} ${hops.length === 1 ? "search" : "searches"}`),
    hops.map(([text, places, tokens, seconds], hop) => {
      const found = places.filter(gold).length;
      const facts = [
        ragstone.counted(places),
        seconds !== null && `${seconds.toPrecision(3)} s`,
        tokens !== null && `${tokens} tokens`,
      ].filter(Boolean).join(" · ");
      return make("details", { class: "hop" },
        make("summary", {}, `${hop + 1}. `, make("span", { dir: "auto" }, text || "(no query)"), make("span", { class: "muted" }, ` ${facts}`), found > 0 && " ", found > 0 && make("span", { class: "tag gold" }, `${found} relevant`)),
        ragstone.passages(pages, query, places.map((place) => [place, "retrieved"])));
    }));
};

ragstone.scores = (scores) => {
  const { make } = ragstone;
  if (scores.length === 0) return null;
  return make("ul", { class: "scores" }, scores.map(([metric, value, status = "scored", reason = ""]) => make("li", { class: reason ? "with-reason" : null },
    ragstone.mark(ragstone.outcome([[metric, value, status]], metric), ""), " ", metric, " ",
    make("b", {}, value === null ? ragstone.WORDS[status] : ragstone.decimal(value)),
    reason && make("span", { class: "muted" }, " – ", make("bdi", {}, reason)))));
};

ragstone.decimal = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(3));

// The text of a ranked passage; without answers the first ones are open.
ragstone.folded = (text, open) => {
  const { make } = ragstone;
  return text !== null && make("details", { open }, make("summary", {}, "Text"), make("p", { dir: "auto" }, text));
};

ragstone.ranking = (pages, query, system, ranking) => {
  const { make } = ragstone;
  const alone = query.trials.length === 0;
  const places = ranking.places.map(([place, score], rank) => {
    const [id, text] = pages.passages[place];
    const grade = ragstone.gradeOfId(pages, query, id);
    return make("li", { class: grade > 0 ? "relevant" : null },
      make("div", { class: "line" },
        make("span", { class: "rank" }, String(rank + 1)),
        make("span", { class: "id" }, id, grade > 0 && " ", grade > 0 && make("span", { class: "tag gold" }, `relevant (${grade})`)),
        make("span", { class: "score" }, String(Number(score.toPrecision(4))))),
      ragstone.folded(text, alone && rank < 3));
  });
  const shown = ranking.places.length;
  const missed = query.grades.filter(([place, grade]) => grade > 0 && !ranking.places.some(([other]) => pages.passages[other][0] === pages.passages[place][0]));
  return make("div", { class: "ranking" },
    make("h4", {}, make("bdi", {}, system)),
    ranking.search && make("p", { class: "muted small search", dir: "auto" }, `Searched for: ${ranking.search}`),
    shown === 0 ? make("p", { class: "muted" }, "No passage was retrieved.") : make("ol", {}, places),
    shown < ranking.depth && make("p", { class: "muted small" }, `Ranks 1 to ${shown} of ${ranking.depth}.`),
    missed.length > 0 && make("p", { class: "muted small" }, "Relevant passages that are not among these:"),
    missed.length > 0 && make("ul", { class: "missed" }, missed.map(([place]) => make("li", {}, pages.passages[place][0], ragstone.folded(pages.passages[place][1], false)))),
    ragstone.scores(ranking.scores));
};
