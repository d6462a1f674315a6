"use strict";
// Labels of a model: marked before a person labels, or after it if they differ.
function ragstoneSuggestions({ acts, letters, units, value, choose, desk, now, go, tell }) {
  const json = JSON.stringify, wanted = (unit) => JSON.parse(unit.dataset.suggested);
  const mark = (unit) => {
    if (!unit.dataset.suggested || $(".model", unit)) return;
    const all = [wanted(unit)].flat().map((one) => json(one));
    const places = unit.dataset.kind === "text" ? [unit] : $$("[data-value]", unit).filter((one) => all.includes(json(JSON.parse(one.dataset.value)))).map((one) => $("span", one));
    for (const place of places) {
      const made = document.createElement("span");
      made.className = "tag retrieved model";
      made.textContent = place === unit ? `model: ${wanted(unit)}` : "model";
      if ($("small", place)) $("small", place).before(made); else place.append(made);
    }
  };
  const reveal = () => { desk().dataset.revealed = ""; units().forEach(mark); };
  // Whether the model has another label than one that was stored now.
  const differ = () => {
    const other = "revealed" in desk().dataset ? undefined : units().find((unit) => unit.dataset.suggested && json(value(unit)) !== json(wanted(unit)));
    if (other) {
      reveal();
      go(other);
      tell("Stored. The model has another label: A takes it, Enter keeps yours.");
    }
    return Boolean(other);
  };
  acts.accept = () => { if (now() && $(".model", now())) choose(now(), wanted(now())); };
  letters.a = "accept";
  return { reveal, differ };
}
