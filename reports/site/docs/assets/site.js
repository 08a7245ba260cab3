// Names for the theme's dialog and buttons, one landmark for the navigation, and blocks of code that the keyboard can scroll.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
for (const part of document.querySelectorAll("nav.md-nav nav.md-nav")) {
  part.setAttribute("role", "presentation");
  for (const name of ["aria-label", "aria-labelledby", "aria-expanded"]) part.removeAttribute(name);
}
for (const code of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) code.tabIndex = 0;

// The theme adds these bars while it starts.
function nameBars() {
  for (const bar of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
    bar.setAttribute("aria-label", `Code ${bar.parentElement.id.replace(/\D+/g, "")}`);
  }
}
nameBars();
new MutationObserver(nameBars).observe(document.body, { childList: true, subtree: true });
