"use strict";
// The outbox keeps events in order until the server confirms them; a second copy counts once.
// send({kind, item_id, ...}, ...) returns their ids, null if there is no room.
// The document gets "annotate:saved", "annotate:refused" ({event, reason}) and
// "annotate:withdrawn" ({item id: reason}).
const ragstoneAnnotate = (() => {
  const { project, person } = document.body.dataset, prefix = `ragstone:${project}:${encodeURIComponent(person)}:`;
  const BYTES = 400_000, EVENTS = 100, LONGEST = 30_000;
  let running, alone = false, wait = 500, timer, problem = "";
  const keys = (name) => Object.keys(localStorage).filter((key) => key.startsWith(`${prefix}${name}:`)).sort();
  const read = (key) => JSON.parse(localStorage.getItem(key));
  const events = (name) => keys(name).map(read).filter(Boolean);
  // randomUUID needs a secure address.
  const newId = () => crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
  const status = () => ({ saved: Number(localStorage.getItem(`${prefix}saved`)) || 0, waiting: keys("event").length, problem });
  const tellPage = (name, detail) => document.dispatchEvent(new CustomEvent(`annotate:${name}`, { detail }));
  // Tabs share the outbox.
  const tabs = new BroadcastChannel(prefix);
  tabs.onmessage = ({ data }) => tellPage("withdrawn", data);
  const draw = () => {
    const { saved, waiting } = status();
    $("#saved").textContent = problem ? `${problem} · ${waiting} waiting` : `Saved · ${saved.toLocaleString("en")} event${saved === 1 ? "" : "s"}, ${waiting} waiting`;
    $("#saved").classList.toggle("late", Boolean(problem));
  };

  const send = (...given) => {
    let number = Number(keys("event").at(-1)?.split(":")[4]) || 0;
    const written = [], ids = [];
    try {
      for (const one of given) {
        const event = { client_id: newId(), client_time: new Date().toISOString(), ...one };
        const key = `${prefix}event:${String(++number).padStart(12, "0")}:${event.client_id}`;
        localStorage.setItem(key, JSON.stringify(event));
        written.push(key);
        ids.push(event.client_id);
      }
    } catch {
      for (const key of written) localStorage.removeItem(key);
      say("This browser has no room for the label, so it was not taken. Wait until the waiting events are saved, or free some room for this site.");
      return null;
    }
    draw();
    setTimeout(flush);
    return ids;
  };

  const settle = (key, event, reason) => {
    if (localStorage.getItem(key) === null) return; // by another tab
    if (reason) localStorage.setItem(key.replace(":event:", ":refused:"), JSON.stringify({ event, reason }));
    else localStorage.setItem(`${prefix}saved`, status().saved + 1);
    localStorage.removeItem(key);
    if (reason) tellPage("refused", { event, reason });
  };

  const post = async () => {
    const batch = new Map();
    let size = 0;
    for (const key of keys("event").slice(0, alone ? 1 : EVENTS)) {
      const text = localStorage.getItem(key);
      if (!text || (batch.size && (size += text.length) > BYTES)) break;
      batch.set(key, JSON.parse(text));
    }
    const reply = await fetch(`/events?person=${encodeURIComponent(person)}`, {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ events: [...batch.values()] }), signal: AbortSignal.timeout(20_000),
    });
    const said = await reply.json().catch(() => ({}));
    if (reply.status === 400 || reply.status === 413) {
      // One unreadable event must not hold up the others.
      if (batch.size === 1) for (const [key, event] of batch) settle(key, event, said.error ?? `status ${reply.status}`);
      alone = batch.size > 1;
      return;
    }
    if (!reply.ok) throw Error([401, 403, 409].includes(reply.status) ? said.error : `The server has a problem (${reply.status})`);
    const kept = new Set(said.confirmed.map((one) => one.client_id));
    const refused = new Map((said.refused ?? []).map((one) => [one.client_id, one.reason ?? one.error]));
    let settled = 0;
    for (const [key, event] of batch) if (kept.has(event.client_id) || refused.has(event.client_id)) {
      settle(key, event, refused.get(event.client_id));
      settled += 1;
    }
    if (!settled) throw Error("The server kept nothing");
    const gone = said.withdrawn ?? {};
    if (Object.keys(gone).length) { tellPage("withdrawn", gone); tabs.postMessage(gone); }
    alone = false;
  };

  const work = async () => {
    clearTimeout(timer);
    try {
      while (keys("event").length) { await post(); wait = 500; draw(); }
      problem = "";
      tellPage("saved");
    } catch (error) {
      problem = error instanceof TypeError || error.name === "TimeoutError" ? "Not connected" : error.message;
      timer = setTimeout(flush, wait);
      wait = Math.min(2 * wait, LONGEST);
    }
  };
  const flush = () => running ??= Promise.resolve().then(work).finally(() => { running = undefined; draw(); });

  const forget = () => { for (const key of keys("refused")) localStorage.removeItem(key); };

  addEventListener("online", flush);
  addEventListener("storage", draw);
  flush();
  return { newId, send, flush, status, events, forget, prefix };
})();
