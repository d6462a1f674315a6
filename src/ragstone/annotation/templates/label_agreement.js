"use strict";
// How far people agree about the item that was labelled last: shown after an own label.
{
  let item, stored = 0, next = 1, said = "", allowed = true;
  const two = (number) => number.toFixed(2).replace(/^(-?)0/, "$1");
  const line = ({ question, two: n, alpha: { value, interval } }) => `Agreement on ${question}: alpha ${two(value)}${interval ? ` [${interval.map(two).join(", ")}]` : ""}, ${n} items with two labels.`;
  const draw = () => { const place = $("[data-agree]"); place.textContent = said; place.hidden = !said; };
  document.addEventListener("label:shown", draw);
  document.addEventListener("label:stored", ({ detail }) => { item = detail; stored += 1; });
  document.addEventListener("annotate:saved", async () => {
    if (!allowed || stored < next) return;
    next = stored + 10;
    try {
      const reply = await fetch(`/agreement.json?${new URLSearchParams({ item })}`);
      allowed = reply.status !== 403;
      const { questions = [] } = reply.ok ? await reply.json() : {};
      said = questions.filter((one) => one.alpha?.value != null).map(line).join("\n");
      draw();
    } catch { /* the outbox shows that there is no connection */ }
  });
}
