import { randomUUID } from "node:crypto";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { searchCatalogue } from "@seneschal/governance";
import type { JsonObject } from "@seneschal/kernel";
import { auditOf } from "../audit/event.ts";
import type { DataCatalogue, ResourceDoc } from "../catalogues.ts";
import { documentId } from "../document-ids.ts";
import { invalid, lostRace, notFound } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { versionPut } from "../versions.ts";
import { whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "putResource" | "getResource" | "listResources" | "deleteResource">;

export const resourceHandlers: Handlers<Routes, GovernanceServices> = {
  async putResource({ catalogues, store, tiers }, input) {
    const { params, body, principal, now } = input;
    const check = (field: string, tier: string | undefined) => {
      if (tier !== undefined && !tiers.tiers.includes(tier)) throw invalid(field, `expected one of ${tiers.tiers.join(", ")}`);
    };
    check("tier", body.tier);
    check("accepts_tier", body.accepts_tier);
    for (const [name, column] of Object.entries(body.columns)) check(`columns.${name}.tier`, column.tier);
    const doc: ResourceDoc = {
      org: principal.org,
      resource_id: params.resource_id,
      tier: body.tier ?? null,
      tags: body.tags ?? [],
      columns: Object.fromEntries(
        Object.entries(body.columns).map(([name, { type, tier, tags }]) => [
          name,
          {
            ...(type === undefined ? {} : { type }),
            ...(tier === undefined ? {} : { tier }),
            ...(tags === undefined ? {} : { tags }),
          },
        ]),
      ),
      owners: body.owners,
      accepts_tier: body.accepts_tier ?? null,
      updated_at: new Date(now).toISOString(),
    };
    const id = documentId(principal.org, params.resource_id);
    const put = { coll: "resources", id, doc: doc as unknown as JsonObject };
    const result = await store.commit({
      commitId: randomUUID(),
      puts: [put, versionPut("resources", id, put.doc, now)],
      audit: [
        auditOf(whoOf(input), {
          operation: "RESOURCE_REGISTER",
          resource: params.resource_id,
          tier: body.tier ?? "INTERNAL",
          tags: doc.tags,
          reasoning: "resource declared",
        }),
      ],
    });
    if (!result.ok) throw lostRace();
    return view(await catalogues.at(principal.org), params.resource_id);
  },

  async getResource({ catalogues }, { params, principal }) {
    return view(await catalogues.at(principal.org), params.resource_id);
  },

  async listResources({ catalogues, tiers }, { principal, query }) {
    const catalogue = await catalogues.at(principal.org);
    const { text, tier, tag, owner } = query;
    const none = tier?.find((name) => !tiers.tiers.includes(name));
    if (none !== undefined) throw invalid("tier", `expected one of ${tiers.tiers.join(", ")}`);
    const ids = searchCatalogue(catalogue.graph, {
      ...(text === undefined ? {} : { text }),
      ...(tier === undefined ? {} : { tiers: tier }),
      ...(tag === undefined ? {} : { tags: tag }),
      ...(owner === undefined ? {} : { owner }),
    });
    const resources = ids.slice(query.offset, query.offset + query.limit).map((id) => view(catalogue, id));
    return { resources, count: resources.length, total: ids.length };
  },

  async deleteResource({ store }, input) {
    const { params, principal } = input;
    const id = documentId(principal.org, params.resource_id);
    const stored = await store.get("resources", id);
    if (stored === undefined) throw notFound(params.resource_id);
    const result = await store.commit({
      commitId: randomUUID(),
      puts: [versionPut("resources", id, null, input.now)],
      dels: [{ coll: "resources", id, ifVersion: stored.version }],
      audit: [
        auditOf(whoOf(input), {
          operation: "RESOURCE_DELETE",
          resource: params.resource_id,
          reasoning: "declaration taken back",
        }),
      ],
    });
    if (!result.ok) throw lostRace();
  },
};

function view(catalogue: DataCatalogue, id: string) {
  const info = catalogue.graph.info(id);
  const effective = catalogue.graph.effective(id);
  if (info === undefined || effective === undefined) throw notFound(id);
  return {
    resource_id: info.id,
    classification: { tier: effective.tier, tags: [...effective.tags] },
    declared: info.direct === undefined ? null : { tier: info.direct.tier, tags: [...info.direct.tags] },
    columns: Object.fromEntries(
      Object.entries(info.columns).map(([name, column]) => {
        const value = catalogue.graph.effective(id, name) ?? effective;
        return [name, { ...(column.type === undefined ? {} : { type: column.type }), tier: value.tier, tags: [...value.tags] }];
      }),
    ),
    owners: [...info.owners],
    accepts_tier: catalogue.registered.get(info.id)?.accepts_tier ?? null,
    updated_at: new Date(info.updatedAt).toISOString(),
  };
}
