import {
  type Contract,
  type Dispatch,
  dispatcher,
  type Endpoint,
  type ErrorTable,
  endpoints,
  type Handlers,
  type Hooks,
  type Route,
  type SealStatus,
  sealContract,
  withHeaders,
} from "@seneschal/contract";
import { CodedError } from "@seneschal/kernel";
import * as z from "zod";
import type { RateLimits } from "./rate-limit/rate-limiter.ts";

/** A share as it came. */
export interface GivenKey {
  readonly key: string;
  readonly nonce?: string | undefined;
  /** Milliseconds. */
  readonly now: number;
  readonly address: string;
  readonly requestId: string;
}

type SealState = Omit<SealStatus, "version">;

/** The seal of a vault, open or not, in the hands of its operators. */
export interface Seal {
  state(now: number): Promise<SealState>;
  /** Throws `share_invalid`, and `seal_conflict` for a share of another attempt. Of an open vault it changes nothing. */
  unseal(given: GivenKey): Promise<SealState>;
  /** Judges and records that an operator seals the vault. Throws `share_invalid`, and `seal_conflict` where no shares could open it again. */
  seal(given: GivenKey): Promise<SealState>;
}

/** A vault that waits for its operators. */
export interface SealedVault extends Seal {
  /** The unseal key, once enough of them came. */
  readonly opened: Promise<Uint8Array>;
  /** Whether this is the unseal key. */
  opens(key: Uint8Array): Promise<boolean>;
}

const MINUTE = 60_000;

/** So often one address may give shares. */
export const sealLimits: RateLimits = {
  authenticated: { limit: 60, window: MINUTE },
  anonymous: { limit: 60, window: MINUTE },
  guarded: { routes: ["unseal", "seal"], rate: { limit: 10, window: MINUTE } },
};

/** The routes of a seal, for a service whose vault has one. */
export function sealEndpoints(seal: Seal, version: string, { idempotency: _, ...hooks }: Hooks): readonly Endpoint[] {
  const handlers: Handlers<typeof sealContract, Seal> = {
    sealStatus: async (own, { now }) => ({ ...(await own.state(now)), version }),
    unseal: async (own, input) => ({ ...(await own.unseal(givenBy(input))), version }),
    seal: async (own, input) => ({ ...(await own.seal(givenBy(input))), version }),
  };
  return endpoints(sealContract, handlers, seal, { ...hooks, errors: sealErrors(hooks.errors) });
}

/** The failures of a service whose vault has a seal. */
export function sealErrors(errors: ErrorTable): ErrorTable {
  const { SHARE_INVALID = [] } = errors.only;
  return { ...errors, only: { ...errors.only, SHARE_INVALID: [...SHARE_INVALID, "unseal", "seal"] } };
}

function givenBy(input: {
  readonly body: { readonly key: string; readonly nonce?: string | undefined };
  readonly now: number;
  readonly requestId: string;
  readonly request: { readonly remoteAddress: string };
}): GivenKey {
  const { body, now, requestId, request } = input;
  return { ...body, now, requestId, address: request.remoteAddress };
}

/** Answers while a vault waits for its operators: its seal, the probes, which say so, and to all else when to return. */
export function whileSealed(
  seal: Seal,
  { hooks, version, livePath }: { readonly hooks: Hooks; readonly version: string; readonly livePath: string },
): Dispatch {
  const sealed = { status: "unhealthy", message: "sealed" };
  const answers: Readonly<Record<string, readonly [status: number, body: object]>> = {
    "/health": [503, { status: "degraded", sealed: true, version, components: { vault: sealed } }],
    "/ready": [503, { status: "not_ready", sealed: true }],
    [livePath]: [200, { status: "alive", sealed: true }],
  };
  const probes = Object.entries(answers).map(([path, [status, body]]): [string, Route, () => unknown] => {
    const route = { method: "GET", path, summary: "Probe", tag: "probes", auth: "public", status: 200, uncounted: true } as const;
    return [path, { ...route, alsoStatus: [503], reply: z.looseObject({}) }, () => withHeaders({}, body, status)];
  });
  const routes = Object.fromEntries(probes.map(([path, route]) => [path, route]));
  const handlers = Object.fromEntries(probes.map(([path, , handler]) => [path, handler])) as Handlers<Contract, undefined>;
  const own = [...sealEndpoints(seal, version, hooks), ...endpoints(routes, handlers, undefined, hooks)];
  return dispatcher(own, {
    ...hooks,
    available() {
      throw new CodedError("vault_sealed", "the vault is sealed: its operators have to unseal it");
    },
    onError: () => undefined,
  });
}
