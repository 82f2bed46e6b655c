import { checkArgument } from "@seneschal/kernel";
import { type Delivery, retryDelay } from "./outbox.ts";
import type { ReplicaEvent } from "./replica/event.ts";
import { type Timestamp, timestamp } from "./time.ts";

/** What is said to a partner's instance: how a workspace is, the answer to an invitation, a signature for a deletion. */
export const dispatchKinds = ["state", "answer", "consent"] as const;
export type DispatchKind = (typeof dispatchKinds)[number];

/** What still has to reach a partner's instance. What is said is made when it is sent, from what is true then. */
export interface Dispatch {
  readonly kind: DispatchKind;
  readonly org_id: string;
  readonly federation_id: string;
  readonly workspace_id: string;
  /** Another one each time that it is queued: a delivery takes away only what it delivered. */
  readonly token: string;
  readonly attempts: number;
  /** The next try. */
  readonly due_at: Timestamp;
  readonly error_detail: string | null;
  readonly created_at: Timestamp;
}

/**
 * A dispatch that is due at once; one that waits already keeps its age alone.
 *
 * @example
 * ```ts
 * import { queueDispatch } from "@seneschal/core/keys";
 * const what = { kind: "state", org_id: "acme", federation_id: "f1", workspace_id: "w1", token: "t1" } as const;
 * console.log(queueDispatch(what, { created_at: "2026-01-01T00:00:00.000Z" }, Date.UTC(2026, 0, 2)).created_at); // 2026-01-01T00:00:00.000Z
 * ```
 */
export function queueDispatch(
  what: Pick<Dispatch, "kind" | "org_id" | "federation_id" | "workspace_id" | "token">,
  waiting: Pick<Dispatch, "created_at"> | undefined,
  now: number,
): Dispatch {
  checkArgument("what", what, "object");
  checkArgument("now", now, "number");
  const { kind, org_id, federation_id, workspace_id, token } = what;
  const at = timestamp(now);
  const of = { kind, org_id, federation_id, workspace_id, token };
  return { ...of, attempts: 0, due_at: at, error_detail: null, created_at: waiting?.created_at ?? at };
}

/** After so many tries, some twenty minutes, the organisation is told; after so many, a week of them, it is given up. */
const TOLD_AFTER = 8;
const GIVEN_UP_AFTER = 700;
/** How the owner's word is then tried on: it is never dropped, since an end must arrive. */
const DAILY = 86_400_000;

/** What a try leaves of a dispatch. */
export interface DispatchStep {
  /** What stays in the outbox; absent: it leaves it. */
  readonly waiting?: Dispatch;
  /** What became of it, for who waits: an answer or a signature that is given up counts as refused. */
  readonly delivery: Delivery;
  /** What the organisation's log hears. */
  readonly event?: ReplicaEvent;
}

/**
 * One try of a dispatch: delivered or refused it leaves the outbox, else it is tried again, less and less often. `partner`: the organisation that it is for, `""` when that
 * is not known any more.
 *
 * @example
 * ```ts
 * import { queueDispatch, stepDispatch } from "@seneschal/core/keys";
 * const what = { kind: "answer", org_id: "acme", federation_id: "f1", workspace_id: "w1", token: "t1" } as const;
 * const { waiting } = stepDispatch(queueDispatch(what, undefined, 0), { kind: "retry", detail: "no connection" }, "globex", 0);
 * console.log(waiting?.attempts, waiting?.due_at); // 1 1970-01-01T00:00:05.000Z
 * ```
 */
export function stepDispatch(dispatch: Dispatch, outcome: Delivery, partner: string, now: number): DispatchStep {
  checkArgument("dispatch", dispatch, "object");
  checkArgument("outcome", outcome, "object");
  checkArgument("partner", partner, "string");
  checkArgument("now", now, "number");
  const { kind, org_id: org, federation_id, workspace_id: workspace } = dispatch;
  const attempts = dispatch.attempts + 1;
  const over = outcome.kind === "retry" && attempts >= GIVEN_UP_AFTER;
  const delivery: Delivery = over && kind !== "state" ? { kind: "refused", code: "FEDERATION_FAILED" } : outcome;
  const waiting =
    delivery.kind === "retry"
      ? { ...dispatch, attempts, due_at: timestamp(now + (over ? DAILY : retryDelay(attempts))), error_detail: delivery.detail }
      : undefined;
  const told = delivery.kind === "refused" || (delivery.kind === "retry" && [TOLD_AFTER, GIVEN_UP_AFTER].includes(attempts));
  const step: DispatchStep = { delivery, ...(waiting && { waiting }) };
  if (!told || outcome.kind === "done") return step;
  const detail = outcome.kind === "retry" ? outcome.detail : outcome.code;
  const given_up = over || delivery.kind === "refused";
  const metadata = { federation_id, partner_org_id: partner, kind, attempts, detail, given_up };
  return { ...step, event: { type: "federation.delivery", result: "error", org, workspace, metadata } };
}
