"use strict";
// The secret of the printed address leaves the address bar and the history.
{
  const values = new URLSearchParams(location.search);
  if (values.has("key")) {
    values.delete("key");
    history.replaceState(null, "", `${location.pathname}${values.size ? `?${values}` : ""}${location.hash}`);
  }
}
document.querySelector(".tasks [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
