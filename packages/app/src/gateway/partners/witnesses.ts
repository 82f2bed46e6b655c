import type { Handlers } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import {
  type Federation,
  foundationOf,
  invalidField,
  type LogWitness,
  stepLogWitness,
  stepWitnessedLog,
  timestamp,
  type WitnessFound,
  type WitnessTrouble,
} from "@seneschal/core/keys";
import { bytesEqual } from "@seneschal/crypto";
import {
  type Checkpoint,
  cosignNote,
  judgeOffer,
  type NoteKey,
  parseCheckpoint,
  parseVerifierKey,
  verifyNote,
  witnessVerifierKey,
} from "@seneschal/crypto/merkle";
import { isCoded } from "@seneschal/kernel";
import { base64, bytes, every, organizationKeyRecords, type Reader, systemCall, vaultName } from "../ground/index.ts";
import { federations, logWitnesses, witnessedLogs } from "./collections.ts";
import { federationOfCaller } from "./federation/find.ts";
import { keysOfPartner } from "./federation/identity.ts";
import { judged } from "./federation/judged.ts";
import type { PartnerServices } from "./services.ts";

/** An organisation as a witness: its bundle signing key, which its federation certificate vouches for, under a name of its own. */
function witnessKeyOf(org: string, signing: Uint8Array): NoteKey {
  return { name: `seneschal.witness/${vaultName(org)}`, publicKey: signing };
}

/** What a partner made of our newest checkpoint. `unknown`: its release does not know the question. `empty`, `damaged`: there is nothing of ours to ask about. */
type Asked = "cosigned" | "refused" | "unknown" | "empty" | "damaged";

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
async function askPartner(services: PartnerServices, federation: Federation, now: number): Promise<Asked> {
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

const AT_ONCE = 8;

/**
 * Rounds in which every partner is asked to witness the audit log of the organisation that it is federated with. Who did not answer the last time is asked behind all
 * others, and one that is still being waited for is left alone: a partner keeps nobody waiting but itself.
 */
export function witnessRounds(): (services: PartnerServices, now: number) => Promise<void> {
  let silent = new Set<string>();
  return async (services, now) => {
    const all: Federation[] = [];
    for await (const federation of every(services, federations, "active", []))
      if (federation.outbound_ready) all.push(federation);
    const waiting = [...all.filter(({ id }) => !silent.has(id)), ...all.filter(({ id }) => silent.has(id))].values();
    const failed = new Set<string>();
    const errors: unknown[] = [];
    const work = async (): Promise<void> => {
      for (const federation of waiting) {
        await askPartner(services, federation, now).catch((error: unknown) => {
          failed.add(federation.id);
          // Health and metrics tell of partners that do not answer.
          if (!isCoded(error, "FEDERATION_FAILED")) errors.push(error);
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    silent = failed;
    if (errors.length > 0) throw new AggregateError(errors, "audit logs were not witnessed");
  };
}

const shown = ({ size, note, cosigned_at, trouble }: LogWitness) => ({ size, note, cosigned_at, trouble });

/** What either side of a federation has witnessed of the other's audit log. */
export async function witnessesOf(read: Reader, federation: Federation) {
  const { id, org_id, partner_org_id } = federation;
  const [by, of] = await Promise.all([read.get(logWitnesses, id), read.get(witnessedLogs, id)]);
  const theirs = keysOfPartner(federation)?.signing;
  const ours = of && (await read.get(organizationKeyRecords, org_id))?.signing_public;
  const keyText = (org: string, key: Uint8Array): string => witnessVerifierKey(witnessKeyOf(org, key));
  return {
    witnessed_by:
      by === undefined || theirs === undefined ? null : { ...shown(by), verifier_key: keyText(partner_org_id, theirs) },
    witness_of:
      of === undefined || ours === undefined
        ? null
        : { ...shown(of), log_key: of.log_key, verifier_key: keyText(org_id, bytes(ours)) },
  };
}

/** The cosigned checkpoints of an organisation's audit log, with the keys of those who cosigned them. */
export async function cosignedCheckpoints(read: Reader, org: string) {
  const known = await read.list(logWitnesses, "by_org", [org]);
  const all = await Promise.all(
    known.map(async ({ federation_id, partner_org_id, size, note, cosigned_at }) => {
      const federation = await read.get(federations, federation_id);
      const signing = federation && keysOfPartner(federation)?.signing;
      if (note === null || cosigned_at === null || signing === undefined) return [];
      return [
        {
          org_id: partner_org_id,
          size,
          cosigned_at,
          note,
          verifier_key: witnessVerifierKey(witnessKeyOf(partner_org_id, signing)),
        },
      ];
    }),
  );
  return all.flat();
}
