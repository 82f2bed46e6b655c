import { createHash } from "node:crypto";
import { openMemoryStore, type SettableClock, settableClock } from "@seneschal/adapters/memory";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { openSqlParser } from "@seneschal/adapters/sql-parser";
import { systemRandom } from "@seneschal/adapters/system";
import type { Serve } from "@seneschal/contract";
import { governanceContract, governanceInfo } from "@seneschal/contract/governance";
import type { SqlParser } from "@seneschal/governance";
import type { DocumentStore, PolicyEngine } from "@seneschal/kernel/ports";
import { serve as express } from "@seneschal/server-express";
import { serve as fastify } from "@seneschal/server-fastify";
import { openCheckpointSigner } from "../../src/governance/audit/open-checkpoint-signer.ts";
import {
  type Governance,
  type GovernanceOptions,
  governanceSchema,
  governanceSettings,
  openGovernance,
} from "../../src/governance/index.ts";
import { defineService, type RunningService, startService } from "../../src/platform/index.ts";
import { contractLog } from "../platform/contract-log.ts";
import { checkUnsaid } from "../platform/watched-requests.ts";
import { governanceWatch } from "./governance-watch.ts";

export const servers: readonly (readonly [string, Serve])[] = [
  ["express", express],
  ["fastify", fastify],
];

export const NOON = Date.parse("2026-03-01T12:00:00.000Z");

/** Configured keys by what they may do. `other` belongs to another organisation. */
const KEYS = {
  admin: { scopes: ["admin"] },
  reader: { scopes: ["lineage:read", "audit:read"] },
  writer: { scopes: ["lineage:write", "resources:write", "lineage:read"] },
  judge: { scopes: ["classify", "evaluate"] },
  other: { scopes: ["admin"], org: "elsewhere" },
} as const;
export type Caller = keyof typeof KEYS | { readonly key: string } | undefined;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

export interface Rig {
  readonly service: RunningService;
  readonly store: DocumentStore;
  readonly clock: SettableClock;
  call(who: Caller, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Archives what is due then, however few records are. */
  archive(now: number): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

export interface RigOptions {
  readonly settings?: Record<string, unknown>;
  readonly store?: DocumentStore;
  readonly policy?: PolicyEngine;
  readonly sql?: SqlParser;
  /** The file of the key that signs checkpoints; without it a new key. */
  readonly checkpointKey?: string;
  readonly source?: GovernanceOptions["source"];
  readonly recogniser?: GovernanceOptions["recogniser"];
  readonly archive?: GovernanceOptions["archive"];
  readonly decisionsTold?: GovernanceOptions["decisionsTold"];
}

const parser = await openSqlParser();

/** A running data-governance service on a real socket over the memory store. */
export async function startRig(
  serve: Serve,
  {
    settings = {},
    store = openMemoryStore(governanceSchema),
    policy = embeddedPolicyEngine(),
    sql = parser,
    checkpointKey,
    source,
    recogniser,
    archive,
    decisionsTold,
  }: RigOptions = {},
): Promise<Rig> {
  const clock = settableClock(NOON);
  const config = governanceSettings.parse({
    api_keys: Object.entries(KEYS).map(([id, key]) => ({
      id,
      sha256: createHash("sha256").update(`key-of-${id}`).digest("hex"),
      ...key,
    })),
    ...settings,
    classification: { threads: 0, ...(settings["classification"] as object | undefined) },
  });
  const signer = await openCheckpointSigner(checkpointKey, "test");
  /** What requests changed without saying so, or while they only read. */
  const unsaid = new Set<string>();
  let governance: Governance | undefined;
  const definition = defineService({
    name: "governance",
    contract: governanceContract,
    settings: governanceSettings,
    info: governanceInfo,
    async build(own, { random, log, metrics, version, background, health }) {
      const opened = await openGovernance({
        store: governanceWatch.store(store),
        policy,
        sql,
        signer,
        clock,
        random,
        log,
        metrics,
        version,
        background,
        health,
        config: own,
        source,
        ...(recogniser === undefined ? {} : { recogniser }),
        archive,
        ...(decisionsTold === undefined ? {} : { decisionsTold }),
      });
      governance = opened;
      return { ...opened, endpoints: (hooks) => governanceWatch.endpoints(opened.endpoints(hooks), unsaid) };
    },
  });
  const contract = contractLog();
  const service = await startService(definition, config, {
    serve,
    listen: { port: 0 },
    clock,
    random: systemRandom,
    log: contract.log,
    version: "test",
  });
  return {
    service,
    store,
    clock,
    async call(who, method, path, body, headers = {}) {
      const key = who === undefined ? undefined : typeof who === "string" ? `key-of-${who}` : who.key;
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      return { status: response.status, headers: response.headers, body: isJson && text !== "" ? JSON.parse(text) : text };
    },
    archive: async (now) => (await governance?.archiveAudit({ now, few: false })) ?? [],
    async stop() {
      await service.stop();
      checkUnsaid(unsaid);
      contract.check();
    },
  };
}
