import { CodedError, checkOptions } from "@seneschal/kernel";
import type { LogErrorCode, Migratable, MigrationState } from "@seneschal/kernel/ports";
import { checkFence, checkImport, checkImporting, markText, parseMark } from "../migration/mark.ts";
import { EtcdSnapshots } from "./etcd-snapshots.ts";
import { createClient, type EtcdLogOptions, translated } from "./open-etcd-log.ts";
import { compareResult, compareTarget, type KeyValue, type RangeReply, type TxnReply } from "./protocol.ts";

const padded = (seq: number): string => String(seq).padStart(16, "0");
/** Entries of up to 800 KB fit in what we receive at most by so many. */
const page = 16;

/** How the values of a folder of keys are rows. */
interface Folder {
  readonly name: string;
  readonly read: (bytes: Buffer) => string;
  readonly written: (text: string) => Buffer;
}

const folders: Readonly<Record<string, Folder>> = {
  entries: { name: "log", read: (bytes) => bytes.toString(), written: (text) => Buffer.from(text) },
  archive: { name: "archive", read: (bytes) => bytes.toString("base64"), written: (text) => Buffer.from(text, "base64") },
};

/**
 * The log at a prefix of etcd, to be migrated. The mark stands in place of the head, which no append then expects. Throws as `openEtcdLog` does.
 */
export async function openEtcdLogMigratable(options: EtcdLogOptions): Promise<Migratable> {
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
  const { prefix } = options;
  const headKey = Buffer.from(`${prefix}/head`);
  const snapshots = new EtcdSnapshots(client, prefix);
  const folderOf = (table: string): Folder => folders[table] as Folder;
  const keyOf = ({ name }: Folder, key: string): Buffer => Buffer.from(`${prefix}/${name}/${key}`);
  const endOf = (name: string): Buffer => Buffer.from(`${prefix}/${name}0`);

  const range = async (query: object): Promise<readonly KeyValue[]> => (await client.persist<RangeReply>("KV.Range", query)).kvs;
  const rowKey = ({ name }: Folder, { key }: KeyValue): string => key.toString().slice(`${prefix}/${name}/`.length);
  const headText = async (): Promise<string | undefined> => (await range({ key: headKey }))[0]?.value.toString();
  const isUnchanged = (text: string | undefined): object => ({
    key: headKey,
    result: compareResult.equal,
    ...(text === undefined
      ? { target: compareTarget.create, create_revision: 0 }
      : { target: compareTarget.value, value: Buffer.from(text) }),
  });
  const content = ["log", "archive", "snap"];
  const stateOf = async (text: string | undefined): Promise<MigrationState> => {
    const mark = parseMark(text ?? "");
    if (mark !== undefined) return { state: mark.state, move: mark.move };
    if (text !== undefined) return { state: "serving" };
    for (const name of content)
      if ((await range({ key: Buffer.from(`${prefix}/${name}/`), range_end: endOf(name), limit: 1 })).length > 0)
        throw new CodedError<LogErrorCode>("log_misconfigured", `${prefix} holds something else than what is to be migrated`);
    return { state: "empty" };
  };
  /** Puts another text in place of the head, unless it changed meanwhile. */
  const replaceHead = async (from: string | undefined, to: string | undefined): Promise<void> => {
    const change =
      to === undefined ? { request_delete_range: { key: headKey } } : { request_put: { key: headKey, value: Buffer.from(to) } };
    const { succeeded } = await client.persist<TxnReply>("KV.Txn", { compare: [isUnchanged(from)], success: [change] });
    // A repetition finds what the first did.
    if (!succeeded && (await headText()) !== to) throw changed();
  };
  const clearContent = async (): Promise<void> => {
    for (const name of content)
      await client.persist("KV.DeleteRange", { key: Buffer.from(`${prefix}/${name}/`), range_end: endOf(name) });
  };
  /** What stands at the head, below a mark. */
  const underMark = (text = "{}"): string => parseMark(text)?.head ?? text;
  const told =
    <A extends readonly unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      try {
        return await work(...args);
      } catch (error) {
        throw translated(error);
      }
    };

  try {
    await client.preferLeader();
    await headText();
  } catch (error) {
    client.close();
    throw translated(error);
  }

  return {
    tables: ["entries", "snapshots", "archive"],
    state: told(async () => stateOf(await headText())),
    openedBy: told(async () => {
      // Processes elect one of them, and hold their names, by keys that end with them.
      const [sequencer, instances] = [Buffer.from(`${prefix}/sequencer`), Buffer.from(`${prefix}/instances/`)];
      const held = [...(await range({ key: sequencer })), ...(await range({ key: instances, range_end: endOf("instances") }))];
      return [...new Set(held.map(({ value }) => `instance ${(JSON.parse(value.toString()) as { id: string }).id}`))];
    }),
    fence: told(async (move) => {
      const text = await headText();
      checkFence(await stateOf(text), move);
      await replaceHead(text, markText({ state: "moved", move, head: underMark(text) }));
    }),
    unfence: told(async () => {
      const text = await headText();
      await replaceHead(text, underMark(text));
    }),
    beginImport: told(async (move) => {
      const text = await headText();
      checkImport(await stateOf(text));
      await replaceHead(text, markText({ state: "importing", move }));
      await clearContent();
    }),
    read: told(async (table, after, limit) => {
      if (table === "snapshots") {
        const snapshot = after === undefined ? await snapshots.load() : undefined;
        if (snapshot === undefined) return [];
        return [{ key: padded(snapshot.seq), value: Buffer.from(snapshot.bytes).toString("base64") }];
      }
      const folder = folderOf(table);
      const key = keyOf(folder, after === undefined ? "" : `${after}\0`);
      const found = await range({ key, range_end: endOf(folder.name), limit: Math.min(limit, page) });
      return found.map((kv) => ({ key: rowKey(folder, kv), value: folder.read(kv.value) }));
    }),
    write: told(async (move, table, rows) => {
      const text = await headText();
      checkImporting(await stateOf(text), move);
      for (const { key, value } of rows) {
        if (table === "snapshots") {
          await snapshots.save(Number(key), Buffer.from(String(value), "base64"), { seq: Number(key), batchId: "" });
          continue;
        }
        // One by one: an entry may have most of what etcd takes at once.
        const folder = folderOf(table);
        const put = { request_put: { key: keyOf(folder, key), value: folder.written(String(value)) } };
        const { succeeded } = await client.persist<TxnReply>("KV.Txn", { compare: [isUnchanged(text)], success: [put] });
        if (!succeeded) throw changed();
      }
    }),
    last: told(async (table) => {
      if (table === "snapshots") {
        const pointer = await snapshots.pointer();
        return pointer === undefined ? undefined : padded(pointer.seq);
      }
      const folder = folderOf(table);
      // Descending, by key.
      const newest = { key: keyOf(folder, ""), range_end: endOf(folder.name), limit: 1, sort_order: 2, sort_target: 0 };
      const [found] = await range(newest);
      return found === undefined ? undefined : rowKey(folder, found);
    }),
    head: told(async () => {
      const { seq = 0, batch_id: batchId = "" } = JSON.parse(underMark(await headText())) as {
        readonly seq?: number;
        readonly batch_id?: string;
      };
      return { seq, batchId };
    }),
    finishImport: told(async (move, { seq = 0, batchId = "" }) => {
      const text = await headText();
      checkImporting(await stateOf(text), move);
      await replaceHead(text, JSON.stringify({ seq, batch_id: batchId }));
    }),
    discardImport: told(async (move) => {
      const text = await headText();
      checkImporting(await stateOf(text), move);
      await clearContent();
      await replaceHead(text, undefined);
    }),
    close: async () => client.close(),
  };
}

function changed(): CodedError<LogErrorCode> {
  return new CodedError(
    "outcome_unknown",
    "the head of the log changed meanwhile: stop the processes that use it, and run the migration again",
  );
}
