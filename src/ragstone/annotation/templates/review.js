"use strict";
// Reviewing a conversation: decisions and repairs go through the outbox, then the parts of the page
// that the server has anew are read again. What is typed stays in this browser until it is saved.
const bench = $(".bench");
if (bench) {
  const { item, turn } = bench.dataset, answer = $("#answer"), reason = $("#reason"), why = $("#why"), done = [];
  const box = `${ragstoneAnnotate.prefix}review:${item}:`;
  const drafts = [[answer, `${box}answer:${turn}`], [reason, `${box}reason:${turn}`], [why, `${box}why`]].filter(([field]) => field);
  const forget = (field) => { for (const [one, name] of drafts) if (one === field) localStorage.removeItem(name); };
  const tell = (text) => { $("#told").textContent = text; say(text); };

  const send = (...labels) => {
    const ids = ragstoneAnnotate.send(...labels.map(([field, part, value]) => ({ kind: "label", item_id: item, field, part, value })));
    if (ids) { done.push(ids); tell(""); }
    return ids;
  };
  const press = (place, value) => { for (const one of $$("[aria-pressed]", place)) one.ariaPressed = String([value].flat().includes(JSON.parse(one.value))); };
  const pressed = (place) => $$("[aria-pressed=true]", place).map((one) => JSON.parse(one.value));
  const repair = () => {
    if (!answer || answer.value === answer.defaultValue) return;
    if (!send(["answer", turn, answer.value], ["decision", turn, "repair"])) return;
    answer.defaultValue = answer.value;
    forget(answer);
    press($(".decision"), "repair");
  };
  const decide = (value) => {
    const said = reason.value.trim();
    if (value === "reject" && !said) { tell("State the reason, then press Enter to reject the turn."); reason.focus(); return; }
    const ids = send(...(said && said !== reason.defaultValue ? [["reason", turn, said]] : []), ["decision", turn, value]);
    if (ids) { reason.defaultValue = said; forget(reason); press($(".decision"), value); }
  };
  const finish = (value) => {
    repair();
    const said = why.value.trim();
    if (value === "rejected" && !said) { tell("State the reason for the writer, then press the button again."); why.focus(); return; }
    if (send(...(said ? [["reason", "", said]] : []), ["verdict", "", value])) { forget(why); bench.dataset.leaving = "yes"; }
  };
  const undo = () => {
    const ids = done.pop() ?? (bench.dataset.last ? [bench.dataset.last] : []);
    if (ids.length) ragstoneAnnotate.send(...ids.toReversed().map((value) => ({ kind: "undo", item_id: item, value })));
    else tell("There is nothing to undo.");
  };

  let open;
  const choose = (one) => { open?.classList.remove("open"); open = one; open?.classList.add("open"); open?.scrollIntoView({ block: "nearest" }); };
  const mark = (place, value) => {
    choose(place);
    if (!send(["relevance", `${turn}/${place.dataset.passage}`, value])) return;
    press(place, value);
    place.classList.toggle("yes", value === "yes");
    place.classList.toggle("nope", value === "no");
  };
  const to = (name) => {
    bench.dataset.show = name;
    for (const one of $$("[data-to]")) one.ariaPressed = String(one.dataset.to === name);
    keepInAddress({ part: name === "shelf" ? "passages" : "" });
  };
  const acts = {
    accepted: () => finish("accepted"),
    rejected: () => finish("rejected"),
    restore: (button) => { answer.value = JSON.parse(button.value); repair(); },
    undo,
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("main button");
    if (!button) return;
    const place = button.closest("[data-field], [data-passage]");
    if (button.dataset.to) { to(button.dataset.to); scrollTo(0, 0); }
    else if (button.dataset.do) acts[button.dataset.do](button);
    else if (place?.matches(".passage")) mark(place, JSON.parse(button.value));
    else if (place?.matches(".decision")) decide(JSON.parse(button.value));
    else if (place) {
      const value = JSON.parse(button.value), had = pressed(place);
      const given = "several" in place.dataset ? (had.includes(value) ? had.filter((one) => one !== value) : [...had, value]) : value;
      if (send([place.dataset.field, turn, given])) press(place, given);
    }
  });

  // The page as the server has it now; a field that is being written in stays.
  let soon;
  const refresh = async () => {
    const reply = await fetch(location.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html"), fresh = $(".bench", page);
    if (!fresh) { tell(`${$(".said-text", page)?.textContent ?? "The conversation cannot be reviewed now."} What you typed stays in this browser.`); return; }
    if (Boolean($("#answer", page)) !== Boolean(answer)) { location.reload(); return; }
    bench.dataset.last = fresh.dataset.last;
    for (const part of $$("[data-fresh]")) {
      const found = $(`[data-fresh=${part.dataset.fresh}]`, page);
      if (!found || found.innerHTML === part.innerHTML) continue;
      const focused = $$("a, button", part).indexOf(document.activeElement);
      const chosen = open && part.contains(open) ? open.dataset.passage : "";
      part.replaceChildren(...found.childNodes);
      if (chosen) choose($(`[data-passage="${CSS.escape(chosen)}"]`, part));
      if (focused >= 0) $$("a, button", part)[focused]?.focus();
    }
    for (const [field] of drafts) {
      const found = $(`#${field.id}`, page);
      if (field.value === field.defaultValue && field !== document.activeElement) field.value = field.defaultValue = found.value;
    }
  };
  document.addEventListener("annotate:refused", (event) => { delete bench.dataset.leaving; tell(event.detail.reason); });
  document.addEventListener("annotate:saved", () => {
    if (bench.dataset.leaving && !ragstoneAnnotate.status().waiting) { location.assign(bench.dataset.next); return; }
    clearTimeout(soon);
    soon = setTimeout(() => refresh().catch(() => {}), 80);
  });

  for (const [field, name] of drafts) {
    field.value = localStorage.getItem(name) ?? field.value;
    field.addEventListener("input", () => localStorage.setItem(name, field.value));
  }
  answer?.addEventListener("change", repair);
  reason?.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); reason.blur(); decide("reject"); } });
  const next = () => {
    const left = $$(".turns > li").find((one) => !$(".done", one));
    if (left && !left.matches(".now")) $("a[href]", $(".meta", left)).click();
    else if (left) tell("This turn has no decision yet: 1 accept, 2 repair, 3 reject.");
    else { to("shelf"); $("[data-do=accepted], [data-fresh=verdict] a")?.focus(); }
  };
  let naming = false;
  document.addEventListener("keydown", (event) => {
    if (typing(event) || event.repeat || $("dialog[open]")) return;
    const key = event.key.toLowerCase(), group = event.target.closest?.("[data-group]"), named = naming;
    const label = $$("[data-key]", group ?? bench).find((one) => one.dataset.key === key && (group || !one.closest("[data-group]")));
    const lead = $(`[data-group="${CSS.escape(key)}"] button`), number = "123456789".indexOf(key), wanted = { y: "yes", x: "no" }[key];
    naming = key === "p";
    if (key === "escape") document.activeElement.blur();
    else if (named && number >= 0) { if ($$("[data-passage]")[number]) { to("shelf"); choose($$("[data-passage]")[number]); } }
    else if (label) label.click();
    else if (naming) tell("Press the number of a passage.");
    else if (number >= 0 && number < 3 && answer) $$(".decision button")[number].click();
    else if (wanted && open && $("[aria-pressed]", open)) { mark(open, wanted); choose($$("[data-passage]")[$$("[data-passage]").indexOf(open) + 1] ?? open); }
    else if (key === "e" && answer) { to("talk"); answer.focus(); }
    else if (key === "u") undo();
    else if (lead) lead.focus();
    else if (key === "enter" && !event.target.closest?.("a, button")) next();
    else return;
    event.preventDefault();
  });
  to(bench.dataset.show);
  if ($("[data-passage]")) { open = $$("[data-passage]").find((one) => !one.matches(".yes, .nope")) ?? $("[data-passage]"); open.classList.add("open"); }
}
