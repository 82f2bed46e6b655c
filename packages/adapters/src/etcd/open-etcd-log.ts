import { CodedError, checkOptions } from "@seneschal/kernel";
import { checkEntry, decodeEntry, emptyHead, encodeEntry } from "@seneschal/kernel/log";
import type { AppendResult, LogEntry, LogErrorCode, LogHead, ReplicatedLog } from "@seneschal/kernel/ports";
import { InFlight } from "../in-flight.ts";
import { checkPiece, checkRead, truncated, uncovered } from "../log/check-query.ts";
import { settleAppend } from "../log/settle-append.ts";
import { markedError, parseMark } from "../migration/mark.ts";
import { classifyEtcdError, EtcdClient, type EtcdOptions } from "./etcd-client.ts";
import { EtcdSnapshots } from "./etcd-snapshots.ts";
import { compareResult, compareTarget, type KeyValue, type RangeReply, type TxnReply } from "./protocol.ts";
import { WatchKey } from "./watch-key.ts";

/** Options of {@link openEtcdLog}. */
export interface EtcdLogOptions extends EtcdOptions {
  /** One state machine, one prefix, for example `/seneschal/quota`. */
  readonly prefix: string;
  /** The cluster's `--quota-backend-bytes`, for the status. Default 2 GiB, etcd's own. */
  readonly quotaBytes?: number;
}

/** Entries per reply: 16 of the largest batches fit in what we receive at most. */
const page = 16;

/**
 * A {@link ReplicatedLog} on an etcd cluster (3.4 or newer; 3, 5 or 7 members): the one with a real quorum.
 *
 * `<prefix>/head` holds sequence and batch of the newest entry, `<prefix>/log/<seq>` the entries. An append is one
 * transaction that compares the whole head; it is re-sent identically until its outcome is known. Reads are ranges-only
 * transactions: linearizable, at one revision. Truncation deletes and compacts; members need a defragmentation now and
 * then to give the space back to the disk.
 *
 * @throws CodedError `log_moved`, `log_incomplete` at a migration's mark; `log_misconfigured` (bad endpoints, credentials, rights), `no_quorum`.
 */
export async function openEtcdLog(options: EtcdLogOptions): Promise<ReplicatedLog> {
  checkOptions("options", options, {
    prefix: "string",
    quotaBytes: "number?",
    endpoints: "array",
    tls: "object?",
    auth: "object?",
    tryMs: "number?",
    totalMs: "number?",
  });
  const client = createClient(options);
  const { prefix, quotaBytes = 2 * 1024 ** 3 } = options;
  const inFlight = new InFlight("log");
  const headKey = Buffer.from(`${prefix}/head`);
  const pieceKey = (piece: number): Buffer => Buffer.from(`${prefix}/archive/${String(piece).padStart(16, "0")}`);
  const entryKey = (seq: number): Buffer => Buffer.from(`${prefix}/log/${String(seq).padStart(16, "0")}`);
  const logEnd = Buffer.from(`${prefix}/log0`);
  const watch = new WatchKey(client, headKey);
  const snapshots = new EtcdSnapshots(client, prefix);

  const headRange = { request_range: { key: headKey } };
  const behind = (seq: number, limit: number) => ({ request_range: { key: entryKey(seq + 1), range_end: logEnd, limit } });
  const headOf = (reply: RangeReply | null | undefined): LogHead => {
    const value = reply?.kvs[0]?.value;
    return value === undefined ? emptyHead : headFrom(value);
  };
  /** The entries directly behind `seq`; none when the next one is truncated. */
  const entriesOf = (reply: RangeReply | null | undefined, seq: number): LogEntry[] => {
    const entries = (reply?.kvs ?? []).map((kv: KeyValue) => decodeEntry(kv.value.toString()));
    return entries[0]?.seq === seq + 1 ? entries : [];
  };
  const look = async (afterSeq: number, limit: number) => {
    const { responses } = await client.persist<TxnReply>("KV.Txn", {
      success: [headRange, behind(afterSeq, Math.min(limit, page))],
    });
    return {
      head: headOf(responses[0]?.response_range),
      entries: entriesOf(responses[1]?.response_range, afterSeq),
      first: responses[1]?.response_range?.kvs[0],
    };
  };

  try {
    await client.preferLeader();
    await look(0, 1);
  } catch (error) {
    client.close();
    throw translated(error);
  }

  return {
    read: (afterSeq, { limit }) =>
      inFlight.run(async () => {
        checkRead(afterSeq, limit);
        const { head, entries, first } = await look(afterSeq, limit).catch(rethrow);
        if (entries.length === 0 && head.seq > afterSeq)
          throw truncated(afterSeq, first === undefined ? head.seq + 1 : decodeEntry(first.value.toString()).seq);
        return { head, entries };
      }),
    append: (expectHead, entry) =>
      inFlight.run(() => {
        checkEntry(expectHead, entry);
        const transaction = {
          compare: [compareHead(headKey, expectHead)],
          success: [
            { request_put: { key: headKey, value: headValue({ seq: entry.seq, batchId: entry.batchId }) } },
            { request_put: { key: entryKey(entry.seq), value: Buffer.from(encodeEntry(entry)) } },
          ],
          failure: [headRange, behind(expectHead.seq, page)],
        };
        return settleAppend(expectHead, entry, {
          attempt: async (leftMs): Promise<AppendResult> => {
            const tryMs = Math.min(client.tryMs, leftMs);
            const { succeeded, responses } = await client.call<TxnReply>("KV.Txn", transaction, tryMs);
            if (succeeded) return { ok: true, head: { seq: entry.seq, batchId: entry.batchId } };
            return {
              ok: false,
              head: headOf(responses[0]?.response_range),
              tail: entriesOf(responses[1]?.response_range, expectHead.seq),
            };
          },
          look: async () => {
            const { head, entries } = await look(expectHead.seq, page);
            return { head, tail: entries };
          },
          classify: classifyEtcdError,
          totalMs: client.totalMs,
        });
      }),
    saveSnapshot: (seq, bytes) =>
      inFlight.run(async () => {
        const { head } = await look(seq, 1).catch(rethrow);
        await snapshots.save(seq, bytes.slice(), head).catch(rethrow);
      }),
    loadSnapshot: () => inFlight.run(() => snapshots.load().catch(rethrow)),
    truncate: (throughSeq) =>
      inFlight.run(async () => {
        await look(0, 1).catch(rethrow);
        const covered = (await snapshots.pointer().catch(rethrow))?.seq ?? 0;
        if (throughSeq > covered) throw uncovered(throughSeq, covered);
        const range = { key: entryKey(0), range_end: entryKey(throughSeq + 1) };
        const { header } = await client.persist<RangeReply>("KV.DeleteRange", range).catch(rethrow);
        // etcd frees nothing before a compaction. Another process may have compacted further: that is as good.
        await client.call("KV.Compact", { revision: header.revision }).catch(() => {});
      }),
    archive: (piece, bytes) =>
      inFlight.run(async () => {
        checkPiece(piece, bytes);
        const key = pieceKey(piece);
        const absent = { key, target: compareTarget.create, result: compareResult.equal, create_revision: 0 };
        // Repeating it is safe: the second application finds the first.
        await client
          .persist<TxnReply>("KV.Txn", { compare: [absent], success: [{ request_put: { key, value: Buffer.from(bytes) } }] })
          .catch(rethrow);
      }),
    archived: (piece) =>
      inFlight.run(async () => {
        checkPiece(piece);
        const { kvs } = await client.persist<RangeReply>("KV.Range", { key: pieceKey(piece) }).catch(rethrow);
        return kvs[0] === undefined ? undefined : new Uint8Array(kvs[0].value);
      }),
    subscribe: (_afterSeq, callback) => {
      inFlight.check();
      // A migration's mark names no sequence: the read that follows says why.
      return watch.subscribe((value) =>
        callback(value === undefined || parseMark(value.toString()) !== undefined ? undefined : headFrom(value).seq),
      );
    },
    status: () =>
      inFlight.run(async () => {
        const all = { key: entryKey(0), range_end: logEnd, count_only: true };
        const [members, list, state, kept] = await Promise.all([
          client.callAll<StatusReply>("Maintenance.Status", {}),
          client
            .call<{ readonly members: readonly { readonly name: string }[] }>("Cluster.MemberList", {})
            .catch(() => undefined),
          look(0, 1).catch(() => undefined),
          client.call<RangeReply>("KV.Range", all).catch(() => undefined),
        ]);
        const known = members.filter((member) => member !== undefined);
        const leader = known.find((member) => member.leader === member.header.member_id);
        return {
          available: state !== undefined,
          head: state?.head ?? emptyHead,
          role: leader === undefined ? "candidate" : "follower",
          term: Math.max(0, ...known.map((member) => Number(member.raftTerm))),
          leaderId: leader === undefined ? "" : BigInt(leader.leader).toString(16),
          members: list?.members.map((member) => member.name) ?? [],
          sizeBytes: Math.max(0, ...known.map((member) => Number(member.dbSizeInUse))),
          quotaBytes,
          allocatedBytes: Math.max(0, ...known.map((member) => Number(member.dbSize))),
          ...(kept === undefined ? {} : { entries: Number(kept.count) }),
        };
      }),
    close: async () => {
      watch.close();
      await inFlight.close();
      client.close();
    },
  };
}

interface StatusReply {
  readonly header: { readonly member_id: string };
  readonly leader: string;
  readonly raftTerm: string;
  readonly dbSize: string;
  readonly dbSizeInUse: string;
}

/** The client of a log. Throws `log_misconfigured`. */
export function createClient(options: EtcdLogOptions): EtcdClient {
  try {
    if (!/^\/[\x21-\x7e]*[^/]$/.test(options.prefix))
      throw new TypeError("the prefix must be ASCII, start with / and not end with it");
    const { prefix: _prefix, quotaBytes: _quota, ...connection } = options;
    return new EtcdClient(connection);
  } catch (error) {
    throw new CodedError<LogErrorCode>("log_misconfigured", (error as Error).message, {}, error);
  }
}

/** The head is unchanged: its whole value, or, before the first entry, its absence. */
function compareHead(key: Buffer, head: LogHead): object {
  const { equal } = compareResult;
  if (head.seq === 0) return { key, target: compareTarget.create, result: equal, create_revision: 0 };
  return { key, target: compareTarget.value, result: equal, value: headValue(head) };
}

function headFrom(value: Buffer): LogHead {
  const mark = parseMark(value.toString());
  if (mark !== undefined) throw markedError("log", mark);
  const { seq, batch_id: batchId } = JSON.parse(value.toString()) as { seq: number; batch_id: string };
  return { seq, batchId };
}

function headValue({ seq, batchId }: LogHead): Buffer {
  return Buffer.from(JSON.stringify({ seq, batch_id: batchId }));
}

function rethrow(error: unknown): never {
  throw translated(error);
}

/** Reads that fail have no quorum behind them, or no right to be asked. */
export function translated(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  switch (classifyEtcdError(error)) {
    case "definite":
      return new CodedError<LogErrorCode>(
        "log_misconfigured",
        "etcd refuses the request: check user, role and prefix",
        {},
        error,
      );
    case "full":
      return new CodedError<LogErrorCode>("log_full", "etcd's storage quota is exhausted", {}, error);
    default:
      return new CodedError<LogErrorCode>("no_quorum", "etcd does not answer with a quorum", {}, error);
  }
}
