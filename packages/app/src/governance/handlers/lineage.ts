import { randomUUID } from "node:crypto";
import { nextTurn } from "@seneschal/adapters/system";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import {
  type ColumnEffect,
  columnImpact,
  type Differences,
  type LineageWarning,
  lineageDiff,
  MAX_LINEAGE_SQL,
  readLineageEvent,
  type SnapshotColumn,
  schemaChanges,
  surerEffect,
  type TierTags,
  type Visit,
} from "@seneschal/governance";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { Put } from "@seneschal/kernel/ports";
import { auditOf } from "../audit/event.ts";
import type { DataCatalogue, LineageEventDoc } from "../catalogues.ts";
import { documentId } from "../document-ids.ts";
import { lostRace, noSuchColumn, notFound } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { versionPut } from "../versions.ts";
import { lineageAsset, lineagePage } from "../view/lineage-page.ts";
import { NOBODY, whoOf } from "../who.ts";

type Routes = Pick<
  GovernanceContract,
  | "getLineage"
  | "getUpstream"
  | "getDownstream"
  | "getColumnImpact"
  | "getSchemaChanges"
  | "listLineageRuns"
  | "getLineageDiff"
  | "viewLineage"
  | "lineageAsset"
  | "ingestLineage"
  | "ingestLineageBatch"
  | "blockEdge"
>;

export const lineageHandlers: Handlers<Routes, GovernanceServices> = {
  async getLineage({ catalogues }, { principal, params, query }) {
    const catalogue = await catalogues.at(principal?.org ?? NOBODY);
    return lineageOf(catalogue, params.resource_id, query.direction, query.depth, query.limit);
  },

  async getUpstream({ catalogues }, { principal, params, query }) {
    const catalogue = await catalogues.at(principal?.org ?? NOBODY);
    const {
      upstream,
      edges: _,
      downstream: __,
      ...rest
    } = lineageOf(catalogue, params.resource_id, "upstream", query.depth, query.limit);
    return { ...rest, dependencies: upstream, total: upstream.length };
  },

  async getDownstream({ catalogues }, { principal, params, query }) {
    const catalogue = await catalogues.at(principal?.org ?? NOBODY);
    const {
      downstream,
      edges: _,
      upstream: __,
      ...rest
    } = lineageOf(catalogue, params.resource_id, "downstream", query.depth, query.limit);
    const byTier: Record<string, number> = {};
    for (const { classification } of downstream) byTier[classification.tier] = (byTier[classification.tier] ?? 0) + 1;
    return { ...rest, impacted: downstream, total: downstream.length, by_tier: byTier };
  },

  async getColumnImpact({ catalogues }, { principal, params, query }) {
    const { graph } = await catalogues.at(principal.org);
    const { column, change, depth } = query;
    if (!graph.has(params.resource_id)) throw notFound(params.resource_id);
    const impact = columnImpact(graph, params.resource_id, column, change, query);
    const here = graph.effective(params.resource_id, column);
    if (impact === undefined || here === undefined) throw noSuchColumn(params.resource_id, column);
    const datasets = new Map<string, { resource_id: string; effect: ColumnEffect; hop: number }>();
    const columns = impact.columns.map(({ resource, column: of, effect, hop, jobs }) => {
      const known = datasets.get(resource);
      if (known === undefined || surerEffect(effect, known.effect))
        datasets.set(resource, { resource_id: resource, effect, hop: known?.hop ?? hop });
      const { tier, tags } = graph.effective(resource, of) ?? here;
      return {
        resource_id: resource,
        ...(of === undefined ? {} : { column: of }),
        classification: { tier, tags: [...tags] },
        effect,
        hop,
        jobs: [...jobs],
      };
    });
    return {
      resource_id: graph.canonical(params.resource_id),
      column,
      change,
      classification: { tier: here.tier, tags: [...here.tags] },
      depth,
      truncated: impact.truncated,
      columns,
      datasets: [...datasets.values()],
      jobs: impact.jobs.map((job) => ({ ...job })),
    };
  },

  async getSchemaChanges({ catalogues }, { principal, params, query }) {
    const { graph, intake } = await catalogues.at(principal.org);
    if (!graph.has(params.resource_id)) throw notFound(params.resource_id);
    const id = graph.canonical(params.resource_id);
    const versions = intake.history.versions((name) => graph.canonical(name) === id);
    const { start_date, end_date } = query;
    const at = (when: number) => versions.filter(({ time }) => time <= when).at(-1);
    const to = end_date === undefined ? versions.at(-1) : at(end_date);
    // where the end lies before the first version there was nothing, and nothing became of it
    const first = to === undefined ? undefined : versions[0];
    const from = start_date === undefined ? first : at(start_date);
    const { added, removed, retyped } = schemaChanges(from, to);
    return {
      resource_id: id,
      versions: versions.map(({ time, columns }) => ({ time: new Date(time).toISOString(), columns: { ...columns } })),
      added: [...added],
      removed: [...removed],
      retyped: [...retyped],
    };
  },

  async listLineageRuns({ catalogues }, { principal, query }) {
    const { intake } = await catalogues.at(principal.org);
    const { job, state, start_date, end_date, limit, offset } = query;
    const all = intake.history.runs({
      ...(job === undefined ? {} : { job }),
      ...(state === undefined ? {} : { state }),
      ...(start_date === undefined ? {} : { from: start_date }),
      ...(end_date === undefined ? {} : { to: end_date }),
    });
    const iso = (time: number): string => new Date(time).toISOString();
    const runs = all.slice(offset, offset + limit).map((run) => ({
      job: run.job,
      run_id: run.runId,
      state: run.state,
      started_at: iso(run.startedAt),
      ended_at: run.endedAt === undefined ? null : iso(run.endedAt),
      updated_at: iso(run.updatedAt),
      inputs: [...run.inputs],
      outputs: [...run.outputs],
      facets: { ...run.facets },
      truncated: run.truncated,
    }));
    return { runs, count: runs.length, total: all.length };
  },

  async getLineageDiff({ catalogues }, { principal, query, now }) {
    const { from, to = now, limit } = query;
    const [then, later] = await catalogues.between(principal.org, from, to);
    const { resources, columns, edges } = lineageDiff(then, later);
    let truncated = false;
    const first = <T>(all: readonly T[]): readonly T[] => {
      if (all.length > limit) truncated = true;
      return all.slice(0, limit);
    };
    const told = <T, V>({ added, removed, changed }: Differences<T>, view: (one: T) => V) => ({
      added: first(added).map(view),
      removed: first(removed).map(view),
      changed: first(changed).map((one) => ({ from: view(one.from), to: view(one.to) })),
    });
    type Column = SnapshotColumn & { readonly resource: string };
    const all: { added: Column[]; removed: Column[]; changed: { from: Column; to: Column }[] } = {
      added: [],
      removed: [],
      changed: [],
    };
    for (const [resource, { added, removed, changed }] of columns) {
      all.added.push(...added.map((one) => ({ ...one, resource })));
      all.removed.push(...removed.map((one) => ({ ...one, resource })));
      all.changed.push(...changed.map((one) => ({ from: { ...one.from, resource }, to: { ...one.to, resource } })));
    }
    const iso = (time: number): string => new Date(time).toISOString();
    const classified = ({ tier, tags }: TierTags) => ({ tier, tags: [...tags] });
    return {
      from: iso(from),
      to: iso(to),
      resources: told(resources, (one) => ({ resource_id: one.id, classification: classified(one), owners: [...one.owners] })),
      columns: told(all, (one) => ({
        resource_id: one.resource,
        column: one.name,
        type: one.type,
        classification: classified(one),
      })),
      edges: told(edges, (one) => ({ ...one, jobs: [...one.jobs], columns: one.columns.map((c) => ({ ...c })) })),
      truncated,
    };
  },

  async viewLineage({ catalogues, tiers }, { principal, params, query, request }) {
    const catalogue = await catalogues.at(principal?.org ?? NOBODY);
    const lineage = lineageOf(catalogue, params.resource_id, query.direction, query.depth, 1000);
    return lineagePage(lineage, tiers.tiers, request.basePath);
  },

  lineageAsset: (_, { params, request }) => lineageAsset(params.file, request.headers["accept-encoding"]),

  async ingestLineage(services, input) {
    const take = await taker(services, input);
    const { doc, warnings } = await take(input.body);
    await append(services, input, [doc]);
    return { accepted: 1, warnings: warnings.slice(0, MAX_WARNINGS) };
  },

  async ingestLineageBatch(services, input) {
    let accepted = 0;
    let docs: LineageEventDoc[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (docs.length > 0) await append(services, input, docs);
      [docs, size] = [[], 0];
    };
    const rejected: { index: number; message: string }[] = [];
    const warnings: { index: number; code: string; path: string; message: string }[] = [];
    const take = await taker(services, input);
    for (const [index, event] of input.body.entries()) {
      await nextTurn();
      try {
        const taken = await take(event);
        accepted += 1;
        docs.push(taken.doc);
        size += JSON.stringify(taken.doc).length;
        const told = taken.warnings.slice(0, MAX_WARNINGS - warnings.length);
        warnings.push(...told.map((warning) => ({ index, ...warning })));
      } catch (error) {
        if (!isCoded(error, "validation_failed")) throw error;
        rejected.push({ index, message: error.message });
      }
      // Each event stands by itself: a commit of all of them would keep the others waiting.
      if (size > MAX_COMMIT) await flush();
    }
    await flush();
    return { accepted, rejected, warnings };
  },

  async blockEdge({ catalogues, store }, input) {
    const { source, target, blocked } = input.body;
    const { org } = input.principal;
    const catalogue = await catalogues.at(org);
    const found = catalogue.graph
      .edgesAmong([catalogue.graph.canonical(source), catalogue.graph.canonical(target)])
      .some((e) => e.source === catalogue.graph.canonical(source));
    if (!found) throw notFound(`${source} -> ${target}`);
    const doc: JsonObject = { org, source, target, blocked };
    const result = await store.commit({
      commitId: randomUUID(),
      puts: [
        { coll: "lineage_blocks", id: documentId(org, source, target), doc },
        versionPut("lineage_blocks", documentId(org, source, target), doc, input.now),
      ],
      audit: [
        auditOf(whoOf(input), {
          operation: blocked ? "LINEAGE_BLOCK" : "LINEAGE_UNBLOCK",
          resource: target,
          resources: [source, target],
          reasoning: "propagation over the edge changed",
        }),
      ],
    });
    if (!result.ok) throw lostRace();
    return { source, target, blocked };
  },
};

/** Warnings that an answer tells. */
const MAX_WARNINGS = 1000;

/** Characters of events that are committed at once. */
const MAX_COMMIT = 256 << 10;

/** Characters of SQL that are read for one request. */
const MAX_REQUEST_SQL = 1 << 20;

interface Taken {
  readonly doc: LineageEventDoc;
  readonly warnings: readonly LineageWarning[];
}

/**
 * Takes in the events of one request: refuses what is none, and has their SQL read beside the serving thread. What is not read narrows nothing, so that the
 * tiers of the outputs are as high as without it.
 */
async function taker({ catalogues, classifier }: GovernanceServices, { principal: { org }, now }: Incoming) {
  const { intake } = await catalogues.at(org);
  const arrived_at = new Date(now).toISOString();
  /** Data sets of each run that this request brings. */
  const coming = new Map<string, Set<string>>();
  let left = MAX_REQUEST_SQL;
  return async (raw: object): Promise<Taken> => {
    const event = readLineageEvent(raw, now);
    const run = JSON.stringify([event.job?.namespace, event.job?.name, event.runId]);
    const names = coming.get(run) ?? new Set();
    intake.checkRun(event, names);
    coming.set(run, names);
    const question = intake.question(event);
    const length = question?.query.length ?? 0;
    const doc = { arrived_at, event: raw as JsonObject };
    if (length > Math.min(MAX_LINEAGE_SQL, left)) {
      const message = `not read: at most ${MAX_LINEAGE_SQL} characters of one text and ${MAX_REQUEST_SQL} of one request are`;
      const warning = { code: "sql_not_read", path: "job.facets.sql", message };
      return { doc: { ...doc, sql: null }, warnings: [...event.warnings, warning] };
    }
    left -= length;
    const sql = question === undefined ? null : await classifier.readSql(question, `lineage of ${org}`);
    return { doc: { ...doc, sql }, warnings: event.warnings };
  };
}

type Incoming = Parameters<typeof whoOf>[0] & { readonly principal: { readonly org: string } };

/** The raw events are kept: the graph is built from them again at the next start. */
async function append(services: GovernanceServices, input: Incoming, docs: readonly LineageEventDoc[]): Promise<void> {
  const puts = docs.map(
    (doc): Put => ({
      coll: "lineage_events",
      id: `${input.principal.org}|${randomUUID()}`,
      ifVersion: 0,
      doc: doc as unknown as JsonObject,
    }),
  );
  const result = await services.store.commit({
    commitId: randomUUID(),
    puts,
    audit: [
      auditOf(whoOf(input), { operation: "LINEAGE_INGEST", resource: "lineage", reasoning: `${docs.length} events taken in` }),
    ],
  });
  if (!result.ok) throw lostRace();
}

/** The answer of the lineage route. Throws `not_found`. */
function lineageOf(
  catalogue: DataCatalogue,
  id: string,
  direction: "upstream" | "downstream" | "both",
  depth: number,
  limit: number,
) {
  const { graph } = catalogue;
  const here = graph.effective(id);
  if (here === undefined) throw notFound(id);
  const none = { visits: [] as readonly Visit[], truncated: false };
  const up = direction === "downstream" ? none : graph.walk(id, "upstream", depth, limit);
  const down = direction === "upstream" ? none : graph.walk(id, "downstream", depth, limit);
  const canonical = graph.canonical(id);
  const entry = (visit: Visit) => {
    const from = graph.propagatedFrom(visit.id);
    return {
      resource_id: visit.id,
      classification: { tier: visit.effective.tier, tags: [...visit.effective.tags] },
      operation: visit.operation,
      timestamp: new Date(visit.timestamp).toISOString(),
      hop: visit.hop,
      ...(from === undefined ? {} : { propagated_from: [...from] }),
    };
  };
  return {
    resource_id: canonical,
    classification: { tier: here.tier, tags: [...here.tags] },
    upstream: up.visits.map(entry),
    downstream: down.visits.map(entry),
    depth,
    truncated: up.truncated || down.truncated,
    edges: graph
      .edgesAmong([canonical, ...up.visits.map((v) => v.id), ...down.visits.map((v) => v.id)])
      .map((edge) => ({ ...edge, jobs: [...edge.jobs], columns: edge.columns.map((c) => ({ ...c })) })),
  };
}
