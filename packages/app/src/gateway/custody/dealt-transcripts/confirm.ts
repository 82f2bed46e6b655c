import { invalidField, notFound, refusal, requireRelayed } from "@seneschal/core/keys";
import { admitDealtEntry, type DealtEntry, type DealtRefusal } from "@seneschal/crypto/custody";
import { crks, type GatewayUnit } from "../../ground/index.ts";
import { holderCalling } from "../../people/index.ts";
import { enrolledAs, requireActiveCustodians } from "../custodians/handlers.ts";
import { holdsOffice } from "../office.ts";
import type { CustodyServices } from "../services.ts";
import { type DealtTranscript, dealtEntries, dealtEntryId, dealtTranscripts } from "./collections.ts";

/** What a well-formed entry may still be refused for when others were faster, or it is said again. */
const outOfTurn: ReadonlySet<DealtRefusal> = new Set(["chain", "repeated", "order"]);

/** A custodian confirms, by keys of its own, the transcript by which the gateway dealt the shares that a key has now. */
export async function confirmDealt(
  services: CustodyServices,
  unit: GatewayUnit,
  crkId: string,
  entry: Pick<DealtEntry, "ceremony" | "author" | "at" | "seq"> & { readonly act: { readonly type: string } },
): Promise<DealtTranscript> {
  const { principal, now } = unit.call;
  const crk = await unit.get(crks, crkId);
  if (crk === undefined || crk.org_id !== principal.org) throw notFound("root key");
  const holder = await holderCalling(unit, principal);
  const [transcript] = await unit.list(dealtTranscripts, "by_crk", [crk.id, crk.version], { limit: 1 });
  if (transcript === undefined) throw notFound("transcript");
  const seat = transcript.standing.dealt?.seats.find((one) => one.identity_id === holder?.identity_id);
  if (holder === undefined || seat === undefined) {
    // Who has no part in it is told as of a key that there is not.
    if (!holdsOffice(principal)) throw notFound("root key");
    throw refusal("FORBIDDEN", "no share of the key was dealt to the caller");
  }
  requireRelayed(entry, holder.identity_id, now);
  const enrolled = await enrolledAs(unit, principal.org, holder.identity_id);
  if (enrolled === undefined) throw refusal("FORBIDDEN", "the caller has no enrolled keys");
  await requireActiveCustodians(unit, [enrolled.id]);
  if (entry.act.type !== "confirmation")
    throw invalidField("entry.act.type", "a custodian confirms, the gateway writes the rest");
  // Behind the list, which is not guarded: who writes at once is told of it.
  const guarded = (await unit.get(dealtTranscripts, transcript.id)) ?? transcript;
  const { standing } = guarded;
  const after = admitDealtEntry(services.crypto, standing, entry);
  if (typeof after === "string") {
    const message = `the entry is no part of the transcript: ${after}`;
    if (!outOfTurn.has(after)) throw invalidField("entry", `is no part of the transcript: ${after}`);
    throw refusal("STATE_CONFLICT", message, { reason: after, entries: standing.entries, head: standing.head });
  }
  const next: DealtTranscript = { ...guarded, standing: after };
  unit.put(dealtTranscripts, next.id, next);
  unit.insert(dealtEntries, dealtEntryId(next.id, entry.seq), { ceremony_id: next.id, entry: entry as DealtEntry });
  unit.record({
    type: "crk.ceremony",
    metadata: {
      ceremony_id: next.id,
      operation: standing.start.kind,
      event: "confirmation",
      index: seat.index,
      head: after.head,
      transcript: standing.transcript,
    },
  });
  return next;
}
