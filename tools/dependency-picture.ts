/**
 * The pictures of docs/architecture.md, drawn from what the sources import: `npm run boundaries` fails where the page shows another
 * one, `npm run boundaries -- --write` draws it anew.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = "docs/architecture.md";
const PICTURES: Readonly<Record<string, RegExp>> = {
  packages: /^packages\/([^/]+)\/src\//,
  gateway: /^packages\/app\/src\/gateway\/([^/]+)\//,
  storage: /^packages\/app\/src\/storage\/([^/]+)\//,
};

const { modules } = JSON.parse(
  execFileSync(
    "node_modules/.bin/depcruise",
    ["packages", "--config", ".dependency-cruiser.cjs", "--include-only", "^packages/[^/]+/src/", "--output-type", "json"],
    { encoding: "utf8", maxBuffer: 1 << 30 },
  ),
) as {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly { readonly resolved: string }[] }[];
};

const page = readFileSync(PAGE, "utf8");
const drawn = Object.entries(PICTURES).reduce((text, [name, room]) => place(text, name, draw(importsBetween(room))), page);
if (drawn !== page && process.argv.includes("--write")) writeFileSync(PAGE, drawn);
else if (drawn !== page) {
  console.error(`${PAGE} does not show what the sources import: npm run boundaries -- --write`);
  process.exitCode = 1;
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Which room imports which, where `room` names the room of a file. */
function importsBetween(room: RegExp): Graph {
  const graph = new Map<string, Set<string>>();
  const nodeOf = (file: string): string | undefined => room.exec(file)?.[1];
  for (const { source, dependencies } of modules) {
    const from = nodeOf(source);
    if (from === undefined) continue;
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const { resolved } of dependencies) {
      const to = nodeOf(resolved);
      if (to !== undefined && to !== from) targets.add(to);
    }
  }
  return graph;
}

/** Mermaid. What is reached over another arrow has none of its own. */
function draw(graph: Graph): string {
  const lines: string[] = [];
  for (const from of [...graph.keys()].sort()) {
    const targets = [...(graph.get(from) ?? [])].sort();
    const direct = targets.filter((to) => !targets.some((over) => over !== to && reaches(graph, over, to)));
    for (const to of direct) lines.push(`  ${from} --> ${to}`);
    if (targets.length === 0 && ![...graph.values()].some((others) => others.has(from))) lines.push(`  ${from}`);
  }
  return ["```mermaid", "flowchart TD", ...lines, "```"].join("\n");
}

/** Circles, which the rules forbid, would never end without `seen`. */
function reaches(graph: Graph, from: string, to: string, seen = new Set<string>()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  const targets = graph.get(from) ?? new Set();
  return targets.has(to) || [...targets].some((next) => reaches(graph, next, to, seen));
}

function place(text: string, name: string, picture: string): string {
  const [begin, end] = [`<!-- drawn: ${name} -->\n`, "\n<!-- end -->"];
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`${PAGE} has no place for the picture "${name}"`);
  return text.slice(0, from + begin.length) + picture + text.slice(to);
}
