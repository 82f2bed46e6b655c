import { checkArgument } from "@seneschal/kernel";
import type { LineageGraph } from "./graph.ts";
import type { ColumnLink } from "./types.ts";

/** What is to become of a column. */
export type ColumnChange = "drop" | "retype";

/**
 * What a change does to what is made from a column, the surest first. `breaks`: its source is gone. `retyped`: it is the same value and takes over the new type. `recomputed`: it is computed from the
 * value. `rows`: which rows there are, or their order or grouping, hangs on it. `unknown`: no column lineage is known, so that any column may.
 */
export type ColumnEffect = "breaks" | "retyped" | "recomputed" | "rows" | "unknown";

const EFFECTS: readonly ColumnEffect[] = ["breaks", "retyped", "recomputed", "rows", "unknown"];

/** A column, or a data set as a whole where `column` is absent, that a change reaches. */
export interface ImpactedColumn {
  readonly resource: string;
  readonly column?: string;
  readonly effect: ColumnEffect;
  /** Data sets from the changed one on. */
  readonly hop: number;
  /** The jobs that bring it there, from whatever comes before. */
  readonly jobs: readonly string[];
}

/** All that a change reaches. */
export interface ColumnImpact {
  /** By distance, resource and column. */
  readonly columns: readonly ImpactedColumn[];
  /** Jobs that bring the change to what is told of, or back to where it began, by id, with the surest effect on what they write. */
  readonly jobs: readonly { readonly job: string; readonly effect: ColumnEffect }[];
  /** There is more than `limit` columns, or something behind `depth`. */
  readonly truncated: boolean;
}

interface State {
  readonly resource: string;
  readonly column: string | undefined;
  readonly hop: number;
  effect: ColumnEffect | undefined;
  readonly jobs: Set<string>;
}

/**
 * Which columns, data sets and jobs downstream a change of one column reaches: along column lineage where it is known, and over every column where it is not. Edges that stop a tier
 * do not stop a change. Undefined for a resource that the graph does not know, and for a column that is none of those it knows of the resource.
 *
 * @param column in whatever case
 *
 * @example
 * ```ts
 * import { columnImpact, LineageGraph } from "@seneschal/governance";
 * const graph = new LineageGraph();
 * const columns = [{ from: "ssn", to: "id", type: "DIRECT", subtype: "IDENTITY", masking: false } as const];
 * graph.setJobLinks("etl", [{ source: "crm", target: "dwh", operation: "ETL", masking: false, columns }], 1);
 * const [first] = columnImpact(graph, "crm", "ssn", "drop")?.columns ?? [];
 * console.log(first?.resource, first?.column, first?.effect); // dwh id breaks
 * ```
 */
export function columnImpact(
  graph: LineageGraph,
  resource: string,
  column: string,
  change: ColumnChange,
  { depth = 10, limit = 1000 }: { readonly depth?: number; readonly limit?: number } = {},
): ColumnImpact | undefined {
  checkArgument("graph", graph, "object");
  checkArgument("resource", resource, "string");
  checkArgument("column", column, "string");
  checkArgument("change", change, "string");
  if (!knows(graph, resource, column)) return undefined;
  const readings = new Map<string, Reading>();
  const states = new Map<string, State>();
  const jobs = new Map<string, ColumnEffect>();
  let truncated = false;
  const start: State = {
    resource: graph.canonical(resource),
    column: column.toLowerCase(),
    hop: 0,
    effect: undefined,
    jobs: new Set(),
  };
  states.set(keyOf(start.resource, start.column), start);
  const queue: State[] = [start];
  const reach = (from: State, target: string, to: string | undefined, effect: ColumnEffect, job: string): void => {
    const key = keyOf(target, to);
    const known = states.get(key);
    if (known === undefined) {
      if (from.hop >= depth || states.size > limit) {
        truncated = true;
        return;
      }
      jobs.set(job, surer(jobs.get(job), effect));
      const state: State = { resource: target, column: to, hop: from.hop + 1, effect, jobs: new Set([job]) };
      states.set(key, state);
      queue.push(state);
      return;
    }
    jobs.set(job, surer(jobs.get(job), effect));
    if (known === start) return;
    known.jobs.add(job);
    const better = surer(known.effect, effect);
    if (better === known.effect) return;
    known.effect = better;
    // what comes behind it may be surer too
    queue.push(known);
  };
  for (let i = 0; i < queue.length; i++) {
    const from = queue[i] as State;
    let reading = readings.get(from.resource);
    if (reading === undefined) {
      reading = readingOf(graph, from.resource);
      readings.set(from.resource, reading);
    }
    const { whole, narrowed, byColumn } = reading;
    for (const { target, job } of whole) reach(from, target, undefined, from.effect === "rows" ? "rows" : "unknown", job);
    if (from.column === undefined)
      for (const { target, job } of narrowed) reach(from, target, undefined, from.effect ?? "unknown", job);
    else {
      for (const { target, job, link } of byColumn.get(from.column) ?? []) {
        reach(from, target, link.to?.toLowerCase(), effectOf(link, from.effect, change), job);
      }
    }
  }
  states.delete(keyOf(start.resource, start.column));
  const columns = [...states.values()]
    .map(({ column: of, jobs: by, effect = "unknown", ...rest }): ImpactedColumn => {
      return { ...rest, effect, ...(of === undefined ? {} : { column: of }), jobs: [...by].sort() };
    })
    .sort((a, b) => a.hop - b.hop || compareText(a.resource, b.resource) || compareText(a.column ?? "", b.column ?? ""));
  const byId = [...jobs].map(([job, effect]) => ({ job, effect })).sort((a, b) => compareText(a.job, b.job));
  return { columns, jobs: byId, truncated };
}

interface Outgoing {
  readonly target: string;
  readonly job: string;
}

/** What reads a resource: whole, or by its columns. */
interface Reading {
  readonly whole: readonly Outgoing[];
  readonly narrowed: readonly Outgoing[];
  readonly byColumn: ReadonlyMap<string, readonly (Outgoing & { readonly link: ColumnLink })[]>;
}

function readingOf(graph: LineageGraph, id: string): Reading {
  const [whole, narrowed]: [Outgoing[], Outgoing[]] = [[], []];
  const byColumn = new Map<string, (Outgoing & { readonly link: ColumnLink })[]>();
  for (const { target, links } of graph.linksFrom(id)) {
    for (const { job, columns = [] } of links) {
      (columns.length === 0 ? whole : narrowed).push({ target, job });
      for (const link of columns) {
        const name = link.from.toLowerCase();
        const known = byColumn.get(name);
        if (known === undefined) byColumn.set(name, [{ target, job, link }]);
        else known.push({ target, job, link });
      }
    }
  }
  return { whole, narrowed, byColumn };
}

/** Whether a resource has a column, as far as anybody said which it has. */
function knows(graph: LineageGraph, id: string, column: string): boolean {
  const info = graph.info(id);
  if (info === undefined) return false;
  const names = new Set(Object.keys(info.columns).map((name) => name.toLowerCase()));
  for (const { links } of graph.linksFrom(id))
    for (const { columns = [] } of links) for (const { from } of columns) names.add(from.toLowerCase());
  return names.size === 0 || names.has(column.toLowerCase());
}

/** What a link does, behind one that had an effect before: never surer than that. */
function effectOf(link: ColumnLink, before: ColumnEffect | undefined, change: ColumnChange): ColumnEffect {
  if (link.type === "INDIRECT" || link.to === undefined) return before === "unknown" ? "unknown" : "rows";
  const own: ColumnEffect =
    change === "drop" ? "breaks" : link.subtype === "IDENTITY" && !link.masking ? "retyped" : "recomputed";
  return before !== undefined && surerEffect(own, before) ? before : own;
}

/** Whether one effect is surer than another. */
export function surerEffect(a: ColumnEffect, b: ColumnEffect): boolean {
  checkArgument("a", a, "string");
  checkArgument("b", b, "string");
  return EFFECTS.indexOf(a) < EFFECTS.indexOf(b);
}

function surer(a: ColumnEffect | undefined, b: ColumnEffect): ColumnEffect {
  return a === undefined || surerEffect(b, a) ? b : a;
}

function keyOf(resource: string, column: string | undefined): string {
  return JSON.stringify([resource, column]);
}

function compareText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
