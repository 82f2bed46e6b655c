import type { ReplicatedLog } from "@seneschal/kernel/ports";
import {
  AUDIT_PIECE,
  type AuditRecord,
  continuesPieces,
  duePieces,
  pieceBytes,
  pieceDamaged,
  pieceOf,
  piecesBefore,
  type QuotaState,
  readPiece,
} from "@seneschal/quota";
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
  adopt(pieces: readonly string[], state: QuotaState): Promise<void>;
}

export interface AuditArchiveOptions {
  readonly quotas: Quotas;
  readonly log: Pick<ReplicatedLog, "archive" | "archived">;
  /** So many of the newest entries stay in the state. */
  readonly keep: number;
}

/**
 * Keeps the whole audit chain within reach while the state stays small. An entry leaves the state only after its piece is
 * durable in the log's archive, by a command of its own; every process makes the same piece, so that it matters not who does.
 */
export function openAuditArchive({ quotas, log, keep }: AuditArchiveOptions): AuditArchive {
  const bytesOf = async (piece: number): Promise<Uint8Array> => {
    const bytes = await log.archived(piece);
    if (bytes === undefined) throw pieceDamaged(piece * AUDIT_PIECE + 1);
    return bytes;
  };
  const load = async (piece: number): Promise<readonly AuditRecord[]> =>
    readPiece(piece, new TextDecoder().decode(await bytesOf(piece))).entries;
  return {
    async tidy(commandId) {
      const due = duePieces(quotas.state(), keep);
      const [[oldest] = []] = due;
      if (oldest === undefined) return;
      let piece = pieceOf(oldest.seq);
      let last = piece === 0 ? undefined : (await load(piece - 1)).at(-1);
      for (const entries of due) {
        await log.archive(piece, pieceBytes({ previous: last?.hash ?? "", entries }));
        last = entries.at(-1);
        piece += 1;
      }
      await quotas.proposeAll([{ kind: "audit.archive", id: commandId(), by: "system", through: last?.seq ?? 0 }]);
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
        const piece = pieceOf(seq);
        if (loaded?.piece !== piece) loaded = { piece, records: await load(piece) };
        found.push(loaded.records[(seq - 1) % AUDIT_PIECE] as AuditRecord);
      }
      return found;
    },
    async *pieces(state) {
      for (let piece = 0; piece < piecesBefore(state); piece++) {
        const bytes = await bytesOf(piece);
        readPiece(piece, new TextDecoder().decode(bytes));
        yield bytes;
      }
    },
    async adopt(pieces, state) {
      if (!continuesPieces(state, pieces)) return;
      for (const [piece, text] of pieces.entries()) await log.archive(piece, Buffer.from(text));
    },
  };
}
