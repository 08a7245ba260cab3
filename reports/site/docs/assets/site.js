// Names for the theme's dialog and buttons, one landmark for the navigation, and blocks and tables that the keyboard can scroll.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
for (const part of document.querySelectorAll("nav.md-nav nav.md-nav")) {
  part.setAttribute("role", "presentation");
  for (const name of ["aria-label", "aria-labelledby", "aria-expanded"]) part.removeAttribute(name);
}

// The theme adds the bars of code while it starts, and takes the keyboard away from blocks that are out of sight.
function mend() {
  for (const part of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
    if (!part.hasAttribute("tabindex")) part.tabIndex = 0;
  }
  for (const bar of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
    bar.setAttribute("aria-label", `Code ${bar.parentElement.id.replace(/\D+/g, "")}`);
  }
}
mend();
new MutationObserver(mend).observe(document.body, {
  childList: true, subtree: true, attributes: true, attributeFilter: ["tabindex"],
});
