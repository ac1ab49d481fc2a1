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

// A memory that is pressed in a picture opens at the side, and the focus goes back to it when it is closed.
let peeked = null;
async function peek(link) {
  const answer = await fetch(link.getAttribute("href").replace("/memory/", "/panel/"), { headers: { accept: "text/html" } }).catch(() => null);
  const found = answer && answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#panel .panel");
  if (!found) { location.href = link.href.baseVal || link.href; return; }
  let side = document.getElementById("peek");
  if (!side) { side = document.createElement("aside"); side.id = "peek"; side.className = "peek"; side.setAttribute("aria-label", "The memory that was pressed"); document.getElementById("main").after(side); }
  side.replaceChildren(found);
  side.querySelectorAll("input[name=back]").forEach((one) => { one.value = location.pathname + location.search; });
  peeked = link;
  side.querySelector("[data-close]").focus({ preventScroll: true });
}
function endPeek() {
  const side = document.getElementById("peek");
  if (side) side.remove();
  if (peeked && peeked.isConnected) peeked.focus({ preventScroll: true });
  peeked = null;
}
document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const closing = event.target.closest("#peek [data-close]"), node = event.target.closest("[data-graph] a");
  if (closing) { event.preventDefault(); event.stopImmediatePropagation(); endPeek(); return; }
  if (!node || !node.getAttribute("href").startsWith("/memory/")) return;
  event.preventDefault();
  peek(node);
}, true);

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
