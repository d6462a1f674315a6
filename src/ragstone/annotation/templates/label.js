"use strict";
// Items are answered by keys: the last choice stores the labels and shows the next item, which is
// here before it is needed. Events go through the outbox of annotate.js.
{
  const { send, flush, events, prefix } = ragstoneAnnotate;
  const AHEAD = 2, KEPT = 50, HELD = 1800;
  const recall = (store, name, other) => { try { return JSON.parse(store.getItem(prefix + name)) ?? other; } catch { return other; } };
  const keep = (store, name, value) => { try { if (value === null) store.removeItem(prefix + name); else store.setItem(prefix + name, JSON.stringify(value)); } catch { /* no room: the outbox shows it */ } };
  // The items of this tab in the order in which they were seen: {item, sent: [[client_id, field, part, label before]], done}.
  const trail = recall(sessionStorage, "trail", []);
  const seen = new Map(), stored = [];
  let desk = $(".desk"), queue = [], filling, stuck = false, now, marked, spent, since;
  const before = Number(desk.dataset.done), total = Number(desk.dataset.total), finishedHere = new Set();
  let marks = recall(localStorage, "marks", true);

  const here = () => desk.dataset.item;
  const put = (kind, fields) => send({ kind, item_id: here(), ...fields });
  const entry = () => trail.find((one) => one.item === here());
  const keepTrail = () => keep(sessionStorage, "trail", trail.slice(-500));
  const units = () => $$("[data-unit]", desk);
  const text = (unit) => (unit.dataset.kind === "text" ? $("textarea", unit) : null);
  const json = JSON.stringify, on = (name, act) => document.addEventListener(name, act);
  const seconds = () => Math.round((spent + (document.hidden ? 0 : performance.now() - since)) / 10) / 100;
  const tell = (words) => { $("[data-tell]", desk).textContent = words; };
  const place = (unit) => [unit.dataset.field, unit.dataset.part];
  const unitAt = (field, part) => units().find((one) => one.dataset.field === field && one.dataset.part === part);

  // The value of a question: undefined if there is none.
  const value = (unit) => {
    if (unit.dataset.kind === "parts") return parts.value();
    if (text(unit)) return text(unit).value.trim() && !("optional" in unit.dataset && text(unit).value === text(unit).dataset.start && !unit.dataset.given) ? text(unit).value : undefined;
    const chosen = $$("[aria-pressed=true]", unit).map((one) => JSON.parse(one.dataset.value));
    return unit.dataset.kind === "choices" ? (chosen.length ? chosen : undefined) : chosen[0];
  };
  const set = (unit, wanted) => {
    if (unit.dataset.kind === "parts") { parts.set(wanted ?? JSON.parse(unit.dataset.start)); return; }
    if (text(unit)) text(unit).value = wanted ?? text(unit).dataset.start;
    const all = [wanted].flat().map((one) => json(one));
    for (const one of $$("[data-value]", unit)) one.ariaPressed = all.includes(json(JSON.parse(one.dataset.value)));
  };
  const given = (unit) => (unit.dataset.given ? JSON.parse(unit.dataset.given) : undefined);
  const changed = (unit) => json(value(unit)) !== json(given(unit));
  const required = (unit) => !("optional" in unit.dataset) && [undefined, "[]"].includes(json(value(unit)));

  // Labels and skips that wait in this browser: the server that made the page does not know them.
  const late = () => {
    const all = events("event"), undone = new Set(all.filter((one) => one.kind === "undo").map((one) => one.value));
    return all.filter((one) => ["label", "skip"].includes(one.kind) && !undone.has(one.client_id));
  };
  // Marks that are not stored yet survive a reload.
  const keepDraft = () => {
    const open = units().filter(changed).map((unit) => [...place(unit), value(unit), unit.dataset.seconds]);
    keep(localStorage, `draft:${here()}`, open.length ? open : null);
  };
  const restore = () => {
    for (const event of late()) {
      if (event.item_id !== here() || event.kind !== "label") continue;
      const unit = unitAt(event.field, event.part);
      if (unit) { set(unit, event.value); unit.dataset.given = json(event.value); }
    }
    for (const [field, part, wanted, took] of recall(localStorage, `draft:${here()}`, [])) {
      const unit = unitAt(field, part);
      if (unit) { set(unit, wanted); unit.dataset.seconds = took; }
    }
  };

  const draw = () => {
    for (const unit of units()) unit.classList.toggle("now", unit === now);
    for (const one of $$("[data-about]", desk)) one.classList.toggle("now", Boolean(now && now.dataset.part) && one.dataset.about === now.dataset.part);
    const at = trail.findIndex((one) => one.item === here()), button = (name) => $(`[data-do=${name}]`, desk) ?? {};
    button("undo").disabled = !marked.length && !trail.some((one) => one.sent.length);
    button("back").disabled = at === 0 || (at < 0 && !trail.length);
    button("forward").disabled = at < 0 || at >= trail.length - 1;
    button("accept").hidden = !(now && $(".model", now));
    button("marks").ariaPressed = marks;
    document.body.classList.toggle("plain", !marks);
    for (const { event } of events("refused")) {
      const one = trail.find(({ sent }) => sent.some(([id]) => id === event.client_id));
      if (one) { one.sent = one.sent.filter(([id]) => id !== event.client_id); one.refused = true; finishedHere.delete(one.item); }
    }
    const refused = events("refused").filter(({ event }) => event.kind !== "open").map(({ event, reason }) => {
      const line = document.createElement("li");
      line.textContent = `The ${event.kind} of ${event.item_id} was refused: ${reason}.${event.value == null ? "" : ` It was: ${typeof event.value === "string" ? event.value : json(event.value)}`}`;
      return line;
    });
    $("[data-refused]", desk).replaceChildren(...refused);
    $("[data-refused]", desk).parentElement.hidden = !refused.length;
    const recent = stored.filter((time) => performance.now() - time < 60_000), done = Math.min(before + finishedHere.size, total), left = total - done;
    $("[data-where]", desk).textContent = `${done} of ${total}`;
    $(".progress svg", desk).ariaLabel = `${done} of ${total} items done`;
    $(".progress rect", desk).setAttribute("width", `${100 * done / (total || 1)}%`);
    $("[data-pace]", desk).textContent = [recent.length > 1 && `${Math.round((recent.length - 1) * 60_000 / (recent.at(-1) - recent[0]))} per minute`, `${left} left`].filter(Boolean).join(" · ");
  };

  const to = (unit) => { now = unit; draw(); };
  const go = (unit) => { to(unit); unit?.scrollIntoView({ block: "nearest" }); };

  const load = async (query) => {
    const reply = await fetch(`/item?${new URLSearchParams(query)}`, { cache: "no-store" });
    const found = $(".desk", new DOMParser().parseFromString(await reply.text(), "text/html"));
    if (!reply.ok || !found) throw Error(`status ${reply.status}`);
    return document.adoptNode(found);
  };
  const held = () => {
    const ids = new Set([here(), ...queue.map((one) => one.dataset.item), ...trail.filter((one) => !one.done).map((one) => one.item), ...events("event").map((one) => one.item_id)]);
    while (encodeURIComponent([...ids].join("\n")).length > HELD) ids.delete([...ids].at(-1));
    return ids;
  };
  // Returns the page of the end if there is no further item.
  const fetchAhead = async () => {
    try {
      while (queue.length < AHEAD) {
        const ids = held(), found = await load({ held: [...ids].join("\n") });
        if (!found.dataset.item || ids.has(found.dataset.item)) return found;
        queue.push(found);
      }
    } catch { /* the outbox shows that there is no connection */ }
    return undefined;
  };
  const fill = () => filling ??= fetchAhead().finally(() => { filling = undefined; });

  const show = (found) => {
    if (found !== desk) { desk.replaceWith(found); desk = found; scrollTo(0, 0); }
    spent = 0; since = performance.now(); marked = []; stuck = false; now = undefined;
    if (here()) {
      restore();
      parts?.draw();
      seen.delete(here()); seen.set(here(), desk);
      if (seen.size > KEPT) seen.delete(seen.keys().next().value);
      if (!entry()) trail.push({ item: here(), sent: [], done: false });
      const list = units();
      entry().done ||= list.length > 0 && !list.some(required) && list.some((one) => one.dataset.given);
      now = list.find(required) ?? list[0];
      if (list.some((one) => one.dataset.shown === "before") || entry().done) suggestions?.reveal();
      put("open", { value: { marks } });
    }
    keepTrail();
    // The address of a second showing would reveal that it is one.
    keepInAddress({ item: here().endsWith("#again") ? "" : here() });
    draw();
    document.dispatchEvent(new Event("label:shown"));
    $(".query-text, .said-text", desk)?.focus({ preventScroll: true });
    fill();
  };
  const visit = async (item) => {
    if (seen.has(item)) { show(seen.get(item)); return; }
    try { await flush(); show(await load({ item })); }
    catch { tell("The item cannot be loaded now: the server does not answer."); }
  };
  const next = async () => {
    const open = trail.find((one) => !one.done && one.item !== here());
    if (open) { await visit(open.item); return; }
    if (!queue.length) await filling;
    // Only a server with all labels knows the end.
    if (!queue.length) await flush();
    const end = queue.length ? undefined : await fill();
    const found = queue.shift() ?? end;
    stuck = !found;
    if (found) show(found);
    else tell("The label is kept. The next item is shown as soon as the server answers.");
  };
  const move = (step) => { const at = trail.findIndex((one) => one.item === here()), to = trail.at(at < 0 ? -1 : at + step); if (to && at + step !== -1) visit(to.item); };

  const finished = (sent) => {
    const wasDone = entry().done && !entry().refused;
    delete entry().refused;
    entry().sent.push(...sent);
    entry().done = true;
    if (!wasDone) finishedHere.add(here());
    stored.push(performance.now());
    document.dispatchEvent(new CustomEvent("label:stored", { detail: here() }));
    keep(localStorage, `draft:${here()}`, null);
    keep(localStorage, "stored", [here(), Date.now()]);
    keepTrail();
    marked = [];
  };
  const store = () => {
    const missing = units().find(required);
    if (missing) { to(missing); tell(`${missing.dataset.field} has no label yet.`); $("button, textarea", missing).focus(); return; }
    const list = units().filter(changed), revealed = "revealed" in desk.dataset;
    const ids = list.length ? send(...list.map((unit) => ({
      kind: "label", item_id: here(), field: unit.dataset.field, part: unit.dataset.part, value: value(unit) ?? null,
      shown: unit.dataset.suggested && revealed ? "before" : unit.dataset.shown, seconds: Number(unit.dataset.seconds) || seconds(),
    }))) : [];
    if (!ids) return;
    finished(list.map((unit, at) => [ids[at], ...place(unit), unit.dataset.given ?? ""]));
    for (const unit of list) { unit.dataset.given = json(value(unit)) ?? ""; delete unit.dataset.seconds; }
    if (!suggestions?.differ()) next();
  };

  const note = (unit, was = value(unit)) => { marked.push([unit, was]); unit.dataset.seconds = seconds(); };
  const press = (button) => {
    const unit = button.closest("[data-unit]"), chosen = JSON.parse(button.dataset.value), had = value(unit) ?? [];
    if (unit.dataset.kind !== "choices") choose(unit, chosen);
    else choose(unit, had.includes(chosen) ? had.filter((one) => one !== chosen) : [...had, chosen], true);
  };
  const choose = (unit, wanted, stay = false) => {
    note(unit);
    set(unit, wanted);
    keepDraft();
    now = unit;
    if (!stay) {
      const list = units(), after = list.slice(list.indexOf(unit) + 1);
      const open = (one) => value(one) === undefined && !text(one);
      now = after.find(open) ?? list.find(required) ?? (entry().done ? after[0] : undefined);
      if (!now && "quick" in desk.dataset) { now = unit; store(); return; }
      now ??= after[0] ?? unit;
    }
    go(now);
  };

  const undo = async () => {
    const last = marked.pop();
    if (last) { set(...last); keepDraft(); to(last[0]); return; }
    const back = trail.findLast((one) => one.sent.length);
    if (!back || !send(...back.sent.map(([id]) => ({ kind: "undo", item_id: back.item, value: id })).reverse())) return;
    const taken = back.sent.splice(0).reverse();
    back.done = false;
    finishedHere.delete(back.item);
    stored.pop();
    if (back.item !== here()) await visit(back.item);
    if (back.item !== here()) return;
    for (const [, field, part, before] of taken) {
      const unit = unitAt(field, part);
      if (unit) unit.dataset.given = before;
      // Statements stay to be edited.
      if (unit && !parts) set(unit, given(unit));
    }
    keepDraft();
    now = units().find(required) ?? units()[0];
    entry().done = !units().some(required) && taken.some((one) => one[3]);
    if (!entry().done) delete desk.dataset.revealed;
    draw();
    tell("The label was taken back.");
  };
  const acts = {
    store, undo,
    back: () => move(-1), forward: () => move(1),
    keys: () => $("dialog.keys").showModal(),
    marks: () => { marks = !marks; keep(localStorage, "marks", marks); put("open", { value: { marks } }); draw(); },
    question: () => { const list = units(); go(list[(list.indexOf(now) + 1) % list.length]); },
    forget: () => { ragstoneAnnotate.forget(); draw(); },
    edit: () => { const one = [now, ...units()].find((unit) => unit && text(unit)); if (one) text(one).focus(); },
  };
  for (const box of $$("[data-dialog]")) {
    const kind = box.dataset.dialog, field = $("input, textarea", box);
    acts[kind] = () => box.showModal();
    if (field) box.addEventListener("submit", ({ submitter }) => {
      box.close();
      const value = submitter.value || field.value.trim(), ids = value && value !== "no" && put(kind, { value, seconds: seconds() });
      if (!ids) return;
      field.value = "";
      if (kind === "comment") tell("The comment was sent.");
      else { finished([[ids[0], "", "", ""]]); next(); }
    });
  }

  on("click", ({ target }) => {
    const act = target.closest("[data-do]"), button = target.closest("[data-value]"), about = target.closest("[data-about]");
    if (act) acts[act.dataset.do]();
    else if (button) press(button);
    else if (about && !String(getSelection())) { const unit = units().find((one) => one.dataset.part === about.dataset.about); if (unit) to(unit); }
  });
  on("focusin", ({ target }) => {
    // The panel of a phone must not move under the finger.
    const unit = parts?.unitOf(target, now) ?? target.closest("[data-unit]");
    if (unit && unit !== now) to(unit);
  });
  on("input", ({ target }) => { const unit = target.closest("[data-unit]"); if (unit) { unit.dataset.seconds = seconds(); keepDraft(); } });
  on("visibilitychange", () => { if (document.hidden) spent += performance.now() - since; since = performance.now(); });
  const letters = { u: "undo", s: "skip", g: "guidelines", m: "comment", k: "back", j: "forward", b: "marks", e: "edit", n: "question", arrowleft: "back", arrowright: "forward" };
  on("keydown", (event) => {
    const open = $("dialog[open]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (open) $(".primary", open)?.click(); else if (here()) store();
      return;
    }
    if (typing(event) || event.repeat) return;
    // Other layouts have other letters and digits on these keys.
    const code = /^(?:Key|Digit|Numpad)(\w)$/.exec(event.code)?.[1].toLowerCase(), plain = /^[ -~]+$/.test(event.key) && !(code >= "0" && code <= "9") ? event.key : code;
    const option = !event.shiftKey && $(`[data-key="${CSS.escape(plain ?? "")}"]`, open ?? now ?? desk);
    if (open) { option?.click(); return; }
    const act = acts[letters[(event.shiftKey && plain?.length > 1 ? "shift+" : "") + plain?.toLowerCase()]];
    if (option && here()) {
      if (event.target.matches("[data-value]")) option.focus();
      press(option);
    }
    else if (event.key === "Enter" && here() && !event.target.closest("button:not([data-value][aria-pressed=true]), a, summary")) store();
    else if (act && (here() || ["undo", "back", "forward"].includes(letters[plain.toLowerCase()]))) act();
    else return;
    event.preventDefault();
  });

  on("annotate:saved", () => { if (stuck) next(); });
  on("annotate:refused", ({ detail: { event } }) => {
    draw();
    queue = queue.filter((one) => one.dataset.item !== event.item_id);
  });
  const leave = (words) => { entry().done = true; next().then(() => tell(words)); };
  on("annotate:withdrawn", ({ detail }) => {
    queue = queue.filter((one) => !Object.hasOwn(detail, one.dataset.item));
    const reason = detail[here().replace(/#again$/, "")];
    if (here() && reason !== undefined && !entry().done) leave(`The owner withdrew the item before: ${reason || "no reason is given"}.`);
  });
  addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(`${prefix}refused:`)) draw();
    if (key !== `${prefix}stored` || !newValue) return;
    const [item] = JSON.parse(newValue);
    queue = queue.filter((one) => one.dataset.item !== item);
    if (item !== here() || entry().done) return;
    leave("You labelled the item before in another tab.");
  });
  const page = {
    acts, letters, units, value, note, choose, tell, desk: () => desk, now: () => now, go,
    newId: ragstoneAnnotate.newId, open: () => units().find(required), changed: () => { keepDraft(); draw(); },
  };
  const parts = globalThis.ragstoneParts?.(page), suggestions = globalThis.ragstoneSuggestions?.(page);
  for (const one of late()) finishedHere.add(one.item_id);
  const isOver = !address.has("item") && finishedHere.has(here());
  show(desk);
  if (isOver) next();
}
