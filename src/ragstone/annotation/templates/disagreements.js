"use strict";
// A decision is an event in the outbox; the next page comes when the server has confirmed it.
{
  const desk = $(".desk"), undo = $("[data-do=undo]"), kept = `${ragstoneAnnotate.prefix}decision`;
  const last = () => JSON.parse(sessionStorage.getItem(kept));
  const go = (to) => document.addEventListener("annotate:saved", () => location.assign(to), { once: true });
  const busy = () => { for (const button of $$("[data-value], [data-do=undo]")) button.disabled = true; };
  const decide = (button) => {
    const { item, field, part, after } = desk.dataset;
    const ids = ragstoneAnnotate.send({ kind: "label", item_id: item, field, part, value: JSON.parse(button.dataset.value) });
    if (!ids) return;
    busy();
    sessionStorage.setItem(kept, JSON.stringify({ id: ids[0], item, field: field.split(":").slice(1).join(":"), part }));
    go(after);
  };
  const takeBack = () => {
    const { id, item, field, part } = last();
    if (!ragstoneAnnotate.send({ kind: "undo", item_id: item, value: id })) return;
    busy();
    sessionStorage.removeItem(kept);
    go(`${location.pathname}?${new URLSearchParams({ item, field, part })}`);
  };
  for (const button of $$("[data-value]")) button.addEventListener("click", () => decide(button));
  if (undo && last()) { undo.disabled = false; undo.addEventListener("click", takeBack); }
  document.addEventListener("annotate:refused", ({ detail }) => say(`The decision was not kept: ${detail.reason}`));
  document.addEventListener("keydown", (event) => {
    if (typing(event) || $("dialog[open]") || event.repeat) return;
    if (event.key === "u") undo?.click();
    else if (event.key === "n") $("[data-do=names]")?.click();
    else $(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
  $(".desk .query-text")?.focus({ preventScroll: true });
}
