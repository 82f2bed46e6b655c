import type { BackupTarget } from "@seneschal/adapters/backups";
import type { Logger } from "@seneschal/adapters/logging";
import {
  type ArchivedLog,
  type AuditGap,
  coversGap,
  type LogTree,
  openLogTree,
  type SegmentDue,
  type StreamCheckpoint,
  signedGaps,
  verifyRecords,
  wholeLog,
} from "@seneschal/crypto/audit-log";
import {
  claimRanges,
  type LogClaim,
  type LogProof,
  type NoteKey,
  noteVerifierKey,
  proveClaim,
  type Sha256,
  signNote,
} from "@seneschal/crypto/merkle";
import { CodedError, isCoded } from "@seneschal/kernel";
import type { CryptoProvider, DocumentStore, Random, Vault } from "@seneschal/kernel/ports";
import {
  type ArchivedPart,
  type AuditFinding,
  AuditTampered,
  archivedLog,
  archivedPart,
  archiveSegment,
  cutTiles,
  extendTiles,
  keptTiles,
  mendTiles,
  readable,
  readTree,
  recordsInOrder,
  type SegmentToKeep,
  tiledSize,
  UNTILED,
} from "../../../platform/audit-log/index.ts";
import type { Background, Due } from "../../../platform/background.ts";
import { base64 } from "../../../platform/bytes.ts";
import { reader } from "../store/reader.ts";
import { transact, type Unit } from "../store/unit-of-work.ts";
import { gatewayLog } from "./form.ts";
import { acceptances, acceptanceText, acceptedBy, acceptedGaps } from "./gaps.ts";
import { type LogKey, openLogKey } from "./log-key.ts";
import { checkpoints, SEAL_BATCH, sealBatch } from "./sealer.ts";

/** A checkpoint as it is handed out: the root of its note, and the key that signed it, base64. */
interface SignedCheckpoint extends StreamCheckpoint {
  readonly root: string;
  readonly public_key: string;
  /** The same as the text of C2SP signed-note. */
  readonly verifier_key: string;
}

/** What was proven of a log, and the checkpoint under which it holds. */
interface Proven extends LogProof {
  readonly checkpoint: SignedCheckpoint;
}

/** The newest checkpoint of a stream, when the key has signed it. */
interface SignedStream extends LogTree {
  readonly key: NoteKey;
  readonly checkpoint: StreamCheckpoint;
  /** As far as its events were moved to an archive. */
  readonly archived?: ArchivedLog;
}

/** The tamper evidence over the store's audit log. */
export interface AuditLog {
  /** Signs everything that is committed by now. Throws {@link AuditTampered} when the whole log does not go on where it was signed. */
  seal(): Promise<void>;
  /** What is wrong with an organisation's log; `undefined` when nothing is. */
  verify(stream: string): Promise<AuditFinding | undefined>;
  /** The same over the log of the whole instance: shows the removal of an organisation. */
  verifyAll(): Promise<AuditFinding | undefined>;
  /** The gaps that were accepted and signed, of a stream or of the whole log. */
  gaps(stream: string): Promise<readonly AuditGap[]>;
  /**
   * Signs the operator's word that a gap of the whole log is for good, for the next {@link seal} to pass it. Only of records that are missing, and that no
   * checkpoint has signed. Answers with the note, `undefined` when this gap was accepted before. Throws `audit_gap_refused`.
   */
  acceptGap(
    unit: Unit,
    gap: AuditGap,
    acceptance: { readonly reason: string; readonly now: number },
  ): Promise<string | undefined>;
  /** What signing or verification found damaged, by stream, and did not find whole since. */
  damaged(): readonly AuditFinding[];
  /** Signs what can be at the start: damage is reported, and keeps no organisation from working. */
  open(): Promise<void>;
  /** The key that signs checkpoints, for what else the instance answers for. Throws `service_unavailable` while it is not to be had. */
  key(unit: Unit): Promise<Pick<LogKey, "note" | "sign">>;
  checkpoint(stream: string): Promise<SignedCheckpoint | undefined>;
  /**
   * Proves what is claimed when the newest checkpoint's size is known (what `claimOf` throws is thrown), from stored hashes of the tree: O(log n) reads. The
   * proof was verified under the signed root. Where it does not hold the whole log is read, and what is wrong with it said; `undefined` for a log without a
   * checkpoint.
   */
  prove(stream: string, claimOf: (size: number) => LogClaim): Promise<Proven | AuditFinding | undefined>;
  /** How far a stream is archived, as the key has signed it; `undefined`: it is not. What is damaged, {@link AuditLog.verify} tells. */
  archived(stream: string): Promise<ArchivedPart | undefined>;
  /** The leaf hash of an event that may be archived, as it is kept for proofs. */
  leafOf(stream: string, number: number): Promise<Uint8Array | undefined>;
  /** Moves the next segment of events into an archive; see {@link archiveSegment}. */
  archive(target: BackupTarget, due: SegmentDue): Promise<SegmentToKeep | undefined>;
  /** Makes the hashes that are kept of archived events anew from the archive, where they are damaged; see {@link mendTiles}. Answers with the logs that were mended. */
  mend(target: BackupTarget): Promise<readonly string[]>;
  /** Seals after commits, at most every `intervalMs`, until stopped. */
  start(background: Background, intervalMs?: number): void;
  stop(): Promise<void>;
}

interface Needs {
  readonly store: DocumentStore;
  readonly vault: Vault;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly instance: string;
  readonly log: Logger;
  readonly commitId: () => string;
}

/** After a seal that failed. */
const RETRY_MS = 10_000;

/** After a seal: tiles are in no hurry. */
const TILE_MS = 1000;

function signedBy(key: NoteKey, stored: StreamCheckpoint): SignedCheckpoint {
  const [, , root = ""] = stored.note.split("\n");
  return { ...stored, root, public_key: base64(key.publicKey), verifier_key: noteVerifierKey(key) };
}

/** The audit log of one instance. */
export function auditLog({ store, vault, crypto, random, instance, log, commitId }: Needs): AuditLog {
  const sha256: Sha256 = (data) => crypto.hash("sha256", data);
  const form = gatewayLog(sha256);
  const read = reader(store);
  const own = new Map<string, string>();
  let publicKey: NoteKey | undefined;
  let sealing: Promise<void> = Promise.resolve();
  let unsubscribe = (): void => undefined;
  let due: Due | undefined;
  let tiling: Due | undefined;
  /** What is known of how far tiles go, and the streams that have more events behind them than a batch. */
  const tiled = new Map<string, number>();
  const untiled = new Set<string>();

  const openKey = async (unit: Unit): Promise<LogKey> => {
    const logIsEmpty = (await store.auditRead(0, 1)).length === 0;
    const key = await openLogKey(unit, { vault, crypto, random, instance, logIsEmpty }).catch((error: unknown) => {
      if (!isCoded(error, "decryption_failed") && !isCoded(error, "store_damaged")) throw error;
      throw new AuditTampered({ flaw: "key_replaced", stream: wholeLog, sequence: null });
    });
    if (key === undefined) throw new AuditTampered({ flaw: "key_missing", stream: wholeLog, sequence: null });
    if (publicKey !== undefined && base64(publicKey.publicKey) !== base64(key.note.publicKey))
      throw new AuditTampered({ flaw: "key_replaced", stream: wholeLog, sequence: null });
    return key;
  };

  const sealAll = async (): Promise<void> => {
    for (;;) {
      const { note, sealed } = await transact(store, commitId, async (unit) => {
        const key = await openKey(unit);
        return { note: key.note, sealed: await sealBatch(store, unit, key, { instance, form, own }) };
      });
      // Not before the commit: a key that was made in an attempt which lost is nobody's.
      publicKey = note;
      for (const [stream, size] of sealed.sizes) if (size - (tiled.get(stream) ?? 0) > SEAL_BATCH) untiled.add(stream);
      if (untiled.size > 0) tiling?.due(TILE_MS);
      for (const finding of sealed.broken) found(finding);
      // A batch that is not full reached the end: what came meanwhile waits, or a busy log would be signed without a pause.
      if (sealed.taken < SEAL_BATCH) break;
    }
    damage.delete(wholeLog);
  };

  /** What is known to be damaged, by stream, until verification finds it whole. */
  const damage = new Map<string, AuditFinding>();
  const found = (finding: AuditFinding): void => {
    const known = damage.get(finding.stream);
    damage.set(finding.stream, finding);
    if (known === undefined || known.flaw !== finding.flaw || known.sequence !== finding.sequence)
      log.error(finding, "the audit log is damaged");
  };

  const seal = (): Promise<void> => {
    const next = sealing.then(sealAll, sealAll);
    // The chain goes on after a failure; whoever asked hears of it.
    sealing = next.catch(() => undefined);
    return next;
  };

  /** Signs what can be; whatever is damaged is remembered, and keeps nobody from working. */
  const trySeal = async (): Promise<AuditFinding | undefined> => {
    try {
      await seal();
      return undefined;
    } catch (error) {
      if (!(error instanceof AuditTampered)) throw error;
      found(error.finding);
      return error.finding;
    }
  };

  /**
   * A stream as far as the key has signed it, or what is wrong with that; `undefined` for one that is empty. What this process signed itself, which `ours` has,
   * needs no proof of its signature.
   */
  const signedStream = async (
    stream: string,
    unsealed: AuditFinding | undefined,
    ours?: ReadonlyMap<string, string>,
  ): Promise<SignedStream | AuditFinding | undefined> => {
    const key = publicKey;
    if (key === undefined) return unsealed ?? { flaw: "key_missing", stream, sequence: null };
    const checkpoint = await readable(() => read.get(checkpoints, stream));
    if (checkpoint === "damaged") return { flaw: "checkpoint_invalid", stream, sequence: null };
    if (checkpoint === undefined) {
      const first = stream === wholeLog ? await store.auditRead(0, 1) : await store.count("audit", "stream", [stream]);
      if (first === 0 || (typeof first !== "number" && first.length === 0))
        return unsealed?.stream === stream ? unsealed : undefined;
      return {
        flaw: unsealed === undefined || unsealed.flaw === "checkpoint_missing" ? "checkpoint_missing" : "unsigned",
        stream,
        sequence: null,
      };
    }
    const keys = ours?.get(stream) === checkpoint.note ? "checked" : undefined;
    const tree = openLogTree(checkpoint, stream, { form, instance, key }, keys);
    if ("flaw" in tree) return tree;
    const [gap] = tree.gaps;
    const unaccepted = gap && (await unacceptedGap(key));
    if (gap !== undefined && unaccepted !== undefined)
      return { flaw: "event_missing", stream, sequence: (stream === wholeLog ? unaccepted : gap).first };
    const archived = await archivedLog(store, stream, { form, instance, key });
    if (archived === undefined) return { ...tree, key, checkpoint };
    if (archived === "damaged" || archived.range.size > tree.range.size)
      return { flaw: "checkpoint_invalid", stream, sequence: null };
    return { ...tree, key, checkpoint, archived };
  };

  /** Reads the whole log, and holds the hashes that are kept of its tree against it. */
  const judge = async (stream: string, unsealed: AuditFinding | undefined): Promise<AuditFinding | undefined> => {
    const tiled = await tiledSize(store, stream, Number.MAX_SAFE_INTEGER);
    const signed = await signedStream(stream, unsealed);
    if (signed === undefined || "flaw" in signed) return signed;
    const { range, archived } = signed;
    const begun = archived?.range.size ?? 0;
    const wrongAt = (leaf: number): AuditFinding => ({ flaw: "hash_differs", stream, sequence: leaf + 1 });
    const kept = keptTiles(store, stream, form);
    const archivedWrong = archived && (await kept.wrongUnder(archived.range));
    if (archivedWrong !== undefined) return wrongAt(archivedWrong);
    const tiles = await kept.comparison(Math.max(begun, Math.min(tiled, range.size)), begun);
    const records = async function* () {
      for await (const page of recordsInOrder(store, stream, begun + 1)) {
        yield page;
        await tiles.compare();
      }
    };
    const changed = await kept.changed(recordsInOrder(store, stream), begun, { stream, form });
    if (changed !== undefined) return { flaw: "root_differs", stream, sequence: changed };
    const finding = await verifyRecords(records(), signed, { stream, form, archived, onNode: tiles.onNode });
    if (finding !== undefined) return finding;
    await tiles.compare(true);
    const { wrong } = tiles;
    if (wrong === undefined) return unsealed?.stream === stream ? unsealed : undefined;
    // INVARIANT: no tile goes whose events are not in the store.
    if (wrong >= begun) await transact(store, commitId, (unit) => cutTiles(unit, stream, wrong));
    return wrongAt(wrong);
  };

  /** Makes tiles of what is signed. */
  const tile = async (stream: string): Promise<void> => {
    let anew = false;
    for (let state: Awaited<ReturnType<typeof extendTiles>> = "more"; state !== "done"; ) {
      const signed = await signedStream(stream, undefined, own);
      if (signed === undefined || "flaw" in signed) return;
      const { range, gaps, archived } = signed;
      const known = { stream, size: range.size, gaps, form, archived: archived?.range.size };
      state = await transact(store, commitId, (unit) => extendTiles(store, unit, known));
      if (state !== "damaged") continue;
      found({ flaw: "hash_differs", stream, sequence: null });
      // Those of what is archived are not made again.
      if (anew) return;
      anew = true;
    }
  };

  /** A proof by what is kept of the tree, as far as it holds under what is signed. */
  const proof = async (
    stream: string,
    unsealed: AuditFinding | undefined,
    claimOf: (size: number) => LogClaim,
  ): Promise<Proven | AuditFinding | "unproven" | undefined> => {
    if (unsealed?.stream === stream) return unsealed;
    const signed = await signedStream(stream, unsealed, own);
    if (signed === undefined || "flaw" in signed) return signed;
    const { checkpoint, range, gaps, key, archived } = signed;
    const { size } = range;
    const claim = claimOf(size);
    if (size - (await tiledSize(store, stream, size)) > UNTILED) await tile(stream);
    const tree = await readTree(store, claimRanges(claim, size), { stream, size, gaps, form, archived: archived?.range.size });
    const proven = proveClaim(claim, { size, root: range.root() }, (leaves) => tree.root(leaves), sha256);
    return proven === undefined ? "unproven" : { ...proven, checkpoint: signedBy(key, checkpoint) };
  };

  /** A gap of the whole log that nobody's signed word accepts any more. */
  const unacceptedGap = async (key: NoteKey): Promise<AuditGap | undefined> => {
    const accepted = await acceptedGaps(store, instance, key);
    return (await gapsOf(wholeLog)).find((gap) => !coversGap(accepted, gap));
  };

  const gapsOf = async (stream: string): Promise<readonly AuditGap[]> => {
    const stored = await readable(() => read.get(checkpoints, stream));
    if (stored === undefined || stored === "damaged" || publicKey === undefined) return [];
    return signedGaps(stored, stream, { form, instance, key: publicKey }).map(({ first, last }) => ({ first, last }));
  };

  const acceptGap: AuditLog["acceptGap"] = async (unit, { first, last }, { reason, now }) => {
    const refused = (why: "damaged" | "signed" | "present" | "end", message: string) =>
      new CodedError("audit_gap_refused", message, { reason: why });
    const key = await openKey(unit);
    const id = `${first}-${last}`;
    const known = await readable(() => unit.get(acceptances, id));
    if (known !== undefined && known !== "damaged" && acceptedBy(known, instance, key.note) !== undefined) return undefined;
    const stored = await readable(() => unit.get(checkpoints, wholeLog));
    const whole = stored === "damaged" ? undefined : openLogTree(stored, wholeLog, { form, instance, key: key.note });
    if (whole === undefined || "flaw" in whole || (key.begun && whole.range.size === 0))
      throw refused("damaged", "the checkpoint of the whole log is gone or changed: that is no gap");
    // INVARIANT: what a checkpoint has signed is never signed again without a record, or with its neighbours unproven.
    const { size } = whole.range;
    if (first <= size) throw refused("signed", `events up to ${size} are signed: only a backup of the database brings one back`);
    let behind: number | undefined;
    for await (const [record] of recordsInOrder(store, wholeLog, first)) {
      behind = record?.seq;
      if (behind !== undefined) break;
    }
    if (behind === undefined) throw refused("end", `no event behind ${last} is there, so that none is known to be missing`);
    if (behind <= last) throw refused("present", `event ${behind} is there: only events that are missing are accepted as gone`);
    const text = acceptanceText(instance, { first, last }, new Date(now).toISOString(), reason);
    const note = await signNote(text, key.note, key.sign);
    unit.put(acceptances, id, { first, last, note });
    return note;
  };

  const verify = async (stream: string): Promise<AuditFinding | undefined> => {
    const finding = await judge(stream, await trySeal());
    if (finding === undefined) damage.delete(stream);
    else found(finding);
    return finding;
  };

  return {
    seal,
    verify,
    verifyAll: () => verify(wholeLog),
    gaps: gapsOf,
    acceptGap,
    damaged: () => [...damage.values()],
    async key(unit) {
      try {
        return await openKey(unit);
      } catch (error) {
        if (!(error instanceof AuditTampered)) throw error;
        throw new CodedError("service_unavailable", "the audit log's key is not the one that it was", {}, error);
      }
    },
    async open() {
      await trySeal();
    },
    async checkpoint(stream) {
      await trySeal();
      const stored = await readable(() => read.get(checkpoints, stream));
      if (stored === undefined || stored === "damaged" || publicKey === undefined) return undefined;
      return signedBy(publicKey, stored);
    },
    async archived(stream) {
      if (publicKey === undefined) return undefined;
      return archivedPart(await archivedLog(store, stream, { form, instance, key: publicKey }));
    },
    leafOf: (stream, number) => keptTiles(store, stream, form).leaf(number),
    async archive(target, due) {
      await seal();
      return archiveSegment(
        {
          store,
          instance,
          form,
          tile,
          signed: async (stream) => {
            const signed = await signedStream(stream, undefined);
            if (signed !== undefined && "flaw" in signed) throw new AuditTampered(signed);
            return signed && { ...signed, size: signed.range.size };
          },
          sign: (text) =>
            transact(store, commitId, async (unit) => {
              const key = await openKey(unit);
              return signNote(text, key.note, key.sign);
            }),
        },
        target,
        due,
      );
    },
    async mend(target) {
      await trySeal();
      const key = publicKey;
      if (key === undefined) return [];
      const mended = await mendTiles({ store, form, instance, key }, target);
      for (const stream of mended) await verify(stream);
      return mended;
    },
    async prove(stream, claimOf) {
      const known = damage.has(stream) ? "unproven" : await proof(stream, await trySeal(), claimOf);
      if (known !== "unproven") return known;
      const finding = await verify(stream);
      if (finding !== undefined && finding.flaw !== "hash_differs") return finding;
      const proven = await proof(stream, undefined, claimOf);
      return proven === "unproven" ? { flaw: "root_differs", stream, sequence: null } : proven;
    },
    start(background, intervalMs = 250) {
      const sealing = background.soon("audit seal", RETRY_MS, async () => {
        const finding = await trySeal();
        if (finding !== undefined) throw new AuditTampered(finding);
      });
      due = sealing;
      tiling = background.soon("audit tiles", RETRY_MS, async () => {
        for (const stream of untiled) {
          await tile(stream);
          untiled.delete(stream);
          tiled.set(stream, await tiledSize(store, stream, Number.MAX_SAFE_INTEGER));
        }
      });
      unsubscribe = store.subscribe(() => sealing.due(intervalMs));
      sealing.due(intervalMs);
    },
    async stop() {
      unsubscribe();
      await due?.stop();
      await tiling?.stop();
      await trySeal().catch((error: unknown) => log.error({ error }, "the audit log could not be sealed"));
    },
  };
}
