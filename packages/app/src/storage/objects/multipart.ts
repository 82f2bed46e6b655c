import { randomUUID } from "node:crypto";
import {
  type Body,
  type Completion,
  checkDescription,
  checkLockable,
  checkUpload,
  etagOfParts,
  joinedObject,
  objectError,
  type PartBody,
  partsToJoin,
  replicaOrdinal,
  storageError,
  type Upload,
  type UploadDraft,
  type UploadTarget,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Put } from "@seneschal/kernel/ports";
import { commit } from "../context.ts";
import type { ObjectDoc, PartDoc } from "../schema.ts";
import { expectRoom } from "./bucket-usage.ts";
import { openBucket } from "./buckets.ts";
import { commitObjects } from "./commit-objects.ts";
import { customerKeyFor, encryptBody, newSalt } from "./customer-key.ts";
import { checkKey } from "./object-id.ts";
import { commitObject } from "./put-object.ts";
import { trashPut } from "./references.ts";
import { type ObjectServices, writableShard } from "./services.ts";
import { storeBody, whileStored } from "./store-body.ts";
import { findVersion, pastVersions } from "./versions.ts";

/** Begins an upload; returns its id. */
export async function createUpload(services: ObjectServices, draft: UploadDraft): Promise<string> {
  checkKey(draft.key);
  checkDescription({ contentType: draft.content_type, headers: draft.headers, meta: draft.meta });
  await writableShard(services, draft.bucket, draft.key);
  const id = randomUUID().replaceAll("-", "");
  const doc: Upload = { ...draft, started_at: services.context.clock.now() };
  for (let attempt = 0; attempt < 50; attempt++) {
    const { bucket, version } = await openBucket(services, draft.tenant, draft.bucket, attempt > 0);
    checkLockable(bucket, draft);
    if (draft.replica !== undefined) replicaOrdinal(bucket, draft.replica, services.context.clock.now());
    const result = await commit(services.context.store, {
      puts: [{ coll: "storage_uploads", id, doc, ifVersion: 0 }],
      checks: [{ coll: "storage_buckets", id: draft.bucket, version }],
    });
    if (result.ok) return id;
  }
  throw objectError("OperationAborted", "the bucket changes all the time, try again");
}

/** The upload that a target names. Throws `NoSuchUpload`, and what {@link openBucket} throws. */
export async function openUpload(
  services: ObjectServices,
  target: UploadTarget,
): Promise<{ readonly doc: Upload; readonly version: number }> {
  await openBucket(services, target.tenant, target.bucket);
  const found = await services.context.store.get("storage_uploads", target.upload);
  const doc = found?.doc as Upload | undefined;
  checkUpload(doc, target);
  return { doc, version: found?.version ?? 0 };
}

/** Stores one part; sending a number again replaces it. Throws `InvalidRequest` for another client's key than the upload's. */
export async function uploadPart(
  services: ObjectServices,
  target: UploadTarget,
  number: number,
  { bytes, checksums = {}, length, customerKey }: PartBody,
): Promise<PartDoc> {
  const { store, clock, random } = services.context;
  const { doc: begun } = await openUpload(services, target);
  const key = customerKeyFor(begun, customerKey);
  await writableShard(services, target.bucket, target.key);
  await expectRoom(services, (await openBucket(services, target.tenant, target.bucket)).bucket, target.key, length);
  // New for each sending: the same key stream would tell two bodies apart.
  const salt = key === undefined ? undefined : newSalt(random);
  const etagSalt = begun.encryption?.kind === "customer" ? begun.encryption.salt : "";
  const sealed = key && encryptBody(bytes, key, salt ?? "", etagSalt);
  // Parts are never inline: their records would grow with the object.
  const stored = await storeBody(services, target.tenant, sealed?.bytes ?? bytes, -1, length);
  const id = `${target.upload}.${number}`;
  return whileStored(stored, async () => {
    for (let attempt = 0; attempt < 50; attempt++) {
      let part: PartDoc | undefined;
      const outcome = await stored.finish(async (made) => {
        const upload = await openUpload(services, target);
        const before = await store.get("storage_parts", id);
        const chunks = made.kind === "chunks" ? made.chunks : [];
        part = {
          upload: target.upload,
          number,
          size: stored.size,
          etag: sealed?.etag() ?? stored.md5,
          modified_at: clock.now(),
          chunks,
          ...(Object.keys(checksums).length > 0 && { checksums: { ...checksums } }),
          ...(salt !== undefined && { salt }),
        };
        const replaced = before === undefined ? [] : [trashOfPart(services.context, before.doc as PartDoc)];
        return {
          puts: [{ coll: "storage_parts", id, doc: part, ifVersion: before?.version ?? 0 }, ...replaced],
          checks: [{ coll: "storage_uploads", id: target.upload, version: upload.version }],
        };
      });
      if (outcome === "committed" && part !== undefined) return part;
    }
    throw storageError("ShardUnavailable", "too many writers of one part, try again");
  });
}

/** The parts of an upload by number. */
export async function listParts(
  services: ObjectServices,
  target: UploadTarget,
  after: number,
  limit: number,
): Promise<{ readonly upload: Upload; readonly parts: readonly PartDoc[]; readonly more: boolean }> {
  const { doc: upload } = await openUpload(services, target);
  const page = await services.context.store.list("storage_parts", "by_upload", [target.upload], {
    from: [after + 1],
    limit: limit + 1,
  });
  const parts = page.items.map((i) => i.doc as PartDoc);
  return { upload, parts: parts.slice(0, limit), more: parts.length > limit };
}

/**
 * Joins the named parts into the object without copying a byte; parts that are not named go to the trash. Said again, when the
 * answer was lost, it is the same answer for as long as the object is the one that it made.
 */
export async function completeUpload(services: ObjectServices, target: UploadTarget, completion: Completion): Promise<ObjectDoc> {
  try {
    return await joinParts(services, target, completion);
  } catch (error) {
    const made = isCoded(error, "NoSuchUpload") ? await madeBy(services, target, completion) : undefined;
    if (made === undefined) throw error;
    return made;
  }
}

/** The object that this completion has made before, if it is still there, the current version or one before it. */
async function madeBy(
  services: ObjectServices,
  { bucket, key, upload }: UploadTarget,
  { parts }: Completion,
): Promise<ObjectDoc | undefined> {
  const ids = parts.map(({ number }) => `${upload}.${number}`).join();
  const joined = etagOfParts(parts);
  const made = ({ body, etag }: ObjectDoc) =>
    body.kind === "parts" && etag === joined && body.parts.map(({ id }) => id).join() === ids;
  const current = (await findVersion(services, { bucket, key }))?.doc;
  if (current !== undefined && made(current)) return current;
  for await (const { doc } of pastVersions(services.context.store, bucket, key))
    if (made(doc as ObjectDoc)) return doc as ObjectDoc;
  return undefined;
}

async function joinParts(
  services: ObjectServices,
  target: UploadTarget,
  { parts: named, conditions, customerKey, join }: Completion,
): Promise<ObjectDoc> {
  const { store, clock } = services.context;
  const { doc: upload, version } = await openUpload(services, target);
  customerKeyFor(upload, customerKey);
  const found = await store.getMany(
    "storage_parts",
    named.map((n) => `${target.upload}.${n.number}`),
  );
  const parts = partsToJoin(
    named,
    found.map((part) => part?.doc as PartDoc | undefined),
  );
  const object = joinedObject(upload, parts, (await join?.(upload, parts)) ?? {});
  const used = new Set(named.map((n) => n.number));
  const spare: PartDoc[] = [];
  for (let after = 0; ; ) {
    const page = await listParts(services, target, after, 1000);
    spare.push(...page.parts.filter((p) => !used.has(p.number)));
    if (!page.more) break;
    after = page.parts.at(-1)?.number ?? after;
  }
  const body: Body = { kind: "parts", parts: parts.map((p) => ({ id: `${target.upload}.${p.number}`, size: p.size })) };
  let uploadGone = false;
  const doc = await commitObject(
    services,
    {
      ...target,
      event: "ObjectCreated:CompleteMultipartUpload",
      replica: upload.replica,
      ...(conditions === undefined ? {} : { conditions }),
    },
    {
      async finish(build) {
        const draft = await build(body);
        const result = await commitObjects(store, {
          ...draft,
          puts: [...(draft.puts ?? []), ...spare.map((part) => trashOfPart(services.context, part))],
          dels: [
            ...(draft.dels ?? []),
            { coll: "storage_uploads", id: target.upload, ifVersion: version },
            ...spare.map((p) => ({ coll: "storage_parts", id: `${target.upload}.${p.number}` })),
          ],
          // A part that was replaced since it was looked at must not slip in under the old ETag.
          checks: [
            ...(draft.checks ?? []),
            ...found.map((f, i) => ({
              coll: "storage_parts",
              id: `${target.upload}.${named[i]?.number}`,
              version: f?.version ?? 0,
            })),
          ],
        });
        if (result.ok) return "committed";
        uploadGone = result.failed.some((f) => f.coll === "storage_uploads" || f.coll === "storage_parts");
        if (uploadGone) throw objectError("NoSuchUpload", "the upload changed meanwhile", { upload: target.upload });
        return "conflict";
      },
    },
    (made) => ({ ...object, modified_at: clock.now(), body: made as ObjectDoc["body"] }),
  );
  return doc;
}

/** Gives an upload up; garbage collection takes back what its parts held. */
export async function abortUpload(services: ObjectServices, target: UploadTarget, startedAt?: number): Promise<void> {
  const { version, doc } = await openUpload(services, target);
  const second = (at: number) => Math.floor(at / 1000);
  if (startedAt !== undefined && second(startedAt) !== second(doc.started_at))
    throw objectError("PreconditionFailed", "the upload was started at another time", { upload: target.upload });
  const { context } = services;
  const gone = await commit(context.store, {
    puts: [trashPut(context, { kind: "upload", upload: target.upload })],
    dels: [{ coll: "storage_uploads", id: target.upload, ifVersion: version }],
  });
  if (!gone.ok) throw objectError("NoSuchUpload", "the upload does not exist", { upload: target.upload });
}

/** Moves all parts of an ended upload to the trash. Parts of a completed one are not asked for here. */
export async function dropParts({ context }: ObjectServices, upload: string): Promise<void> {
  for (;;) {
    const page = await context.store.list("storage_parts", "by_upload", [upload], { limit: 100 });
    if (page.items.length === 0) return;
    for (const { id, doc, version } of page.items)
      await commit(context.store, {
        puts: [trashOfPart(context, doc as PartDoc)],
        dels: [{ coll: "storage_parts", id, ifVersion: version }],
      });
  }
}

/** What garbage collection takes back of a part that is nobody's any more. */
function trashOfPart(context: ObjectServices["context"], { chunks }: PartDoc): Put {
  return trashPut(context, { kind: "chunks", chunks });
}
