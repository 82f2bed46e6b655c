import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { utf8Encode } from "@seneschal/kernel";
import type { RestoreState } from "../command.ts";
import { isRejection, type Rejection, reject } from "../errors.ts";
import { type Allocation, holdsNodes } from "../state/allocation.ts";
import { decodeState } from "../state/encoding.ts";
import { versionOf } from "../state/node.ts";
import { SortedMap } from "../state/sorted-map.ts";
import type { Draft, QuotaState } from "../state/state.ts";
import { failAllocation } from "./fail-allocation.ts";
import { audit, type Handled, record, type Work } from "./work.ts";

/**
 * Restores a backup in the log itself, so that every replica does it at the same place. Refused while work holds nodes or
 * nodes are claimed: nothing that runs may be forgotten. What must never go back stays as it is: time, the audit chain,
 * events, the answers to finished commands; versions grow beyond both states. A log without an audit chain goes on with the backup's
 * when the command says so. What the backup says was running ends, or is requeued by its policy, at the time of the backup.
 */
export function restoreState(work: Work, command: RestoreState): Handled {
  const { draft } = work;
  const busy = holdersOf(draft).length;
  if (busy > 0 || draft.claimed > 0)
    return reject("ownership_conflict", `${busy} allocations hold nodes and ${draft.claimed} nodes are claimed: drain first`, {
      allocations: busy,
      claimed: draft.claimed,
    });
  const { backup, part, parts, text } = command;
  const before = part === 0 ? [] : draft.restoring?.backup === backup ? draft.restoring.texts : undefined;
  if (before?.length !== part) return reject("stale_state", `part ${part} of the backup does not follow`, { part });
  const texts = [...before, text];
  if (part + 1 < parts) {
    draft.restoring = { backup, texts };
    return { ok: true, result: { part } };
  }
  const restored = readBackup(texts.join(""), command, work.at);
  if (isRejection(restored)) return restored;
  if (command.history === true && draft.nextAudit > 1)
    return reject("stale_state", "an audit chain has begun in this log meanwhile: try again", { part });
  const { audit: chain, nextAudit, auditHead } = command.history === true ? restored : draft;
  const { events, nextEvent, delivered } = command.history === true && draft.nextEvent === 1 ? restored : draft;
  const kept = { receipts: draft.receipts, events, nextEvent, delivered, audit: chain, nextAudit, auditHead, restoring: null };
  Object.assign(draft, { ...restored, ...kept, ...grownVersions(draft, restored) });
  const then: Work = { draft, at: restored.at, events: work.events };
  for (const allocation of holdersOf(draft)) {
    const failed = failAllocation(then, allocation, { cause: "node", reason: "restored from a backup" });
    if (isRejection(failed)) return failed;
  }
  draft.at = work.at;
  audit(work, command, "system", "state", { backup, from: restored.at });
  record(work, "state.restored", null, { backup, by: command.by });
  return { ok: true, result: { part, tenants: draft.tenants.size, allocations: draft.allocations.size } };
}

function holdersOf({ live, allocations }: QuotaState): readonly Allocation[] {
  return [...live.keys()].map((id) => allocations.get(id) as Allocation).filter(({ state }) => holdsNodes(state));
}

function readBackup(text: string, { backup }: RestoreState, now: number): QuotaState | Rejection {
  const bytes = utf8Encode(text);
  if (bytesToHex(sha256(bytes)) !== backup) return reject("invalid_argument", "the backup does not have its hash", { backup });
  try {
    const state = decodeState(bytes);
    return state.at <= now ? state : reject("invalid_argument", "the backup is from the future", { at: state.at });
  } catch {
    return reject("invalid_argument", "the backup is not a state of this version", { backup });
  }
}

/** No version that was ever seen comes back with another content. */
function grownVersions(now: QuotaState, then: QuotaState): Pick<Draft, "system" | "tenants" | "nodes"> {
  const beyond = (a: number, b = 0): number => Math.max(a, b) + 1;
  const versionIn = (id: string): number | undefined => {
    const node = now.nodes.get(id);
    return node === undefined ? undefined : versionOf(now, node);
  };
  return {
    system: { ...then.system, version: beyond(then.system.version, now.system.version) },
    tenants: SortedMap.from(
      [...then.tenants.entries()].map(([id, tenant]) => [
        id,
        { ...tenant, version: beyond(tenant.version, now.tenants.get(id)?.version) },
      ]),
    ),
    nodes: SortedMap.from(
      [...then.nodes.entries()].map(([id, node]) => [id, { ...node, edits: beyond(node.edits, versionIn(id)) }]),
    ),
  };
}
