"use strict";
// Statements: marked in the text, written, split, joined and removed; label.js has their labels.
// An id stays while a text is edited; a statement that is split or joined becomes new ones.
function ragstoneParts({ acts, letters, note, tell, newId, desk, now, open, go, changed }) {
  const unit = () => $("[data-kind=parts]", desk()), list = () => $(".statements", unit());
  const rows = () => $$("[data-statement]", list()), field = (row) => $("textarea", row);
  const value = () => rows().map((row) => ({ id: row.dataset.statement, text: field(row).value.trim() })).filter((one) => one.text);
  const row = () => [document.activeElement, now()].map((one) => one?.closest("[data-statement]")).find(Boolean) ?? rows().at(-1);
  let picked = "", before = [];

  // A row that was removed comes back with its labels.
  const made = ({ id, text }) => {
    const gone = (desk().gone ??= new Map());
    const found = gone.get(id) ?? $("template", unit()).content.firstElementChild.cloneNode(true);
    gone.set(id, found);
    found.dataset.statement = id;
    for (const one of $$("[data-unit]", found)) one.dataset.part = id;
    field(found).value = text;
    return found;
  };
  const draw = () => {
    rows().forEach((one, at) => { field(one).ariaLabel = `Statement ${at + 1}`; });
    const taken = sources().flatMap((place) => value().map(({ text }) => [place, place.textContent.indexOf(text), text.length])).filter(([, at]) => at >= 0);
    CSS.highlights?.set("taken", new Highlight(...taken.map(([place, at, length]) => range(place, at, at + length))));
  };
  const set = (parts) => {
    for (const one of rows()) (desk().gone ??= new Map()).set(one.dataset.statement, one);
    list().replaceChildren(...parts.map(made));
    before = value();
    draw();
  };
  const edited = () => { if (JSON.stringify(before) !== JSON.stringify(value())) note(unit(), before); before = value(); };
  // Changes the list; U takes it back.
  const change = (act) => {
    edited();
    note(unit());
    act();
    before = value();
    picked = "";
    draw();
    changed();
  };
  const fresh = (text) => made({ id: newId(), text });
  const write = (at, place = 0) => { go($("[data-unit]", at) ?? unit()); field(at).focus(); field(at).setSelectionRange(place, place); };

  // The text to be marked: the answer, else the passages.
  const sources = () => { const all = $$(".item .shown .lines", desk()), own = all.filter((one) => !one.matches(".read")); return own.length ? own : all; };
  const range = (place, from, to) => {
    const found = document.createRange(), texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    found.selectNodeContents(place);
    for (let node = texts.nextNode(), at = 0; node; at += node.length, node = texts.nextNode()) {
      if (from >= at && from <= at + node.length) found.setStart(node, from - at);
      if (to > at && to <= at + node.length) found.setEnd(node, to - at);
    }
    return found;
  };
  const sentences = () => sources().flatMap((place) => [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(place.textContent)]
    .filter(({ segment }) => segment.trim()).map(({ segment, index }) => [place, index, index + segment.trimEnd().length]));
  const mark = (step) => {
    const all = sentences(), at = (desk().marked ??= [0, 0]);
    at[1] = Math.min(at[1] + step, all.length);
    if (at[1] < at[0]) at[0] = at[1] = Math.max(at[1], 0);
    getSelection().removeAllRanges();
    picked = "";
    if (at[0] === at[1]) return;
    const found = range(...all[at[0]]), end = range(...all[at[1] - 1]);
    found.setEnd(end.endContainer, end.endOffset);
    getSelection().addRange(found);
    found.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  };
  const take = () => {
    if (!picked) { mark(1); picked = String(getSelection()).trim(); }
    desk().marked = (desk().marked ?? [0, 0]).fill(desk().marked?.[1] ?? 0);
    getSelection().removeAllRanges();
    const text = picked.replace(/\s+/g, " ");
    if (!text) { tell("There is no further sentence. Mark a text, or write a statement with W."); return; }
    if (value().some((one) => one.text === text)) { picked = ""; tell("This statement is in the list."); return; }
    const last = fresh(text);
    change(() => list().append(last));
    tell(`Statement ${rows().length}: ${text}`);
    go(open() ?? $("[data-unit]", last) ?? unit());
  };
  const split = () => {
    const one = row(), place = one && field(one).selectionStart, parts = one ? [field(one).value.slice(0, place).trim(), field(one).value.slice(place).trim()] : [];
    if (!parts[0] || !parts[1]) { tell("Put the cursor where the statement is to be split."); return; }
    const [first, second] = parts.map(fresh);
    change(() => one.replaceWith(first, second));
    write(second);
  };
  const join = () => {
    const second = row(), first = second?.previousElementSibling;
    if (!first) { tell("There is no statement before it."); return; }
    const texts = [first, second].map((one) => field(one).value.trim()), inText = document.activeElement === field(second);
    const whole = fresh(texts.filter(Boolean).join(" "));
    change(() => { first.remove(); second.replaceWith(whole); });
    if (inText) write(whole, texts[0].length); else go($("[data-unit]", whole) ?? unit());
  };
  const remove = () => {
    const one = row(), next = one?.nextElementSibling ?? one?.previousElementSibling;
    if (!one) return;
    change(() => one.remove());
    go((next && $("[data-unit]", next)) ?? unit());
  };
  const add = (after) => { edited(); const one = fresh(""); if (after) after.after(one); else list().append(one); draw(); write(one); };
  const move = (step) => { const all = rows(), next = all[all.indexOf(row()) + step]; if (next) go($("[data-unit]", next) ?? unit()); };

  Object.assign(acts, {
    take, split, join, remove, write: () => add(), edit: () => { const one = row(); if (one) write(one, field(one).value.length); },
    more: () => mark(1), less: () => mark(-1), down: () => move(1), up: () => move(-1),
  });
  Object.assign(letters, { t: "take", w: "write", l: "join", x: "remove", arrowdown: "down", arrowup: "up", "shift+arrowright": "more", "shift+arrowleft": "less" });

  const inRow = ({ target }) => (target.matches("[data-statement] > textarea") ? target.parentElement : null);
  document.addEventListener("selectionchange", () => {
    const found = getSelection(), text = $(".item", desk());
    // A tap on a button ends the selection on some phones.
    if (text?.contains(found.anchorNode)) picked = String(found).trim();
  });
  document.addEventListener("focusout", (event) => {
    const one = inRow(event);
    if (!one?.isConnected) return;
    if (!field(one).value.trim()) one.remove();
    edited();
    draw();
    changed();
  });
  document.addEventListener("keydown", (event) => {
    const one = inRow(event), place = one && field(one).selectionStart;
    if (!one || event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" && field(one).value.slice(place).trim()) split();
    else if (event.key === "Enter") { if (field(one).value.trim()) add(one); }
    else if (event.key === "Backspace" && place === 0 && field(one).selectionEnd === 0 && one.previousElementSibling) join();
    else return;
    event.preventDefault();
  });
  // The question that a field or button of the list belongs to.
  const unitOf = (target, old) => {
    const at = target.closest("[data-statement]"), own = target.closest("[data-unit]");
    return own === unit() ? (at && $("[data-unit]", at)) ?? (own?.contains(old) ? old : null) : null;
  };
  return { value, set, draw, unitOf };
}
