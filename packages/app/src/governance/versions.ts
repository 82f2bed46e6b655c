import { randomUUID } from "node:crypto";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Put, Stored } from "@seneschal/kernel/ports";
import { everyDocument } from "../platform/index.ts";

/** What the catalogue is made of, and is written over: of these each version is kept. */
type Versioned = "resources" | "scanned_assets" | "lineage_blocks";

/** Something that a catalogue heard at a moment. */
export interface CatalogueVersion {
  /** Milliseconds. */
  readonly at: number;
  readonly coll: Versioned | "lineage_events";
  /** Of its document, without the organisation. */
  readonly key: string;
  /** `undefined`: it went. */
  readonly doc: JsonObject | undefined;
}

/** Keeps what a document of the catalogue is from now on, beside the document, in the same commit. */
export function versionPut(coll: Versioned, id: string, doc: JsonObject | null, now: number): Put {
  const [org, key] = parts(id);
  const version = { org, coll, key, doc, at: new Date(now).toISOString() };
  return { coll: "catalogue_versions", id: `${org}|${randomUUID()}`, ifVersion: 0, doc: version };
}

/** All that an organisation's catalogue heard up to a moment, in that order. */
export async function* versionsOf(store: DocumentStore, org: string, to: number): AsyncGenerator<CatalogueVersion> {
  const kept: CatalogueVersion[] = [];
  const known = new Set<string>();
  for await (const { doc } of everyDocument(store, "catalogue_versions", "by_org", [org])) {
    const version = { at: Date.parse(doc["at"] as string), coll: doc["coll"] as Versioned, key: doc["key"] as string };
    known.add(`${version.coll}/${version.key}`);
    kept.push({ ...version, doc: (doc["doc"] as JsonObject | null) ?? undefined });
  }
  // Written by a release that kept no versions.
  for (const [coll, index] of [
    ["resources", "by_org"],
    ["scanned_assets", "by_source"],
    ["lineage_blocks", "by_org"],
  ] as const) {
    for await (const { id, doc } of everyDocument(store, coll, index, [org])) {
      const [, key] = parts(id);
      if (!known.has(`${coll}/${key}`))
        kept.push({ at: Date.parse((doc["updated_at"] as string | undefined) ?? "") || 0, coll, key, doc });
    }
  }
  kept.sort((a, b) => a.at - b.at);
  const due = function* (until: number): Generator<CatalogueVersion> {
    while ((kept[0]?.at ?? Number.POSITIVE_INFINITY) <= until) yield kept.shift() as CatalogueVersion;
  };
  for await (const { id, doc } of eventsUpTo(store, to)) {
    const [owner, key] = parts(id);
    const at = Date.parse(doc["arrived_at"] as string);
    if (owner !== org) continue;
    yield* due(at);
    yield { at, coll: "lineage_events", key, doc };
  }
  yield* due(to);
}

async function* eventsUpTo(store: DocumentStore, to: number): AsyncGenerator<Stored> {
  for await (const stored of everyDocument(store, "lineage_events", "by_arrival")) {
    if (Date.parse(stored.doc["arrived_at"] as string) > to) return;
    yield stored;
  }
}

function parts(id: string): readonly [org: string, key: string] {
  const at = id.indexOf("|");
  return [id.slice(0, at), id.slice(at + 1)];
}
