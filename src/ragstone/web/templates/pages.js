"use strict";
// Every page can be read and used without scripts. This one adds the colour scheme and keys, and
// keeps what was entered if the server is gone.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const address = new URLSearchParams(location.search);
const keepInAddress = (values) => {
  for (const [name, value] of Object.entries(values)) if (value) address.set(name, value); else address.delete(name);
  const query = address.toString();
  history.replaceState(null, "", `${location.pathname}${query && "?" + query}${location.hash}`);
};
const typing = (event) => event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey;

// Colour scheme: the system decides, the button and ?scheme= override it. Links keep it.
const schemes = { auto: "Auto", light: "Light", dark: "Dark" };
const themeButton = $(".theme");
const setScheme = (scheme) => {
  if (scheme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = scheme;
  themeButton.textContent = schemes[scheme];
  themeButton.setAttribute("aria-label", `Colour scheme: ${schemes[scheme]}`);
};
let scheme = Object.hasOwn(schemes, address.get("scheme") ?? "") ? address.get("scheme") : sessionStorage.getItem("scheme") ?? "auto";
setScheme(scheme);
themeButton.addEventListener("click", () => {
  const names = Object.keys(schemes);
  scheme = names[(names.indexOf(scheme) + 1) % 3];
  setScheme(scheme);
  sessionStorage.setItem("scheme", scheme);
  if (address.has("scheme")) keepInAddress({ scheme: "" });
});
$(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// A message that does not cover the page: the server is gone, a button cannot work.
const say = (text) => { const box = $("[data-said]"); box.textContent = text; box.hidden = !text; };

// Keys.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.closest("input, textarea, select")) event.target.blur();
  if (typing(event) || $("dialog[open]")) return;
  if (event.key === "/") { event.preventDefault(); $("[type=search]")?.focus(); }
  if (event.key === "?") $(".keys").showModal();
  const link = { j: "a[rel=next]", k: "a[rel=prev]" }[event.key];
  if (link) $(link)?.click();
});

// Buttons: a form is sent only if the server answers, so nothing that was entered is lost.
for (const form of $$("form[method=post]")) form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try { await fetch("/alive", { cache: "no-store" }); }
  catch { say(`This page is from ${document.body.dataset.made} UTC. The server does not respond. Nothing that you entered is lost.`); return; }
  say("");
  const own = form.getAttribute("action");
  form.setAttribute("action", event.submitter?.getAttribute("formaction") ?? own);
  form.submit();
  form.setAttribute("action", own);
  if (form.matches("[data-what-if]") && event.submitter) event.submitter.disabled = true;
});
