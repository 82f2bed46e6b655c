import { gatewayContract } from "@seneschal/contract/gateway";
import { foundationOf, stepLogWitness, timestamp, type WitnessFound, type WitnessTrouble } from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import { type NoteKey, parseCheckpoint, parseVerifierKey, verifyNote } from "@seneschal/crypto/merkle";
import { isCoded } from "@seneschal/kernel";
import { base64, systemCall } from "../../ground/index.ts";
import { keysOfPartner } from "../federation/certified-keys.ts";
import { federations, type StoredFederation } from "../federation/collections.ts";
import type { PartnerServices } from "../services.ts";
import { logWitnesses } from "./collections.ts";
import { witnessKeyOf } from "./witness-key.ts";

/** What a partner made of our newest checkpoint. `unknown`: its release does not know the question. `empty`, `damaged`: there is nothing of ours to ask about. */
export type Asked = "cosigned" | "refused" | "unknown" | "empty" | "damaged";

/** What one signed note of ours says. `undefined`: it is not of this key. */
function ownCheckpoint(note: string, key: NoteKey) {
  try {
    return parseCheckpoint(verifyNote(note, [key]).text);
  } catch (error) {
    if (isCoded(error, "log_invalid")) return undefined;
    throw error;
  }
}

/**
 * Has a partner witness the newest checkpoint of an organisation's audit log. What the partner says is believed as far as our own key has signed it: that the log was
 * put back is known by a later checkpoint of ours that the partner shows. Throws `FEDERATION_FAILED` for a partner that does not answer.
 */
export async function askPartner(services: PartnerServices, federation: StoredFederation, now: number): Promise<Asked> {
  const { id, org_id } = federation;
  const witness = keysOfPartner(federation);
  if (witness === undefined) return "unknown";
  const call = systemCall("system:federation", org_id, now);
  /** Saves what is known now, and records what changed of it. */
  const save = (found: WitnessFound) =>
    services.transact(call, async (unit) => {
      const known = await unit.get(logWitnesses, id);
      if ((await unit.get(federations, id))?.status !== "active") return;
      const { partner_org_id } = federation;
      const step = stepLogWitness(known, found, { federation_id: id, org_id, partner_org_id }, now);
      if (step === undefined) return;
      unit.put(logWitnesses, id, step.log);
      if (step.tell === undefined) return;
      const metadata = { federation_id: id, partner_org_id, growth: step.tell };
      const result = step.tell === "grown" ? "success" : "denied";
      unit.record({ type: "federation.witness", org: org_id, result, metadata });
      if (result === "denied") services.log.error(metadata, "a partner that witnesses the audit log says that it does not go on");
    });

  let first = (await services.read.get(logWitnesses, id))?.size ?? 0;
  for (let again = 0; ; again++) {
    let size = 0;
    const proven = await services.audit.prove(org_id, (signed) => {
      size = signed;
      return { kind: "consistency", first: Math.min(first === 0 ? signed : first, signed), second: signed };
    });
    if (proven === undefined) return "empty";
    if ("flaw" in proven) return "damaged";
    const { note, verifier_key: log_key } = proven.checkpoint;
    const proof = first > 0 && first < size ? proven.proof.map(base64) : [];
    const body = { first, proof, note, log_key };
    const answer = await services.channels.call(services.read, federation, { route: gatewayContract.peerCheckpoint, body });
    if ([404, 405, 501].includes(answer.status)) return "unknown";
    const reply = answer.body;
    const { key } = parseVerifierKey(log_key);
    if (reply?.outcome === "cosigned") {
      const at = cosignedAt(reply.note, note, witnessKeyOf(federation.partner_org_id, witness.signing));
      if (at !== undefined) {
        await save({ size, note: reply.note, cosigned_at: timestamp(at * 1000) });
        return "cosigned";
      }
    }
    const before = reply === undefined || reply.outcome === "cosigned" ? undefined : ownCheckpoint(reply.note, key);
    const shown = before !== undefined && reply?.outcome !== "cosigned" && before.size === reply?.size ? before : undefined;
    if (reply?.outcome === "other_size" && again === 0 && (reply.size === 0 || shown !== undefined)) {
      first = reply.size;
      continue;
    }
    if (reply === undefined || reply.outcome === "cosigned" || reply.outcome === "other_size") {
      // What is wrong with the partner may pass.
      if (answer.status !== 429 && answer.status < 500)
        await services.refusals.note(services, federation, "confirmation", answer.code ?? "unreadable", {
          question: "checkpoint",
        });
      return "refused";
    }
    await save({ growth: await foundation(services, org_id, reply.growth, shown), before: reply.note, note });
    return "refused";
  }
}

/** When the witness signed just this checkpoint. */
function cosignedAt(cosigned: string, note: string, key: NoteKey): number | undefined {
  try {
    return cosigned.startsWith(note) ? verifyNote(cosigned, [key]).cosignedAt[key.name] : undefined;
  } catch (error) {
    if (isCoded(error, "log_invalid")) return undefined;
    throw error;
  }
}

/** What a refusal comes to by what our own key has signed: a longer log than ours, or another one of the same size. */
async function foundation(
  { audit }: PartnerServices,
  org: string,
  growth: Exclude<WitnessTrouble, "unfounded">,
  shown: { readonly origin: string; readonly size: number; readonly root: Uint8Array } | undefined,
): Promise<WitnessTrouble> {
  if (shown === undefined) return foundationOf(growth, { sameRoot: false });
  let size = 0;
  const proven = await audit.prove(org, (signed) => {
    size = signed;
    return { kind: "consistency", first: Math.min(shown.size, signed), second: signed };
  });
  if (proven === undefined || "flaw" in proven) return foundationOf(growth, { shown, sameRoot: false });
  const own = { origin: proven.checkpoint.note.split("\n", 1)[0] ?? "", size };
  return foundationOf(growth, { shown, own, sameRoot: bytesEqual(shown.root, proven.root) });
}
