"use strict";
// Reviewing: decisions and repairs go through the outbox, then the parts of the page that the server
// has changed are read again. What is typed stays in this browser until it is sent.
const bench = $(".bench");
if (bench) {
  const data = bench.dataset, { item, turn } = data, outbox = ragstoneAnnotate, done = [], parse = (one) => JSON.parse(one.value);
  const [answer, reason, why] = ["#answer", "#reason", "#why"].map((id) => $(id)), fields = [answer, reason, why].filter(Boolean);
  const draft = (field) => `${outbox.prefix}review:${item}:${field === why ? "" : turn}:${field.id}`;
  const tell = (text) => { $("#told").textContent = text; say(text); };
  const press = (place, value) => { for (const one of $$("[aria-pressed]", place)) one.ariaPressed = String([value].flat().includes(parse(one))); };
  const send = (...labels) => {
    const ids = outbox.send(...labels.map(([field, part, value]) => ({ kind: "label", item_id: item, field, part, value })));
    if (ids) { done.push(ids); tell(""); }
    return ids;
  };
  const sent = (field) => { field.defaultValue = field.value; localStorage.removeItem(draft(field)); };
  const decided = (value, field, ...labels) => { if (send(...labels, ["decision", turn, value])) { sent(field); press($(".decision"), value); } };
  const lacks = (field) => { tell("State the reason first."); field.focus(); };
  const repair = () => { if (answer && answer.value !== answer.defaultValue) decided("repair", answer, ["answer", turn, answer.value]); };
  const decide = (value) => {
    const said = reason.value.trim();
    if (value === "reject" && !said) lacks(reason);
    else decided(value, reason, ...(reason.value === reason.defaultValue ? [] : [["reason", turn, said || null]]));
  };
  const finish = (value) => {
    const said = why.value.trim();
    repair();
    if (value === "rejected" && !said) lacks(why);
    else if (send(...(said ? [["reason", "", said]] : []), ["verdict", "", value])) { sent(why); data.leaves = "yes"; }
  };
  const undo = () => {
    const ids = done.pop() ?? [data.last].filter(Boolean);
    if (ids.length) outbox.send(...ids.toReversed().map((value) => ({ kind: "undo", item_id: item, value })));
    else tell("There is nothing to undo.");
  };

  let open, naming, soon;
  const passages = (part) => $$("[data-passage]", part);
  const choose = (one) => { open?.classList.remove("open"); open = one ?? open; open?.classList.add("open"); open?.scrollIntoView({ block: "nearest" }); };
  const mark = (place, value) => {
    choose(place);
    if (!send(["relevance", `${turn}/${place.dataset.passage}`, value])) return;
    press(place, value);
    place.className = `passage open ${value === "yes" ? "yes" : "nope"}`;
  };
  const to = (name) => {
    data.show = name;
    for (const one of $$("[data-to]")) one.ariaPressed = String(one.dataset.to === name);
    keepInAddress({ turn, part: name === "shelf" ? "passages" : "" });
  };
  const on = (name, act) => document.addEventListener(name, act);
  on("click", (event) => {
    const button = event.target.closest(".bench button, .switch button");
    if (!button) return;
    const place = button.closest("[data-field], [data-passage]"), { do: act, to: part } = button.dataset, value = button.value && parse(button);
    if (part) { to(part); scrollTo(0, 0); }
    else if (act === "undo") undo();
    else if (act === "restore") { answer.value = value; repair(); }
    else if (act) finish(act);
    else if (place.dataset.passage) mark(place, value);
    else if (place.matches(".decision")) decide(value);
    else {
      const had = $$("[aria-pressed=true]", place).map(parse), rest = had.filter((one) => one !== value);
      const given = !("several" in place.dataset) ? value : rest.length < had.length ? rest : [...had, value];
      if (send([place.dataset.field, turn, given])) press(place, given);
    }
  });

  const refresh = async () => {
    const reply = await fetch(location.href), page = new DOMParser().parseFromString(await reply.text(), "text/html"), fresh = $(".bench", page);
    if (!fresh) { tell(`${$(".said-text", page)?.textContent} What you typed stays in this browser.`); return; }
    if (!$("#answer", page) !== !answer) { location.reload(); return; }
    data.last = fresh.dataset.last;
    for (const part of $$("[data-fresh]")) {
      const focused = $$("a, button", part).indexOf(document.activeElement), chosen = passages(part).indexOf(open);
      part.replaceChildren(...$(`[data-fresh=${part.dataset.fresh}]`, page).childNodes);
      if (chosen >= 0) choose(passages(part)[chosen]);
      $$("a, button", part)[focused]?.focus();
    }
    for (const field of fields) if (field.value === field.defaultValue && field !== document.activeElement) field.value = field.defaultValue = $(`#${field.id}`, page).value;
  };
  on("annotate:refused", ({ detail }) => { delete data.leaves; tell(detail.reason); });
  on("annotate:saved", () => {
    clearTimeout(soon);
    if (data.leaves) location.assign(data.next);
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
  on("keydown", (event) => {
    const key = event.key.toLowerCase(), at = event.target;
    if (key === "enter" && at === reason) { decide("reject"); reason.blur(); }
    if (typing(event) || event.repeat || $("dialog[open]")) return;
    const group = at.closest("[data-group]"), number = Number(key) - 1, wanted = { y: "yes", x: "no" }[key];
    const label = $$("[data-key]", group ?? bench).find((one) => one.dataset.key === key && (group ?? !one.closest("[data-group]")));
    const lead = $(`[data-group="${CSS.escape(key)}"] button`), decision = answer && $$(".decision button")[number];
    if (naming && passages()[number]) { to("shelf"); choose(passages()[number]); }
    else if (label ?? decision) (label ?? decision).click();
    else if (wanted && open && answer) { mark(open, wanted); choose(passages()[passages().indexOf(open) + 1]); }
    else if (key === "e" && answer) { to("talk"); answer.focus(); }
    else if (key === "u") undo();
    else if (key === "escape") document.activeElement.blur();
    else if (lead) lead.focus();
    else if (key === "enter" && !at.closest("a, button")) next();
    else if (key !== "p") return;
    naming = key === "p";
    event.preventDefault();
  });
  to(data.show);
  open = $("[data-passage]:not(.yes, .nope)") ?? passages()[0];
  open?.classList.add("open");
}
