import { type LogFacts, type LogIdentity, type RootClaim, verifyClaims } from "@seneschal/crypto/audit-log";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { archivedLog, keptTiles, recordsInOrder } from "../../platform/audit-log/index.ts";
import { checkpointsOf, isVouchedFor } from "./checkpoints.ts";
import { leavesOf } from "./records.ts";

export interface AuditVerdict {
  readonly valid: boolean;
  readonly records: number;
  readonly root: string;
  readonly checkpoints: number;
  /** Size of the first checkpoint that the log does not agree with. */
  readonly first_bad_checkpoint: number | null;
  /** Records that a checkpoint counts and the log lacks. */
  readonly missing: number;
}

/** Reads the whole log of a stream from the store again and compares it with every kept checkpoint and, if given, the caller's own: see {@link verifyClaims}. */
export async function verifyLog(store: DocumentStore, stream: string, log: LogIdentity, own?: RootClaim): Promise<AuditVerdict> {
  const claims: RootClaim[] = own === undefined ? [] : [own];
  let unsigned: number | null = null;
  for await (const checkpoint of checkpointsOf(store, stream)) {
    claims.push({ size: checkpoint.size, root: checkpoint.root });
    if (!isVouchedFor(log.key, checkpoint)) unsigned ??= Number.isSafeInteger(checkpoint.size) ? checkpoint.size : 0;
    // A signature takes a while, and there may be thousands: others are served in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const archived = await archivedFacts(store, stream, log);
  const facts = { ...(archived && { archived }), leaves: (from: number) => leavesOf(store, stream, from) };
  const { records, root, missing, firstBad } = await verifyClaims(claims, facts, log.form.sha256);
  const bad = firstBad ?? unsigned;
  return { valid: bad === null, records, root, checkpoints: claims.length, first_bad_checkpoint: bad, missing };
}

async function archivedFacts(store: DocumentStore, stream: string, log: LogIdentity): Promise<LogFacts["archived"]> {
  const archived = await archivedLog(store, stream, log);
  if (archived === undefined || archived === "damaged") return archived;
  const { form } = log;
  const { size } = archived.range;
  const kept = keptTiles(store, stream, form);
  const tile = await kept.wrongUnder(archived.range);
  const changed = await kept.changed(recordsInOrder(store, stream), size, { stream, form });
  const wrong = [tile === undefined ? undefined : tile + 1, changed].filter((number) => number !== undefined);
  return { log: archived, leaves: kept.leaves(size), wrong };
}
