import { createCipheriv, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { encryptItems, gatewayLog, gatewaySchema, systemCall } from "@seneschal/app/gateway";
import { pooledRandom } from "@seneschal/app/platform";
import { contract, endpoints, type RunningServer } from "@seneschal/contract";
import { bindRecord, sealRecord } from "@seneschal/crypto";
import { type LogRecord, verifyRecords } from "@seneschal/crypto/audit-log";
import { CompactRange } from "@seneschal/crypto/merkle";
import { serve } from "@seneschal/server-fastify";
import { serveByProcesses } from "@seneschal/server-node";
import * as z from "zod";
import { type Bench, type BenchResult, quantile, rate, rateAsync } from "../bench.ts";
import { type BenchServer, benchCollections, benchWorkspace, openBenchGateway, openBenchServer } from "../gateway-server.ts";
import type { LoadReport } from "../load-client.ts";
import { runClient } from "../run-client.ts";

const KIB = new Uint8Array(1024).fill(7);

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
    const context = { purpose: "bench", file: "a" };
    const place = { domain: "seneschal/workspace-data/v1", workspaceId: "0199-bench", context };
    const nonces = pooledRandom(systemRandom);
    const record = rate(() => sealRecord(nodeCrypto, { key, version: 1 }, bindRecord(place), KIB, nonces));

    const gateway = await openBenchGateway(openMemoryStore({ ...gatewaySchema, collections: benchCollections }));
    const { services } = gateway;
    const call = { ...systemCall("system:bench", "acme", Date.now()), requestId: "bench" };
    await services.organizationKeys.ensureKek("acme");
    const id = await benchWorkspace(gateway, call);
    const item = { text: Buffer.from(KIB).toString("base64"), context };
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

const overHttps: Bench = {
  name: "gateway encrypt over HTTPS",
  async run() {
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
    const server = await openBenchServer((hooks) => endpoints(noop, { noop: () => ({ ok: true }) }, {}, hooks));
    const load = async (path: string, body: object): Promise<number> =>
      (await server.load({ method: "POST", path, body: JSON.stringify(body), milliseconds: 4000 })).perSecond;
    const workspace = `/api/v1/workspaces/${server.workspace}`;
    const results: BenchResult[] = [];
    try {
      for (const [size, bytes] of [
        ["1KiB", 1024],
        ["32B", 32],
      ] as const) {
        const item = { plaintext: Buffer.alloc(bytes, 7).toString("base64"), context: { purpose: "bench" } };
        const idle = await load("/noop", item);
        const single = await load(`${workspace}/encrypt`, item);
        const calls = await load(`${workspace}/encrypt-batch`, { items: Array.from({ length: 100 }, () => item) });
        results.push(
          {
            name: `gateway/encrypt-${size}-https`,
            value: single,
            unit: "/s",
            peer: "no-op route",
            peerValue: idle,
            ratio: single / idle,
            bar: ">= 0.40",
          },
          {
            name: `gateway/encrypt-batch-items-${size}-https`,
            value: calls * 100,
            unit: "items/s",
            peer: "single calls",
            peerValue: single,
            ratio: (calls * 100) / single,
            bar: ">= 10",
          },
        );
      }
      return results;
    } finally {
      await server.close();
    }
  },
};

/** How many processes in front are measured: one core is the serving process's, one the client's. */
const IN_FRONT = Math.max(1, availableParallelism() - 2);

/** One gateway by two ports: its process alone, and behind others. */
async function openBothWays(): Promise<BenchServer & { readonly behind: number }> {
  const behind: RunningServer[] = [];
  const server = await openBenchServer(undefined, async (dispatch, options) => {
    behind.push(await serveByProcesses(IN_FRONT)(dispatch, { ...options, port: 0 }));
    return serve(dispatch, options);
  });
  const close = async (): Promise<void> => {
    await behind[0]?.close();
    await server.close();
  };
  return { ...server, behind: behind[0]?.port ?? 0, close };
}

const middle = (values: readonly number[]): number => {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
};

/** What each side came to in each round: they take turns, because the machine is not equally fast from one second to the next. */
async function inTurn<T>(rounds: number, sides: readonly (() => Promise<T>)[]): Promise<readonly (readonly T[])[]> {
  const found: T[][] = [];
  for (let round = 0; round < rounds; round++) {
    const row: T[] = [];
    for (const side of sides) row.push(await side());
    found.push(row);
  }
  return found;
}

/**
 * Beside the Vault that `VAULT_ADDR`, `VAULT_CACERT` and `VAULT_TOKEN` name: its transit engine at `transit`, with an audit device, on this machine under the name
 * localhost. They take turns, each with the machine to itself; then all are asked by the clock, at 70 % of what the slowest can.
 */
const besideVault: Bench = {
  name: "gateway encrypt over HTTPS beside Vault",
  async run() {
    const { VAULT_ADDR: address, VAULT_CACERT: ca, VAULT_TOKEN: token } = process.env;
    if (address === undefined || ca === undefined || token === undefined) return [];
    const headers = { "x-vault-token": token };
    const theirs = { port: Number(new URL(address).port), ca: await readFile(ca, "utf8"), headers, connections: 64 };
    await runClient("load-client.ts", {
      ...theirs,
      method: "POST",
      path: "/v1/transit/keys/bench",
      connections: 1,
      milliseconds: 1,
    });
    const plaintext = Buffer.from(KIB).toString("base64");
    const server = await openBothWays();
    const ours = {
      method: "POST",
      path: `/api/v1/workspaces/${server.workspace}/encrypt`,
      body: JSON.stringify({ plaintext, context: { purpose: "bench" } }),
      milliseconds: 4000,
    };
    const its = {
      method: "POST",
      path: "/v1/transit/encrypt/bench",
      body: JSON.stringify({ plaintext }),
      milliseconds: 4000,
    };
    const sides = (more: object): readonly (() => Promise<LoadReport>)[] => [
      () => server.load({ ...ours, ...more }),
      () => server.load({ ...ours, ...more, port: server.behind }),
      () => runClient<LoadReport>("load-client.ts", { ...theirs, ...its, ...more }),
    ];
    try {
      const most = (await inTurn(5, sides({}))).map((round) => round.map(({ perSecond }) => perSecond));
      const slowest = Math.min(...[0, 1, 2].map((side) => middle(most.map((round) => round[side] ?? 0))));
      const p99 = (await inTurn(5, sides({ rate: 0.7 * slowest }))).map((round) => round.map((report) => report.p99));
      const rows = (what: string, rounds: typeof most, unit: string, bar: string): BenchResult[] =>
        ["", `-behind-${IN_FRONT}`].map((way, side) => ({
          name: `gateway/encrypt-1KiB-${what}${way}-beside-vault`,
          value: middle(rounds.map((round) => round[side] ?? 0)),
          unit,
          peer: "Vault, TLS, transit, file audit",
          peerValue: middle(rounds.map(([, , vault]) => vault ?? 0)),
          ratio: middle(rounds.map((round) => (round[side] ?? 0) / (round[2] ?? 0))),
          bar,
        }));
      return [...rows("https", most, "/s", ">= 1.2"), ...rows("p99", p99, "ms", "<= 1")];
    } finally {
      await server.close();
    }
  },
};

/** One process alone and the same one behind others. */
const processes: Bench = {
  name: "gateway processes",
  async run() {
    const server = await openBothWays();
    const workspace = `/api/v1/workspaces/${server.workspace}`;
    const body = JSON.stringify({ plaintext: Buffer.from(KIB).toString("base64"), context: { purpose: "bench" } });
    const results: BenchResult[] = [];
    try {
      for (const [name, call] of [
        ["encrypt-1KiB", { method: "POST", path: `${workspace}/encrypt`, body }],
        ["get-workspace", { method: "GET", path: workspace }],
      ] as const) {
        const rounds = await inTurn(9, [
          async () => (await server.load({ ...call, milliseconds: 3000 })).perSecond,
          async () => (await server.load({ ...call, milliseconds: 3000, port: server.behind })).perSecond,
        ]);
        results.push({
          name: `gateway/${name}-https-behind-${IN_FRONT}`,
          value: middle(rounds.map(([, behind]) => behind ?? 0)),
          unit: "/s",
          peer: "one process",
          peerValue: middle(rounds.map(([alone]) => alone ?? 0)),
          ratio: middle(rounds.map(([alone, behind]) => (behind ?? 0) / (alone ?? 0))),
          bar: ">= 1.2",
        });
      }
      return results;
    } finally {
      await server.close();
    }
  },
};

const audit: Bench = {
  name: "gateway audit",
  async run() {
    const gateway = await openBenchGateway(openMemoryStore({ ...gatewaySchema, collections: benchCollections }));
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
    const form = gatewayLog(sha256);
    const range = new CompactRange(0, [], sha256);
    for (let i = 1; i <= count; i++) range.appendHash(form.leaf(record(i)));
    const started = performance.now();
    const flaw = await verifyRecords(pages(count), { range, gaps: [] }, { stream: "acme", form });
    if (flaw !== undefined) throw new Error(flaw.flaw);
    const verified = performance.now() - started;
    return [
      { name: "gateway/audit-append-memory", value: appended, unit: "/s", bar: ">= 20,000/s" },
      { name: "gateway/audit-verify-1M", value: verified / 1000, unit: "s", bar: "<= 6 s" },
      await proofs(100_000),
    ];
  },
};

/** Consistency proofs of a log by what is kept of its tree, beside reading the log, as each proof did before that was kept. */
async function proofs(count: number): Promise<BenchResult> {
  const store = openMemoryStore({ ...gatewaySchema, collections: benchCollections });
  const gateway = await openBenchGateway(store);
  const { audit } = gateway.services;
  for (let i = 0; i < count; i += 1000) {
    const events = Array.from({ length: 1000 }, (_, at) => ({ stream: "acme", event: { ...record(i + at).event } }));
    await store.commit({ commitId: `bench ${i}`, audit: events });
  }
  await audit.seal();
  const proof = async (first: number): Promise<void> => {
    const proven = await audit.prove("acme", (second) => ({ kind: "consistency", first, second }));
    if (proven === undefined || "flaw" in proven) throw new Error("nothing was proven");
  };
  await proof(1);
  const started = performance.now();
  const rounds = 100;
  for (let i = 1; i <= rounds; i++) await proof(Math.floor((count * i) / (rounds + 1)));
  const value = (performance.now() - started) / rounds;
  const before = performance.now();
  if ((await audit.verify("acme")) !== undefined) throw new Error("the log is not whole");
  const whole = performance.now() - before;
  await gateway.stop?.();
  return {
    name: "gateway/audit-proof-100k",
    value,
    unit: "ms",
    bar: "<= 10 ms",
    peer: "reading the log",
    peerValue: whole,
    ratio: value / whole,
  };
}

function record(i: number): LogRecord {
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

async function* pages(count: number): AsyncGenerator<readonly LogRecord[]> {
  for (let i = 1; i <= count; i += 1000) yield Array.from({ length: Math.min(1000, count - i + 1) }, (_, at) => record(i + at));
}

export const benches: readonly Bench[] = [inProcess, overHttps, processes, besideVault, audit];
