"use strict";
// Lists that are filtered and sorted, and the progress of a run.

// Filters: a choice reloads the page with its values in the address; empty ones are left out.
for (const form of $$("form[data-search]")) {
  const send = () => {
    const values = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) values.set(name, value);
    location.assign(`${new URL(form.action).pathname}?${values}`.replace(/\?$/, ""));
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
  for (const select of $$("select", form)) select.addEventListener("change", send);
}

// What if: passages move by buttons too; the positions are those of the list.
for (const list of $$("[data-what-if] .order")) {
  const number = () => $$("li", list).forEach((row, place) => { $("input[name^=place-]", row).value = place + 1; });
  for (const button of $$("[data-do]", list)) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const row = button.closest("li");
      const beside = button.dataset.do === "up" ? row.previousElementSibling : row.nextElementSibling;
      if (!beside) return;
      if (button.dataset.do === "up") beside.before(row); else beside.after(row);
      number();
      button.focus();
    });
  }
}

addEventListener("pageshow", () => { for (const button of $$("[data-what-if] .primary")) button.disabled = false; });

// Live progress: a part of the page is replaced while a run goes on.
const live = $("[data-live]");
if (live) {
  const again = async () => {
    try {
      const reply = await fetch(location.href, { cache: "no-store" });
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
      const part = $("[data-live]", fresh);
      if (part && part.innerHTML !== live.innerHTML) live.replaceChildren(...part.childNodes);
      say("");
      if (part && part.dataset.live) setTimeout(again, Number(part.dataset.live));
    } catch { say(`This page is from ${document.body.dataset.made} UTC. The server does not respond.`); setTimeout(again, 5000); }
  };
  if (live.dataset.live) setTimeout(again, Number(live.dataset.live));
}
