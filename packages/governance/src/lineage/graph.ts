import { checkArgument } from "@seneschal/kernel";
import { loweredTier, type TierPolicy, tierRank, unclassifiedTier } from "../classification/tiers.ts";
import { TableNames } from "../sql/table-names.ts";
import type { EdgeView, Link, ResourceInfo, TierTags, Visit } from "./types.ts";

/** What propagation does where the policy has a choice. */
export interface PropagationPolicy {
  /** A masked edge stops the tier, or lets one tier less pass. Default `lower`. */
  readonly masked: "stop" | "lower";
  /** Columns that only filter, join or sort pass their tier on. Default true. */
  readonly indirect: boolean;
}

export const DEFAULT_PROPAGATION: PropagationPolicy = { masked: "lower", indirect: true };

interface Edge {
  readonly source: Node;
  readonly target: Node;
  links: readonly Link[];
  blocked: boolean;
}

/** Who says something of a resource: people, over the interface; events of its producers; a scan of where it lies. */
export type Teller = "declared" | "events" | "scan";

/** What one of them says. */
interface Facts {
  readonly direct?: TierTags;
  readonly columns: ResourceInfo["columns"];
  readonly owners: readonly string[];
}

interface Node {
  readonly id: string;
  readonly out: Edge[];
  readonly in: Edge[];
  /** By who says it, and by which name of the resource. */
  readonly facts: Map<string, Facts>;
  /** What the names of columns mean, for those of which nobody says anything. */
  readonly inferred: Map<string, TierTags>;
  info: ResourceInfo;
  /** Of the resource as a whole. */
  effective: TierTags;
  /** Of columns that are told apart. */
  columns: Map<string, TierTags>;
  /** What reaches every column: the resource's own tier and edges without column lineage. */
  base: TierTags;
  stamp: number;
}

/**
 * A lineage graph in memory with tiers propagated downstream. What people, events and scans say of a resource is kept apart and holds together: the highest tier with all tags, whoever came last.
 * `effective = max(direct, upstream over edges that are neither blocked nor fully masked)`, tags united, by column where column
 * lineage is known; what nobody classified has the second tier of the scale. A change recomputes the resources downstream of it from their direct tiers, so that what was propagated can also go away, and cycles
 * settle. Holds no clock and does no I/O.
 *
 * @example
 * ```ts
 * import { LineageGraph } from "@seneschal/governance";
 * const graph = new LineageGraph();
 * graph.declare({ id: "crm.customers", direct: { tier: "CONFIDENTIAL", tags: ["PII"] } }, 0);
 * graph.setJobLinks("etl", [{ source: "crm.customers", target: "dwh.customers", operation: "ETL", masking: false }], 1);
 * console.log(graph.effective("dwh.customers")?.tier); // CONFIDENTIAL
 * ```
 */
export class LineageGraph {
  readonly #policy: TierPolicy | undefined;
  readonly #tiers: Pick<TierPolicy, "tiers">;
  readonly #propagation: PropagationPolicy;
  readonly #nodes = new Map<string, Node>();
  readonly #edges = new Map<string, Edge>();
  readonly #jobs = new Map<string, { readonly timestamp: number; readonly edges: readonly Edge[] }>();
  readonly #aliases = new Map<string, string>();
  /** Also of edges that are not there at the moment. */
  readonly #blocked = new Map<string, { readonly source: string; readonly target: string }>();
  readonly #names = new TableNames();
  #stamp = 0;
  #deferred: Set<Node> | undefined;

  constructor(policy?: TierPolicy, propagation: PropagationPolicy = DEFAULT_PROPAGATION) {
    this.#policy = policy;
    this.#tiers = policy ?? { tiers: ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"] };
    this.#propagation = propagation;
  }

  get size(): { readonly resources: number; readonly edges: number } {
    return { resources: this.#nodes.size, edges: this.#edges.size };
  }

  /** The tier policy the graph was built with. */
  get policy(): TierPolicy | undefined {
    return this.#policy;
  }

  /** The id that a name stands for, through symlinks and renames. */
  canonical(id: string): string {
    let at = id;
    for (let i = 0; i < 16; i++) {
      const next = this.#aliases.get(at);
      if (next === undefined) return at;
      at = next;
    }
    return at;
  }

  has(id: string): boolean {
    return this.#nodes.has(this.canonical(id));
  }

  info(id: string): ResourceInfo | undefined {
    return this.#nodes.get(this.canonical(id))?.info;
  }

  /** All that a table's name may mean, by each more or less qualified, quoted or re-cased way of writing the id of a resource or another name of it. */
  named(table: string): readonly string[] {
    checkArgument("table", table, "string");
    const ids = this.#names.meant(table).map((name) => this.canonical(name));
    return [...new Set(ids)].filter((id) => this.#nodes.has(id));
  }

  ids(): IterableIterator<string> {
    return this.#nodes.keys();
  }

  /** Effective tier and tags of a resource, or of one of its columns. */
  effective(id: string, column?: string): TierTags | undefined {
    const node = this.#nodes.get(this.canonical(id));
    if (node === undefined || column === undefined) return node?.effective;
    return node.columns.get(column.toLowerCase()) ?? node.base;
  }

  /** Registers a resource or changes what `by` says of it; only named fields change, of columns too. */
  declare(
    resource: {
      readonly id: string;
      readonly direct?: TierTags;
      readonly columns?: ResourceInfo["columns"];
      readonly owners?: readonly string[];
    },
    timestamp: number,
    by: Teller = "declared",
  ): ResourceInfo {
    checkArgument("resource", resource, "object");
    checkArgument("resource.id", resource.id, "string");
    const node = this.#node(resource.id, timestamp);
    const before = node.facts.get(factsKey(by, resource.id)) ?? NOTHING;
    const columns = Object.entries(resource.columns ?? {}).map(
      ([name, column]) => [name, { ...before.columns[name], ...column }] as const,
    );
    node.facts.set(factsKey(by, resource.id), {
      ...before,
      ...(resource.direct === undefined ? {} : { direct: resource.direct }),
      ...(columns.length === 0 ? {} : { columns: { ...before.columns, ...Object.fromEntries(columns) } }),
      ...(resource.owners === undefined ? {} : { owners: resource.owners }),
    });
    this.#tell(node, timestamp);
    this.#refresh([node]);
    return node.info;
  }

  /** Takes all back that `by` says of a resource; what others say, and what lineage brings, stays. What nobody speaks of is gone. */
  undeclare(id: string, timestamp: number, by: Teller = "declared"): void {
    const node = this.#nodes.get(this.canonical(id));
    if (node === undefined || !node.facts.delete(factsKey(by, id))) return;
    if (node.facts.size + node.in.length + node.out.length === 0) {
      this.remove(node.id);
      return;
    }
    this.#tell(node, timestamp);
    this.#refresh([node]);
  }

  /** What `by` says of a resource by this name; `undefined`: nothing. */
  said(id: string, by: Teller): Pick<ResourceInfo, "direct" | "columns" | "owners"> | undefined {
    return this.#nodes.get(this.canonical(id))?.facts.get(factsKey(by, id));
  }

  /** What the names of a resource's columns mean: it counts for those that nobody classified. Replaces what was inferred before. */
  infer(id: string, columns: Readonly<Record<string, TierTags>>): void {
    checkArgument("columns", columns, "object");
    const node = this.#nodes.get(this.canonical(id));
    if (node === undefined) return;
    node.inferred.clear();
    for (const [name, means] of Object.entries(columns)) node.inferred.set(name, means);
    this.#tell(node, node.info.updatedAt);
    this.#refresh([node]);
  }

  /** Removes a resource with its edges. */
  remove(id: string): boolean {
    checkArgument("id", id, "string");
    const node = this.#nodes.get(this.canonical(id));
    if (node === undefined) return false;
    const below = node.out.map((edge) => edge.target);
    for (const edge of [...node.in, ...node.out]) this.#unlink(edge);
    this.#nodes.delete(node.id);
    this.#names.delete(node.id);
    this.#refresh(below.filter((n) => n !== node));
    return true;
  }

  /** Two names of one resource: `alias` from now on means `id`. Edges and facts of the alias move over. */
  alias(alias: string, id: string, timestamp: number): void {
    const target = this.canonical(id);
    const old = this.canonical(alias);
    if (old === target) return;
    this.#names.add(alias);
    const node = this.#nodes.get(old);
    this.#aliases.set(old, target);
    if (node === undefined) return;
    const heir = this.#node(target, timestamp);
    for (const [key, facts] of node.facts) heir.facts.set(key, facts);
    for (const [name, means] of node.inferred) if (!heir.inferred.has(name)) heir.inferred.set(name, means);
    this.#tell(heir, Math.max(heir.info.updatedAt, node.info.updatedAt));
    for (const edge of [...node.in, ...node.out]) {
      this.#unlink(edge);
      const source = edge.source === node ? heir : edge.source;
      const to = edge.target === node ? heir : edge.target;
      if (source !== to) for (const link of edge.links) this.#link(source, to, link);
    }
    this.#nodes.delete(old);
    for (const pair of this.#blocked.values()) {
      const edge = this.#edges.get(edgeKey(this.canonical(pair.source), this.canonical(pair.target)));
      if (edge !== undefined) edge.blocked = true;
    }
    this.#refresh([heir]);
  }

  /**
   * Replaces all edges of a job by those of its newest version. An older version than the known one changes nothing, so that late and repeated events are
   * harmless. True when something changed.
   */
  setJobLinks(
    job: string,
    links: readonly (Omit<Link, "job" | "timestamp"> & { readonly source: string; readonly target: string })[],
    timestamp: number,
  ): boolean {
    checkArgument("links", links, "array");
    const before = this.#jobs.get(job);
    if (before !== undefined && before.timestamp > timestamp) return false;
    const touched = new Set<Node>();
    for (const edge of before?.edges ?? []) {
      edge.links = edge.links.filter((link) => link.job !== job);
      touched.add(edge.target);
      if (edge.links.length === 0) this.#unlink(edge);
    }
    const edges: Edge[] = [];
    for (const { source, target, ...link } of links) {
      const from = this.#node(source, timestamp);
      const to = this.#node(target, timestamp);
      if (from === to) continue;
      const edge = this.#link(from, to, { ...link, job, timestamp });
      edges.push(edge);
      touched.add(to);
    }
    this.#jobs.set(job, { timestamp, edges });
    this.#refresh([...touched]);
    return true;
  }

  /** Stops or lets pass the tier over one edge, also when it comes later or comes back. False when there is no such edge now. */
  setBlocked(source: string, target: string, blocked: boolean): boolean {
    if (blocked) this.#blocked.set(edgeKey(source, target), { source, target });
    else this.#blocked.delete(edgeKey(source, target));
    const edge = this.#edges.get(edgeKey(this.canonical(source), this.canonical(target)));
    if (edge === undefined) return false;
    edge.blocked = blocked;
    this.#refresh([edge.target]);
    return true;
  }

  /** Runs many changes and propagates once at the end. */
  batch(work: () => void): void {
    checkArgument("work", work, "function");
    if (this.#deferred !== undefined) {
      work();
      return;
    }
    this.#deferred = new Set();
    try {
      work();
    } finally {
      const nodes = [...this.#deferred].filter((node) => this.#nodes.get(node.id) === node);
      this.#deferred = undefined;
      this.#refresh(nodes);
    }
  }

  /**
   * Resources within `depth` hops, each once at its shortest distance, ordered by distance, then id. `limit` bounds the answer; `truncated` says that there
   * was more.
   */
  walk(
    id: string,
    direction: "upstream" | "downstream",
    depth: number,
    limit = Number.POSITIVE_INFINITY,
  ): { readonly visits: readonly Visit[]; readonly truncated: boolean } {
    const start = this.#nodes.get(this.canonical(id));
    if (start === undefined) return { visits: [], truncated: false };
    const stamp = ++this.#stamp;
    start.stamp = stamp;
    let level: Node[] = [start];
    const visits: Visit[] = [];
    let truncated = false;
    for (let hop = 1; hop <= depth && level.length > 0 && !truncated; hop++) {
      const next: { readonly node: Node; readonly edge: Edge }[] = [];
      for (const node of level) {
        for (const edge of direction === "upstream" ? node.in : node.out) {
          const other = direction === "upstream" ? edge.source : edge.target;
          if (other.stamp === stamp) continue;
          other.stamp = stamp;
          next.push({ node: other, edge });
        }
      }
      next.sort((a, b) => (a.node.id < b.node.id ? -1 : 1));
      for (const { node, edge } of next) {
        if (visits.length >= limit) {
          truncated = true;
          break;
        }
        const link = newest(edge.links);
        visits.push({
          id: node.id,
          hop,
          effective: node.effective,
          operation: link?.operation ?? "",
          timestamp: link?.timestamp ?? node.info.updatedAt,
        });
      }
      level = next.map(({ node }) => node);
    }
    return { visits, truncated };
  }

  /** What every job says about the edges out of a resource, by their targets. */
  linksFrom(id: string): readonly { readonly target: string; readonly links: readonly Link[] }[] {
    const node = this.#nodes.get(this.canonical(id));
    return node?.out.map(({ target, links }) => ({ target: target.id, links })) ?? [];
  }

  /** Edges whose two ends are among the given resources. */
  edgesAmong(ids: Iterable<string>): EdgeView[] {
    checkArgument("ids", ids, "iterable");
    const wanted = new Set(ids);
    const found: EdgeView[] = [];
    for (const id of wanted) {
      for (const edge of this.#nodes.get(id)?.out ?? []) if (wanted.has(edge.target.id)) found.push(viewOf(edge));
    }
    return found.sort((a, b) => (a.source === b.source ? (a.target < b.target ? -1 : 1) : a.source < b.source ? -1 : 1));
  }

  /** The shortest chain of resources, nearest first, by which the effective tier of a resource came from one that declares it. */
  propagatedFrom(id: string): readonly string[] | undefined {
    const node = this.#nodes.get(this.canonical(id));
    if (node === undefined) return undefined;
    const rank = tierRank(this.#tiers, node.effective.tier);
    if (rank === 0 || this.#directRank(node) >= rank) return undefined;
    const stamp = ++this.#stamp;
    node.stamp = stamp;
    let level: { readonly node: Node; readonly path: readonly string[] }[] = [{ node, path: [] }];
    while (level.length > 0) {
      const next: typeof level = [];
      for (const at of level) {
        for (const edge of at.node.in) {
          const source = edge.source;
          if (edge.blocked || source.stamp === stamp || tierRank(this.#tiers, source.effective.tier) < rank) continue;
          source.stamp = stamp;
          const path = [...at.path, source.id];
          if (this.#directRank(source) >= rank) return path;
          next.push({ node: source, path });
        }
      }
      level = next;
    }
    return undefined;
  }

  #directRank(node: Node): number {
    return tierRank(this.#tiers, directOf(node, this.#tiers).tier);
  }

  #node(name: string, timestamp: number): Node {
    const id = this.canonical(name);
    const known = this.#nodes.get(id);
    if (known !== undefined) return known;
    const unclassified: TierTags = { tier: unclassifiedTier(this.#tiers), tags: [] };
    const node: Node = {
      id,
      out: [],
      in: [],
      facts: new Map(),
      inferred: new Map(),
      info: { id, columns: {}, owners: [], updatedAt: timestamp, implicit: true },
      effective: unclassified,
      columns: new Map(),
      base: unclassified,
      stamp: 0,
    };
    this.#nodes.set(id, node);
    this.#names.add(id);
    return node;
  }

  /** What all that is said comes to. */
  #tell(node: Node, timestamp: number): void {
    const facts = [...node.facts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, said]) => said);
    let direct: TierTags | undefined;
    const columns: Record<string, { type?: string; direct?: TierTags }> = {};
    for (const said of facts) {
      if (said.direct !== undefined) direct = direct === undefined ? said.direct : joined(direct, said.direct, this.#tiers);
      for (const [name, column] of Object.entries(said.columns)) {
        const known = Object.hasOwn(columns, name) ? columns[name] : undefined;
        const tier =
          known?.direct === undefined ? column.direct : joined(known.direct, column.direct ?? known.direct, this.#tiers);
        setOwn(columns, name, { ...known, ...column, ...(tier === undefined ? {} : { direct: tier }) });
      }
    }
    for (const [name, means] of node.inferred) {
      const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
      if (column !== undefined && column.direct === undefined) column.direct = means;
    }
    node.info = {
      id: node.id,
      ...(direct === undefined ? {} : { direct }),
      columns,
      owners: [...new Set(facts.flatMap(({ owners }) => owners))],
      updatedAt: timestamp,
      implicit: facts.length === 0,
    };
  }

  #link(source: Node, target: Node, link: Link): Edge {
    const key = edgeKey(source.id, target.id);
    let edge = this.#edges.get(key);
    if (edge === undefined) {
      edge = { source, target, links: [], blocked: this.#blocked.has(edgeKey(source.id, target.id)) };
      this.#edges.set(key, edge);
      source.out.push(edge);
      target.in.push(edge);
    }
    edge.links = [...edge.links.filter((l) => l.job !== link.job), link];
    return edge;
  }

  #unlink(edge: Edge): void {
    this.#edges.delete(edgeKey(edge.source.id, edge.target.id));
    drop(edge.source.out, edge);
    drop(edge.target.in, edge);
  }

  /** Recomputes the given resources and all downstream of them to the least fixpoint. */
  #refresh(changed: readonly Node[]): void {
    if (this.#deferred !== undefined) {
      for (const node of changed) this.#deferred.add(node);
      return;
    }
    const stamp = ++this.#stamp;
    const affected: Node[] = [];
    for (const node of changed) {
      if (node.stamp === stamp) continue;
      node.stamp = stamp;
      affected.push(node);
    }
    for (let i = 0; i < affected.length; i++) {
      for (const edge of affected[i]?.out ?? []) {
        if (edge.target.stamp === stamp) continue;
        edge.target.stamp = stamp;
        affected.push(edge.target);
      }
    }
    for (const node of affected) reset(node, this.#tiers);
    const queued = new Set(affected);
    const queue = [...affected];
    for (let i = 0; i < queue.length; i++) {
      const node = queue[i];
      if (node === undefined) break;
      queued.delete(node);
      if (!this.#pull(node)) continue;
      for (const edge of node.out) {
        if (queued.has(edge.target)) continue;
        queued.add(edge.target);
        queue.push(edge.target);
      }
    }
  }

  /** Takes over what the incoming edges carry. True when the resource's values grew. */
  #pull(node: Node): boolean {
    let grew = false;
    for (const edge of node.in) {
      if (edge.blocked) continue;
      for (const link of edge.links) if (this.#flow(edge.source, node, link)) grew = true;
    }
    return grew;
  }

  #flow(source: Node, target: Node, link: Link): boolean {
    if (link.columns === undefined || link.columns.length === 0) {
      const carried = this.#through(source.effective, link.masking);
      return carried !== undefined && grow(target, undefined, carried, this.#tiers);
    }
    let grew = false;
    for (const column of link.columns) {
      if (column.type === "INDIRECT" && !this.#propagation.indirect) continue;
      const carried = this.#through(source.columns.get(column.from.toLowerCase()) ?? source.base, column.masking || link.masking);
      if (carried !== undefined && grow(target, column.to?.toLowerCase(), carried, this.#tiers, column.to === undefined))
        grew = true;
    }
    return grew;
  }

  #through(value: TierTags, masking: boolean): TierTags | undefined {
    if (!masking) return value;
    if (this.#propagation.masked === "stop") return undefined;
    return { tier: loweredTier(this.#tiers, value.tier), tags: value.tags };
  }
}

/** Values of a resource before anything flows in. */
function reset(node: Node, tiers: Pick<TierPolicy, "tiers">): void {
  const unclassified: TierTags = { tier: unclassifiedTier(tiers), tags: [] };
  const { direct } = node.info;
  const told = Object.entries(node.info.columns).flatMap(([name, column]) =>
    column.direct === undefined ? [] : [[name.toLowerCase(), column.direct] as const],
  );
  node.columns = new Map();
  for (const [name, column] of told) {
    const known = node.columns.get(name);
    node.columns.set(name, known === undefined ? column : joined(known, column, tiers));
  }
  // Where a column has the declared tier of the whole, the tier is that column's; where none has, any of the others may.
  const explained =
    direct === undefined || told.some(([, column]) => tierRank(tiers, column.tier) >= tierRank(tiers, direct.tier));
  node.base = told.length > 0 && explained ? lowerOf(direct ?? unclassified, unclassified, tiers) : (direct ?? unclassified);
  node.effective = directOf(node, tiers);
}

function lowerOf(a: TierTags, b: TierTags, tiers: Pick<TierPolicy, "tiers">): TierTags {
  return { tier: tierRank(tiers, a.tier) < tierRank(tiers, b.tier) ? a.tier : b.tier, tags: [] };
}

function directOf(node: Node, tiers: Pick<TierPolicy, "tiers">): TierTags {
  let all: TierTags = node.info.direct ?? { tier: unclassifiedTier(tiers), tags: [] };
  for (const column of Object.values(node.info.columns)) if (column.direct !== undefined) all = joined(all, column.direct, tiers);
  return all;
}

/** Raises a column (or every column) and with it the whole. `wholeOnly`: shapes the rows, but is in no column. */
function grow(
  node: Node,
  column: string | undefined,
  value: TierTags,
  tiers: Pick<TierPolicy, "tiers">,
  wholeOnly = false,
): boolean {
  let grew = false;
  if (column !== undefined) {
    const before = node.columns.get(column) ?? node.base;
    const after = joined(before, value, tiers);
    if (after !== before || !node.columns.has(column)) {
      node.columns.set(column, after);
      grew = true;
    }
  } else if (!wholeOnly) {
    const after = joined(node.base, value, tiers);
    if (after !== node.base) {
      node.base = after;
      for (const [name, old] of node.columns) node.columns.set(name, joined(old, value, tiers));
      grew = true;
    }
  }
  const whole = joined(node.effective, value, tiers);
  if (whole !== node.effective) {
    node.effective = whole;
    grew = true;
  }
  return grew;
}

/** The higher tier with all tags; the first value itself when nothing is new. */
function joined(a: TierTags, b: TierTags, tiers: Pick<TierPolicy, "tiers">): TierTags {
  const higher = tierRank(tiers, b.tier) > tierRank(tiers, a.tier);
  const fresh = b.tags.filter((tag) => !a.tags.includes(tag));
  if (!higher && fresh.length === 0) return a;
  return { tier: higher ? b.tier : a.tier, tags: fresh.length === 0 ? a.tags : [...a.tags, ...fresh] };
}

const NOTHING: Facts = { columns: {}, owners: [] };

function factsKey(by: Teller, name: string): string {
  return `${by}\0${name}`;
}

/** As a member of its own, whatever its name. */
function setOwn<V>(record: Record<string, V>, name: string, value: V): void {
  Object.defineProperty(record, name, { value, enumerable: true, writable: true, configurable: true });
}

function newest(links: readonly Link[]): Link | undefined {
  let best = links[0];
  for (const link of links) if (best === undefined || link.timestamp > best.timestamp) best = link;
  return best;
}

function viewOf(edge: Edge): EdgeView {
  return {
    source: edge.source.id,
    target: edge.target.id,
    operation: newest(edge.links)?.operation ?? "",
    jobs: edge.links.map((link) => link.job).sort(),
    masking: edge.links.every((link) => link.masking),
    blocked: edge.blocked,
    columns: edge.links.flatMap((link) => link.columns ?? []),
  };
}

function edgeKey(source: string, target: string): string {
  return `${source}\0${target}`;
}

function drop<T>(items: T[], item: T): void {
  const at = items.indexOf(item);
  if (at >= 0) items.splice(at, 1);
}
