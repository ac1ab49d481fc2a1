// Draws what the list of the page says: positions come from the server, so that a map looks as it did before.
"use strict";

const box = document.getElementById("map");
// A variable may be of two looks: what it comes to is read from an element that has it as its colour.
const colour = (name) => { box.style.color = `var(--${name})`; const found = getComputedStyle(box).color; box.style.color = ""; return found; };
const palette = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"].map(colour);

async function draw() {
  const answer = await fetch(box.dataset.from, { headers: { accept: "application/json" } });
  if (!answer.ok) return;
  const found = await answer.json();
  box.hidden = false;
  const types = [...new Set(found.nodes.map((one) => one.type))];
  const times = found.nodes.map((one) => Date.parse(one.created)).filter((one) => !Number.isNaN(one));
  const first = times.length ? Math.min(...times) : Date.now(), last = Math.max(...times, first + 1);
  const shade = {
    type: (one) => palette[types.indexOf(one.data("type")) % palette.length],
    age: (one) => { const at = Date.parse(one.data("created")); return Number.isNaN(at) ? palette[7] : `hsl(${Math.round(220 - 190 * (at - first) / (last - first))}, 60%, 50%)`; },
    trust: (one) => one.data("truth") === null ? palette[7] : `hsl(${Math.round(120 * one.data("truth"))}, 55%, 45%)`,
  };
  const many = found.nodes.length > 400;
  // Sizes are of the screen when all of it is in sight, whatever its extent.
  const extent = (axis) => Math.max(...found.nodes.map((one) => one[axis])) - Math.min(...found.nodes.map((one) => one[axis]));
  const unit = Math.max(0.6, extent("x") / (box.clientWidth - 60), extent("y") / (box.clientHeight - 60));
  const cy = cytoscape({
    container: box,
    elements: {
      nodes: found.nodes.map((one) => ({ data: one, position: { x: one.x, y: one.y } })),
      edges: found.edges.map((one, at) => ({ data: { ...one, id: `edge ${at}` } })),
    },
    layout: { name: "preset", fit: true, padding: 30 },
    minZoom: 0.1, maxZoom: 6, hideEdgesOnViewport: many, textureOnViewport: many, pixelRatio: many ? 1 : "auto",
    style: [
      { selector: "node", style: { "background-color": (one) => shade.type(one), label: "data(name)", color: colour("ink"), "font-size": 10 * unit, "text-valign": "bottom", "text-margin-y": 2 * unit, "text-max-width": 110 * unit, "text-wrap": "ellipsis", width: 8 * unit, height: 8 * unit, "min-zoomed-font-size": many || found.nodes.length > 60 ? 13 : 8 } },
      { selector: 'node[class = "subject"]', style: { width: (one) => unit * Math.min(40, 9 + 2 * Math.sqrt(one.data("size"))), height: (one) => unit * Math.min(40, 9 + 2 * Math.sqrt(one.data("size"))), "font-size": 12 * unit, "font-weight": 600, "min-zoomed-font-size": 6, "text-background-color": colour("raised"), "text-background-opacity": 0.7 } },
      { selector: 'node[class = "understanding"]', style: { shape: "round-rectangle" } },
      { selector: "edge", style: { width: unit, "line-color": colour("line"), "curve-style": many ? "haystack" : "straight" } },
      { selector: 'edge[type = "shares"]', style: { width: (one) => unit * (1 + Math.min(6, Math.log2(1 + one.data("weight")))), "line-color": (one) => one.data("said") ? colour("c0") : colour("line") } },
      { selector: 'edge[type != "shares"][type != "about"]', style: { "line-color": colour("c1"), "target-arrow-color": colour("c1"), "target-arrow-shape": "triangle", "curve-style": "straight", "arrow-scale": 0.6 * unit } },
      { selector: ":selected", style: { "border-width": 3, "border-color": colour("link"), "line-color": colour("link") } },
      { selector: ".then", style: { display: "none" } },
    ],
  });
  box.cy = cy;
  const about = document.getElementById("about");
  const link = (to, text) => { const made = document.createElement("a"); made.href = to; made.textContent = text; return made; };
  cy.on("tap", "node", (event) => {
    const one = event.target.data();
    const outwards = one.class === "subject" ? [" · ", link(`/map?around=${encodeURIComponent(one.name)}`, "go on from here")] : [];
    about.replaceChildren(`${one.type}: `, link(one.to, one.name), ...outwards);
  });
  cy.on("tap", "edge", (event) => {
    const one = event.target;
    about.replaceChildren(`${one.source().data("name")} ${one.data("type")} ${one.target().data("name")}${one.data("said") ? `: ${one.data("said")}` : ""}${one.data("type") === "shares" ? ` (${one.data("weight")})` : ""}`);
  });
  cy.on("dbltap", "node", (event) => { location.href = event.target.data("to"); });
  const by = document.getElementById("colour");
  by.addEventListener("change", () => cy.nodes().forEach((one) => { one.style("background-color", shade[by.value](one)); }));
  const slider = document.getElementById("time"), then = document.getElementById("then");
  const at = () => first + (last - first) * slider.value / slider.max;
  const filter = () => {
    const moment = at();
    then.value = new Date(moment).toISOString().slice(0, 10);
    cy.batch(() => cy.nodes().forEach((one) => {
      const created = Date.parse(one.data("created")), until = Date.parse(one.data("until"));
      one.toggleClass("then", created > moment || until <= moment);
    }));
  };
  slider.addEventListener("input", filter);
  filter();
  document.getElementById("fit").addEventListener("click", () => cy.fit(undefined, 30));
  document.getElementById("controls").hidden = false;
}

if (box && window.cytoscape) { document.getElementById("main").dataset.live = "off"; draw(); }
