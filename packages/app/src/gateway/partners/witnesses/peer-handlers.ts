import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { invalidField, stepWitnessedLog } from "@seneschal/core/keys";
import { type Checkpoint, cosignNote, judgeOffer, parseCheckpoint, parseVerifierKey, verifyNote } from "@seneschal/crypto/merkle";
import { isCoded } from "@seneschal/kernel";
import { bytes, vaultName } from "../../ground/index.ts";
import { federationOfCaller } from "../federation/find.ts";
import { judged } from "../federation/judged.ts";
import type { PartnerServices } from "../services.ts";
import { witnessedLogs } from "./collections.ts";
import { witnessKeyOf } from "./witness-key.ts";

type Routes = Pick<GatewayContract, "peerCheckpoint">;

/** A partner's checkpoint, signed by the key that is said to be its log's. Throws `VALIDATION_ERROR`. */
function signedCheckpoint(note: string, logKey: string, partner: string): Checkpoint {
  try {
    const { key, signs } = parseVerifierKey(logKey);
    if (signs !== "notes") throw invalidField("log_key", "is a witness's key, not a log's");
    const checkpoint = parseCheckpoint(verifyNote(note, [key]).text);
    if (checkpoint.size > 0 && checkpoint.origin.endsWith(`/${vaultName(partner)}`)) return checkpoint;
  } catch (error) {
    if (!isCoded(error) || error.code === "VALIDATION_ERROR") throw error;
  }
  throw invalidField("note", "expected a checkpoint of the partner's audit log that its key has signed");
}

/** What a partner's gateway asks of ours as a witness of its audit log. */
export const witnessHandlers: Handlers<Routes, PartnerServices> = {
  peerCheckpoint: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "checkpoint", {}, (call) =>
      services.transact(call, async (unit) => {
        const { id, org_id, partner_org_id } = await federationOfCaller(unit, principal);
        const { first, proof, note, log_key } = body;
        const offered = signedCheckpoint(note, log_key, partner_org_id);
        const kept = await unit.get(witnessedLogs, id);
        const known = kept?.note == null ? undefined : parseCheckpoint(kept.note.slice(0, kept.note.indexOf("\n\n") + 1));
        const same = kept === undefined || (kept.log_key === log_key && known?.origin === offered.origin);
        const growth = same ? judgeOffer(known, offered, first, proof.map(bytes)) : "other_log";
        const parties = { federation_id: id, org_id, partner_org_id };
        const step = stepWitnessedLog(kept, { growth, size: offered.size, note, log_key }, parties, now);
        if (step.kind === "other_size") return { outcome: step.kind, size: step.size, note: step.note };
        const facts = { federation_id: id, partner_org_id, growth, size: offered.size, kept_size: kept?.size ?? 0 };
        if (step.kind === "refused") {
          if (step.log !== undefined) unit.put(witnessedLogs, id, step.log);
          if (step.tell) unit.record({ type: "federation.witness", org: org_id, result: "denied", metadata: facts });
          return { outcome: step.kind, growth: step.growth, size: step.size, note: step.note };
        }
        const { signing } = await services.organizationKeys.publicKeys(unit, org_id);
        const cosigned = await cosignNote(note, witnessKeyOf(org_id, signing), Math.floor(now / 1000), (message) =>
          services.organizationKeys.sign(unit, org_id, message),
        );
        unit.put(witnessedLogs, id, { ...step.log, note: cosigned });
        if (step.tell) unit.record({ type: "federation.witness", org: org_id, metadata: facts });
        return { outcome: step.kind, note: cosigned };
      }),
    ),
};
