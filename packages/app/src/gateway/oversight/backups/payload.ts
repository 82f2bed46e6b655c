import { refusal, restoreDocument, timestamp } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import type { CollectionSpec, DocumentStore } from "@seneschal/kernel/ports";
import { crks, type GatewayUnit } from "../../ground/index.ts";
import { backupCollections, prefixes } from "./backup-collections.ts";

/** The version that this code writes. */
const FORMAT = 2;

/** Format 1 knew fewer collections (no messages, edge nodes, uses of keys, workspaces of other instances); the rest is the same. */
const READABLE: readonly unknown[] = [1, FORMAT];

interface SavedDocument {
  readonly id: string;
  readonly doc: JsonObject;
  /** Of the collection when this was written; absent: 1. */
  readonly version?: number;
}

/** What a backup holds, by collection. */
export interface BackupPayload {
  readonly format_version: number;
  readonly org_id: string;
  readonly exported_at: string;
  readonly crk_public_keys: readonly string[];
  readonly collections: Readonly<Record<string, readonly SavedDocument[]>>;
}

/**
 * Gathers what belongs to an organisation. Every document is read through the unit, which commits only if none of them changed
 * meanwhile: what is saved was all there at one moment.
 */
export async function gather(store: DocumentStore, unit: GatewayUnit, org: string): Promise<BackupPayload> {
  const found = new Map<string, Map<string, JsonObject>>();
  for (const { collection, where } of backupCollections) {
    const ids = new Set<string>(where.kind === "self" ? [org] : []);
    if (where.kind === "named") {
      for (const [parentId, parent] of found.get(where.parent) ?? []) for (const id of where.ids(parent, parentId)) ids.add(id);
    }
    for (const prefix of prefixes(where, org, found)) {
      let cursor: string | undefined;
      do {
        const index = "index" in where ? where.index : "";
        const page = await store.list(collection.name, index, prefix, { limit: 500, ...(cursor && { cursor }) });
        for (const { id } of page.items) ids.add(id);
        cursor = page.cursor;
      } while (cursor !== undefined);
    }
    const docs = new Map<string, JsonObject>();
    for (const id of ids) {
      const doc = (await unit.get(collection, id)) as JsonObject | undefined;
      if (doc !== undefined) docs.set(id, doc);
    }
    found.set(collection.name, docs);
  }
  return {
    format_version: FORMAT,
    org_id: org,
    exported_at: timestamp(unit.call.now),
    crk_public_keys: [...(found.get(crks.name)?.values() ?? [])].map((crk) => String(crk["public_key"])),
    collections: Object.fromEntries([...found].map(([name, docs]) => [name, [...docs].map(([id, doc]) => saved(name, id, doc))])),
  };
}

/** Stages every document of a payload in the unit: all of them are committed, or none. */
export async function stage(unit: GatewayUnit, payload: BackupPayload): Promise<void> {
  for (const { collection, rule } of backupCollections) {
    for (const document of payload.collections[collection.name] ?? []) {
      const { id } = document;
      const doc = upgraded(collection, document);
      const current = (await unit.get(collection, id)) as JsonObject | undefined;
      const next = current === undefined ? doc : restoreDocument(rule, doc, current, payload.org_id);
      if (next !== undefined) unit.put(collection, id, next);
    }
  }
}

function saved(name: string, id: string, doc: JsonObject): SavedDocument {
  const version = backupCollections.find(({ collection }) => collection.name === name)?.collection.version ?? 1;
  return version === 1 ? { id, doc } : { id, doc, version };
}

/** A saved document as its collection is declared now. Throws `BUNDLE_INVALID` for one that a later release wrote. */
export function upgraded(
  { name, version: known = 1, upgrade = {} }: Pick<CollectionSpec, "version" | "upgrade"> & { readonly name: string },
  { id, doc, version = 1 }: SavedDocument,
): JsonObject {
  if (!Number.isSafeInteger(version) || version < 1 || version > known) {
    throw refusal("BUNDLE_INVALID", "the backup holds documents that this version does not read", {
      collection: name,
      id,
      version,
    });
  }
  let current = doc;
  for (let step = version + 1; step <= known; step++) current = (upgrade[step] as (doc: JsonObject) => JsonObject)(current);
  return current;
}

/** A payload from its bytes. Throws `BUNDLE_INVALID` for another format or organisation. */
export function readPayload(plain: Uint8Array, org: string): BackupPayload {
  const payload = JSON.parse(Buffer.from(plain).toString("utf8")) as BackupPayload;
  if (!READABLE.includes(payload.format_version) || payload.org_id !== org) {
    throw refusal("BUNDLE_INVALID", "the backup is of a format that this version does not read", {
      format_version: payload.format_version,
    });
  }
  return payload;
}
