import { checkArgument } from "@seneschal/kernel";
import type { LineageGraph } from "./graph.ts";
import type { ColumnLink, EdgeView, TierTags } from "./types.ts";

/** A resource of a snapshot, without its columns; tags and owners sorted. */
export interface SnapshotResource extends TierTags {
  readonly id: string;
  readonly owners: readonly string[];
}

/** A column of a snapshot. */
export interface SnapshotColumn extends TierTags {
  readonly name: string;
  readonly type: string | null;
}

/** A graph at a moment, as plain data: effective tiers, and edges by `[source, target]` in JSON. */
export interface LineageSnapshot {
  readonly resources: ReadonlyMap<string, SnapshotResource & { readonly columns: ReadonlyMap<string, SnapshotColumn> }>;
  readonly edges: ReadonlyMap<string, EdgeView>;
}

/** What came, what went, and what is otherwise than it was, by id. */
export interface Differences<T> {
  readonly added: readonly T[];
  readonly removed: readonly T[];
  readonly changed: readonly { readonly from: T; readonly to: T }[];
}

/** What became of a graph between two moments. Columns of resources that came or went are with them in `columns`, by resource. */
export interface LineageDiff {
  readonly resources: Differences<SnapshotResource>;
  readonly columns: ReadonlyMap<string, Differences<SnapshotColumn>>;
  readonly edges: Differences<EdgeView>;
}

/** The graph as it is now. */
export function lineageSnapshot(graph: LineageGraph): LineageSnapshot {
  checkArgument("graph", graph, "object");
  const ids = [...graph.ids()].sort();
  const resources = ids.flatMap((id) => {
    const info = graph.info(id);
    const whole = graph.effective(id);
    if (info === undefined || whole === undefined) return [];
    const columns = Object.keys(info.columns)
      .sort()
      .map((name) => {
        const { tier, tags } = graph.effective(id, name) ?? whole;
        return [name, { name, type: info.columns[name]?.type ?? null, tier, tags: [...tags].sort() }] as const;
      });
    const own = { id, tier: whole.tier, tags: [...whole.tags].sort(), owners: [...info.owners].sort() };
    return [[id, { ...own, columns: new Map(columns) }] as const];
  });
  const edges = graph.edgesAmong(ids).map((edge) => {
    const columns = edge.columns.map(inOrder).sort((a, b) => compare(JSON.stringify(a), JSON.stringify(b)));
    return [JSON.stringify([edge.source, edge.target]), { ...edge, columns }] as const;
  });
  return { resources: new Map(resources), edges: new Map(edges) };
}

/**
 * What became of a graph from one snapshot to another. Of a snapshot and itself it is empty, and {@link applyLineageDiff} makes the second of the first.
 *
 * @example
 * ```ts
 * import { LineageGraph, lineageDiff, lineageSnapshot } from "@seneschal/governance";
 * const graph = new LineageGraph();
 * graph.declare({ id: "crm" }, 0);
 * const before = lineageSnapshot(graph);
 * graph.declare({ id: "crm", direct: { tier: "RESTRICTED", tags: [] } }, 1);
 * const [changed] = lineageDiff(before, lineageSnapshot(graph)).resources.changed;
 * console.log(changed?.from.tier, changed?.to.tier); // INTERNAL RESTRICTED
 * ```
 */
export function lineageDiff(from: LineageSnapshot, to: LineageSnapshot): LineageDiff {
  checkArgument("from", from, "object");
  checkArgument("to", to, "object");
  const bare = ({ resources }: LineageSnapshot) =>
    new Map([...resources].map(([id, { columns: _, ...resource }]) => [id, resource] as const));
  const none: ReadonlyMap<string, SnapshotColumn> = new Map();
  const columns = [...new Set([...from.resources.keys(), ...to.resources.keys()])].sort().flatMap((id) => {
    const found = differences(from.resources.get(id)?.columns ?? none, to.resources.get(id)?.columns ?? none);
    return found.added.length + found.removed.length + found.changed.length === 0 ? [] : [[id, found] as const];
  });
  return {
    resources: differences(bare(from), bare(to)),
    columns: new Map(columns),
    edges: differences(from.edges, to.edges),
  };
}

/** The snapshot that a diff leads to from the one that it began at. */
export function applyLineageDiff(from: LineageSnapshot, diff: LineageDiff): LineageSnapshot {
  checkArgument("from", from, "object");
  checkArgument("diff", diff, "object");
  const before = new Map([...from.resources].map(([id, { columns: _, ...resource }]) => [id, resource] as const));
  const resources = [...applied(before, diff.resources, ({ id }) => id)].map(([id, resource]) => {
    const known: ReadonlyMap<string, SnapshotColumn> = from.resources.get(id)?.columns ?? new Map<string, SnapshotColumn>();
    const change = diff.columns.get(id);
    return [id, { ...resource, columns: change === undefined ? known : applied(known, change, ({ name }) => name) }] as const;
  });
  const edges = applied(from.edges, diff.edges, ({ source, target }) => JSON.stringify([source, target]));
  return { resources: new Map(resources), edges };
}

function differences<T>(from: ReadonlyMap<string, T>, to: ReadonlyMap<string, T>): Differences<T> {
  const only = (a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>) =>
    [...a].flatMap(([key, one]) => (b.has(key) ? [] : [one]));
  const changed = [...to].flatMap(([key, now]) => {
    const then = from.get(key);
    return then === undefined || JSON.stringify(then) === JSON.stringify(now) ? [] : [{ from: then, to: now }];
  });
  return { added: only(to, from), removed: only(from, to), changed };
}

function applied<T>(before: ReadonlyMap<string, T>, { added, removed, changed }: Differences<T>, keyOf: (one: T) => string) {
  const after = new Map(before);
  for (const one of removed) after.delete(keyOf(one));
  for (const one of [...added, ...changed.map(({ to }) => to)]) after.set(keyOf(one), one);
  return after;
}

function inOrder({ from, to, type, subtype, masking }: ColumnLink): ColumnLink {
  return { from, ...(to === undefined ? {} : { to }), type, subtype, masking };
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
