import { fork } from "node:child_process";
import { createCipheriv, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryRates, openMemoryStore } from "@seneschal/adapters/memory";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import {
  type AuditRecord,
  auditLeaf,
  checkpointOrigin,
  devCredentials,
  devIssuer,
  encryptItems,
  gatewaySchema,
  gatewaySettings,
  makeWorkspace,
  openGateway,
  pooledRandom,
  serverCertificate,
  systemCall,
  verifyRecords,
} from "@seneschal/app/gateway";
import { rateLimiter } from "@seneschal/app/platform";
import { contract, dispatcher, endpoints, type Hooks } from "@seneschal/contract";
import type { DocumentStore } from "@seneschal/core/ports";
import { sealRecord } from "@seneschal/crypto";
import { CompactRange, checkpointText, signNote } from "@seneschal/crypto/merkle";
import { serve } from "@seneschal/server-fastify";
import { z } from "zod";
import { type Bench, type BenchResult, rate } from "../bench.ts";

const KIB = new Uint8Array(1024).fill(7);

async function open(store: DocumentStore) {
  const unseal = { kind: "key", key: randomBytes(32) } as const;
  const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock: systemClock, unseal });
  const unlimited = { limit: 1_000_000_000, window: "1m" };
  return openGateway({
    store,
    vault,
    crypto: nodeCrypto,
    policy: embeddedPolicyEngine(),
    clock: systemClock,
    random: systemRandom,
    config: gatewaySettings.parse({ rate_limit: { authenticated: unlimited, anonymous: unlimited, guarded: unlimited } }),
    log: openLogger({ level: "silent" }),
    metrics: openMetrics({ prefix: "gateway", version: "bench" }),
    version: "bench",
    health: async () => ({ status: "healthy", ready: true, components: {} }),
  });
}

const collections = { ...gatewaySchema.collections, ...vaultCollections };

const inProcess: Bench = {
  name: "gateway encrypt 1 KiB in process",
  async run() {
    const key = randomBytes(32);
    const aad = randomBytes(96);
    const bare = rate(() => {
      const cipher = createCipheriv("aes-256-gcm", key, randomBytes(12), { authTagLength: 16 });
      cipher.setAAD(aad);
      Buffer.concat([cipher.update(KIB), cipher.final(), cipher.getAuthTag()]);
    });
    const binding = {
      domain: "seneschal/workspace-data/v1",
      workspaceId: "0199-bench",
      context: { purpose: "bench", file: "a" },
    };
    const nonces = pooledRandom(systemRandom);
    const record = rate(() => sealRecord(nodeCrypto, { key, version: 1 }, binding, KIB, nonces));

    const gateway = await open(openMemoryStore({ ...gatewaySchema, collections }));
    const { services } = gateway;
    const call = { ...systemCall("system:bench", "acme", Date.now()), requestId: "bench" };
    await services.organizationKeys.ensureKek("acme");
    const id = await benchWorkspace(gateway, call);
    const item = { text: Buffer.from(KIB).toString("base64"), context: binding.context };
    const whole = await rateAsync(() => encryptItems(services, call, id, [item]), 2000);
    await gateway.stop?.();
    return [
      {
        name: "gateway/encrypt-1KiB-record",
        value: record,
        unit: "/s",
        peer: "bare AES-256-GCM",
        peerValue: bare,
        ratio: record / bare,
        bar: ">= 20,000/s and >= 0.40",
      },
      { name: "gateway/encrypt-1KiB-with-access-and-audit", value: whole, unit: "/s" },
    ];
  },
};

/** A workspace that the caller is admitted to. */
async function benchWorkspace(gateway: Awaited<ReturnType<typeof open>>, call: ReturnType<typeof systemCall>): Promise<string> {
  const facts = { name: "bench", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
  return gateway.services.transact(call, async (unit) => {
    const id = gateway.services.newId(call.now);
    await makeWorkspace(gateway.services, unit, id, { ...facts, group_id: null, participants: [] });
    return id;
  });
}

const overHttps: Bench = {
  name: "gateway encrypt over HTTPS",
  async run() {
    const path = mkdtempSync(join(tmpdir(), "seneschal-bench-"));
    const store = await openLevelStore({ ...gatewaySchema, collections, path });
    const gateway = await open(store);
    const now = (): number => Date.now();
    const dev = await devCredentials(gateway.services, { organizations: ["acme"], issuer: devIssuer(), now: now() });
    const tls = await serverCertificate(gateway.services, { names: ["localhost"], now: now() });
    const hooks: Hooks = {
      ...gateway.hooks,
      now,
      requestId: () => randomBytes(16).toString("hex"),
      rateLimit: rateLimiter("gateway", gateway.limits, openMemoryRates(systemRandom), now),
    };
    const noop = contract({
      noop: {
        method: "POST",
        path: "/noop",
        summary: "",
        tag: "",
        auth: "principal",
        action: "workspace:read",
        body: z.strictObject({ plaintext: z.string(), context: z.record(z.string(), z.string()) }),
        status: 200,
        reply: z.object({ ok: z.boolean() }),
      },
    });
    const list = [...gateway.endpoints(hooks), ...endpoints(noop, { noop: () => ({ ok: true }) }, {}, hooks)];
    const server = await serve(dispatcher(list, hooks), {
      port: 0,
      tls: { cert: tls.cert, key: tls.key, ca: [tls.ca], requestCert: true },
    });
    await gateway.start?.();
    const admin = dev.organizations["acme"]?.admins.super_admin;
    if (admin === undefined) throw new Error("no admin");
    const principal = { id: admin.id, type: "admin", org: "acme", roles: ["super_admin"], scopes: [], method: "mtls" };
    const id = await benchWorkspace(gateway, { principal, now: now(), requestId: "" });
    const item = { plaintext: Buffer.from(KIB).toString("base64"), context: { purpose: "bench" } };
    const connection = {
      port: server.port,
      ca: tls.ca,
      cert: admin.certificate,
      key: admin.private_key,
      method: "POST",
      connections: 64,
    };
    const load = (target: string, body: object): Promise<number> =>
      new Promise((resolve, reject) => {
        const data = { ...connection, path: target, body: JSON.stringify(body), milliseconds: 4000 };
        const client = fork(new URL("../load-client.ts", import.meta.url).pathname);
        client.send(data);
        client.once("message", (answered) => resolve(Number(answered))).once("error", reject);
        client.once("exit", (code) => (code === 0 ? undefined : reject(new Error(`the load client ended with ${code}`))));
      });
    try {
      const idle = await load("/noop", item);
      const single = await load(`/api/v1/workspaces/${id}/encrypt`, item);
      const calls = await load(`/api/v1/workspaces/${id}/encrypt-batch`, { items: Array.from({ length: 100 }, () => item) });
      const results: BenchResult[] = [
        {
          name: "gateway/encrypt-1KiB-https",
          value: single,
          unit: "/s",
          peer: "no-op route",
          peerValue: idle,
          ratio: single / idle,
          bar: ">= 0.40",
        },
        {
          name: "gateway/encrypt-batch-items-https",
          value: calls * 100,
          unit: "items/s",
          peer: "single calls",
          peerValue: single,
          ratio: (calls * 100) / single,
          bar: ">= 10",
        },
      ];
      return results;
    } finally {
      await server.close();
      await gateway.stop?.();
      await store.close();
      rmSync(path, { recursive: true, force: true });
    }
  },
};

const audit: Bench = {
  name: "gateway audit",
  async run() {
    const gateway = await open(openMemoryStore({ ...gatewaySchema, collections }));
    const call = { ...systemCall("system:bench", "acme", Date.now()), requestId: "bench" };
    const { services } = gateway;
    const appended = await rateAsync(
      () =>
        services.transact(call, async (unit) => {
          unit.record({ type: "encrypt", workspace: "0199-bench", metadata: { items: 1 } });
        }),
      2000,
    );
    await gateway.stop?.();

    const count = 1_000_000;
    const sha256 = (data: Uint8Array): Uint8Array => nodeCrypto.hash("sha256", data);
    const range = new CompactRange(0, [], sha256);
    for (let i = 1; i <= count; i++) range.appendHash(auditLeaf(record(i), sha256));
    const seed = randomBytes(32);
    const key = { name: "seneschal-audit", publicKey: nodeCrypto.ed25519PublicKey(seed) };
    const text = checkpointText({ origin: checkpointOrigin("bench", "acme"), size: count, root: range.root() });
    const note = await signNote(text, key, (message) => nodeCrypto.ed25519Sign(seed, message));
    const started = performance.now();
    const checkpoint = { stream: "acme", size: count, peaks: [], note };
    const flaw = await verifyRecords(pages(count), checkpoint, { instance: "bench", key, sha256 });
    if (flaw !== undefined) throw new Error(flaw);
    return [
      { name: "gateway/audit-append-memory", value: appended, unit: "/s", bar: ">= 20,000/s" },
      { name: "gateway/audit-verify-1M", value: (performance.now() - started) / 1000, unit: "s", bar: "<= 6 s" },
    ];
  },
};

function record(i: number): AuditRecord {
  return {
    seq: i,
    stream: "acme",
    stream_seq: i,
    event: {
      id: `0199a1b2-0000-7000-8000-${String(i).padStart(12, "0")}`,
      org_id: "acme",
      timestamp: "2026-01-01T00:00:00.000Z",
      workspace: "0199a1b2-0000-7000-8000-000000000000",
      event_type: "encrypt",
      actor: "0199a1b2-0000-7000-8000-111111111111",
      actor_type: "admin",
      purpose: "bench",
      result: "success",
      metadata: { items: 1, key_version: 1 },
      request_id: "0123456789abcdef0123456789abcdef",
    },
  };
}

async function* pages(count: number): AsyncGenerator<readonly AuditRecord[]> {
  for (let i = 1; i <= count; i += 1000) yield Array.from({ length: Math.min(1000, count - i + 1) }, (_, at) => record(i + at));
}

/** Sequential calls per second. */
async function rateAsync(work: () => Promise<unknown>, ms: number): Promise<number> {
  for (const end = performance.now() + ms / 5; performance.now() < end; ) await work();
  const start = performance.now();
  let calls = 0;
  for (; performance.now() - start < ms; calls++) await work();
  return (calls * 1000) / (performance.now() - start);
}

export const benches: readonly Bench[] = [inProcess, overHttps, audit];
