import type { ObjectClient } from "@seneschal/adapters/grpc-storage";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { placeWebhook } from "../../src/storage/notify/notices.ts";
import { setBucketQuota } from "../../src/storage/objects/bucket-usage.ts";
import { changeBucket } from "../../src/storage/objects/buckets.ts";
import { headObject } from "../../src/storage/objects/read-object.ts";
import type { ChunkDoc } from "../../src/storage/schema.ts";
import { type GrpcRig, openGrpcRig, refusal } from "./grpc-rig.ts";
import { bytesOf, collect, operator, pattern } from "./rig.ts";
import { openReceiver } from "./webhook-receiver.ts";

const MiB = 1 << 20;
const objects = "seneschal.storage.v1.ObjectService";
const admin = "seneschal.storage.v1.StorageAdminService";

let grpc: GrpcRig;
let alpha: ObjectClient;
let beta: ObjectClient;
beforeAll(async () => {
  grpc = await openGrpcRig({ maxObjectBytes: 9 * MiB });
  alpha = await grpc.as("CN=a,OU=tenant-alpha");
  beta = await grpc.as("CN=b,OU=tenant-beta");
  await alpha.createBucket("shelf");
  await beta.createBucket("attic");
});
afterAll(() => grpc.dispose());

const at = (key: string, bucket = "shelf") => ({ bucket, key });
const put = (key: string, bytes: Uint8Array) => alpha.put(at(key), bytesOf(bytes));

/** Puts that ended with the gRPC status. */
async function puts(status: string): Promise<number> {
  const { values } = await grpc.rig.node.metrics.gatewayRequests.get();
  return values.find((v) => v.labels.protocol === "grpc" && v.labels.method === "Put" && v.labels.status === status)?.value ?? 0;
}

describe("objects", () => {
  test("a bucket is made once; again is no error", async () => {
    expect(await alpha.createBucket("second")).toBe(true);
    expect(await alpha.createBucket("second")).toBe(false);
  });

  test.each([0, 1, 4096, 4097, MiB, 4 * MiB, 4 * MiB + 1, 9 * MiB])("%i bytes read back equal", async (size) => {
    const bytes = pattern(size, size + 1);
    const info = await alpha.put(at(`size-${size}`), bytesOf(bytes), { contentType: "image/png", size });
    expect(info).toMatchObject({ size, content_type: "image/png" });
    expect(Buffer.compare(await collect(alpha.get(at(`size-${size}`))), bytes)).toBe(0);
    expect(await alpha.has(at(`size-${size}`))).toEqual(info);
  });

  test("any range is the slice of the whole", async () => {
    const size = 4 * MiB + 5000;
    const bytes = pattern(size);
    await put("ranged", bytes);
    await fc.assert(
      fc.asyncProperty(fc.nat(size), fc.option(fc.nat(size), { nil: undefined }), async (offset, length) => {
        const got = await collect(alpha.get(at("ranged"), { offset, ...(length === undefined ? {} : { length }) }));
        expect(Buffer.compare(got, bytes.subarray(offset, length === undefined ? size : offset + length))).toBe(0);
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 10) },
    );
    const error = await refusal(collect(alpha.get(at("ranged"), { offset: size + 1 })));
    expect(error).toMatchObject({ code: "InvalidRange", details: { status: 11 } });
  });

  test("a webhook hears who wrote and deleted, from where, and in which call", async () => {
    const hook = await openReceiver();
    const webhooks = new Map([["hook", { post: hook.post(), tenants: new Set(["alpha"]) }]]);
    const told = await openGrpcRig({ extra: { webhooks } });
    const { node, store } = told.rig;
    const client = await told.as("CN=a,OU=tenant-alpha");
    await client.createBucket("shelf");
    await placeWebhook(store, "hook");
    const rule = { id: "all", webhook: "hook", events: ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"] };
    await changeBucket(node.objects, "alpha", "shelf", "notifications", (b) => ({ ...b, notifications: [rule] }));
    await client.put(at("k"), bytesOf(pattern(10)));
    await client.delete(at("k"));
    await node.notifications.deliver();
    const calls = hook.heard.map(({ record }) => record.responseElements["x-amz-request-id"]);
    for (const call of calls) expect(call).toMatch(/^[0-9A-F]{16}$/);
    expect(new Set(calls).size).toBe(2);
    for (const { record } of hook.heard)
      expect(record).toMatchObject({
        userIdentity: { principalId: "alpha" },
        requestParameters: { sourceIPAddress: expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/) },
      });
    await told.dispose();
    await hook.close();
  });

  test("deleted is gone, and deleting again says that nothing was there", async () => {
    await put("brief", pattern(10));
    expect(await alpha.delete(at("brief"))).toBe(true);
    expect(await alpha.delete(at("brief"))).toBe(false);
    expect(await alpha.has(at("brief"))).toBeUndefined();
    expect(await refusal(collect(alpha.get(at("brief"))))).toMatchObject({ code: "NotFound", details: { status: 5 } });
  });

  test("if_absent keeps what is there", async () => {
    await put("kept", pattern(10, 1));
    const error = await refusal(alpha.put(at("kept"), bytesOf(pattern(10, 2)), { ifAbsent: true }));
    expect(error).toMatchObject({ code: "PreconditionFailed", details: { status: 9 } });
    expect(Buffer.compare(await collect(alpha.get(at("kept"))), pattern(10, 1))).toBe(0);
  });

  test.each([
    ["", "InvalidArgument"],
    ["k".repeat(1025), "KeyTooLongError"],
    ["a\0b", "InvalidArgument"],
  ])("a bad key is INVALID_ARGUMENT", async (key, code) => {
    expect(await refusal(put(key, pattern(3)))).toMatchObject({ code, details: { status: 3 } });
  });
});

describe("a stream that is not what it should be stores nothing", () => {
  test("more or fewer bytes than announced", async () => {
    for (const size of [9, 11]) {
      const error = await refusal(alpha.put(at("announced"), bytesOf(pattern(10)), { size }));
      expect(error).toMatchObject({ code: "IncompleteBody", details: { status: 3 } });
    }
    expect(await alpha.has(at("announced"))).toBeUndefined();
  });

  test("more bytes than an object may have, announced or not", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield pattern(MiB);
    }
    expect(await refusal(alpha.put(at("huge"), endless()))).toMatchObject({ code: "EntityTooLarge" });
    expect(await refusal(alpha.put(at("huge"), endless(), { size: 9 * MiB + 1 }))).toMatchObject({ code: "EntityTooLarge" });
    expect(await alpha.has(at("huge"))).toBeUndefined();
  });

  test("a client that goes away in the middle", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield pattern(5 * MiB);
      throw new Error("the disk is gone");
    }
    const before = await puts("1");
    expect((await refusal(alpha.put(at("torn"), broken()))).message).toBe("the disk is gone");
    // The server learns of it by and by; until it has, each look is a round trip.
    while ((await puts("1")) === before) await alpha.has(at("torn"));
    expect(await alpha.has(at("torn"))).toBeUndefined();
  });

  test("a message above 1 MiB, a body without a start, a second start", async () => {
    const own = await grpc.ca.issue("CN=a,OU=tenant-alpha");
    const start = { start: { name: at("raw") } };
    const before = await puts("1");
    const cases: readonly (readonly [object[], number])[] = [
      [[start, { data: Buffer.alloc(MiB + 20_000) }], 8],
      [[{ data: Buffer.alloc(10) }], 3],
      [[], 3],
      [[start, start], 3],
    ];
    for (const [messages, code] of cases) expect((await grpc.stream(own, messages))?.code).toBe(code);
    // The one that gRPC itself refused has ended too, as a stream that did not come to its end.
    while ((await puts("1")) === before) await alpha.has(at("raw"));
    expect(await alpha.has(at("raw"))).toBeUndefined();
  });
});

describe("tenants reach only their own", () => {
  test("another tenant's bucket is PERMISSION_DENIED in every way", async () => {
    await put("secret", pattern(100));
    const denied = { code: "TenantAccessDenied", details: { status: 7, retriable: false } };
    expect(await refusal(beta.has(at("secret")))).toMatchObject(denied);
    expect(await refusal(collect(beta.get(at("secret"))))).toMatchObject(denied);
    expect(await refusal(beta.put(at("secret"), bytesOf(pattern(5))))).toMatchObject(denied);
    expect(await refusal(beta.delete(at("secret")))).toMatchObject(denied);
    expect(Buffer.compare(await collect(alpha.get(at("secret"))), pattern(100))).toBe(0);
  });

  test("naming another tenant helps nobody", async () => {
    const denied = { code: "TenantAccessDenied", details: { status: 7 } };
    expect(await refusal(beta.has({ ...at("secret"), tenant: "alpha" }))).toMatchObject(denied);
    expect(await refusal(beta.createBucket("taken", "alpha"))).toMatchObject(denied);
    expect(await beta.has({ ...at("x", "attic"), tenant: "beta" })).toBeUndefined();
  });

  test("a node of the cluster acts for the tenant it names; an admin for none", async () => {
    const node = await grpc.as("CN=node-2,OU=store-server");
    expect((await node.has({ ...at("secret"), tenant: "alpha" }))?.size).toBe(100);
    const denied = { code: "TenantAccessDenied", details: { status: 7 } };
    expect(await refusal(node.has(at("secret")))).toMatchObject(denied);
    expect(await refusal(node.has({ ...at("secret"), tenant: "beta" }))).toMatchObject(denied);
    const root = await grpc.as("CN=root,OU=storage-admin");
    expect(await refusal(root.has({ ...at("secret"), tenant: "alpha" }))).toMatchObject(denied);
  });
});

describe("failures have the taxonomy's status, reason and retry advice", () => {
  test("maintenance refuses writes, and only writes", async () => {
    await put("calm", pattern(10));
    const { cluster } = grpc.rig.node;
    await cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
    try {
      const own = await grpc.ca.issue("CN=a,OU=tenant-alpha");
      const { error } = await grpc.ask(own, objects, "Delete", at("calm"));
      expect(error?.code).toBe(14);
      expect(error?.metadata.get("error-reason")).toEqual(["MaintenanceMode"]);
      expect(error?.metadata.get("error-retriable")).toEqual(["true"]);
      expect(error?.metadata.get("error-retry-after")).toEqual(["5"]);
      expect(await refusal(put("new", pattern(10)))).toMatchObject({ code: "MaintenanceMode", details: { retriable: true } });
      expect(await refusal(alpha.createBucket("third"))).toMatchObject({ code: "MaintenanceMode" });
      expect((await collect(alpha.get(at("calm")))).length).toBe(10);
    } finally {
      await cluster.propose({ kind: "maintenance.set", enabled: false }, operator);
    }
    expect(await alpha.delete(at("calm"))).toBe(true);
  });

  test("a full bucket is RESOURCE_EXHAUSTED, and no client tries again", async () => {
    await alpha.createBucket("full");
    await setBucketQuota(grpc.rig.node.objects, "full", { max_objects: 0 }, operator);
    const refused = { code: "QuotaExceeded", details: { status: 8, retriable: false } };
    expect(await refusal(alpha.put(at("more", "full"), bytesOf(pattern(10))))).toMatchObject(refused);
  });

  test("a full pool is RESOURCE_EXHAUSTED and what is there stays readable", async () => {
    const small = await openGrpcRig({ capacityBytes: 2 * MiB });
    try {
      const client = await small.as("CN=a,OU=tenant-alpha");
      await client.createBucket("shelf");
      const stored: number[] = [];
      let error: Awaited<ReturnType<typeof refusal>> | undefined;
      for (let i = 0; i < 40 && error === undefined; i++)
        try {
          await client.put(at(`o${i}`), bytesOf(pattern(MiB, i + 1)));
          stored.push(i);
        } catch (failure) {
          error = failure as typeof error;
        }
      expect(["PoolFull", "PoolReadOnly"]).toContain(error?.code);
      expect(error?.details).toMatchObject({ status: error?.code === "PoolFull" ? 8 : 14, retriable: true });
      expect(await refusal(client.put(at("over"), bytesOf(pattern(4 * MiB, 99))))).toMatchObject({
        details: { retriable: true },
      });
      for (const i of stored) expect(Buffer.compare(await collect(client.get(at(`o${i}`))), pattern(MiB, i + 1))).toBe(0);
    } finally {
      await small.dispose();
    }
  });

  test("losses beyond parity are DATA_LOSS, never other bytes, and name no device", async () => {
    await put("doomed", pattern(100_000, 77));
    const object = await headObject(grpc.rig.node.objects, "alpha", "shelf", "doomed");
    const { chunks } = object.body as { readonly chunks: readonly { readonly id: string }[] };
    const chunk = await grpc.rig.store.get("storage_chunks", chunks[0]?.id ?? "");
    const places = (chunk?.doc as ChunkDoc | undefined)?.fragments.slice(0, 3) ?? [];
    for (const place of places) await grpc.rig.devices.get(place?.device ?? "")?.delete(place?.extent ?? "");
    const error = await refusal(collect(alpha.get(at("doomed"))));
    expect(error).toMatchObject({ code: "ChunkLost", details: { status: 15, retriable: false } });
    expect(error.message).toBe("the object cannot be read");
  });

  test("without the key manager writes are UNAVAILABLE", async () => {
    grpc.rig.vault.away = true;
    grpc.rig.clock.set(grpc.rig.clock.now() + 2000);
    try {
      expect(await refusal(put("keyless", pattern(5000)))).toMatchObject({
        code: "KeyManagerUnavailable",
        details: { status: 14, retriable: true },
      });
    } finally {
      grpc.rig.vault.away = false;
    }
  });
});

describe("administration", () => {
  test("devices are listed, evacuation begins, RemoveDevice is guarded; each change is audited", async () => {
    const root = await grpc.ca.issue("CN=root,OU=storage-admin");
    const { reply } = await grpc.ask(root, admin, "ListDevices");
    expect(reply?.["devices"]).toHaveLength(7);
    const refused = await grpc.ask(root, admin, "RemoveDevice", { device_id: "d0" });
    expect(refused.error?.code).toBe(9);
    expect(refused.error?.metadata.get("error-reason")).toEqual(["DeviceNotEvacuated"]);
    expect((await grpc.ask(root, admin, "EvacuateDevice", { device_id: "none" })).error?.code).toBe(5);
    const begun = await grpc.ask(root, admin, "EvacuateDevice", { device_id: "d0" });
    expect((await grpc.rig.node.jobs.get(begun.reply?.["job_id"] as string))?.kind).toBe("evacuation");
    const back = await grpc.ask(root, admin, "CancelEvacuation", { device_id: "d0" });
    expect(back.reply).toMatchObject({ device_id: "d0", state: "Degraded" });
    const calls = await grpc.rig.node.metrics.adminCalls.get();
    const count = (op: string, outcome: string) =>
      calls.values.find((v) => v.labels.op === op && v.labels.outcome === outcome)?.value;
    expect(count("remove_device", "refused")).toBe(1);
    expect(count("evacuate", "ok")).toBe(1);
  });

  test("health serves what there is and knows nothing else", async () => {
    const own = await grpc.ca.issue("CN=a,OU=tenant-alpha");
    const check = (service: string) => grpc.ask(own, "grpc.health.v1.Health", "Check", { service });
    expect((await check("")).reply).toMatchObject({ status: "SERVING" });
    expect((await check(objects)).reply).toMatchObject({ status: "SERVING" });
    expect((await check("nothing")).error?.code).toBe(5);
  });

  test("calls and bytes are counted", async () => {
    const text = await grpc.rig.node.metrics.registry.metrics();
    expect(text).toMatch(/^store_gateway_requests_total\{protocol="grpc",method="Put",status="0"\} [1-9]/m);
    expect(text).toMatch(/^store_gateway_requests_total\{protocol="grpc",method="Get",status="15"\} 1$/m);
    expect(text).toMatch(/^store_transport_connections_active\{transport="grpc"\} [1-9]/m);
  });
});
