// What the reading rooms do beyond HTML: a graph that lights what belongs to a node, and menus that close.
"use strict";

function light(graph, node) {
  graph.classList.toggle("lighting", Boolean(node));
  const beside = new Set(node ? [node.dataset.n, ...node.dataset.beside.split(" ")] : []);
  graph.querySelectorAll("[data-n]").forEach((one) => one.classList.toggle("lit", beside.has(one.dataset.n)));
  graph.querySelectorAll("[data-a]").forEach((one) => one.classList.toggle("lit", Boolean(node) && (one.dataset.a === node.dataset.n || one.dataset.b === node.dataset.n)));
}

for (const [begins, ends] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
  document.addEventListener(begins, (event) => {
    const node = event.target.closest("[data-graph] [data-n]");
    if (node) light(node.closest("[data-graph]"), node);
  });
  document.addEventListener(ends, (event) => {
    const node = event.target.closest("[data-graph] [data-n]");
    if (node && !(event.relatedTarget && node.contains(event.relatedTarget))) light(node.closest("[data-graph]"), null);
  });
}

// A menu closes as a person expects: by Escape, and by a press elsewhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details.menu[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});
document.addEventListener("click", (event) => {
  document.querySelectorAll("details.menu[open]").forEach((one) => { if (!one.contains(event.target)) one.open = false; });
});
document.addEventListener("toggle", (event) => {
  if (event.target.matches && event.target.matches("details.menu[open]")) { const first = event.target.querySelector("textarea, input:not([type=hidden]), select, button"); if (first) first.focus(); }
}, true);
