import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";
import { type ObjectVersion, pastVersionId, versionIdOf } from "../objects/records.ts";
import type { Body, ChunkRef } from "../objects/references.ts";

/** That a cluster is being restored: from which snapshot, and whether it took no writes before. */
export interface RestoreClaim extends JsonObject {
  readonly snapshot: string;
  readonly read_only: boolean;
}

/**
 * Claims a cluster for a restore: only one that holds nothing, and only once; the same snapshot goes on where it was interrupted. `before`: the
 * claim that stands; `holds`: collections of the cluster with something in them; `readOnly`: it takes no writes now. Throws `restore_not_empty`.
 *
 * @example
 * ```ts
 * import { claimRestore } from "@seneschal/core/storage";
 * const claim = claimRestore("s1", { before: undefined, holds: [], readOnly: false });
 * console.log(claim); // { snapshot: 's1', read_only: false }
 * try {
 *   claimRestore("s2", { before: claim, holds: [], readOnly: true });
 * } catch (error) {
 *   console.log((error as Error).message); // the cluster is half restored from backup s1
 * }
 * ```
 */
export function claimRestore(
  snapshot: string,
  facts: { readonly before: RestoreClaim | undefined; readonly holds: readonly string[]; readonly readOnly: boolean },
): RestoreClaim {
  checkArgument("snapshot", snapshot, "string");
  checkArgument("facts", facts, "object");
  const { before, holds, readOnly } = facts;
  if (before?.snapshot === snapshot) return before;
  if (before !== undefined)
    throw new CodedError("restore_not_empty", `the cluster is half restored from backup ${before.snapshot}`, {
      backup: snapshot,
    });
  const [held] = holds;
  if (held !== undefined) throw new CodedError("restore_not_empty", `the cluster holds data: ${held}`);
  return { snapshot, read_only: readOnly };
}

/** A document of a snapshot. */
export interface SnapshotDocument {
  readonly id: string;
  readonly doc: JsonObject;
}

/** A document to be put; with `ifVersion`: where there is none. */
export interface RestoredPut extends SnapshotDocument {
  readonly coll: string;
  readonly ifVersion?: 0;
}

/** What is to be written of a page of a snapshot. */
export interface RestoredPage {
  /** Versions that have become current since they were met, and the records that they had before: to be written together. */
  readonly moved: {
    readonly puts: readonly RestoredPut[];
    readonly dels: readonly { readonly coll: string; readonly id: string }[];
  };
  /** What is met for the first time. One that an earlier attempt put is left as it is; master keys replace those of the empty cluster. */
  readonly puts: readonly RestoredPut[];
  /** How many documents of the page are restored. */
  readonly documents: number;
}

/** What a restore takes of a snapshot, page by page, in the order in which that was written. */
export interface SnapshotIntake<C extends JsonObject & { readonly refs: number }> {
  /** Chunks are not to be written before their bytes are: they are asked for by {@link chunk}. */
  take(coll: string, page: readonly SnapshotDocument[]): RestoredPage;
  /** A chunk with as many references as what was taken has to it; `undefined`: it is unknown, or nothing refers to it. */
  chunk(id: string): C | undefined;
  /** All such chunks by their ids. */
  chunks(): Iterable<readonly [id: string, chunk: C]>;
  /** How many chunks the snapshot has listed. */
  listed(): number;
}

/**
 * Begins to take a snapshot. A snapshot is of no one moment: versions that moved while it was made are in it in two places, and each is taken
 * once, the current one where it has become that. References are counted anew from what was taken.
 *
 * @example
 * ```ts
 * import { takeSnapshot } from "@seneschal/core/storage";
 * const intake = takeSnapshot();
 * const doc = { bucket: "docs", key: "a", body: { kind: "chunks", chunks: [{ id: "c1", size: 1, key: "" }] } };
 * intake.take("storage_objects", [{ id: "o1", doc }]);
 * console.log(intake.take("storage_versions", [{ id: "o1.null", doc }]).documents); // 0
 * intake.take("storage_chunks", [{ id: "c1", doc: { refs: 7 } }, { id: "c2", doc: { refs: 1 } }]);
 * console.log([...intake.chunks()]); // [ [ 'c1', { refs: 1 } ] ]
 * ```
 */
export function takeSnapshot<C extends JsonObject & { readonly refs: number }>(): SnapshotIntake<C> {
  const versions = new Set<string>();
  const references = new Map<string, number>();
  const listed = new Map<string, C>();
  const nameOf = (coll: string, { id, doc }: SnapshotDocument): string =>
    coll === "storage_versions" ? id : pastVersionId(id, versionIdOf(doc as ObjectVersion));

  const chunk = (id: string): C | undefined => {
    const [record, refs] = [listed.get(id), references.get(id)];
    return record === undefined || refs === undefined ? undefined : { ...record, refs };
  };

  return {
    take(coll, page) {
      checkArgument("coll", coll, "string");
      checkArgument("page", page, "array");
      const isVersion = coll === "storage_objects" || coll === "storage_versions";
      const again = isVersion ? page.filter((item) => versions.has(nameOf(coll, item))) : [];
      const first = page.filter((item) => !again.includes(item));
      if (isVersion) for (const item of first) versions.add(nameOf(coll, item));
      const current = coll === "storage_objects" ? again : [];
      const moved = {
        puts: current.map(({ id, doc }) => ({ coll, id, doc })),
        dels: current.map((item) => ({ coll: "storage_versions", id: nameOf(coll, item) })),
      };
      if (coll === "storage_chunks") {
        for (const { id, doc } of first) listed.set(id, doc as C);
        return { moved, puts: [], documents: first.length };
      }
      for (const { doc } of first)
        for (const { id } of referencesIn(coll, doc)) references.set(id, (references.get(id) ?? 0) + 1);
      const condition = coll === "storage_masters" ? {} : { ifVersion: 0 as const };
      return { moved, puts: first.map(({ id, doc }) => ({ coll, id, doc, ...condition })), documents: first.length };
    },
    chunk,
    *chunks() {
      for (const id of listed.keys()) {
        const record = chunk(id);
        if (record !== undefined) yield [id, record] as const;
      }
    },
    listed: () => listed.size,
  };
}

/** The references that a document of a collection has to chunks. */
function referencesIn(coll: string, doc: JsonObject): readonly ChunkRef[] {
  if (coll === "storage_parts") return doc["chunks"] as readonly ChunkRef[];
  if (coll !== "storage_objects" && coll !== "storage_versions") return [];
  const body = doc["body"] as unknown as Body;
  return body.kind === "chunks" ? body.chunks : [];
}
