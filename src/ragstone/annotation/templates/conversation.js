"use strict";
// Writing a conversation: asks are posted until they have an outcome, marks go through the outbox,
// what is typed stays in this browser. The server has the goals, the changed words and the score.
const bench = $(".bench");
if (bench) {
  const { item, turn, next } = bench.dataset, answer = $("#answer"), now = $(".now"), undo = [];
  const newId = () => ragstoneAnnotate.newId();
  const box = (name) => `${ragstoneAnnotate.prefix}talk:${item}:${name}`;
  const keep = (name, value) => { if (value) localStorage.setItem(box(name), JSON.stringify(value)); else localStorage.removeItem(box(name)); };
  const kept = (name) => JSON.parse(localStorage.getItem(box(name)));
  const go = (values = {}) => { keepInAddress({ item, turn: "", ...values }); location.reload(); };
  const failed = (error, place = $("#asked")) => { place.textContent = error instanceof TypeError ? "The server does not respond. What you typed stays here; try again." : error.message; };
  const post = async (path, body) => {
    const reply = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ item_id: item, ...body }) });
    const said = await reply.json();
    if (!reply.ok) throw Error(`${said.error} ${said.way_out ?? ""}`);
    return said;
  };
  // Labels that wait are confirmed first.
  const settled = () => new Promise((done, fail) => {
    if (!ragstoneAnnotate.status().waiting) { done(); return; }
    setTimeout(() => fail(TypeError()), 5000);
    document.addEventListener("annotate:saved", done, { once: true });
    ragstoneAnnotate.flush();
  });
  const ask = async (body) => {
    await settled();
    for (let again = body.again; ; again = false) {
      const said = await post("/ask", { ...body, again });
      if (said.state !== "running") return said;
      await new Promise((done) => setTimeout(done, 300));
    }
  };
  const repeat = (again) => ask({ client_id: now.dataset.ask, turn: Number(turn), text: $(".you", now).textContent, kind: "query", again });

  // A mark or a label: shown at once, sent, and kept for U.
  const pressed = (place) => $$("[aria-pressed=true]", place).map((one) => JSON.parse(one.value));
  const show = (field, part, value) => {
    const place = field === "relevance" ? $(`[data-passage="${CSS.escape(part.slice(turn.length + 1))}"]`) : $(`[data-field="${CSS.escape(field)}"]`);
    if (!place) { if (field === "answer" && answer) { answer.value = value ?? answer.dataset.original; draw(); } return; }
    for (const one of $$("[aria-pressed]", place)) one.ariaPressed = String([value].flat().includes(JSON.parse(one.value)));
    if (place.matches(".passage")) { place.classList.toggle("yes", value === "yes"); place.classList.toggle("nope", value === "no"); }
  };
  const set = (field, part, value, before) => {
    if (!ragstoneAnnotate.send({ kind: "label", item_id: item, field, part, value })) return;
    if (before !== undefined) undo.push([field, part, before]);
    show(field, part, value);
  };
  const click = (button) => {
    const place = button.closest("[data-field], [data-passage]"), value = JSON.parse(button.value), had = pressed(place);
    if (place.matches(".passage")) { choose(place); set("relevance", `${turn}/${place.dataset.passage}`, value, had[0] ?? null); }
    else if ("several" in place.dataset) set(place.dataset.field, turn, had.includes(value) ? had.filter((one) => one !== value) : [...had, value], had);
    else set(place.dataset.field, turn, value, had[0] ?? null);
  };

  // Parts of the page that depend on saved labels are read again.
  let soon, late;
  const refresh = async () => {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    // What the agent does stays on the page while it works.
    for (const part of $$("[data-fresh]")) if (part.id !== "asked" || !$("[data-form] [readonly]")) part.replaceChildren(...($(`[data-fresh=${part.dataset.fresh}]`, page)?.childNodes ?? []));
  };
  document.addEventListener("annotate:saved", () => { clearTimeout(soon); soon = setTimeout(() => refresh().catch(() => {}), 100); });

  document.addEventListener("annotate:refused", ({ detail }) => say(`Not saved: ${detail.reason} Reload the page.`));

  const node = (name, text) => { const made = document.createElement(name); made.textContent = text; return made; };
  const compare = async () => {
    const said = await post("/changes", { before: answer.dataset.original, after: answer.value });
    $("#diff").replaceChildren(...said.parts.map(([kind, text]) => node(kind, text)));
    $("#score").textContent = Math.round(said.edit_score);
  };
  const draw = () => {
    const words = new Set(answer.value.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));
    for (const body of $$(".shelf .body")) body.replaceChildren(...body.textContent.split(/([\p{L}\p{N}]+)/u).map((text) => (words.has(text.toLowerCase()) ? node("mark", text) : text)));
    clearTimeout(late);
    late = setTimeout(() => compare().catch(() => { $("#score").textContent = "–"; }), 200);
  };
  const repair = () => {
    keep(`answer:${turn}`);
    if (answer && answer.value !== answer.defaultValue) set("answer", turn, answer.value, answer.defaultValue);
    if (answer) answer.defaultValue = answer.value;
  };

  const forms = {
    query: async (draft) => { repair(); await ask({ ...draft, turn: Number(next), kind: "query" }); keep("query"); go({ part: "" }); },
    search: async (draft) => {
      const said = await ask({ ...draft, turn: Number(turn), kind: "search" });
      keep("search", said.reason && { text: draft.text, client_id: newId() });
      if (said.reason) throw Error(said.reason);
      go({ turn });
    },
  };
  const draftOf = (form) => {
    const name = form.dataset.form, input = $("input", form), place = $(name === "search" ? "#found" : "#asked");
    input.value = kept(name)?.text ?? input.value;
    input.addEventListener("input", () => keep(name, { text: input.value, client_id: newId() }));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (input.readOnly || !input.value.trim()) return;
      const draft = kept(name) ?? { text: input.value, client_id: newId() };
      keep(name, draft);
      input.readOnly = true;
      place.textContent = "The agent works.";
      await forms[name](draft).catch((error) => failed(error, place));
      input.readOnly = false;
    });
  };
  const submit = async (submitted) => { repair(); await settled(); await post("/submit", { client_id: newId(), submitted }); go(); };
  const acts = {
    again: async () => { $(".state-line").textContent = "The agent works on the answer."; await repeat(true); go(); },
    back: async () => {
      await settled();
      const said = await post("/undo-turn", { client_id: newId(), turn: Number(turn) });
      keep(`answer:${turn}`);
      keep("query", kept("query") ?? { text: said.text, client_id: newId() });
      go();
    },
    restore: async () => { answer.value = answer.dataset.original; repair(); draw(); },
    send: () => submit(true),
    unsend: () => submit(false),
  };

  let open;
  const choose = (one) => { open?.classList.remove("open"); open = one; open?.classList.add("open"); };
  const to = (name) => {
    bench.dataset.show = name;
    for (const one of $$("[data-to]")) one.ariaPressed = String(one.dataset.to === name);
    keepInAddress({ part: name === "shelf" ? "passages" : "" });
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("main button");
    if (button?.dataset.to) { to(button.dataset.to); scrollTo(0, 0); }
    else if (button?.dataset.do) acts[button.dataset.do]().catch((error) => failed(error));
    else if (button?.value) click(button);
  });
  document.addEventListener("keydown", (event) => {
    if (typing(event) || event.repeat || $("dialog[open]")) return;
    const key = event.key.toLowerCase(), named = (name) => `[data-${name}="${CSS.escape(key)}"]`;
    const passages = $$("[data-passage]"), chosen = passages["1234567890".indexOf(key)];
    const group = document.activeElement.closest("[data-group]"), label = $(named("key"), group ?? bench);
    const mark = open && { y: $(".row > button", open), x: $(".row > :last-child", open) }[key];
    if (key === "escape") document.activeElement.blur();
    else if (label && (group || !label.closest("[data-group]"))) label.click();
    else if (chosen) { to("shelf"); choose(chosen); open.scrollIntoView({ block: "nearest" }); }
    else if (mark) { mark.click(); choose(passages.find((one) => !one.matches(".yes, .nope")) ?? open); }
    else if (key === "e" || key === "a") { to("talk"); (key === "e" ? answer : $("#next"))?.focus(); }
    else if (key === "v") $("[data-do=send]")?.click();
    else if (key === "u" && undo.length) set(...undo.pop());
    else if ($(named("group"))) $("button", $(named("group"))).focus();
    else return;
    event.preventDefault();
  });
  addEventListener("DOMContentLoaded", () => {
    for (const form of $$("[data-form]")) draftOf(form);
    for (const one of ragstoneAnnotate.events("event")) if (one.item_id === item && one.part?.split("/")[0] === turn) show(one.field, one.part, one.value);
    if (answer) {
      answer.value = kept(`answer:${turn}`) ?? answer.value;
      answer.addEventListener("input", () => { keep(`answer:${turn}`, answer.value); draw(); });
      answer.addEventListener("change", repair);
      draw();
    }
    to(bench.dataset.show);
    choose($$("[data-passage]").find((one) => !one.matches(".yes, .nope")) ?? $("[data-passage]"));
    if (now?.matches("[data-running]")) repeat(false).then(() => go(), failed);
  });
}
