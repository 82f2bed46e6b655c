import { CodedError, checkOptions, type Json, type JsonObject } from "@seneschal/kernel";
import type { Migratable, MigratedRow, Migration, MigrationState, StoreErrorCode } from "@seneschal/kernel/ports";
import { checkFence, checkImport, checkImporting, markText, parseMark } from "../migration/mark.ts";
import { bytes, layout, rangeOf } from "./layout.ts";
import { type LevelDb, openLevel } from "./open-level.ts";
import { upgradeLayout } from "./upgrade-layout.ts";

type Batch = ReturnType<LevelDb["batch"]>;

/** Where the rows of a table lie. Row keys follow the order of the engine's keys. */
interface LevelTable {
  readonly prefix: string;
  /** The engine's key, behind the prefix, of a row's key. */
  readonly place: (key: string) => string;
  /** The rows of an entry, whose key is given without the prefix. */
  readonly rows: (place: Buffer, value: Buffer) => readonly MigratedRow[];
  readonly write: (batch: Batch, rows: readonly MigratedRow[]) => void;
  /** Only the row with the greatest key counts. */
  readonly newest?: boolean;
}

interface LevelKind {
  /** What `m/format` says of one that may be opened. */
  readonly format: string;
  readonly isEmpty: (head: JsonObject) => boolean;
  readonly tables: Readonly<Record<string, LevelTable>>;
  /** So many entries are read at once. */
  readonly page: number;
  /** Everything but the marks and the head. */
  readonly content: readonly string[];
}

const text = (value: Buffer): string => value.toString("utf8");
const numbered = (place: Buffer): string => place.toString("latin1");

const binary = { keyEncoding: "buffer", valueEncoding: "buffer" } as const;

/** A table with a key of digits and one value for each. */
function plain(prefix: string, read: (value: Buffer) => Json, written: (value: Json) => Buffer): LevelTable {
  return {
    prefix,
    place: (key) => key,
    rows: (place, value) => [{ key: numbered(place), value: read(value) }],
    write: (batch, rows) => {
      for (const { key, value } of rows) batch.put(bytes(prefix + key), written(value), binary);
    },
  };
}

const json = (value: Buffer): Json => JSON.parse(text(value)) as Json;
const jsonBytes = (value: Json): Buffer => Buffer.from(JSON.stringify(value));

const store: LevelKind = {
  format: "2",
  page: 200,
  isEmpty: ({ commit }) => commit === 0,
  content: ["d/", "i/", "a/", "c/", "s/", "w/"],
  tables: {
    documents: {
      prefix: "d/",
      place: (key) => {
        const at = key.indexOf("/");
        return layout.document(key.slice(0, at), key.slice(at + 1)).slice(2);
      },
      rows: (place, value) => {
        const [stored, at] = [text(value), text(value).indexOf(" ")];
        return [{ key: text(place), value: [Number(stored.slice(0, at)), JSON.parse(stored.slice(at + 1)) as Json] }];
      },
      write: (batch, rows) => {
        for (const { key, value } of rows) {
          const [version, doc] = value as [number, Json];
          batch.put(bytes(`d/${store.tables["documents"]?.place(key)}`), `${version} ${JSON.stringify(doc)}`);
        }
      },
    },
    audit: {
      ...plain("a/", json, jsonBytes),
      write: (batch, rows) => {
        for (const { key, value } of rows) {
          const [stream, streamSeq] = value as [string, number];
          batch.put(bytes(`a/${key}`), JSON.stringify(value)).put(bytes(layout.stream(stream)), String(streamSeq));
        }
      },
    },
    changes: plain("c/", json, jsonBytes),
    commits: {
      prefix: layout.batches,
      place: (key) => key,
      rows: (place, value) => {
        const [end, ids] = [Number(numbered(place)), json(value) as string[]];
        return ids.map((id, at) => ({ key: layout.batch(end - ids.length + 1 + at).slice(2), value: id }));
      },
      write: (batch, rows) =>
        void batch.put(bytes(layout.batches + rows.at(-1)?.key), JSON.stringify(rows.map(({ value }) => value))),
    },
  },
};

const base64 = (value: Buffer): Json => value.toString("base64");
const fromBase64 = (value: Json): Buffer => Buffer.from(String(value), "base64");

const log: LevelKind = {
  format: "log 1",
  // Entries and archived pieces may have 800 KB.
  page: 16,
  isEmpty: ({ seq }) => seq === 0,
  content: ["l/", "s/", "a/"],
  tables: {
    entries: plain("l/", text, (value) => Buffer.from(String(value))),
    snapshots: { ...plain("s/", base64, fromBase64), newest: true },
    archive: plain("a/", base64, fromBase64),
  },
};

/** The store in a LevelDB directory, to be moved. Throws as `openLevelStore` does. */
export function openLevelStoreMigratable(options: { readonly path: string }): Promise<Migratable> {
  checkOptions("options", options, { path: "string" });
  return openMigratable(options.path, store);
}

/** The log in a LevelDB directory, to be moved. Throws as `openLevelLog` does. */
export function openLevelLogMigratable(options: { readonly path: string }): Promise<Migratable> {
  checkOptions("options", options, { path: "string" });
  return openMigratable(options.path, log);
}

async function openMigratable(path: string, kind: LevelKind): Promise<Migratable> {
  const db = await openLevel(path);
  const tableOf = (name: string): LevelTable => kind.tables[name] as LevelTable;
  const headOf = async (): Promise<JsonObject> => JSON.parse((await db.get(bytes(layout.head))) ?? "{}") as JsonObject;
  const clearContent = async (): Promise<void> => {
    for (const prefix of kind.content) await db.clear(rangeOf(prefix));
  };
  const format = async (): Promise<string | undefined> => upgradeLayout(db, await db.get(bytes(layout.format)));
  const foreign = (): CodedError<StoreErrorCode> =>
    new CodedError("store_misconfigured", `${path} holds something else than what is to be moved`, { path });

  const state = async (): Promise<MigrationState> => {
    const found = await format();
    const mark = parseMark(found ?? "");
    if (mark !== undefined) return { state: mark.state, move: mark.move };
    if (found === undefined && (await db.keys({ limit: 1 }).all()).length === 0) return { state: "empty" };
    if (found !== kind.format) throw foreign();
    return { state: kind.isEmpty(await headOf()) ? "empty" : "serving" };
  };
  try {
    await state();
  } catch (error) {
    await db.close();
    throw error;
  }

  return {
    tables: Object.keys(kind.tables),
    state,
    // The directory's lock keeps out whoever else has it open.
    openedBy: async () => [],
    async fence(move: Migration) {
      checkFence(await state(), move);
      await db.put(bytes(layout.format), markText({ state: "moved", move }), { sync: true });
    },
    unfence: () => db.put(bytes(layout.format), kind.format, { sync: true }),
    async beginImport(to) {
      checkImport(await state());
      const marked = markText({ state: "importing", move: to });
      const batch = db.batch().put(bytes(layout.format), marked).del(bytes(layout.head)).del(bytes(layout.indexes));
      await batch.write({ sync: true });
      await clearContent();
    },
    async read(name, after, limit) {
      const { prefix, place, rows, newest = false } = tableOf(name);
      const { gte, lt } = rangeOf(prefix);
      const behind = after === undefined ? { gte, lt } : { gt: bytes(prefix + place(after)), lt };
      const range = { ...behind, limit: newest ? 1 : Math.min(limit, kind.page), reverse: newest, ...binary };
      const entries = await db.iterator<Buffer, Buffer>(range).all();
      const found = entries.flatMap(([key, value]) => rows(key.subarray(prefix.length), value));
      // An entry of several rows is found by its last.
      return name === "commits" && after !== undefined ? found.filter(({ key }) => key > after) : found;
    },
    async write(move, name, rows) {
      checkImporting(await state(), move);
      const batch = db.batch();
      tableOf(name).write(batch, rows);
      await batch.write({ sync: true });
    },
    async last(name) {
      const { prefix, rows } = tableOf(name);
      const range = { ...rangeOf(prefix), reverse: true, limit: 1, ...binary };
      const [newest] = await db.iterator<Buffer, Buffer>(range).all();
      return newest === undefined ? undefined : rows(newest[0].subarray(prefix.length), newest[1]).at(-1)?.key;
    },
    head: headOf,
    async finishImport(move, head) {
      checkImporting(await state(), move);
      const batch = db.batch().put(bytes(layout.head), JSON.stringify(head)).put(bytes(layout.format), kind.format);
      await batch.write({ sync: true });
    },
    async discardImport(move) {
      checkImporting(await state(), move);
      await clearContent();
      await db.batch().del(bytes(layout.head)).del(bytes(layout.indexes)).del(bytes(layout.format)).write({ sync: true });
    },
    close: () => db.close(),
  };
}
