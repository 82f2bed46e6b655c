import { CodedError, checkArgument, type Json, utf8Encode } from "@seneschal/kernel";
import { sortedJson } from "@seneschal/kernel/log";
import type { LogErrorCode } from "@seneschal/kernel/ports";
import { auditHash } from "../apply/work.ts";
import type { AuditRecord, QuotaState } from "./state.ts";

/** Entries of one archived piece of the audit chain: piece n holds those from n x 256 + 1 on. */
export const AUDIT_PIECE = 256;

/** A stretch of the chain, with the hash that it continues. */
export interface AuditPiece {
  readonly previous: string;
  readonly entries: readonly AuditRecord[];
}

/** The number of the piece that holds an entry. */
export function pieceOf(seq: number): number {
  checkArgument("seq", seq, "number");
  return Math.floor((seq - 1) / AUDIT_PIECE);
}

/** The whole pieces that leave the state when so many of the newest entries stay; every process makes the same. */
export function duePieces(state: Pick<QuotaState, "audit">, keep: number): readonly (readonly AuditRecord[])[] {
  checkArgument("state", state, "object");
  checkArgument("keep", keep, "number");
  const entries = [...state.audit.values()];
  const pieces: (readonly AuditRecord[])[] = [];
  for (let at = 0; entries.length - at >= keep + AUDIT_PIECE; at += AUDIT_PIECE) pieces.push(entries.slice(at, at + AUDIT_PIECE));
  return pieces;
}

/** A piece as it is archived: canonical JSON. */
export function pieceBytes(piece: AuditPiece): Uint8Array {
  checkArgument("piece", piece, "object");
  return utf8Encode(sortedJson(piece as unknown as Json));
}

/** Reads a piece. Throws CodedError `log_diverged` unless its entries are those of this piece and continue each other. */
export function readPiece(piece: number, text: string): AuditPiece {
  checkArgument("piece", piece, "number");
  checkArgument("text", text, "string");
  let seq = piece * AUDIT_PIECE + 1;
  try {
    const read = JSON.parse(text) as AuditPiece;
    let before = read.previous;
    for (const { hash, ...entry } of read.entries) {
      if (entry.seq !== seq || auditHash(before, entry) !== hash) throw new RangeError("not the next entry");
      before = hash;
      seq += 1;
    }
    if (seq !== (piece + 1) * AUDIT_PIECE + 1) throw new RangeError("not a whole piece");
    return read;
  } catch (cause) {
    throw pieceDamaged(seq, cause);
  }
}

/** `log_diverged`: the archive of the chain is not what was put there. */
export function pieceDamaged(seq: number, cause?: unknown): CodedError<LogErrorCode> {
  const message = `the archived audit entry ${seq} is missing or does not continue the one before`;
  return new CodedError("log_diverged", message, { seq }, cause);
}

/** How many archived pieces lie before the part of the chain that the state holds. */
export function piecesBefore(state: Pick<QuotaState, "audit" | "nextAudit">): number {
  checkArgument("state", state, "object");
  return pieceOf(state.audit.values().next().value?.seq ?? state.nextAudit);
}

/** Whether these pieces are the whole chain before the state's part of it, every hash as it must be. */
export function continuesPieces(state: Pick<QuotaState, "audit" | "nextAudit" | "auditHead">, texts: readonly string[]): boolean {
  checkArgument("state", state, "object");
  checkArgument("texts", texts, "array");
  if (texts.length !== piecesBefore(state)) return false;
  let head = "";
  try {
    for (const [at, text] of texts.entries()) {
      const { previous, entries } = readPiece(at, text);
      if (previous !== head) return false;
      head = entries.at(-1)?.hash ?? "";
    }
  } catch {
    return false;
  }
  for (const { hash, ...entry } of state.audit.values()) {
    if (auditHash(head, entry) !== hash) return false;
    head = hash;
  }
  return head === state.auditHead;
}
