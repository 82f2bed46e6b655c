import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BackupTarget, directoryBackups } from "@seneschal/adapters/backups";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { type SegmentDue, segmentFiles, wholeLog } from "@seneschal/crypto/audit-log";
import { MerkleTree, verifyConsistency, verifyInclusion } from "@seneschal/crypto/merkle";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { AuditLog } from "../../src/governance/audit/audit-log.ts";
import { openCheckpointSigner } from "../../src/governance/audit/open-checkpoint-signer.ts";
import { leafOf } from "../../src/governance/audit/records.ts";
import { sha256 } from "../../src/governance/audit/sha256.ts";
import { governanceLog, governanceSchema, governanceSettings } from "../../src/governance/index.ts";
import { auditArchives, auditTiles, commitGuarded, eventsOf, verifyArchiveFiles } from "../../src/platform/audit-log/index.ts";
import { dying } from "../platform/dying.ts";
import { NOON, type Rig, servers, startRig } from "./rig.ts";

const signer = await openCheckpointSigner(undefined, "test");
const forms = [governanceLog];
const folder = mkdtempSync(join(tmpdir(), "governance-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));
const DAY = 86_400_000;
const STREAMS = ["a", "b", "c"];
const minute = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString();
const before = (at: number): SegmentDue => ({ before: minute(at), alsoFew: "9", upTo: Number.MAX_SAFE_INTEGER });
const hashOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

let counter = 0;
const nextId = (): string => `c${counter++}`;

/** Records in turn of three organisations, one a minute, all of them signed, and their archive; `c` falls silent after the tenth. */
async function logOf(records: number) {
  const store = openMemoryStore(governanceSchema);
  const directory = join(folder, nextId());
  const target = directoryBackups(directory);
  const open = (over: DocumentStore = store) => new AuditLog(over, signer);
  /** The trees as whoever kept every record would have them. */
  const trees = new Map(STREAMS.map((stream) => [stream, new MerkleTree(sha256)]));
  let at = 0;
  const append = async (count: number): Promise<void> => {
    for (const end = at + count; at < end; at += 1) {
      const stream = ["a", "b", at > 10 ? "a" : "c"][at % 3] as string;
      const event = { id: `e${at}`, user_id: "person:x", timestamp: minute(at), operation_type: "READ" };
      await store.commit({ commitId: nextId(), audit: [{ stream, event }] });
      trees.get(stream)?.appendHash(leafOf(event));
    }
    await open().checkpointAll(NOON);
  };
  const step = async (due: SegmentDue, into: BackupTarget = target, over: DocumentStore = store) => {
    const segment = await open(over).archive(into, due, NOON);
    if (segment === undefined || !(await commitGuarded(over, segment.keep))) return undefined;
    await segment.forget();
    return segment.name;
  };
  const live = async () => (await store.auditRead(0, 10_000)).map(({ seq }) => seq);
  await append(records);
  return { store, directory, target, trees, open, append, step, live };
}

const change = (store: DocumentStore, coll: string, id: string, to: (doc: JsonObject) => JsonObject) =>
  store.get(coll, id).then((found) => store.commit({ commitId: nextId(), puts: [{ coll, id, doc: to(found?.doc ?? {}) }] }));

async function archivedIds(target: BackupTarget): Promise<ReadonlyMap<number, unknown>> {
  const found = new Map<number, unknown>();
  for (const id of await target.list())
    for await (const { seq, event } of eventsOf(target.read(id, segmentFiles.events))) found.set(seq, event["id"]);
  return found;
}

describe("an archive of the audit log of governance", () => {
  it("takes what is due out of the store but for the newest of each organisation, and every log is whole, goes on and is told as archived", async () => {
    const log = await logOf(40);
    expect(await log.step(before(0))).toBeUndefined();
    await log.step(before(20));
    expect(await log.live()).toEqual([9, ...Array.from({ length: 20 }, (_, at) => at + 21)]);
    await log.append(10);
    await log.step(before(45));
    expect((await archivedIds(log.target)).size).toBe(45);
    for (const stream of STREAMS) {
      const tree = log.trees.get(stream) as MerkleTree;
      const verdict = { valid: true, records: tree.size, root: Buffer.from(tree.root()).toString("base64"), missing: 0 };
      expect(await log.open().verify(stream), stream).toMatchObject(verdict);
      expect(await log.open().checkpoint(stream, NOON)).toMatchObject({ size: tree.size, root: verdict.root });
    }
    expect(await log.open().archived("c")).toEqual({ through: 3, until: minute(8) });
    expect(await log.open().archived("nobody")).toBeUndefined();
  });

  it("leaves what proves: claims of every size are judged, and every record and every earlier size is proven, archived or not", async () => {
    const log = await logOf(60);
    await log.step(before(30));
    await log.step(before(50));
    const opened = log.open();
    const tree = log.trees.get("a") as MerkleTree;
    for (let size = 1; size <= tree.size; size += 1) {
      const root = Buffer.from(tree.root(size)).toString("base64");
      expect(await opened.verify("a", { size, root }), `size ${size}`).toMatchObject({ valid: true });
      const wrong = await opened.verify("a", { size, root: Buffer.alloc(32, size).toString("base64") });
      expect(wrong).toMatchObject({ valid: false, first_bad_checkpoint: size, missing: 0 });
      const { proven } = await opened.consistency("a", size);
      if (proven === undefined) throw new Error(`size ${size} is not proven`);
      const { second_root, proof } = proven;
      const roots = { oldRoot: tree.root(size), newRoot: hashOf(second_root), proof: proof.map(hashOf) };
      expect(proven.first_root).toBe(root);
      expect(verifyConsistency({ oldSize: size, newSize: tree.size, ...roots }, sha256)).toBe(true);
    }
    for (const id of await log.target.list())
      for await (const { stream, stream_seq, event } of eventsOf(log.target.read(id, segmentFiles.events))) {
        if (stream !== "a") continue;
        const { leaf, index, size, root, proof } = await opened.proof(stream, stream_seq, event);
        const given = { index, size, leaf: hashOf(leaf), proof: proof.map(hashOf), root: hashOf(root) };
        expect([root, verifyInclusion(given, sha256)]).toEqual([Buffer.from(tree.root()).toString("base64"), true]);
        await expect(opened.proof(stream, stream_seq, { ...event, id: "another" })).rejects.toMatchObject({
          code: "log_invalid",
        });
      }
  });

  it("is verified by its files and a kept checkpoint alone, and is found out for every change of a file", async () => {
    const log = await logOf(12);
    const kept = await Promise.all(STREAMS.map((stream) => log.open().checkpoint(stream, NOON)));
    await log.append(18);
    await log.step(before(10));
    const name = await log.step(before(20));
    const { verifierKey } = log.open();
    for (const checkpoint of kept)
      expect(await verifyArchiveFiles(log.target, { forms, verifierKey, checkpoint: checkpoint?.note ?? "" })).toMatchObject({
        instance: "test.audit",
        segments: 2,
        last: 20,
        checkpoint: { reached: true },
      });
    for (const file of Object.values(segmentFiles)) {
      const path = join(log.directory, name?.id ?? "", file);
      const text = await readFile(path, "utf8");
      for (const changed of [text.replace('"READ"', '"WRITE"'), text.replace("test.audit", "best.audit"), text.slice(0, -9)]) {
        if (changed === text) continue;
        await writeFile(path, changed);
        await expect(verifyArchiveFiles(log.target, { forms })).rejects.toMatchObject({ code: "audit_archive_damaged" });
      }
      await writeFile(path, text);
    }
    await verifyArchiveFiles(log.target, { forms });
  });

  it("loses no record wherever it is killed: each is in the store or in an archive that verifies, and the next run ends it", async () => {
    const wanted = new Map(Array.from({ length: 8 }, (_, at) => [at + 1, `e${at}`]));
    for (let calls = 0, ended = false; !ended; calls += 1) {
      const log = await logOf(8);
      const fuse = { left: calls };
      const killed = <T extends object>(of: T): T => dying(of, ["write", "commit", "compact"], fuse);
      ended = await log.step(before(4), killed(log.target), killed(log.store)).then(
        () => true,
        () => false,
      );
      const there = new Map((await log.store.auditRead(0, 99)).map(({ seq, event }) => [seq, event["id"]]));
      const archived = await archivedIds(log.target).catch(() => new Map());
      expect(new Map([...archived, ...there].sort(([a], [b]) => a - b)), `after ${calls} acts`).toEqual(wanted);
      if (there.size < 8)
        expect(await verifyArchiveFiles(log.target, { forms }), `after ${calls} acts`).toMatchObject({ last: 4 });
      await log.step(before(6));
      expect(await verifyArchiveFiles(log.target, { forms })).toMatchObject({ last: 6 });
      for (const stream of STREAMS) expect(await log.open().verify(stream)).toMatchObject({ valid: true });
      expect(await log.live()).toEqual([6, 7, 8]);
      if (calls > 100) throw new Error("it never ends");
    }
  });

  it("takes no record that is not the one that was signed, and none of a log that lacks one", async () => {
    const log = await logOf(30);
    const over = (map: (doc: JsonObject) => readonly JsonObject[]): DocumentStore => ({
      ...log.store,
      async list(coll, ...rest) {
        const page = await log.store.list(coll, ...rest);
        return coll === "audit"
          ? { ...page, items: page.items.flatMap((item) => map(item.doc).map((doc) => ({ ...item, doc }))) }
          : page;
      },
    });
    const changed = over((doc) => [JSON.parse(JSON.stringify(doc).replace('"e3"', '"e4"')) as JsonObject]);
    await expect(log.step(before(20), log.target, changed)).rejects.toThrow(/damaged|not/);
    const cut = over((doc) => (doc["seq"] === 4 ? [] : [doc]));
    await expect(log.step(before(20), log.target, cut)).rejects.toThrow(/damaged|not/);
    expect(await log.live()).toHaveLength(30);
  });

  it("is not valid, and proves nothing, when what stays of it is changed: a tile, the record that stays, the word of the archive; who deletes records cannot say that they were archived", async () => {
    const log = await logOf(40);
    const checkpoint = (await log.open().checkpoint("a", NOON)) as unknown as JsonObject;
    await log.step(before(30));
    const size = Number((await log.store.get(auditArchives.name, "a"))?.doc["size"]);
    const verdict = () => log.open().verify("a");
    const bad = { valid: false, first_bad_checkpoint: expect.any(Number) };
    const flip = (doc: JsonObject): JsonObject => {
      const bytes = Buffer.from(String(doc["hashes"]), "base64");
      bytes[40] = (bytes[40] as number) ^ 1;
      return { ...doc, hashes: bytes.toString("base64") };
    };
    for (const [coll, id, damage] of [
      [auditTiles.name, "0/0/a", flip],
      [auditTiles.name, "0/0/a", () => ({ hashes: "" })],
      [auditArchives.name, "a", (doc: JsonObject) => ({ ...doc, size: 1 })],
      [auditArchives.name, "a", () => ({ ...checkpoint, size })],
    ] as const) {
      const found = (await log.store.get(coll, id))?.doc as JsonObject;
      await change(log.store, coll, id, damage);
      expect(await verdict(), `${coll} ${damage}`).toMatchObject(bad);
      await expect(log.open().consistency("a", 1)).rejects.toMatchObject({ code: "log_invalid" });
      await change(log.store, coll, id, () => found);
      expect(await verdict()).toMatchObject({ valid: true });
    }
    const quiet = await logOf(30);
    await quiet.step(before(20));
    const other: DocumentStore = {
      ...quiet.store,
      async list(coll, ...rest) {
        const page = await quiet.store.list(coll, ...rest);
        return coll === "audit"
          ? { ...page, items: page.items.map((item) => JSON.parse(JSON.stringify(item).replace('"e8"', '"e0"'))) }
          : page;
      },
    };
    expect(await quiet.open().verify("c")).toMatchObject({ valid: true });
    expect(await quiet.open(other).verify("c")).toMatchObject(bad);
    await log.store.commit({ commitId: nextId(), dels: [{ coll: auditArchives.name, id: "a" }] });
    expect(await verdict()).toMatchObject(bad);
  });
});

it.each([
  ["organization", { organization: wholeLog }],
  ["api_keys.0.org", { api_keys: [{ id: "k", sha256: "0".repeat(64), scopes: ["classify"], org: wholeLog }] }],
  ["sources.shop.organization", { sources: { shop: { kind: "postgres", organization: wholeLog } } }],
])("the log of all organisations has its name to itself: no %s has it", (path, settings) => {
  const refused = governanceSettings.safeParse(settings).error?.issues.map((issue) => issue.path.join("."));
  expect(refused).toContain(path);
});

describe("hashes of archived records of governance that are damaged", () => {
  it("are made anew from the archive: of every log, whatever was lost, and by nothing that was changed", async () => {
    const log = await logOf(2);
    // More than a tile of each level holds, and records behind them that the last tiles have too.
    for (let at = 0; at < 3; at += 1) {
      const audit = Array.from({ length: 300 }, (_, n) => ({
        stream: "a",
        event: { id: `m${at}-${n}`, user_id: "person:x", timestamp: minute(10 + at), operation_type: "READ" },
      }));
      await log.store.commit({ commitId: nextId(), audit });
    }
    await log.open().checkpointAll(NOON);
    expect((await log.open().consistency("a", 300)).size).toBe(901);
    await log.step(before(12));
    const whole = await log.open().verify("a");
    expect(whole).toMatchObject({ valid: true, records: 901 });
    expect(await log.open().mend(log.target)).toEqual([]);
    const flip = (doc: JsonObject): JsonObject => {
      const bytes = Buffer.from(String(doc["hashes"]), "base64");
      bytes[70] = (bytes[70] as number) ^ 1;
      return { ...doc, hashes: bytes.toString("base64") };
    };
    for (const damage of [
      () => change(log.store, auditTiles.name, "0/0/a", flip),
      () => change(log.store, auditTiles.name, "1/0/a", () => ({ hashes: "?" })),
      () => change(log.store, auditTiles.name, "0/2/a", flip),
      () =>
        log.store.commit({ commitId: nextId(), dels: ["0/1/a", "1/0/a", "0/0/b"].map((id) => ({ coll: auditTiles.name, id })) }),
    ]) {
      await damage();
      const opened = log.open();
      expect(await opened.verify("a")).toMatchObject({ valid: false });
      expect(opened.doubted).toBe(true);
      const [segment] = await log.target.list();
      const path = join(log.directory, segment ?? "", segmentFiles.events);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace('"READ"', '"ROAD"'));
      await expect(opened.mend(log.target)).rejects.toMatchObject({ code: "audit_archive_damaged" });
      expect(await opened.verify("a")).toMatchObject({ valid: false });
      await writeFile(path, text);
      expect(await opened.mend(log.target)).toContain("a");
      expect(opened.doubted).toBe(false);
      expect(await opened.verify("a")).toEqual(whole);
      for (const first of [1, 255, 256, 257, 601, 700, 901]) expect((await opened.consistency("a", first)).proven).toBeDefined();
      expect(await opened.mend(log.target)).toEqual([]);
    }
  });
});

describe.each(servers)("data governance whose audit log is archived, over %s", (_, serve) => {
  let rig: Rig;
  let directory: string;
  const start = async (audit_sinks: object = {}) => {
    directory = join(folder, nextId());
    const audit = { archive: { to: { directory }, after: "30d" } };
    rig = await startRig(serve, { archive: directoryBackups(directory), settings: { audit, audit_sinks } });
    const body = { query: "SELECT email FROM users" };
    for (let i = 0; i < 3; i += 1) expect((await rig.call("admin", "POST", "/api/v1/classify", body)).status).toBe(200);
    const asked = { operation_type: "READ", source_resources: [], user_context: { user_id: "ann", role: "r", department: "d" } };
    expect((await rig.call("admin", "POST", "/api/v1/evaluate", asked)).status).toBe(200);
  };
  beforeEach(() => start());
  afterEach(() => rig.stop());
  const page = async (query = "") => (await rig.call("admin", "GET", `/api/v1/audit?limit=1000${query}`)).body;

  it("says in every answer that reads records what of them is archived, where the asked period reaches into that, and records the archiving", async () => {
    const all = await page();
    expect(all).not.toHaveProperty("archived");
    rig.clock.set(NOON + 40 * DAY);
    expect(await rig.archive(NOON + 40 * DAY)).toHaveLength(1);
    const told = await page();
    expect(told.archived).toEqual({ through: all.total, until: all.records[0].timestamp });
    expect(told.records).toMatchObject([{ operation_type: "AUDIT_ARCHIVE", log_index: all.total }]);
    const since = new Date(Date.parse(told.archived.until) + 1).toISOString();
    expect(await page(`&start_date=${since}`)).not.toHaveProperty("archived");
    const asked = await rig.call("admin", "POST", "/api/v1/audit/query", { start_date: told.archived.until });
    expect(asked.body.archived).toEqual(told.archived);
    const verdict = (await rig.call("admin", "POST", "/api/v1/audit/verify", {})).body;
    expect(verdict).toMatchObject({ valid: true, records: all.total + 1, missing: 0, archived: told.archived });
    const file = (query: string) => rig.call("admin", "GET", `/api/v1/audit/decision-log${query}`);
    expect((await file("")).headers.get("audit-archived")).toBe(`through=${all.total}; until=${told.archived.until}`);
    expect((await file(`?start_date=${since}`)).headers.get("audit-archived")).toBeNull();
    const consistency = await rig.call("admin", "GET", "/api/v1/audit/checkpoint/consistency?first=1");
    expect(consistency.body).toMatchObject({ first: 1, second: all.total + 1 });
    expect((await rig.call("admin", "GET", `/api/v1/audit/${told.records[0].id}/proof`)).body).toMatchObject({
      index: all.total,
    });
    expect((await rig.call("admin", "GET", `/api/v1/audit/${all.records.at(-1).id}/proof`)).status).toBe(404);
    expect((await rig.call("other", "GET", "/api/v1/audit")).body).not.toHaveProperty("archived");
    expect((await rig.call(undefined, "GET", "/metrics")).body).toContain(`governance_audit_archived_events ${all.total}`);
  });

  it("archives no name: whoever is erased stays erased, and the archive and the log are whole", async () => {
    rig.clock.set(NOON + 40 * DAY);
    await rig.archive(NOON + 40 * DAY);
    const texts = async () =>
      (
        await Promise.all(
          (
            await readdir(directory)
          ).flatMap((id) => Object.values(segmentFiles).map((file) => readFile(join(directory, id, file), "utf8"))),
        )
      ).join();
    expect(await texts()).toMatch(/"user_id":"person:/);
    expect(await texts()).not.toMatch(/"ann"/);
    expect((await rig.call("admin", "DELETE", "/api/v1/audit/persons/ann")).status).toBe(204);
    expect((await page()).records.map(({ user_id }: JsonObject) => user_id)).not.toContain("ann");
    expect((await rig.call("admin", "POST", "/api/v1/audit/verify", {})).body).toMatchObject({ valid: true });
    expect(await verifyArchiveFiles(directoryBackups(directory), { forms })).toMatchObject({ segments: 1 });
  });

  it("keeps what a sink has not heard", async () => {
    await rig.stop();
    await start({ siem: { kind: "file", path: join(folder, nextId()) } });
    rig.clock.set(NOON + 40 * DAY);
    expect(await rig.archive(NOON + 40 * DAY)).toEqual([]);
    expect(await page()).not.toHaveProperty("archived");
  });
});
