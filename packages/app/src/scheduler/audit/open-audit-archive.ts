import { CodedError, type Json, utf8Encode } from "@seneschal/kernel";
import { sortedJson } from "@seneschal/kernel/log";
import type { LogErrorCode, ReplicatedLog } from "@seneschal/kernel/ports";
import { type AuditRecord, auditHash, type QuotaState } from "@seneschal/quota";
import type { Quotas } from "../quotas.ts";

/** The audit chain beyond what the replicated state holds. */
export interface AuditArchive {
  /** Moves the oldest entries from the state into the log's archive, in whole pieces, until so many are left as are kept. */
  tidy(commandId: () => string): Promise<void>;
  /**
   * The chain, newest first, from the state and the archive as if they were one.
   *
   * @throws CodedError `log_diverged` when archived entries are missing or do not continue each other.
   */
  newest(state: QuotaState, offset: number, limit: number): Promise<readonly AuditRecord[]>;
  /** What is archived of the chain before the state's part of it, piece by piece. Throws as `newest`. */
  pieces(state: QuotaState): AsyncIterable<Uint8Array>;
  /** Archives the pieces of a backup where the state's part of the chain continues them. Repeatable. */
  adopt(pieces: readonly Uint8Array[], state: QuotaState): Promise<void>;
}

export interface AuditArchiveOptions {
  readonly quotas: Quotas;
  readonly log: Pick<ReplicatedLog, "archive" | "archived">;
  /** So many of the newest entries stay in the state. */
  readonly keep: number;
}

/** A stretch of the chain, with the hash that it continues. */
interface Piece {
  readonly previous: string;
  readonly entries: readonly AuditRecord[];
}

/** Entries of one archived piece: piece n holds those from n x 256 + 1 on. */
const PIECE = 256;

/**
 * Keeps the whole audit chain within reach while the state stays small. An entry leaves the state only after its piece is
 * durable in the log's archive, by a command of its own; every process makes the same piece, so that it matters not who does.
 */
export function openAuditArchive({ quotas, log, keep }: AuditArchiveOptions): AuditArchive {
  const bytesOf = async (piece: number): Promise<Uint8Array> => {
    const bytes = await log.archived(piece);
    if (bytes === undefined) throw damaged(piece * PIECE + 1);
    return bytes;
  };
  const load = async (piece: number): Promise<readonly AuditRecord[]> => readPiece(piece, await bytesOf(piece)).entries;
  return {
    async tidy(commandId) {
      const entries = [...quotas.state().audit.values()];
      if (entries.length < keep + PIECE) return;
      let piece = Math.floor(((entries[0] as AuditRecord).seq - 1) / PIECE);
      let previous = piece === 0 ? "" : lastOf(await load(piece - 1)).hash;
      let last = 0;
      for (let at = 0; entries.length - at >= keep + PIECE; at += PIECE, piece++) {
        const records = entries.slice(at, at + PIECE);
        const content: Piece = { previous, entries: records };
        await log.archive(piece, utf8Encode(sortedJson(content as unknown as Json)));
        ({ hash: previous, seq: last } = lastOf(records));
      }
      await quotas.proposeAll([{ kind: "audit.archive", id: commandId(), by: "system", through: last }]);
    },
    async newest({ audit, nextAudit }, offset, limit) {
      const first = audit.values().next().value?.seq ?? nextAudit;
      const found: AuditRecord[] = [];
      let loaded: { readonly piece: number; readonly records: readonly AuditRecord[] } | undefined;
      const top = nextAudit - 1 - offset;
      for (const [, record] of audit.reversed()) {
        if (found.length === limit) return found;
        if (record.seq <= top) found.push(record);
      }
      for (let seq = Math.min(top, first - 1); seq >= 1 && found.length < limit; seq--) {
        const piece = Math.floor((seq - 1) / PIECE);
        if (loaded?.piece !== piece) loaded = { piece, records: await load(piece) };
        found.push(loaded.records[(seq - 1) % PIECE] as AuditRecord);
      }
      return found;
    },
    async *pieces(state) {
      for (let piece = 0; piece < piecesBefore(state); piece++) {
        const bytes = await bytesOf(piece);
        readPiece(piece, bytes);
        yield bytes;
      }
    },
    async adopt(pieces, state) {
      if (!continuesPieces(state, pieces)) return;
      for (const [piece, bytes] of pieces.entries()) await log.archive(piece, bytes);
    },
  };
}

/** How many archived pieces lie before the part of the chain that the state holds. */
function piecesBefore({ audit, nextAudit }: QuotaState): number {
  return Math.floor(((audit.values().next().value?.seq ?? nextAudit) - 1) / PIECE);
}

/** Whether these pieces are the whole chain before the state's part of it, every hash as it must be. */
export function continuesPieces(state: QuotaState, pieces: readonly Uint8Array[]): boolean {
  if (pieces.length !== piecesBefore(state)) return false;
  let head = "";
  try {
    for (const [at, bytes] of pieces.entries()) {
      const { previous, entries } = readPiece(at, bytes);
      if (previous !== head || entries.length !== PIECE) return false;
      head = lastOf(entries).hash;
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

/** A piece from its bytes. Throws `log_diverged` unless its entries continue each other. */
function readPiece(piece: number, bytes: Uint8Array): Piece {
  const read = JSON.parse(new TextDecoder().decode(bytes)) as Piece;
  let before = read.previous;
  for (const [at, { hash, ...entry }] of read.entries.entries()) {
    if (entry.seq !== piece * PIECE + at + 1 || auditHash(before, entry) !== hash) throw damaged(entry.seq);
    before = hash;
  }
  return read;
}

function lastOf(records: readonly AuditRecord[]): AuditRecord {
  return records.at(-1) as AuditRecord;
}

function damaged(seq: number): CodedError<LogErrorCode> {
  return new CodedError("log_diverged", `the archived audit entry ${seq} is missing or does not continue the one before`, {
    seq,
  });
}
