import { staticKeys, tokenVerifier } from "@seneschal/adapters/jwt";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { type Dispatch, dispatcher, type Hooks } from "@seneschal/contract";
import { unwatched } from "@seneschal/contract/testing";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type CommitFault, chaosStore } from "@seneschal/kernel/testing";
import type fc from "fast-check";
import { devIssuer, type Gateway, gatewaySchema, gatewaySettings, openGateway } from "../../../src/gateway/index.ts";
import { strictBackground } from "../../platform/strict-background.ts";
import { begin } from "../begin.ts";
import { threads } from "../threads.ts";

/** How often a model runs: a few times in every test run, `FC_RUNS` times when asked. */
export const numRuns = Number(process.env["FC_RUNS"] ?? 10);
/** For a test that runs so often. */
export const timeout = Math.max(120_000, numRuns * 5_000);

/** What a request came to; status 0: the process died before it answered. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a model looks into replies of every shape
  readonly body: any;
}

export type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

/** A gateway without sockets: requests go to its dispatcher, so that thousands of histories take minutes. */
export interface ModelGateway {
  readonly clock: ReturnType<typeof settableClock>;
  readonly store: DocumentStore;
  /** Makes an organisation that has no root key. */
  begin(org: string): Promise<void>;
  /** Whoever a token names. */
  as(sub: string, org: string, ...roles: readonly string[]): Ask;
  /** Whoever presents this very token. */
  holding(token: string): Ask;
  sweep(): Promise<void>;
  /** The process ends and another begins over the same store and vault: nothing but those is kept. */
  restart(): Promise<void>;
  /**
   * `kill -9` in the middle of a commit: `after` more of them are heard, then the process dies, with the next one whole in the store
   * (`written`) or not at all. From then on nobody is answered, and nothing reaches the store, until a restart.
   */
  kill(at: { readonly after: number; readonly written: boolean }): void;
  /** Whether the process has died of it. */
  isDead(): boolean;
  stop(): Promise<void>;
}

const issuer = devIssuer();
/** Every gateway of a run opens at one instant: certificates of one are valid for another that is opened minutes later. */
const began = Date.now();

async function openModelGateway(): Promise<ModelGateway> {
  const clock = settableClock(began);
  const store = openMemoryStore(gatewaySchema);
  let death: { after: number; written: boolean } | undefined;
  let dead = false;
  const fault = (): CommitFault => {
    if (dead) return "unreachable";
    if (death === undefined || death.after-- > 0) return "none";
    dead = true;
    return death.written ? "reply_dropped" : "request_dropped";
  };
  const seal = { kind: "key", key: systemRandom(32) } as const;
  const parts = { crypto: nodeCrypto, random: systemRandom, clock };
  const vault = await openEmbeddedVault({ ...parts, store: openMemoryStore({ collections: vaultCollections }), unseal: seal });
  const now = (): number => clock.now();
  const boot = async (): Promise<{ readonly gateway: Gateway; readonly dispatch: Dispatch }> => {
    const { issuer: name, audience, publicKey } = issuer;
    const keys = staticKeys(publicKey);
    const verifier = tokenVerifier({ keys, issuer: name, audiences: [audience], clockSkewMs: 30_000, now });
    const gateway = await openGateway({
      ...parts,
      store: chaosStore(store, fault),
      vault,
      ...threads,
      version: "model",
      config: gatewaySettings.parse({ federation: { allowed_targets: ["127.0.0.0/8"], timeout: "1s" } }),
      log: openLogger({ level: "silent" }),
      metrics: openMetrics({ prefix: "gateway", version: "model" }),
      background: strictBackground(openLogger({ level: "silent" })),
      health: async () => ({ status: "healthy", ready: true, components: {} }),
      tokens: [{ ...verifier, method: "jwt" }],
    });
    const hooks: Hooks = { ...unwatched, ...gateway.hooks, now, requestId: () => "model" };
    return { gateway, dispatch: dispatcher(gateway.endpoints(hooks), hooks) };
  };
  let running = await boot();
  const stop = async (): Promise<void> => running.gateway.stop?.();
  /** Signed once at each instant: people say who they are some hundred times in a history. */
  const bearer = (claims: Parameters<typeof issuer.token>[0]) => {
    let signed: { readonly at: number; readonly token: string } | undefined;
    return (): string => {
      if (signed?.at !== now()) signed = { at: now(), token: issuer.token(claims, now()) };
      return signed.token;
    };
  };
  const holding =
    (token: () => string): Ask =>
    async (method, target, body) => {
      const {
        status,
        headers,
        body: bytes,
      } = await running.dispatch({
        method,
        target,
        remoteAddress: "::1",
        headers: { authorization: `Bearer ${token()}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        body: body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body)),
      });
      if (dead) return { status: 0, body: undefined };
      let text = "";
      for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) text += Buffer.from(chunk).toString("utf8");
      if (text === "") return { status, body: undefined };
      return { status, body: headers["content-type"]?.startsWith("application/json") ? JSON.parse(text) : text };
    };
  return {
    clock,
    store,
    begin: (org) => begin(running.gateway, org),
    as: (sub, org, ...roles) => holding(bearer({ sub, org, roles })),
    holding: (token) => holding(() => token),
    sweep: () => running.gateway.sweep(now()),
    stop,
    kill(at) {
      death = { ...at };
    },
    isDead: () => dead,
    async restart() {
      // What has died stops nothing in order: what it still meant to write is lost.
      await stop().catch((error: unknown) => {
        if (!dead) throw error;
      });
      [death, dead] = [undefined, false];
      running = await boot();
    },
  };
}

const HISTORIES = 250;

/** A gateway for each history, and an organisation that no other history has seen. It begins anew before its store grows large. */
export function modelGateways(): () => Promise<{ readonly gateway: ModelGateway; readonly org: string }> {
  let gateway: ModelGateway | undefined;
  let histories = 0;
  return async () => {
    if (gateway === undefined || histories % HISTORIES === 0) {
      await gateway?.stop();
      gateway = await openModelGateway();
    }
    // A history that failed may have left it so.
    if (gateway.isDead()) await gateway.restart();
    histories += 1;
    return { gateway, org: `org-${histories}` };
  };
}

/** One step of a history: what happens, under which name it is shown, and when it can happen at all. */
export function step<Model extends object, Real>(
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): fc.AsyncCommand<Model, Real> {
  return { run, check, toString: () => name };
}
