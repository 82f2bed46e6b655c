import { CodedError, checkArgument, type JsonObject } from "@seneschal/kernel";
import type { Command } from "../command.ts";
import { type QuotaErrorCode, type Rejection, reject } from "../errors.ts";
import { SortedMap } from "../state/sorted-map.ts";
import type { QuotaEvent, QuotaState, Receipt, Receipts } from "../state/state.ts";
import { archiveAudit } from "./archive-audit.ts";
import { assignAllocation } from "./assign.ts";
import { recordCrossings, recordDelivery, recordExternal } from "./budget.ts";
import { checkShape } from "./check-shape.ts";
import { moveCommand, preemptAllocations, pruneAllocations, setReasons } from "./move.ts";
import { claimNode, operateNode, registerNode, releaseNode, reportHeartbeats } from "./node.ts";
import { restoreState } from "./restore.ts";
import { growAllocation, scaleAllocation } from "./scale.ts";
import { submitAllocation } from "./submit.ts";
import { createTenant, deleteTenant, updateSystem, updateTenant } from "./tenant.ts";
import { type Handled, startWork, type Work } from "./work.ts";

/** A command that was accepted, now or when its id was first seen (`repeat`: nothing changed this time). */
export interface Accepted {
  readonly ok: true;
  readonly repeat: boolean;
  readonly state: QuotaState;
  readonly result: JsonObject;
  readonly events: readonly QuotaEvent[];
}

/** A command that was refused. `state` is there where the refusal is remembered: see {@link Receipt}. */
interface Refused extends Rejection {
  readonly state?: QuotaState;
}

export type Outcome = Accepted | Refused;

/** A generation of receipts is closed when it holds this many or is this old, and dropped when the next one closes. */
const RECEIPTS_PER_GENERATION = 500_000;
const RECEIPT_GENERATION_MS = 24 * 3_600_000;

/**
 * Judges one command and, if it is accepted, returns the next state. Deterministic: everything that varies is in the
 * command and in `at` (milliseconds, the time of its log entry; the state's own time if that is later). A refused command
 * changes nothing but, where a caller chose its id (`digest`), that the refusal is remembered. The same function validates
 * proposals, replays logs and answers dry runs.
 *
 * Throws `unknown_command` for a kind that this version does not know: a replica that meets one must stop.
 *
 * @example
 * ```ts
 * import { apply, emptyState } from "@seneschal/quota";
 * const out = apply(emptyState(), { kind: "tenant.create", id: "c1", by: "root", tenant: "physics", settings: { maxNodes: 8 } }, 0);
 * if (out.ok) console.log(out.state.tenants.get("physics")?.maxNodes); // 8
 * ```
 */
export function apply(state: QuotaState, command: Command, at: number): Outcome {
  checkArgument("state", state, "object");
  checkArgument("command", command, "object");
  checkArgument("at", at, "number");
  const seen = receiptOf(state, command.id);
  if (seen !== undefined) {
    if (seen.digest !== (command.digest ?? null))
      return reject("idempotency_mismatch", "this idempotency key was used for another request");
    return "refusal" in seen ? seen.refusal : { ok: true, repeat: true, state, result: seen.result, events: [] };
  }
  if (command.asked !== undefined && command.asked < state.receipts.horizon)
    return reject("request_expired", "the request is older than the answers that are kept: it may have been answered");
  const work = startWork(state, Math.max(at, state.at));
  const handled = handle(work, command);
  if (!handled.ok)
    return command.digest === undefined ? handled : remembered(state, command.id, command.digest, work.at, handled);
  work.draft.receipts = keepReceipt(work.draft.receipts, command.id, work.at, {
    digest: command.digest ?? null,
    result: handled.result,
  });
  return { ok: true, repeat: false, state: work.draft, result: handled.result, events: work.events };
}

/** The answer that a command got, if it is kept still. */
export function receiptOf(state: QuotaState, id: string): Receipt | undefined {
  checkArgument("state", state, "object");
  return state.receipts.young.get(id) ?? state.receipts.old.get(id);
}

function handle(work: Work, command: Command): Handled {
  const wrong = checkShape(command);
  if (wrong !== undefined) return wrong;
  switch (command.kind) {
    case "tenant.create":
      return createTenant(work, command);
    case "tenant.update":
      return updateTenant(work, command);
    case "tenant.delete":
      return deleteTenant(work, command);
    case "system.update":
      return updateSystem(work, command);
    case "node.register":
      return registerNode(work, command);
    case "node.operate":
      return operateNode(work, command);
    case "node.heartbeats":
      return reportHeartbeats(work, command);
    case "node.claim":
      return claimNode(work, command);
    case "node.release":
      return releaseNode(work, command);
    case "allocation.submit":
      return submitAllocation(work, command);
    case "allocation.assign":
      return assignAllocation(work, command);
    case "allocation.scale":
      return scaleAllocation(work, command);
    case "allocation.grow":
      return growAllocation(work, command);
    case "allocation.move":
      return moveCommand(work, command);
    case "allocation.reasons":
      return setReasons(work, command);
    case "allocation.preempt":
      return preemptAllocations(work, command);
    case "allocation.prune":
      return pruneAllocations(work, command);
    case "budget.record":
      return recordCrossings(work, command);
    case "event.delivered":
      return recordDelivery(work, command);
    case "accounting.record":
      return recordExternal(work, command);
    case "audit.archive":
      return archiveAudit(work, command);
    case "answer.keep":
      return { ok: true, result: command.answer };
    case "state.restore":
      return restoreState(work, command);
    default:
      command satisfies never;
      throw new CodedError<QuotaErrorCode>("unknown_command", "this version does not know the command", {
        kind: String((command as { kind?: unknown }).kind),
      });
  }
}

function remembered(state: QuotaState, id: string, digest: string, at: number, refusal: Rejection): Refused {
  return { ...refusal, state: { ...state, at, receipts: keepReceipt(state.receipts, id, at, { digest, refusal }) } };
}

function keepReceipt(receipts: Receipts, id: string, at: number, receipt: Receipt): Receipts {
  const full = receipts.young.size >= RECEIPTS_PER_GENERATION || at - receipts.since >= RECEIPT_GENERATION_MS;
  if (!full) return { ...receipts, young: receipts.young.set(id, receipt) };
  return { since: at, horizon: receipts.since, old: receipts.young, young: SortedMap.empty<Receipt>().set(id, receipt) };
}
