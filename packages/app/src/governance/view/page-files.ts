/** Style of the lineage page. */
export const PAGE_STYLE = `:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; --ground: #f6f7f9; --panel: #fff; --line: #d9dee6; --text: #1b2330; --faint: #566275; --edge: #7b8798; --chosen: #3b7dd8; --chosen-ground: #e7effb; }
@media (prefers-color-scheme: dark) { :root { --ground: #12161d; --panel: #1b212b; --line: #343d4b; --text: #e6eaf0; --faint: #a3afc0; --edge: #8794a6; --chosen: #6ea8ff; --chosen-ground: #24344d; } }
body { margin: 0; display: grid; grid-template-rows: auto 1fr; height: 100vh; color: var(--text); background: var(--ground); }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding: .6rem 1rem; background: var(--panel); border-bottom: 1px solid var(--line); }
h1 { font-size: 1.05rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; }
#legend { display: flex; flex-wrap: wrap; gap: .9rem; list-style: none; margin: 0; padding: 0; font-size: .85rem; }
#legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; margin-right: .35rem; vertical-align: -1px; }
main { display: grid; grid-template-columns: 1fr 20rem; min-height: 0; min-width: 0; }
#graph { min-height: 0; min-width: 0; }
aside { padding: 1rem; background: var(--panel); border-left: 1px solid var(--line); overflow: auto; overflow-wrap: anywhere; }
aside h2 { font-size: 1rem; margin: 0 0 .5rem; }
aside dt { font-size: .8rem; color: var(--faint); }
aside dd { margin: 0 0 .6rem; }
@media (max-width: 700px) { main { grid-template-columns: 1fr; grid-template-rows: 1fr auto; } aside { border-left: 0; border-top: 1px solid var(--line); max-height: 40vh; } }
`;

/** Script of the lineage page: reads the JSON of the page, draws it, shows what is chosen. */
export const PAGE_SCRIPT = `"use strict";
const data = JSON.parse(document.getElementById("lineage").textContent);
const colours = ["#8a97a8", "#3b7dd8", "#c98a00", "#d4582f", "#c8234d", "#8f45cf"];
const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const entries = new Map([[data.resource_id, { resource_id: data.resource_id, classification: data.classification, hop: 0 }]]);
for (const entry of data.upstream) entries.set(entry.resource_id, { ...entry, hop: -entry.hop });
for (const entry of data.downstream) if (!entries.has(entry.resource_id)) entries.set(entry.resource_id, entry);
const order = data.scale;
const tiers = [...new Set([...entries.values()].map((e) => e.classification.tier))].sort((a, b) => order.indexOf(a) - order.indexOf(b));
const colourOf = (tier) => colours[Math.max(0, order.indexOf(tier)) % colours.length];
const legend = document.getElementById("legend");
for (const tier of tiers) {
  const item = document.createElement("li");
  const mark = document.createElement("i");
  mark.style.background = colourOf(tier);
  item.append(mark, tier);
  legend.append(item);
}
const rows = new Map();
const elements = [...entries.values()].sort((a, b) => (a.resource_id < b.resource_id ? -1 : 1)).map((entry) => {
  const row = rows.get(entry.hop) ?? 0;
  rows.set(entry.hop, row + 1);
  return { data: { id: entry.resource_id, label: entry.resource_id.length > 34 ? "\\u2026" + entry.resource_id.slice(-33) : entry.resource_id, colour: colourOf(entry.classification.tier), start: entry.hop === 0, entry, row } };
});
// Along the wider side of the window.
const narrow = innerWidth < 700;
for (const element of elements) {
  const { hop } = element.data.entry;
  const place = element.data.row - ((rows.get(hop) ?? 1) - 1) / 2;
  element.position = narrow ? { x: place * 270, y: hop * 110 } : { x: hop * 330, y: place * 80 };
}
for (const edge of data.edges) elements.push({ data: { id: edge.source + " \\u2192 " + edge.target, source: edge.source, target: edge.target, edge, line: edge.blocked ? "dotted" : edge.masking ? "dashed" : "solid" } });
const graph = cytoscape({
  container: document.getElementById("graph"),
  elements,
  layout: { name: "preset" },
  minZoom: 0.05,
  maxZoom: 3,
});
function paint() {
  graph.style([
    { selector: "node", style: { label: "data(label)", shape: "round-rectangle", width: 250, height: 40, "background-color": themed("--panel"), "border-width": 3, "border-color": "data(colour)", "font-size": 13, "text-valign": "center", color: themed("--text") } },
    { selector: "node[?start]", style: { "border-width": 6, "font-weight": 700 } },
    { selector: "edge", style: { width: 2, "line-color": themed("--edge"), "target-arrow-color": themed("--edge"), "target-arrow-shape": "triangle", "curve-style": "bezier", "line-style": "data(line)" } },
    { selector: "node:selected", style: { "background-color": themed("--chosen-ground") } },
    { selector: "edge:selected", style: { "line-color": themed("--chosen"), "target-arrow-color": themed("--chosen") } },
  ]);
}
paint();
graph.fit(undefined, narrow ? 16 : 40);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
const details = document.getElementById("details");
function show(title, facts) {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const listing = document.createElement("dl");
  for (const [name, value] of facts) {
    if (value === undefined || value === "") continue;
    const term = document.createElement("dt");
    term.textContent = name;
    const text = document.createElement("dd");
    text.textContent = value;
    listing.append(term, text);
  }
  details.replaceChildren(heading, listing);
}
graph.on("tap", "node", (event) => {
  const { entry } = event.target.data();
  show(entry.resource_id, [["Tier", entry.classification.tier], ["Tags", entry.classification.tags.join(", ")], ["Operation", entry.operation], ["Seen", entry.timestamp], ["Propagated from", (entry.propagated_from ?? []).join(" \\u2190 ")]]);
});
graph.on("tap", "edge", (event) => {
  const { edge } = event.target.data();
  show(edge.source + " \\u2192 " + edge.target, [["Operation", edge.operation], ["Jobs", edge.jobs.join(", ")], ["Masked", edge.masking ? "yes" : "no"], ["Blocked", edge.blocked ? "yes" : "no"], ["Columns", edge.columns.map((c) => c.from + (c.to ? " \\u2192 " + c.to : "") + " (" + c.subtype.toLowerCase() + (c.masking ? ", masked" : "") + ")").join("; ")]]);
});
document.documentElement.dataset.ready = String(graph.nodes().length);
`;
