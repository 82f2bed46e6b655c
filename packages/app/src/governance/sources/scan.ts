import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { DataSource, SourceAsset } from "@seneschal/adapters/sources";
import {
  type ColumnClassifier,
  columnName,
  datasetEvent,
  resourceId,
  type ScannedAsset,
  type ScannedColumn,
  sameSchema,
  scannedAsset,
  type TierPolicy,
} from "@seneschal/governance";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { everyDocument, type JobContext } from "../../platform/index.ts";
import { auditOf } from "../audit/event.ts";
import type { LineageEventDoc } from "../catalogues.ts";
import { documentId } from "../document-ids.ts";
import { lostRace } from "../fault.ts";
import { versionPut } from "../versions.ts";
import type { ScannedDoc } from "./types.ts";

interface Known {
  readonly doc: ScannedDoc;
  readonly version: number;
}

/** What a scan came to. `scanned`, `unchanged` and `failed` are parts of `assets`. */
export interface ScanResult {
  readonly assets: number;
  readonly scanned: number;
  readonly unchanged: number;
  readonly failed: number;
  /** Of formats that nobody reads: not registered. */
  readonly skipped: number;
  /** Not there any more. */
  readonly dropped: number;
  readonly truncated: boolean;
  /** The first of those that failed. */
  readonly failures: readonly { readonly resource_id: string; readonly reason: string }[];
}

export interface ScanParts {
  readonly store: DocumentStore;
  readonly classifier: ColumnClassifier;
  readonly tiers: TierPolicy;
  readonly now: () => number;
}

const PRODUCER = "https://seneschal.example/scan";
const MAX_FAILURES = 100;
/** Writes of one asset. */
const TRIES = 5;
/** Names that the interface can tell. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const TELLABLE = /^[^\u0000-\u001f\u007f\p{Surrogate}]{1,1024}$/u;

/**
 * Scans a source: lists what is there, classifies samples of it, and writes what changed of the organisation's catalogue, table by table. Run again it does the same anew: what a scan that
 * was interrupted wrote stands.
 */
export async function scanSource(
  { store, classifier, tiers, now }: ScanParts,
  { org, name: sourceName, open }: { readonly org: string; readonly name: string; readonly open: () => Promise<DataSource> },
  { job, signal, progress }: Pick<JobContext, "job" | "signal" | "progress">,
): Promise<ScanResult> {
  const source = await open();
  try {
    const { assets, skipped, truncated } = await source.list(signal);
    const known = new Map<string, Known>();
    for await (const { doc, version } of everyDocument(store, "scanned_assets", "by_source", [org, sourceName]))
      known.set(doc["name"] as string, { doc: doc as unknown as ScannedDoc, version });
    const counts = { scanned: 0, unchanged: 0, failed: 0, dropped: 0 };
    const failures: { resource_id: string; reason: string }[] = [];
    for (const [i, asset] of assets.entries()) {
      await progress(i / assets.length, { done: i });
      const before = known.get(asset.name);
      known.delete(asset.name);
      if (isUnchanged(asset, before?.doc)) {
        counts.unchanged++;
        continue;
      }
      const read = await sampled(asset);
      let { reason } = read;
      if (TELLABLE.test(idOf(asset.name))) {
        const keep = (columns: readonly ScannedColumn[] | undefined) =>
          write(asset.name, before, (doc) => scannedAsset(tiers, doc, columns, asset.revision));
        try {
          await keep(read.columns);
        } catch (error) {
          if (read.columns === undefined || !isCoded(error, "invalid_document")) throw error;
          reason = "the catalogue cannot hold its columns";
          await keep(undefined);
        }
      }
      if (reason === undefined) counts.scanned++;
      else {
        counts.failed++;
        if (failures.length < MAX_FAILURES) failures.push({ resource_id: columnName(idOf(asset.name), []), reason });
      }
    }
    // Of a listing that is not whole nobody knows what is gone.
    for (const before of truncated ? [] : known.values()) {
      if (before.doc.gone) continue;
      await progress(1, { done: assets.length });
      await write(before.doc.name, before, (doc = before.doc) => ({ ...doc, gone: true }));
      counts.dropped++;
    }
    return { assets: assets.length, skipped, truncated, ...counts, failures };
  } finally {
    await source.close();
  }

  function idOf(name: string): string {
    return resourceId(source.namespace, name);
  }

  /** What an asset holds, or why nobody knows. Rejects where no other asset can be read either. */
  async function sampled(asset: SourceAsset): Promise<{ readonly columns?: readonly ScannedColumn[]; readonly reason?: string }> {
    if (!TELLABLE.test(idOf(asset.name))) return { reason: "its name is too long, or has control characters" };
    const about =
      asset.name
        .split(/[./]/)
        .filter((part) => !/^(?:csv|tsv|jsonl|ndjson|parquet|pq)$/i.test(part))
        .at(-1) ?? "";
    try {
      const found: ScannedColumn[] = [];
      for (const { type, called, ...sample } of await source.sample(asset, signal)) {
        signal.throwIfAborted();
        const { column, tier, tags } = await classifier.classifyColumn({ ...sample, about }, `scan of ${sourceName}`);
        found.push({ name: called ?? column, ...(type === undefined ? {} : { type }), tier, tags });
      }
      return { columns: found };
    } catch (error) {
      signal.throwIfAborted();
      if (isCoded(error, "source_unavailable")) await source.probe(signal);
      else if (!isCoded(error, "asset_unreadable", "classification_failed")) throw error;
      return { reason: error.message };
    }
  }

  /** The resource and what its history says of it are one commit, on what was known until then. */
  async function write(name: string, known: Known | undefined, next: (before: ScannedDoc | undefined) => ScannedAsset) {
    const id = documentId(org, sourceName, name);
    for (let before = known, tries = 1; ; tries++) {
      const at = now();
      const { columns, unread, revision, gone } = next(before?.doc);
      const updated_at = new Date(at).toISOString();
      const own = { org, source: sourceName, resource_id: idOf(name), name };
      const doc: ScannedDoc = { ...own, columns, unread, gone, ...(revision === undefined ? {} : { revision }), updated_at };
      if (before !== undefined && isDeepStrictEqual({ ...before.doc, updated_at }, doc)) return;
      const change = gone ? "DROP" : before === undefined || before.doc.gone ? "CREATE" : "ALTER";
      const told = change !== "ALTER" || !sameSchema(before?.doc.columns ?? {}, columns);
      const fields = gone
        ? []
        : Object.entries(columns).map(([field, { type }]) => Object.assign({ name: field }, type && { type }));
      const event = datasetEvent({ producer: PRODUCER, namespace: source.namespace, name, change, fields }, at);
      const eventDoc: LineageEventDoc = { arrived_at: updated_at, event: event as unknown as JsonObject, sql: null };
      const audit = auditOf(
        { org, user: job.created_by, now: at },
        {
          operation: "SCAN",
          resource: own.resource_id,
          reasoning: gone ? "not there any more" : unread ? "could not be read: of the highest tier" : "scanned",
          tags: [...new Set(Object.values(columns).flatMap(({ tags = [] }) => tags))],
        },
      );
      const event_id = `${org}|${randomUUID()}`;
      const result = await store.commit({
        commitId: randomUUID(),
        puts: [
          { coll: "scanned_assets", id, doc: doc as unknown as JsonObject, ifVersion: before?.version ?? 0 },
          versionPut("scanned_assets", id, doc as unknown as JsonObject, at),
          ...(told ? [{ coll: "lineage_events", id: event_id, ifVersion: 0, doc: eventDoc as unknown as JsonObject }] : []),
        ],
        audit: [audit],
      });
      if (result.ok) return;
      if (tries === TRIES) throw lostRace();
      // A process that lost its lease wrote its last one.
      before = (await store.get("scanned_assets", id)) as unknown as Known | undefined;
    }
  }
}

function isUnchanged({ revision }: SourceAsset, before: ScannedDoc | undefined): boolean {
  return revision !== undefined && before !== undefined && !before.unread && !before.gone && before.revision === revision;
}
