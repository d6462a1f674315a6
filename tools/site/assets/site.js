// Names and roles that the theme leaves out, for people who use a keyboard or a screen reader.
const mend = () => {
  document.querySelector("nav.md-path")?.setAttribute("aria-label", "Breadcrumb");
  // Lists inside of a navigation, and buttons beside code, are no landmarks of their own.
  for (const nav of document.querySelectorAll("nav nav, nav.md-code__nav")) {
    nav.setAttribute("role", "none");
    nav.removeAttribute("aria-label");
    nav.removeAttribute("aria-labelledby");
    nav.removeAttribute("aria-expanded");
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    table.tabIndex = 0;
    table.setAttribute("role", "group");
    table.setAttribute("aria-label", "Table");
  }
};
mend();
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
