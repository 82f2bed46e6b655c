import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import type { Message } from "./message.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

/** What a partner has had us keep, that nobody here asked for or has looked at yet; or how much of it there may be. */
export interface PartnerUse {
  /** Invitations that wait for an answer. */
  readonly offers: number;
  /** All workspaces of the partner that are known here, offered ones too. */
  readonly workspaces: number;
  /** Of messages that were not read, rounded up. */
  readonly message_bytes: number;
}

/** When it is worth trying again: somebody must answer or read first. */
const RETRY_SECONDS = 900;

/**
 * Throws `RATE_LIMITED` for the first budget that is used up, of those that `use` speaks of.
 *
 * @example
 * ```ts
 * import { requireWithinBudgets } from "@seneschal/core/keys";
 * const budgets = { offers: 2, workspaces: 10, message_bytes: 1 << 20 };
 * requireWithinBudgets({ offers: 1, workspaces: 3 }, budgets); // there is room for one more
 * ```
 */
export function requireWithinBudgets(use: Partial<PartnerUse>, budgets: PartnerUse): void {
  checkArgument("use", use, "object");
  checkArgument("budgets", budgets, "object");
  for (const budget of ["offers", "workspaces", "message_bytes"] as const) {
    const limit = budgets[budget];
    if (!((use[budget] ?? Number.NEGATIVE_INFINITY) >= limit)) continue;
    const details = { budget, limit, retry_after: RETRY_SECONDS };
    throw refusal("RATE_LIMITED", `the partner's budget of ${budget.replace("_", " ")} is used up`, details);
  }
}

/** The sizes by which messages that wait are counted, in bytes, ascending: each counts as the smallest that holds it. The last holds any. */
export const countedSizes: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128].map((kib) => kib << 10);

/**
 * What a message that waits counts as: one of {@link countedSizes}.
 *
 * @example
 * ```ts
 * import { countedSize } from "@seneschal/core/keys";
 * console.log(countedSize({ subject: "hello", body: "A".repeat(3000) })); // 4096
 * ```
 */
export function countedSize(message: Pick<Message, "body" | "subject">): number {
  checkArgument("message", message, "object");
  const { body, subject } = message;
  return countedSizes.find((bytes) => body.length + subject.length <= bytes) ?? (countedSizes.at(-1) as number);
}

export const federationStatuses = ["pending", "active", "revoked"] as const;
export type FederationStatus = (typeof federationStatuses)[number];

/** The channel between an organisation and one partner. `partner_org_id` is unique per organisation while not revoked. */
export interface Federation {
  readonly id: string;
  readonly org_id: string;
  readonly partner_org_id: string;
  readonly partner_url: string;
  /** The partner's issuing CA, PEM: whom its client certificate must chain to. */
  readonly partner_cert: string;
  /** The certificate that we signed for the partner, PEM; absent until its CSR came. */
  readonly certificate: string | null;
  readonly serial_number: string | null;
  readonly certificate_expires_at: Timestamp | null;
  readonly status: FederationStatus;
  /** We hold a certificate that the partner signed for us: calls to it can be made. */
  readonly outbound_ready: boolean;
  /** That certificate, PEM, ours first, the partner's issuing CA behind it; what we show when we call. `null` until one was imported. */
  readonly outbound_certificate: string | null;
  /** When it ends; absent in records of before that was kept. */
  readonly outbound_expires_at?: Timestamp;
  /** When the partner's instance last answered, or called; `null` before it did. */
  readonly last_heard_at: Timestamp | null;
  readonly established_at: Timestamp | null;
  readonly last_health_check: Timestamp | null;
  readonly revoked_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/** A certificate that our CA signed for the partner. */
export interface SignedForPartner {
  readonly certificate: string;
  readonly serial_number: string;
  readonly expires_at: Timestamp;
}

export type FederationInput =
  | { readonly kind: "sign"; readonly signed: SignedForPartner }
  /** A certificate that the partner signed for us, PEM. */
  | { readonly kind: "import"; readonly certificate: string; readonly expires_at: Timestamp }
  | { readonly kind: "renew"; readonly signed: SignedForPartner }
  /** The partner was called; `heard`: it answered. */
  | { readonly kind: "check"; readonly heard: boolean }
  /** The partner called: what it shares with us may be used for a while. */
  | { readonly kind: "hear" }
  | { readonly kind: "revoke" };

export type FederationEffect =
  /** Its serial must be refused on the next request and on live connections. */
  { readonly kind: "revoke_certificate"; readonly serial: string } | { readonly kind: "leave_workspaces" };

export const federationTable: TransitionTable<FederationStatus, FederationInput["kind"]> = {
  pending: {
    sign: to("active"),
    import: to("active"),
    renew: wrongState,
    check: to("pending"),
    hear: to("pending"),
    revoke: to("revoked"),
  },
  active: {
    sign: wrongState,
    import: to("active"),
    renew: to("active"),
    check: to("active"),
    hear: to("active"),
    revoke: to("revoked"),
  },
  revoked: {
    sign: wrongState,
    import: wrongState,
    renew: wrongState,
    check: wrongState,
    hear: wrongState,
    revoke: wrongState,
  },
};

export interface FederationNew {
  readonly id: string;
  readonly org: string;
  readonly partner_org_id: string;
  readonly partner_url: string;
  readonly partner_cert: string;
  /** Present when the partner's CSR came with it: the federation is active at once. */
  readonly signed?: SignedForPartner;
  /** The pending one that it completes. */
  readonly waiting?: Pick<Federation, "created_at"> | undefined;
}

/**
 * The federation that the partner's request completes, `undefined` for a new one: one that waits for a request is completed by it, any other that was not
 * revoked is in the way. `completes`: there is a request. Throws `CONFLICT`.
 *
 * @example
 * ```ts
 * import { requireEstablishable } from "@seneschal/core/keys";
 * console.log(requireEstablishable(undefined, false)); // undefined
 * try {
 *   requireEstablishable({ status: "active" }, false);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // CONFLICT
 * }
 * ```
 */
export function requireEstablishable<F extends Pick<Federation, "status">>(
  known: F | undefined,
  completes: boolean,
): F | undefined {
  if (known === undefined) return undefined;
  checkArgument("known", known, "object");
  if (known.status === "revoked") return undefined;
  if (known.status === "pending" && completes) return known;
  throw refusal("CONFLICT", "a federation with that partner exists");
}

/**
 * The certificate of the partner that a renewal replaces, PEM. Throws `STATE_CONFLICT` when there is none, or the federation is not active.
 *
 * @example
 * ```ts
 * import { requireRenewable } from "@seneschal/core/keys";
 * console.log(requireRenewable({ status: "active", certificate: "PEM" })); // PEM
 * ```
 */
export function requireRenewable(federation: Pick<Federation, "status" | "certificate">): string {
  checkArgument("federation", federation, "object");
  const { status, certificate } = federation;
  if (status === "active" && certificate !== null) return certificate;
  throw refusal("STATE_CONFLICT", "there is no certificate of the partner to renew", { status });
}

/**
 * A federation: active with the partner's CSR, else pending until a certificate is imported.
 *
 * @example
 * ```ts
 * import { establishFederation } from "@seneschal/core/keys";
 * const partner = { partner_org_id: "globex", partner_url: "https://globex.example", partner_cert: "PEM" };
 * console.log(establishFederation({ id: "f1", org: "acme", ...partner }, 0).status); // pending
 * ```
 */
export function establishFederation(input: FederationNew, now: number): Federation {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  const pending: Federation = {
    id: input.id,
    org_id: input.org,
    partner_org_id: input.partner_org_id,
    partner_url: input.partner_url,
    partner_cert: input.partner_cert,
    certificate: null,
    serial_number: null,
    certificate_expires_at: null,
    status: "pending",
    outbound_ready: false,
    outbound_certificate: null,
    last_heard_at: null,
    established_at: null,
    last_health_check: null,
    revoked_at: null,
    created_at: input.waiting?.created_at ?? at,
    updated_at: at,
  };
  return input.signed === undefined ? pending : stepFederation(pending, { kind: "sign", signed: input.signed }, now).state;
}

/**
 * One step; throws `STATE_CONFLICT` where the table has no way. Revocation is terminal.
 *
 * @example
 * ```ts
 * import { establishFederation, stepFederation } from "@seneschal/core/keys";
 * const partner = { partner_org_id: "globex", partner_url: "https://globex.example", partner_cert: "PEM" };
 * const federation = establishFederation({ id: "f1", org: "acme", ...partner }, 0);
 * const signed = { certificate: "PEM", serial_number: "01", expires_at: "2027-01-01T00:00:00.000Z" };
 * console.log(stepFederation(federation, { kind: "sign", signed }, 1).state.status); // active
 * console.log(stepFederation(federation, { kind: "revoke" }, 1).effects); // [ { kind: 'leave_workspaces' } ]
 * ```
 */
export function stepFederation(federation: Federation, input: FederationInput, now: number): Step<Federation, FederationEffect> {
  checkArgument("federation", federation, "object");
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  const status = nextStatus("federation", federationTable, federation.status, input.kind);
  const established_at = federation.established_at ?? (status === "active" ? at : null);
  const next: Federation = { ...federation, status, established_at, updated_at: at };
  switch (input.kind) {
    case "sign":
      return { state: carry(next, input.signed), effects: [] };
    case "renew":
      return { state: carry(next, input.signed), effects: revokeOld(federation) };
    case "import":
      return {
        state: {
          ...next,
          outbound_ready: true,
          outbound_certificate: input.certificate,
          outbound_expires_at: input.expires_at,
        },
        effects: [],
      };
    case "check":
      return {
        state: { ...federation, last_health_check: at, last_heard_at: input.heard ? at : federation.last_heard_at },
        effects: [],
      };
    case "hear":
      return { state: { ...federation, last_heard_at: at }, effects: [] };
    case "revoke":
      return {
        state: { ...next, outbound_ready: false, revoked_at: at },
        effects: [...revokeOld(federation), { kind: "leave_workspaces" }],
      };
    default:
      return input satisfies never;
  }
}

function carry(federation: Federation, signed: SignedForPartner): Federation {
  return {
    ...federation,
    certificate: signed.certificate,
    serial_number: signed.serial_number,
    certificate_expires_at: signed.expires_at,
  };
}

function revokeOld(federation: Federation): readonly FederationEffect[] {
  return federation.serial_number === null ? [] : [{ kind: "revoke_certificate", serial: federation.serial_number }];
}
