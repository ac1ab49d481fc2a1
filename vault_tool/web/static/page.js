// What pages do beyond HTML: keys, and showing what changed on disk. Everything here spares a press; nothing needs it.
"use strict";

const typing = (target) => target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
const items = () => [...document.querySelectorAll("[data-item]")].filter((one) => one.checkVisibility());
let going = false;

// What tells one item from another after the list was loaded anew: its own id, or where it leads.
const nameOf = (item) => item.id || (item.querySelector("a[href]") || item).outerHTML;

function choose(step) {
  const all = items();
  if (!all.length) return;
  const at = all.findIndex((one) => one.classList.contains("chosen"));
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  all.forEach((one) => one.classList.toggle("chosen", one === next));
  next.scrollIntoView({ block: "nearest" });
  const first = next.querySelector("a[href], button, input, summary");
  if (first) first.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && typing(event.target)) { event.preventDefault(); event.target.blur(); return; }
  if (typing(event.target) || event.isComposing || document.querySelector("dialog[open]")) return;
  if (going) {
    going = false;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  const chosen = document.querySelector("[data-item].chosen");
  // However long it takes to press the next key: until then no key acts on anything.
  if (event.key === "g") { going = true; return; }
  if (event.key === "/") { event.preventDefault(); (document.querySelector("main [type=search]") || document.getElementById("find")).focus(); return; }
  if (event.key === "?") { event.preventDefault(); document.getElementById("keys").showModal(); return; }
  if (event.key === "j" || event.key === "k") { event.preventDefault(); choose(event.key === "j" ? 1 : -1); return; }
  if (event.key === "x" && chosen) { const box = chosen.querySelector("input[type=checkbox]"); if (box) { event.preventDefault(); box.click(); } return; }
  if (event.repeat) return; // a key that is held down is pressed once
  // The key of an item acts on the item that was chosen, and on no other; the keys of the page itself are in no item.
  const keyed = `[data-key="${CSS.escape(event.key)}"]`;
  const button = (chosen && chosen.querySelector(keyed)) || [...document.querySelectorAll(keyed)].find((one) => !one.closest("[data-item]"));
  if (button && !button.closest("dialog:not([open])")) { event.preventDefault(); button.click(); }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys]")) document.getElementById("keys").showModal();
  if (event.target.closest("[data-show-changes]")) location.reload();
  const all = event.target.closest("[data-tick-all]");
  if (all) document.querySelectorAll(`input[type=checkbox][name="${CSS.escape(all.dataset.tickAll)}"]`).forEach((box) => { box.checked = all.checked; });
});

function dirty() {
  return [...document.querySelectorAll("main input, main textarea, main select")].some((one) =>
    one.type === "checkbox" || one.type === "radio" ? one.checked !== one.defaultChecked
      : one.tagName === "SELECT" ? [...one.options].some((option) => option.selected !== option.defaultSelected && [...one.options].some((o) => o.defaultSelected))
      : one.value !== one.defaultValue);
}

async function showChanges() {
  const main = document.getElementById("main");
  if (main.dataset.live === "off") return;
  if (dirty()) { document.getElementById("changed").hidden = false; return; }
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
  if (main.dataset.live === "off") return;
  if (!found || dirty()) { document.getElementById("changed").hidden = false; return; }
  const open = [...main.querySelectorAll("details")].map((one) => one.open);
  const chosen = items().filter((one) => one.classList.contains("chosen")).map(nameOf)[0];
  const focused = main.contains(document.activeElement) ? document.activeElement.id : "";
  main.replaceChildren(...found.childNodes);
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
  main.querySelectorAll("details").forEach((one, at) => { if (open[at]) one.open = true; });
  // By what it is and not by its place: another may stand there now.
  const again = chosen === undefined ? undefined : items().find((one) => nameOf(one) === chosen);
  if (again) again.classList.add("chosen");
  if (window.htmx) htmx.process(main);
  main.dispatchEvent(new CustomEvent("vault:shown", { bubbles: true }));
}

// A browser keeps six connections to one server, so only a page that is seen listens.
if (window.EventSource) {
  let source = null, waiting = 0, shown = document.body.dataset.seq;
  const heard = (event) => {
    if (event.data === shown) return;
    shown = event.data;
    clearTimeout(waiting);
    waiting = setTimeout(showChanges, 30);
  };
  const listen = () => {
    if (source) { source.close(); source = null; }
    if (document.visibilityState !== "visible") return;
    source = new EventSource("/live");
    source.addEventListener("seq", heard);
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => { if (source) source.close(); });
  listen();
}
