import { join } from "node:path";
import { openDirectoryDevice } from "@seneschal/adapters/devices";
import { openLevelLog, openLevelStore } from "@seneschal/adapters/level";
import { openLogger } from "@seneschal/adapters/logging";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { openStorageNode, type StorageNode, type StorageNodeOptions } from "../../src/storage/node.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { storageSchema } from "../../src/storage/schema.ts";
import { bytesOf, operator, pattern } from "./rig.ts";

/**
 * A node on disk, as production has it: level for metadata, the embedded vault (in the same store unless it is given),
 * device directories. Its clock may go ahead.
 */
export async function openDiskNode(
  directory: string,
  aheadMs = 0,
  extra: Partial<StorageNodeOptions> = {},
): Promise<{ readonly node: StorageNode; close(): Promise<void> }> {
  const collections = { ...storageSchema.collections, ...vaultCollections };
  const clock = { now: () => systemClock.now() + aheadMs };
  const store = await openLevelStore({ ...storageSchema, collections, path: join(directory, "meta") });
  const unseal = { kind: "key", key: new Uint8Array(32).fill(7) } as const;
  const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock, unseal });
  const capacityBytes = 256 << 20;
  const devices = Array.from({ length: 5 }, (_, i) => ({
    id: `d${i}`,
    open: (known: boolean) => openDirectoryDevice({ id: `d${i}`, directory: join(directory, `d${i}`), capacityBytes, known }),
    pool: "fast",
    class: "ssd" as const,
    capacityBytes,
  }));
  const node = await openStorageNode({
    nodeId: "node-1",
    address: "127.0.0.1:9090",
    dataAddress: "127.0.0.1:9100",
    store,
    clusterLog: await openLevelLog({ path: join(directory, "log") }),
    clock,
    random: systemRandom,
    crypto: nodeCrypto,
    log: openLogger({ level: "silent" }),
    vault,
    devices,
    pools: [{ id: "fast", class: "ssd", durability: { kind: "ec", data: 2, parity: 1 } }],
    ...extra,
  });
  return {
    node,
    async close() {
      await node.stop();
      await store.close();
    },
  };
}

/** Size and content of the object that `round` writes under its name. */
export const bodyOf = (n: number): Uint8Array => pattern([100, 5000, 60_000][n % 3] ?? 1, n + 1);

/** As a child: writes, overwrites and deletes for ever, with a scrub and an evacuation beside; prints what was acknowledged. */
if (process.argv[2] === "child") {
  const [, , , directory = "", start = "0"] = process.argv;
  const { node } = await openDiskNode(directory);
  await node.tenants.create("alpha", { dedup: true }, operator).catch(() => undefined);
  await createBucket(node.objects, "alpha", "bucket", "us-east-1");
  node.start();
  await node.scrub({ kind: "cluster" }, operator).catch(() => undefined);
  const [busy] = Object.values(node.cluster.state.devices).filter((d) => d.state === "Healthy");
  if (busy !== undefined) await node.evacuate(busy.id, operator).catch(() => undefined);
  const writer = async (lane: number): Promise<void> => {
    for (let n = Number(start) + lane; ; n += 4) {
      const key = `k${n % 40}`;
      const body = { tenant: "alpha", bucket: "bucket", key, body: bytesOf(bodyOf(n)), contentType: "", headers: {}, meta: {} };
      process.stdout.write(`try ${key} ${n}\n`);
      await putObject(node.objects, body);
      process.stdout.write(`put ${key} ${n}\n`);
      if (n % 7 !== 0) continue;
      process.stdout.write(`try ${key} -1\n`);
      await deleteObject(node.objects, "alpha", "bucket", key);
      process.stdout.write(`del ${key} -1\n`);
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
}
