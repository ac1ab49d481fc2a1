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
  const first = next.querySelector("a.title") || next.querySelector("a[href], button, summary, input");
  if (first) first.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.form) { event.preventDefault(); event.target.form.requestSubmit(); return; }
  if ((event.ctrlKey || event.metaKey) && event.key === "k") { event.preventDefault(); palette.turn(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const close = event.key === "Escape" && !typing(event.target) && !document.querySelector("dialog[open]") && document.querySelector("[data-close]");
  if (close) { event.preventDefault(); close.click(); return; }
  if (event.key === "Escape" && typing(event.target) && !event.target.closest("dialog")) { event.preventDefault(); event.target.blur(); return; }
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

// The palette: pages and actions are in the page; memories and subjects are asked for as one types.
const palette = {
  dialog: document.getElementById("palette"), field: document.getElementById("palette-words"), list: document.getElementById("palette-list"),
  later: 0, turns: 0,
  turn() {
    if (this.dialog.open) { this.dialog.close(); return; }
    if (document.querySelector("dialog[open]")) return;
    this.field.value = "";
    this.show([]);
    this.dialog.showModal(); // its end gives the focus back to what had it
  },
  options() { return [...this.list.children].filter((one) => !one.hidden); },
  show(found) {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.list.querySelectorAll("[data-found]").forEach((one) => one.remove());
    for (const one of this.list.children) one.hidden = !words.every((word) => one.firstChild.textContent.toLowerCase().includes(word));
    found.forEach((one, at) => {
      const option = document.createElement("li"), what = document.createElement("span");
      option.setAttribute("role", "option");
      option.id = `pal-found-${at}`;
      option.dataset.to = one.to;
      option.dataset.found = "1";
      option.append(one.title, what);
      option.classList.toggle("past", Boolean(one.past));
      what.className = "soft";
      what.textContent = one.what.replaceAll("_", " ");
      this.list.append(option);
    });
    this.mark(0);
    document.getElementById("palette-count").textContent = `${this.options().length} found`;
  },
  mark(at) {
    const all = this.options(), place = Math.max(0, Math.min(all.length - 1, at));
    [...this.list.children].forEach((one) => one.setAttribute("aria-selected", "false"));
    this.field.removeAttribute("aria-activedescendant");
    if (!all.length) return;
    all[place].setAttribute("aria-selected", "true");
    all[place].scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", all[place].id);
  },
  at() { return this.options().findIndex((one) => one.getAttribute("aria-selected") === "true"); },
  go(option) {
    if (!option) return;
    this.dialog.close();
    if (option.dataset.press) { const button = document.querySelector(option.dataset.press); if (button) button.click(); } else location.href = option.dataset.to;
  },
  async ask() {
    const turn = ++this.turns, words = this.field.value.trim();
    const answer = words ? await fetch(`/palette?q=${encodeURIComponent(words)}`).catch(() => null) : null;
    if (turn === this.turns && answer && answer.ok) { const at = this.at(); this.show(await answer.json()); this.mark(at); }
  },
};
palette.field.addEventListener("input", () => { palette.show([]); clearTimeout(palette.later); palette.later = setTimeout(() => palette.ask(), 150); });
palette.field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) { event.preventDefault(); palette.mark(palette.at() + step); }
  if (event.key === "Escape") { event.preventDefault(); palette.dialog.close(); } // not first its text, as a field of a search does
  if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); palette.go(palette.options()[palette.at()]); }
});
palette.list.addEventListener("click", (event) => palette.go(event.target.closest("[role=option]")));
palette.dialog.addEventListener("click", (event) => { if (event.target === palette.dialog) palette.dialog.close(); });

// The button copies what stands before it; where the browser does not let it, that is selected to be copied by hand.
async function copyBefore(button) {
  const from = button.previousElementSibling, typed = from.matches("textarea");
  if (typed) from.select(); else getSelection().selectAllChildren(from);
  try { await navigator.clipboard.writeText(typed ? from.value : from.textContent); button.textContent = "Copied"; } catch { button.textContent = "Press Ctrl and C"; }
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys]")) document.getElementById("keys").showModal();
  if (event.target.closest("[data-show-changes]")) location.reload();
  const copying = event.target.closest("[data-copy]");
  if (copying) copyBefore(copying);
  const all = event.target.closest("[data-tick-all]");
  if (all) document.querySelectorAll(`input[type=checkbox][name="${CSS.escape(all.dataset.tickAll)}"]`).forEach((box) => { box.checked = all.checked; });
});

// The list and what is open beside it are taken from another address of the same page; the address follows, so Back leads to it.
let asked = 0;
async function turnTo(address, parts, push) {
  const turn = ++asked;
  const answer = await fetch(address, { headers: { accept: "text/html" } }).catch(() => null);
  if (turn !== asked) return;
  if (!answer) { gone(true); return; }
  if (!answer.ok) { location.href = address; return; }
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focused = focusOf();
  for (const part of parts) document.getElementById(part).replaceChildren(...found.getElementById(part).childNodes);
  document.getElementById("room").className = found.getElementById("room").className;
  const results = document.getElementById("results");
  results.dataset.q = found.getElementById("results").dataset.q;
  if (push !== null) history[push ? "pushState" : "replaceState"](null, "", address);
  document.title = found.title;
  focusAgain(focused);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-side], a[data-close]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const closing = link.matches("[data-close]"), open = document.querySelector("#panel .panel");
  turnTo(closing ? link.href : link.dataset.side, ["panel"], !closing && !open);
  document.querySelectorAll(".row-of").forEach((row) => row.classList.toggle("open", !closing && row.contains(link)));
});
addEventListener("popstate", () => location.reload());

let typedAt = 0;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (!form) return;
  clearTimeout(typedAt);
  typedAt = setTimeout(() => {
    const words = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    turnTo(`${form.getAttribute("action")}?${words}`, ["results", "panel"], false);
  }, 250);
});

// What has the focus, to be found again in a page that was made anew: by its id, or by where it leads.
function focusOf() {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  if (one.id) return `[id="${CSS.escape(one.id)}"]`;
  const scope = one.closest("[id]");
  const within = scope && scope.id !== "main" ? `[id="${CSS.escape(scope.id)}"] ` : "";
  if (one.matches("a[href]")) return `${within}a[href="${CSS.escape(one.getAttribute("href"))}"]`;
  if (one.matches("summary")) { const at = [...document.querySelectorAll("summary")].findIndex((other) => other === one); return { at, text: one.textContent }; }
  const form = one.closest("form[action]");
  const name = one.name ? `[name="${CSS.escape(one.name)}"]` : "", value = one.matches("button") && one.value ? `[value="${CSS.escape(one.value)}"]` : "";
  return `${within}${form ? `form[action="${CSS.escape(form.getAttribute("action"))}"] ` : ""}${one.tagName.toLowerCase()}${name}${value}`;
}
function focusAgain(where) {
  if (!where || (document.activeElement && document.activeElement !== document.body)) return;
  const one = typeof where === "string" ? document.querySelector(where)
    : [...document.querySelectorAll("summary")].filter((other) => other.textContent === where.text)[0];
  if (one) one.focus({ preventScroll: true });
}

// A server that ended is said at once; what is typed stays in the tab, and comes back where it was typed.
const KEEP = "typed ";
function gone(is) {
  document.getElementById("server-gone").hidden = !is;
  document.body.classList.toggle("gone", is);
}
const keepable = () => [...document.querySelectorAll("main textarea, main input:not([type=hidden]):not([type=checkbox]):not([type=radio]):not([type=search])")];
document.addEventListener("input", (event) => {
  if (!event.target.closest("main textarea, main input")) return;
  const texts = keepable().filter((one) => one.value !== one.defaultValue).map((one) => [one.name, one.id, one.value]);
  try { sessionStorage.setItem(KEEP + location.pathname, JSON.stringify(texts)); } catch { /* a tab without storage */ }
});
const sending = new Set(); // forms on their way: one that is pressed again meanwhile is not sent twice
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sure) { delete form.dataset.sure; return; }
  event.preventDefault();
  if (sending.has(form)) return;
  sending.add(form);
  const alive = await fetch("/alive").then((answer) => answer.ok, () => false);
  gone(!alive);
  if (!alive) { sending.delete(form); return; }
  try { sessionStorage.removeItem(KEEP + location.pathname); } catch { /* as above */ }
  form.dataset.sure = "1";
  leaving = true;
  form.requestSubmit(event.submitter);
  setTimeout(() => { sending.delete(form); leaving = false; }, 3000);
});
let leaving = false;
addEventListener("beforeunload", (event) => { if (!leaving && document.querySelector("main textarea") && dirty()) event.preventDefault(); });
addEventListener("DOMContentLoaded", () => {
  let texts = [];
  try { texts = JSON.parse(sessionStorage.getItem(KEEP + location.pathname) || "[]"); } catch { /* as above */ }
  if (texts.length) {
    const bar = document.getElementById("typed");
    bar.hidden = false;
    bar.querySelector("[data-put-back]").addEventListener("click", () => {
      for (const [name, id, value] of texts) {
        const field = keepable().find((one) => (id && one.id === id) || (!id && one.name === name));
        if (field) { field.value = value; const box = field.closest("details"); if (box) box.open = true; }
      }
      bar.hidden = true;
    });
    bar.querySelector("[data-drop]").addEventListener("click", () => { sessionStorage.removeItem(KEEP + location.pathname); bar.hidden = true; });
  }
});

function dirty() {
  return [...document.querySelectorAll("main input:not([type=search]), main textarea, main select")].some((one) =>
    one.type === "checkbox" || one.type === "radio" ? one.checked !== one.defaultChecked
      : one.tagName === "SELECT" ? [...one.options].some((option) => option.selected !== option.defaultSelected && [...one.options].some((o) => o.defaultSelected))
      : one.value !== one.defaultValue);
}

async function showChanges() {
  const main = document.getElementById("main");
  if (main.dataset.live === "off" || leaving) return; // the page that a form leads to is on its way
  if (dirty()) { document.getElementById("changed").hidden = false; return; }
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer || !answer.ok) return;
  const anew = new DOMParser().parseFromString(await answer.text(), "text/html"), found = anew.getElementById("main");
  if (main.dataset.live === "off") return;
  if (!found || dirty()) { document.getElementById("changed").hidden = false; return; }
  const open = [...main.querySelectorAll("details")].map((one) => one.open);
  const chosen = items().filter((one) => one.classList.contains("chosen")).map(nameOf)[0];
  const focused = focusOf(), searched = document.getElementById("q");
  const typed = searched && document.activeElement === searched ? [searched.value, searched.selectionStart] : null;
  main.replaceChildren(...found.childNodes);
  for (const part of ["places", "state"]) {
    const old = document.getElementById(part), now = anew.getElementById(part);
    if (old && now && old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
  }
  focusAgain(focused);
  if (typed) { const field = document.getElementById("q"); field.value = typed[0]; field.setSelectionRange(typed[1], typed[1]); }
  const count = main.querySelectorAll("[data-item]").length;
  document.getElementById("live").textContent = `The page was brought up to date: ${count} in its list.`;
  main.querySelectorAll("details").forEach((one, at) => { if (open[at]) one.open = true; });
  // By what it is and not by its place: another may stand there now.
  const again = chosen === undefined ? undefined : items().find((one) => nameOf(one) === chosen);
  if (again) again.classList.add("chosen");
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
    source.addEventListener("seq", (event) => { gone(false); heard(event); });
    source.addEventListener("error", () => { if (document.visibilityState === "visible") fetch("/alive").then(() => gone(false), () => gone(true)); });
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => { if (source) source.close(); });
  listen();
}
