import { readFileSync } from "node:fs";
import { serve } from "@seneschal/server-fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { createReadAhead } from "../../src/storage/objects/read-ahead.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { createStorageMetrics } from "../../src/storage/watch/metrics.ts";
import { type Harness, startStorage } from "./harness.ts";
import { bytesOf, pattern } from "./rig.ts";

const rules = readFileSync(new URL("../../../../ops/prometheus/storage-alerts.yaml", import.meta.url), "utf8");

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

  test("every metric that an alert rule names exists", async () => {
    const text = await metrics();
    const named = new Set(rules.match(/store_[a-z_]+/g));
    expect(named.size).toBeGreaterThan(12);
    for (const name of named) expect(text, name).toContain(`# TYPE ${name.replace(/_bucket$/, "")} `);
  });

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
