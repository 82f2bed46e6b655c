import { openS3Replicas } from "@seneschal/adapters/replicas";
import { changeBucket, createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import type { BucketDestination } from "../../src/storage/replicate/open-replication.ts";
import { bodyOf, openDiskNode } from "./kill-child.ts";
import { bytesOf, operator } from "./rig.ts";

/** Where a node copies to, as its options have it. */
export async function destinationsAt(endpoint: string, accessKey: string, secretKey: string) {
  const target = await openS3Replicas({ endpoint, region: "us-east-1", accessKey, secretKey: async () => secretKey });
  const destination: BucketDestination = { target, tenants: new Set(["alpha"]) };
  return new Map([["west", destination]]);
}

/**
 * As a child: writes and deletes in a bucket that is copied, so often, and prints what was acknowledged; then it copies what is left, until it is
 * killed. However late that is, no more is to be copied afterwards.
 */
if (process.argv[2] === "copy") {
  const [, , , directory = "", endpoint = "", accessKey = "", secretKey = "", writes = ""] = process.argv;
  const { node } = await openDiskNode(directory, 0, { destinations: await destinationsAt(endpoint, accessKey, secretKey) });
  await node.tenants.create("alpha", { dedup: true }, operator).catch(() => undefined);
  await createBucket(node.objects, "alpha", "source", "us-east-1", { versioning: "Enabled" });
  const destination = { name: "west", bucket: "copies" };
  const rule = { id: "r", enabled: true, form: "filter", filter: {}, priority: 1, destination, deleteMarkers: true } as const;
  await changeBucket(node.objects, "alpha", "source", "replication", (b) => ({ ...b, replication: { rules: [rule] } }));
  node.start();
  for (let n = 0; n < Number(writes); n++) {
    const key = `k${n % 7}`;
    const body = { tenant: "alpha", bucket: "source", key, body: bytesOf(bodyOf(n)), contentType: "", headers: {}, meta: {} };
    if (n % 5 === 4) await deleteObject(node.objects, "alpha", "source", key);
    else await putObject(node.objects, body);
    process.stdout.write(`${n}\n`);
  }
  for (;;) await node.replication.copy();
}
