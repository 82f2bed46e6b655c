import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type StoredExtent, storedExtents } from "@seneschal/adapters/devices";
import { serve } from "@seneschal/server-fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { createStorageMetrics } from "../../src/storage/metrics.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { deleteObject } from "../../src/storage/objects/delete-object.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { createReadAhead } from "../../src/storage/objects/read-ahead.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { removeExtent } from "./damage-extent.ts";
import { type Harness, startStorage } from "./harness.ts";
import { bytesOf, operator, pattern } from "./rig.ts";

describe("a storage node's metrics", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startStorage(serve);
    await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "alpha" });
    await createBucket(h.storage.node.objects, "alpha", "docs", "us-east-1");
    const draft = { tenant: "alpha", bucket: "docs", key: "a", contentType: "", headers: {}, meta: {} };
    await putObject(h.storage.node.objects, { ...draft, body: bytesOf(pattern(9 << 20)) });
  });
  afterAll(() => h.stop());
  const metrics = async () => (await h.call(undefined, "GET", "/metrics")).text;

  test("the advisory budget shows what is read ahead of a tenant's readers, and is given back when they leave", async () => {
    const { objects } = h.storage.node;
    const used = async () =>
      Number(/^store_advisory_budget_used\{tenant="alpha",budget="prefetch_bytes"\} (\d+)$/m.exec(await metrics())?.[1]);
    const reader = readObject(objects, await headObject(objects, "alpha", "docs", "a"));
    await reader.next();
    expect(await used()).toBe(4 << 20);
    await reader.return(undefined);
    expect(await used()).toBe(0);
    for await (const piece of readObject(objects, await headObject(objects, "alpha", "docs", "a")))
      expect(piece.length).toBeGreaterThan(0);
    expect(await used()).toBe(0);
    expect(await metrics()).toMatch(/^store_advisory_budget_limit\{tenant="alpha",budget="prefetch_bytes"\} 67108864$/m);
  });

  test("every metric of the interface is served, and has moved by what happened", async () => {
    const { node } = h.storage;
    const read = async () => {
      const object = await headObject(node.objects, "alpha", "docs", "a");
      for await (const piece of readObject(node.objects, object)) expect(piece.length).toBeGreaterThan(0);
    };
    const put = (key: string, bytes: Uint8Array) => {
      const draft = { tenant: "alpha", bucket: "docs", key, contentType: "", headers: {}, meta: {} };
      return putObject(node.objects, { ...draft, body: bytesOf(bytes) });
    };
    await put("same", pattern(9 << 20));
    await put("gone", pattern(70_000, 9));
    await deleteObject(node.objects, "alpha", "docs", "gone");
    await node.collectGarbage(operator);
    const [chunk] = (await chunkPage(h.store, undefined, 1)).chunks;
    const [fragment] = chunk?.doc.fragments ?? [];
    const extents = await storedExtents(join(h.directory, fragment?.device ?? ""));
    await removeExtent(extents.find(({ name }) => name === fragment?.extent) as StoredExtent);
    await read();
    await writeFile(
      join(h.directory, "d0", "smart.json"),
      JSON.stringify({ wear_percent: 12, bad_sectors: 3, temperature_celsius: 41, uncorrectable_reads: 0 }),
    );
    await node.tick();
    // A node that never scrubbed is overdue from its beginning on, not never.
    expect(Number(/^store_scrub_last_success_timestamp_seconds (\S+)$/m.exec(await metrics())?.[1])).toBeGreaterThan(0);
    await h.call("root", "POST", "/ui/api/ops/scrub", {});
    await h.call("root", "POST", "/ui/api/ops/keys/rotate", {});
    await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "shredded" });
    await node.tenants.shred("shredded", operator);
    await h.call(undefined, "POST", "/ui/api/ops/scrub", {});
    await (await fetch(`${h.storage.gateway()?.url}/docs`)).text();
    await node.jobs.drain();
    await node.tick();
    const text = await metrics();
    const value = (sample: string) => {
      const line = text.split("\n").find((l) => l.startsWith(`store_${sample} `) || l.startsWith(`store_${sample}{`));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ") + 1));
    };
    /** What must be there and above zero, by the name of the interface document, with the labels that matter. */
    const moved = [
      ...["raft_entries_total", "raft_commit_latency_seconds_count", "chunk_reads_total", "chunk_writes_total"],
      ...["chunk_dedup_hits_total", "chunk_read_bytes_total", "chunk_write_bytes_total", "chunk_ec_encode_seconds_count"],
      ...["chunk_ec_decode_seconds_count", "pool_capacity_bytes", "pool_used_bytes", "pool_free_bytes", "crypto_shred_total"],
      ...["device_wear_percent", "device_bad_sectors", "device_temperature_celsius", "shard_inline_threshold_bytes"],
      ...["key_rotation_total", "key_manager_reachable", "gateway_requests_total", "gateway_request_duration_seconds_count"],
      ...["scrub_chunks_total", "scrub_last_success_timestamp_seconds", "repair_total", "gc_runs_total"],
      ...["gc_reclaimed_bytes_total", "admin_calls_total", "auth_failures_total", "advisory_budget_limit"],
      'pool_state{pool="fast",state="normal"}',
      'device_state{device="d0",state="Healthy"}',
      'tenant_kms_reachable{tenant="alpha"}',
    ];
    for (const name of moved) expect(value(name), name).toBeGreaterThan(0);
    /** What must be there; nothing happened that it counts, or it depends on the place of a key. */
    const served = [
      "raft_state",
      "shard_delta_count",
      "shard_bytes",
      "maintenance_mode",
      "view_lag_seconds",
      "advisory_budget_used",
    ];
    for (const name of served) expect(value(name), name).toBeDefined();
    for (const name of ["raft_leader_changes_total", "transport_bytes_total", "transport_errors_total"])
      expect(text, name).toContain(`# TYPE store_${name} counter`);
    for (const name of ["transport_connections_active", "transport_connections_idle"])
      expect(text, name).toContain(`# TYPE store_${name} gauge`);
    expect(value("device_wear_percent")).toBe(12);
    expect(value("view_lag_seconds")).toBe(0);
  });

  test("a tenant without room is read for without reading ahead; another tenant has its own", () => {
    const budget = createReadAhead(createStorageMetrics(), 100);
    const first = budget.take("alpha", 80);
    expect(budget.take("alpha", 21)).toBeUndefined();
    expect(budget.take("beta", 21)).toBeDefined();
    first?.();
    first?.();
    expect(budget.take("alpha", 100)).toBeDefined();
    expect(budget.take("alpha", 1)).toBeUndefined();
  });
});
