import { randomUUID } from "node:crypto";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { isCoded, type JsonObject } from "@seneschal/core";
import { readLineageEvent, type Visit } from "@seneschal/core/governance";
import type { Put } from "@seneschal/core/ports";
import { auditOf } from "../audit/event.ts";
import { conflict, notFound } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { lineageAsset, lineagePage } from "../view/lineage-page.ts";
import { NOBODY, whoOf } from "../who.ts";
import type { World } from "../worlds.ts";

type Routes = Pick<
  GovernanceContract,
  | "getLineage"
  | "getUpstream"
  | "getDownstream"
  | "viewLineage"
  | "lineageAsset"
  | "ingestLineage"
  | "ingestLineageBatch"
  | "blockEdge"
>;

export const lineageHandlers: Handlers<Routes, GovernanceServices> = {
  async getLineage({ worlds }, { principal, params, query }) {
    const world = await worlds.at(principal?.org ?? NOBODY);
    return lineageOf(world, params.resource_id, query.direction, query.depth, query.limit);
  },

  async getUpstream({ worlds }, { principal, params, query }) {
    const world = await worlds.at(principal?.org ?? NOBODY);
    const {
      upstream,
      edges: _,
      downstream: __,
      ...rest
    } = lineageOf(world, params.resource_id, "upstream", query.depth, query.limit);
    return { ...rest, dependencies: upstream, total: upstream.length };
  },

  async getDownstream({ worlds }, { principal, params, query }) {
    const world = await worlds.at(principal?.org ?? NOBODY);
    const {
      downstream,
      edges: _,
      upstream: __,
      ...rest
    } = lineageOf(world, params.resource_id, "downstream", query.depth, query.limit);
    const byTier: Record<string, number> = {};
    for (const { classification } of downstream) byTier[classification.tier] = (byTier[classification.tier] ?? 0) + 1;
    return { ...rest, impacted: downstream, total: downstream.length, by_tier: byTier };
  },

  async viewLineage({ worlds, tiers }, { principal, params, query }) {
    const world = await worlds.at(principal?.org ?? NOBODY);
    return lineagePage(lineageOf(world, params.resource_id, query.direction, query.depth, 1000), tiers.tiers);
  },

  lineageAsset: (_, { params, request }) => lineageAsset(params.file, request.headers["accept-encoding"]),

  async ingestLineage(services, input) {
    const { warnings } = readLineageEvent(input.body, input.now);
    await append(services, input, [input.body]);
    return { accepted: 1, warnings: [...warnings] };
  },

  async ingestLineageBatch(services, input) {
    const accepted: unknown[] = [];
    const rejected: { index: number; message: string }[] = [];
    const warnings: { index: number; code: string; path: string; message: string }[] = [];
    for (const [index, event] of input.body.entries()) {
      try {
        warnings.push(...readLineageEvent(event, input.now).warnings.map((warning) => ({ index, ...warning })));
        accepted.push(event);
      } catch (error) {
        if (!isCoded(error, "validation_failed")) throw error;
        rejected.push({ index, message: error.message });
      }
    }
    if (accepted.length > 0) await append(services, input, accepted);
    return { accepted: accepted.length, rejected, warnings };
  },

  async blockEdge({ worlds, store }, input) {
    const { source, target, blocked } = input.body;
    const { org } = input.principal;
    const world = await worlds.at(org);
    const found = world.graph
      .edgesAmong([world.graph.canonical(source), world.graph.canonical(target)])
      .some((e) => e.source === world.graph.canonical(source));
    if (!found) throw notFound(`${source} -> ${target}`);
    const doc: JsonObject = { org, source, target, blocked };
    const result = await store.commit({
      commitId: randomUUID(),
      puts: [{ coll: "lineage_blocks", id: `${org}|${source}|${target}`, doc }],
      audit: [
        auditOf(whoOf(input), {
          operation: blocked ? "LINEAGE_BLOCK" : "LINEAGE_UNBLOCK",
          resource: target,
          resources: [source, target],
          reasoning: "propagation over the edge changed",
        }),
      ],
    });
    if (!result.ok) throw conflict();
    return { source, target, blocked };
  },
};

/** The raw events are kept: the graph is built from them again at the next start. */
async function append(
  services: GovernanceServices,
  input: Parameters<typeof whoOf>[0] & { readonly principal: { readonly org: string } },
  events: readonly unknown[],
): Promise<void> {
  const arrived = new Date(input.now).toISOString();
  const puts = events.map(
    (event): Put => ({
      coll: "lineage_events",
      id: `${input.principal.org}|${randomUUID()}`,
      ifVersion: 0,
      doc: { arrived_at: arrived, event: event as JsonObject },
    }),
  );
  const result = await services.store.commit({
    commitId: randomUUID(),
    puts,
    audit: [
      auditOf(whoOf(input), { operation: "LINEAGE_INGEST", resource: "lineage", reasoning: `${events.length} events taken in` }),
    ],
  });
  if (!result.ok) throw conflict();
}

/** The answer of the lineage route. Throws `not_found`. */
function lineageOf(world: World, id: string, direction: "upstream" | "downstream" | "both", depth: number, limit: number) {
  const { graph } = world;
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
