import { createMemoryLog, openMemoryStore } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import type { DocumentStore, ReplicatedLog } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storageSchema } from "../../src/storage/schema.ts";
import { operator, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

/** The log and the metadata of a node, that can be taken away. */
const away = { log: false, store: false };

function breakableLog(): ReplicatedLog {
  const log = createMemoryLog().open();
  const guard = () => {
    if (away.log) throw new CodedError("no_quorum", "no member answers");
  };
  return {
    ...log,
    read: async (afterSeq, options) => {
      guard();
      return log.read(afterSeq, options);
    },
    append: async (head, entry) => {
      guard();
      return log.append(head, entry);
    },
  };
}

function breakableStore(): DocumentStore {
  const store = openMemoryStore(storageSchema);
  const answer = async <T>(work: () => Promise<T>): Promise<T> => {
    if (away.store) throw new CodedError("store_unavailable", "the database does not answer");
    return work();
  };
  return {
    ...store,
    get: (coll, id) => answer(() => store.get(coll, id)),
    getMany: (coll, ids) => answer(() => store.getMany(coll, ids)),
    list: (coll, index, prefix, options) => answer(() => store.list(coll, index, prefix, options)),
    commit: (commit) => answer(() => store.commit(commit)),
  };
}

let s3: S3Rig;
const send = (command: object) => s3.client().send(command as never) as unknown as Promise<Record<string, unknown>>;
const put = (Key: string) => send(new sdk.PutObjectCommand({ Bucket: "quorum", Key, Body: pattern(5000) }));
const get = (Key: string) => send(new sdk.GetObjectCommand({ Bucket: "quorum", Key }));
/** Status, S3 code and Retry-After of a request that must fail. */
async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    const { name, $metadata, $response } = error as {
      readonly name: string;
      readonly $metadata: { readonly httpStatusCode: number };
      readonly $response?: { readonly headers: Readonly<Record<string, string>> };
    };
    return [$metadata.httpStatusCode, name, $response?.headers["retry-after"]];
  }
  throw new Error("it was accepted");
}
beforeAll(async () => {
  s3 = await openS3Rig({ extra: { clusterLog: breakableLog(), store: breakableStore() } });
  await send(new sdk.CreateBucketCommand({ Bucket: "quorum" }));
  await put("kept");
});
afterAll(() => s3.dispose());

test("without a consensus quorum writes are 503 with Retry-After, reads go on, and it says so", async () => {
  away.log = true;
  // What the log said within the last second still holds.
  s3.rig.clock.set(s3.rig.clock.now() + 1000);
  expect(await failure(put("x"))).toEqual([503, "ServiceUnavailable", "5"]);
  expect((await get("kept"))["ContentLength"]).toBe(5000);
  const { node } = s3.rig;
  await expect(node.cluster.propose({ kind: "maintenance.set", enabled: true }, operator)).rejects.toMatchObject({
    code: "QuorumLost",
  });
  await node.tick();
  expect(node.monitor.health()).toBe("down");
  away.log = false;
  await node.tick();
  expect(node.monitor.health()).toBe("healthy");
  const events = node.events.query({ since: 0, limit: 10, category: "raft" });
  expect(events.map((e) => e.severity)).toEqual(["info", "critical"]);
  await put("x");
});

test("without the shards' metadata every request is 503 with Retry-After, and the node lives on", async () => {
  away.store = true;
  expect(await failure(put("y"))).toEqual([503, "ServiceUnavailable", "1"]);
  expect(await failure(get("kept"))).toEqual([503, "ServiceUnavailable", "1"]);
  await s3.rig.node.tick();
  away.store = false;
  await s3.rig.node.tick();
  await put("y");
  expect((await get("y"))["ContentLength"]).toBe(5000);
});
