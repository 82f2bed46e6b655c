import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryLog, openMemoryStore } from "@seneschal/adapters/memory";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { Serve, ServeOptions } from "@seneschal/contract";
import { storageContract } from "@seneschal/contract/storage";
import type { Clock, DocumentStore } from "@seneschal/kernel/ports";
import { serve as express } from "@seneschal/server-express";
import { serve as fastify } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { defineService, type RunningService, startService } from "../../src/platform/index.ts";
import { openStorage, type Storage, storageSchema, storageSettings } from "../../src/storage/index.ts";
import { contractLog } from "../platform/contract-log.ts";
import { checkUnsaid } from "../platform/watched-requests.ts";
import { switchableVault } from "./rig.ts";
import { storageWatch } from "./storage-watch.ts";

export const servers: readonly (readonly [string, Serve])[] = [
  ["express", express],
  ["fastify", fastify],
];

export const people = { root: "cluster-admin", oncall: "sre-on-call", incident: "sre-incident-response" } as const;
export type Person = keyof typeof people;
export const tokenOf = (who: Person) => `token-of-${who}-0123456789`;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

export interface Harness {
  readonly service: RunningService;
  readonly storage: Storage;
  readonly vault: ReturnType<typeof switchableVault>;
  readonly directory: string;
  readonly store: DocumentStore;
  call(who: Person | undefined, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
}

/** A whole storage service on real sockets: admin HTTP and S3, small devices in a temporary directory. */
export async function startStorage(
  serve: Serve,
  settings: Record<string, unknown> = {},
  options: {
    readonly clock?: Clock;
    readonly devices?: number;
    readonly capacityBytes?: number;
    readonly vault?: ReturnType<typeof switchableVault>;
    readonly tls?: NonNullable<ServeOptions["tls"]>;
  } = {},
): Promise<Harness> {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-storage-http-"));
  const vault = options.vault ?? switchableVault();
  const store = openMemoryStore(storageSchema);
  const config = storageSettings.parse({
    admin: {
      tokens: (Object.keys(people) as Person[]).map((id) => ({
        id,
        role: people[id],
        sha256: createHash("sha256").update(tokenOf(id)).digest("hex"),
      })),
    },
    s3: { port: 0 },
    pools: [{ id: "fast", class: "ssd", durability: { data: 4, parity: 2 } }],
    devices: Array.from({ length: options.devices ?? 7 }, (_, i) => ({
      id: `d${i}`,
      pool: "fast",
      directory: join(directory, `d${i}`),
      capacity_bytes: options.capacityBytes ?? 64 << 20,
    })),
    // This machine's disk is not what is tested.
    meta_soft_limit_pct: 98,
    meta_hard_limit_pct: 99,
    backup: { directory: join(directory, "backups") },
    rate_limit: { authenticated: { limit: 1_000_000 }, anonymous: { limit: 1_000_000 } },
    ...settings,
  });
  /** What requests changed without saying so, or while they only read. */
  const unsaid = new Set<string>();
  let storage: Storage | undefined;
  const definition = defineService({
    name: "storage",
    contract: storageContract,
    settings: storageSettings,
    async build(own, platform) {
      const opened = await openStorage(own, platform, {
        store: storageWatch.store(store),
        clusterLog: createMemoryLog().open(),
        vault,
        directory,
        serveS3,
        serveGrpc,
      });
      storage = opened;
      return { ...opened, endpoints: (hooks) => storageWatch.endpoints(opened.endpoints(hooks), unsaid) };
    },
  });
  const contract = contractLog();
  const service = await startService(definition, config, {
    serve,
    listen: { port: 0, ...(options.tls === undefined ? {} : { tls: options.tls }) },
    clock: options.clock ?? systemClock,
    random: systemRandom,
    log: contract.log,
    version: "test",
  });
  if (storage === undefined) throw new Error("not built");
  await storage.node.tick();
  return {
    service,
    storage,
    vault,
    directory,
    store,
    async call(who, method, path, body, headers = {}) {
      const reply = await fetch(`${service.url}${path}`, {
        method,
        headers: {
          ...(who === undefined ? {} : { authorization: `Bearer ${tokenOf(who)}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await reply.text();
      const isJson = reply.headers.get("content-type")?.includes("json");
      return { status: reply.status, headers: reply.headers, text, body: isJson ? JSON.parse(text) : text };
    },
    async stop() {
      await service.stop();
      await rm(directory, { recursive: true, force: true });
      checkUnsaid(unsaid);
      contract.check();
    },
  };
}
