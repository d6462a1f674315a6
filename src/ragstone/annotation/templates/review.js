"use strict";
// Reviewing: decisions and repairs go through the outbox, then the parts of the page that the server
// has changed are read again. What is typed stays in this browser until it is sent.
const bench = $(".bench");
if (bench) {
  const { item, turn } = bench.dataset, store = `${ragstoneAnnotate.prefix}review:${item}:`, done = [];
  const fields = $$("#answer, #reason, #why"), [answer, reason, why] = ["answer", "reason", "why"].map((id) => document.getElementById(id));
  const draft = (field) => `${store}${field === why ? "" : turn}:${field.id}`;
  const tell = (text) => { $("#told").textContent = text; say(text); };
  const press = (place, value) => { for (const one of $$("[aria-pressed]", place)) one.ariaPressed = String([value].flat().includes(JSON.parse(one.value))); };
  const send = (...labels) => {
    const ids = ragstoneAnnotate.send(...labels.map(([field, part, value]) => ({ kind: "label", item_id: item, field, part, value })));
    if (ids) { done.push(ids); tell(""); }
    return ids;
  };
  const sent = (field) => { field.defaultValue = field.value; localStorage.removeItem(draft(field)); };
  const lacks = (field) => { tell("State the reason first."); field.focus(); };
  const repair = () => {
    if (answer && answer.value !== answer.defaultValue && send(["answer", turn, answer.value], ["decision", turn, "repair"])) { sent(answer); press($(".decision"), "repair"); }
  };
  const decide = (value) => {
    const said = reason.value.trim(), changed = reason.value !== reason.defaultValue;
    if (value === "reject" && !said) lacks(reason);
    else if (send(...(changed ? [["reason", turn, said || null]] : []), ["decision", turn, value])) { sent(reason); press($(".decision"), value); }
  };
  const finish = (value) => {
    const said = why.value.trim();
    repair();
    if (value === "rejected" && !said) lacks(why);
    else if (send(...(said ? [["reason", "", said]] : []), ["verdict", "", value])) { sent(why); bench.dataset.leaves = "yes"; }
  };
  const undo = () => {
    const ids = done.pop() ?? [bench.dataset.last].filter(Boolean);
    if (ids.length) ragstoneAnnotate.send(...ids.toReversed().map((value) => ({ kind: "undo", item_id: item, value })));
    else tell("There is nothing to undo.");
  };

  let open;
  const choose = (one) => { open?.classList.remove("open"); open = one ?? open; open?.classList.add("open"); open?.scrollIntoView({ block: "nearest" }); };
  const mark = (place, value) => {
    choose(place);
    if (!send(["relevance", `${turn}/${place.dataset.passage}`, value])) return;
    press(place, value);
    place.className = `passage open ${value === "yes" ? "yes" : "nope"}`;
  };
  const to = (name) => {
    bench.dataset.show = name;
    for (const one of $$("[data-to]")) one.ariaPressed = String(one.dataset.to === name);
    keepInAddress({ part: name === "shelf" ? "passages" : "" });
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".bench button, .switch button");
    if (!button) return;
    const place = button.closest("[data-field], [data-passage]"), act = button.dataset.do, value = button.value && JSON.parse(button.value);
    if (button.dataset.to) { to(button.dataset.to); scrollTo(0, 0); }
    else if (act === "undo") undo();
    else if (act === "restore") { answer.value = value; repair(); }
    else if (act) finish(act);
    else if (place.dataset.passage) mark(place, value);
    else if (place.matches(".decision")) decide(value);
    else {
      const had = $$("[aria-pressed=true]", place).map((one) => JSON.parse(one.value));
      const given = "several" in place.dataset ? (had.includes(value) ? had.filter((one) => one !== value) : [...had, value]) : value;
      if (send([place.dataset.field, turn, given])) press(place, given);
    }
  });

  let soon;
  const refresh = async () => {
    const reply = await fetch(location.href, { cache: "no-store" }), page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const fresh = $(".bench", page);
    if (!fresh) { tell(`${$(".said-text", page)?.textContent} What you typed stays in this browser.`); return; }
    if (!$("#answer", page) !== !answer) { location.reload(); return; }
    bench.dataset.last = fresh.dataset.last;
    for (const part of $$("[data-fresh]")) {
      const found = $(`[data-fresh=${part.dataset.fresh}]`, page), focused = $$("a, button", part).indexOf(document.activeElement);
      const chosen = $$("[data-passage]", part).indexOf(open);
      part.replaceChildren(...found.childNodes);
      if (chosen >= 0) choose($$("[data-passage]", part)[chosen]);
      $$("a, button", part)[focused]?.focus();
    }
    for (const field of fields) if (field.value === field.defaultValue && field !== document.activeElement) field.value = field.defaultValue = $(`#${field.id}`, page).value;
  };
  document.addEventListener("annotate:refused", ({ detail }) => { delete bench.dataset.leaves; tell(detail.reason); });
  document.addEventListener("annotate:saved", () => {
    clearTimeout(soon);
    if (bench.dataset.leaves) location.assign(bench.dataset.next);
    else soon = setTimeout(() => refresh().catch(() => {}), 80);
  });

  for (const field of fields) {
    field.value = localStorage.getItem(draft(field)) ?? field.value;
    field.addEventListener("input", () => localStorage.setItem(draft(field), field.value));
  }
  answer?.addEventListener("change", repair);
  const next = () => {
    const left = $$(".turns > li").find((one) => !$(".done", one));
    if (left) ($(".meta a", left) ?? $(".decision button", left))[left.matches(".now") ? "focus" : "click"]();
    else { to("shelf"); $("[data-fresh=verdict] :is(button, a)").focus(); }
  };
  let naming;
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (key === "enter" && event.target === reason) { decide("reject"); reason.blur(); }
    if (typing(event) || event.repeat || $("dialog[open]")) return;
    const group = event.target.closest("[data-group]"), passages = $$("[data-passage]"), number = Number(key) - 1, mine = (one) => one.dataset.key === key && (group ?? !one.closest("[data-group]"));
    const label = $$("[data-key]", group ?? bench).find(mine), lead = $(`[data-group="${CSS.escape(key)}"] button`), wanted = { y: "yes", x: "no" }[key];
    if (naming && passages[number]) { to("shelf"); choose(passages[number]); }
    else if (label) label.click();
    else if (answer && $$(".decision button")[number]) $$(".decision button")[number].click();
    else if (wanted && open && answer) { mark(open, wanted); choose(passages[passages.indexOf(open) + 1]); }
    else if (key === "e" && answer) { to("talk"); answer.focus(); }
    else if (key === "u") undo();
    else if (key === "escape") document.activeElement.blur();
    else if (lead) lead.focus();
    else if (key === "enter" && !event.target.closest("a, button")) next();
    else if (key !== "p") return;
    naming = key === "p";
    event.preventDefault();
  });
  keepInAddress({ turn });
  to(bench.dataset.show);
  open = $("[data-passage]:not(.yes, .nope)") ?? $("[data-passage]");
  open?.classList.add("open");
}
