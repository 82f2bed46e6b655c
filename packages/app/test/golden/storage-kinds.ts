import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketReplicationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import type { settableClock } from "@seneschal/adapters/memory";
import { destinationArn, webhookArn } from "@seneschal/core/storage";
import { stageChunk } from "../../src/storage/objects/store-body.ts";
import { awaitExisting } from "../../src/storage/replicate/replication-queues.ts";
import type { StorageMachine } from "../compose/storage-machine.ts";
import { createFileRun } from "../storage/file-run.ts";
import { pattern, type Rig } from "../storage/rig.ts";
import { tellSink } from "./tell-sink.ts";

/** Nobody answers there. */
const away = "http://127.0.0.1:1/";

/** The settings of a machine that tells somebody, and copies somewhere, that is never there. `scratch` is a directory of its own. */
export function tellingSettings(scratch: string): Record<string, unknown> {
  const secret_key_file = join(scratch, "secret");
  writeFileSync(secret_key_file, "secret", { mode: 0o600 });
  const west = { name: "west", tenants: ["alpha"], endpoint: away, access_key: "k", secret_key_file };
  const hook = { name: "hook", tenants: ["alpha"], url: away, secret: `whsec_${Buffer.alloc(24, 7).toString("base64")}` };
  return {
    test_knobs: true,
    notifications: { webhooks: [hook], allowed_targets: ["127.0.0.1"] },
    replication: { destinations: [west] },
  };
}

/** What a bucket of the tenant `alpha` has with versions, a quota, a webhook and a copy, what files leave, and what a crash does. */
export async function makeTheRest(
  machine: StorageMachine,
  { clock, scratch }: { readonly clock: ReturnType<typeof settableClock>; readonly scratch: string },
): Promise<void> {
  const { node } = machine;
  const { store } = node.context;
  const ok = async (method: string, at: string, body?: unknown, headers?: Readonly<Record<string, string>>) => {
    const answer = await machine.call(method, at, body, headers);
    if (answer.status >= 300) throw new Error(`${method} ${at}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await ok("POST", "ops/tenants", { tenant_id: "alpha" }, { "idempotency-key": "kept-key" });
  const client = machine.client(await ok("POST", "ops/tenants/alpha/credentials", {}));
  const Bucket = "kinds";
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
  await ok("PUT", `ops/buckets/${Bucket}/quota`, { max_bytes: 1 << 30 });
  const put = (Key: string, size: number) => client.send(new PutObjectCommand({ Bucket, Key, Body: pattern(size) }));
  await put("before", 100);
  const told = { QueueArn: webhookArn("hook"), Events: ["s3:ObjectCreated:*" as const] };
  const NotificationConfiguration = { QueueConfigurations: [told] };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
  const rule = {
    ID: "all",
    Priority: 1,
    Status: "Enabled" as const,
    Filter: { Prefix: "" },
    DeleteMarkerReplication: { Status: "Enabled" as const },
    ExistingObjectReplication: { Status: "Enabled" as const },
    Destination: { Bucket: destinationArn({ name: "west", bucket: "copies" }) },
  };
  const ReplicationConfiguration = { Role: "arn:aws:iam::alpha:role/copy", Rules: [rule] };
  await client.send(new PutBucketReplicationCommand({ Bucket, ReplicationConfiguration }));
  await awaitExisting(node.objects, new AbortController().signal);
  for (const size of [30_000, 40_000]) await put("twice", size);
  const files = await createFileRun({ node } as Rig, "bucket");
  const written = await files.step({ do: "write", name: "by nfs", offset: 0, size: 6000 });
  if (written !== "OK") throw new Error(written);
  await files.close();
  await ok("PUT", "ops/devices/disk-5/smart", { temperature_celsius: 40 });
  await tellSink(store, clock, scratch);
  // As crashes leave them: a chunk that became part of nothing, and an extent that no chunk names.
  await stageChunk(node.objects, "alpha", pattern(20_000, 5));
  await node.devices.get("disk-0")?.write(`${"ab".repeat(32)}.0.dead`, pattern(10));
  const { state, error } = await machine.finished("scrub", {});
  if (state !== "succeeded") throw new Error(error);
  await leaveTrash();

  /** Bytes of a replaced object that are not due yet: those that are, a round takes at any time. */
  async function leaveTrash(): Promise<void> {
    const now = clock.now();
    while ((await store.count("storage_trash", "by_due", [])) === 0) {
      await client.send(new PutObjectCommand({ Bucket: "bucket", Key: "gone", Body: pattern(30_000) }));
      clock.set(now + 3_600_000);
      await client.send(new DeleteObjectCommand({ Bucket: "bucket", Key: "gone" }));
      clock.set(now);
    }
  }
}
