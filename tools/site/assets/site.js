// Names and roles that the theme leaves out, for people who use a keyboard or a screen reader.
const mend = () => {
  document.querySelector("nav.md-path")?.setAttribute("aria-label", "Breadcrumb");
  for (const nav of document.querySelectorAll("nav.md-nav:not(.md-nav--primary, .md-nav--secondary, [role])")) {
    nav.setAttribute("role", "group");
  }
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) {
    nav.setAttribute("role", "group");
    nav.setAttribute("aria-label", "Code");
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    table.tabIndex = 0;
    table.setAttribute("role", "group");
    table.setAttribute("aria-label", "Table");
  }
};
mend();
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
