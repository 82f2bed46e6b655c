import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BackupTarget, directoryBackups } from "@seneschal/adapters/backups";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { type SegmentDue, segmentFiles, wholeLog } from "@seneschal/crypto/audit-log";
import { parseCheckpoint, verifyConsistency, verifyInclusion } from "@seneschal/crypto/merkle";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore, Vault } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AuditRecord, auditLeaf } from "../../src/gateway/ground/audit/event.ts";
import { type AuditLog, auditLog } from "../../src/gateway/ground/audit/log.ts";
import { transact } from "../../src/gateway/ground/store/unit-of-work.ts";
import { gatewayLog, gatewaySchema } from "../../src/gateway/index.ts";
import { auditArchives, eventsOf, verifyArchiveFiles } from "../../src/platform/audit-log/index.ts";
import { dying } from "../platform/dying.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";

const sha256 = (data: Uint8Array): Uint8Array => nodeCrypto.hash("sha256", data);
const forms = [gatewayLog(sha256)];
const folder = mkdtempSync(join(tmpdir(), "audit-archive-"));
afterAll(() => rmSync(folder, { recursive: true }));

let vault: Vault;
beforeAll(async () => {
  vault = await openEmbeddedVault({
    store: openMemoryStore({ collections: vaultCollections }),
    crypto: nodeCrypto,
    random: systemRandom,
    clock: settableClock(0),
    unseal: { kind: "key", key: new Uint8Array(32) },
  });
});

let counter = 0;
const commitId = (): string => `c${counter++}`;
const minute = (at: number): string => new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString();
const everything: SegmentDue = { before: "9", alsoFew: "9", upTo: Number.MAX_SAFE_INTEGER };
const before = (at: number): SegmentDue => ({ ...everything, before: minute(at) });

/** A log of events in turn of acme, globex and initech, one a minute, and its archive; initech falls silent after the tenth minute. */
async function logOf(events: number) {
  const store = openMemoryStore(gatewaySchema);
  const target = directoryBackups(join(folder, commitId()));
  const open = (over: DocumentStore = store): AuditLog =>
    auditLog({
      store: over,
      vault,
      crypto: nodeCrypto,
      random: systemRandom,
      instance: "i",
      log: openLogger({ level: "silent" }),
      commitId,
    });
  let at = 0;
  const append = async (count: number): Promise<void> => {
    for (const end = at + count; at < end; at += 1) {
      const org = ["acme", "globex", at > 10 ? "acme" : "initech"][at % 3] as string;
      const event = { id: `e${at}`, org_id: org, workspace: "", timestamp: minute(at), event_type: "t", actor: "a" };
      const rest = { actor_type: "admin", purpose: "", result: "success", metadata: { n: at }, request_id: "" };
      await store.commit({ commitId: commitId(), audit: [{ stream: org, event: { ...event, ...rest } }] });
    }
  };
  const step = async (due: SegmentDue, into: BackupTarget = target, over: DocumentStore = store) => {
    const segment = await open(over).archive(into, due);
    if (segment === undefined || !(await transact(over, commitId, (unit) => segment.keep(unit)))) return undefined;
    await segment.forget();
    return segment.name;
  };
  await open().seal();
  await append(events);
  await open().seal();
  return { store, target, open, append, step };
}

type Built = Awaited<ReturnType<typeof logOf>>;

const noteOf = async ({ open }: Built, stream: string): Promise<string> => (await open().checkpoint(stream))?.note ?? "";
const live = async ({ store }: Built): Promise<readonly number[]> => (await store.auditRead(0, 10_000)).map(({ seq }) => seq);
const STREAMS = ["acme", "globex", "initech"];

async function archivedEvents(target: BackupTarget): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (const id of await target.list())
    for await (const { seq, event } of eventsOf(target.read(id, segmentFiles.events))) found.set(seq, String(event["id"]));
  return found;
}

describe("an archive of a gateway's audit log", () => {
  it("takes what is due out of the store, but for the newest of each stream, and each log goes on and verifies", async () => {
    const log = await logOf(40);
    expect(await log.step(before(0))).toBeUndefined();
    await log.step(before(20));
    expect(await live(log)).toEqual([9, ...Array.from({ length: 20 }, (_, at) => at + 21)]);
    for (const stream of [...STREAMS, wholeLog]) expect(await log.open().verify(stream), stream).toBeUndefined();
    await log.append(10);
    await log.step(before(45));
    for (const stream of [...STREAMS, wholeLog]) expect(await log.open().verify(stream), stream).toBeUndefined();
    expect((await archivedEvents(log.target)).size).toBe(45);
    const opened = log.open();
    await opened.seal();
    expect(await opened.archived("initech")).toEqual({ through: 3, until: minute(8) });
  });

  it("is verified by its files and a kept checkpoint alone, of the whole log and of each organisation; every archived event is proven included", async () => {
    const log = await logOf(12);
    const kept = await Promise.all(STREAMS.map((stream) => noteOf(log, stream)));
    await log.append(30);
    await log.open().seal();
    const notes = await Promise.all(STREAMS.map((stream) => noteOf(log, stream)));
    await log.step(before(20));
    await log.step(before(30));
    const key = (await log.open().checkpoint("acme"))?.verifier_key ?? "";
    for (const checkpoint of kept) {
      const verdict = await verifyArchiveFiles(log.target, { forms, verifierKey: key, checkpoint });
      expect(verdict).toMatchObject({ instance: "i", segments: 2, last: 30, checkpoint: { reached: true } });
    }
    // What was signed later than what is archived is not claimed to be proven.
    expect(await verifyArchiveFiles(log.target, { forms, checkpoint: notes[0] as string })).toMatchObject({
      checkpoint: { reached: false },
    });
    const { root, size } = parseCheckpoint((notes[1] ?? "").slice(0, (notes[1] ?? "").indexOf("\n\n") + 1));
    for (const id of await log.target.list())
      for await (const record of eventsOf(log.target.read(id, segmentFiles.events))) {
        if (record.stream !== "globex") continue;
        const [index, leaf] = [record.stream_seq - 1, auditLeaf(record as unknown as AuditRecord, sha256)];
        const proven = await log.open().prove("globex", () => ({ kind: "inclusion", index, size, leaf }));
        if (proven === undefined || "flaw" in proven) throw new Error(`event ${record.seq} is not proven`);
        expect(verifyInclusion({ index, size, leaf, proof: proven.proof, root }, sha256)).toBe(true);
      }
    for (let first = 1; first <= size; first += 1) {
      const proven = await log.open().prove("globex", (second) => ({ kind: "consistency", first, second }));
      if (proven === undefined || "flaw" in proven) throw new Error(`size ${first} is not proven`);
      const { root: oldRoot, secondRoot: newRoot, proof } = proven;
      expect(verifyConsistency({ oldSize: first, newSize: size, oldRoot, newRoot, proof }, sha256)).toBe(true);
    }
  });

  it("is found out for every change of a file: a byte, a line, a segment, a key, a checkpoint", async () => {
    const log = await logOf(30);
    const [first, second] = [await log.step(before(10)), await log.step(before(20))];
    const checkpoint = await noteOf(log, "acme");
    const verdict = (with_: Partial<Parameters<typeof verifyArchiveFiles>[1]> = {}) =>
      verifyArchiveFiles(log.target, { forms, ...with_ });
    await verdict();
    const damagedBy = async (id: string, file: string, change: (text: string) => string): Promise<void> => {
      const [path] = [join(folder, await directoryOf(log.target, id), id, file)];
      const text = await readFile(path, "utf8");
      await writeFile(path, change(text));
      await expect(verdict(), `${id} ${file}`).rejects.toMatchObject({ code: "audit_archive_damaged" });
      await writeFile(path, text);
    };
    for (const name of [first, second]) {
      const id = name?.id ?? "";
      await damagedBy(id, segmentFiles.events, (text) => text.replace('"n":', '"m":'));
      await damagedBy(id, segmentFiles.events, (text) => text.slice(0, -2));
      await damagedBy(id, segmentFiles.events, (text) => text.split("\n").slice(1).join("\n"));
      await damagedBy(id, segmentFiles.events, (text) => `${text}${text.split("\n")[0]}\n`);
      await damagedBy(id, segmentFiles.events, (text) => text.replace("{", "[1,"));
      await damagedBy(id, segmentFiles.manifest, (text) => text.replace('"instance": "i"', '"instance": "j"'));
      await damagedBy(id, segmentFiles.manifest, (text) => text.replace(/"note": "\S+/, '"note": "x'));
      await damagedBy(id, segmentFiles.manifest, (text) => text.slice(0, 40));
    }
    const other = "seneschal-audit+7a1bf8d4+AT0lhjbPjBfRQbJNZmrqEA2hhTDE4m9Ebs1Wp9tmCVJA";
    await expect(verdict({ verifierKey: other })).rejects.toMatchObject({
      code: expect.stringMatching(/log_invalid|audit_archive_damaged/),
    });
    await expect(verdict({ checkpoint: checkpoint.replace("\n17\n", "\n16\n") })).rejects.toMatchObject({
      code: "audit_archive_damaged",
    });
    await log.target.remove(first?.id ?? "");
    await expect(verdict()).rejects.toMatchObject({ code: "audit_archive_damaged" });
  });

  it("loses no event wherever it is killed: each is in the store or in an archive that verifies, and the next run ends it", async () => {
    const wanted = new Map(Array.from({ length: 8 }, (_, at) => [at + 1, `e${at}`]));
    for (let calls = 0, ended = false; !ended; calls += 1) {
      const log = await logOf(8);
      const fuse = { left: calls };
      const killed = <T extends object>(of: T): T => dying(of, ["write", "commit", "compact"], fuse);
      ended = await log.step(before(4), killed(log.target), killed(log.store)).then(
        () => true,
        () => false,
      );
      const there = new Map((await log.store.auditRead(0, 99)).map(({ seq, event }) => [seq, (event as JsonObject)["id"]]));
      const archived = await archivedEvents(log.target).catch(() => new Map());
      expect(new Map([...archived, ...there].sort(([a], [b]) => a - b)), `after ${calls} acts`).toEqual(wanted);
      // Nothing left the store that the archive does not give back, verified.
      if (there.size < 8)
        expect(await verifyArchiveFiles(log.target, { forms }), `after ${calls} acts`).toMatchObject({ last: 4 });
      await log.step(before(6));
      expect(await verifyArchiveFiles(log.target, { forms })).toMatchObject({ last: 6 });
      for (const stream of [...STREAMS, wholeLog]) expect(await log.open().verify(stream)).toBeUndefined();
      expect(await live(log)).toEqual([6, 7, 8]);
      if (calls > 100) throw new Error("it never ends");
    }
  });

  it("lets no event go that it does not give back as it was written, or that is not the one that was signed", async () => {
    const log = await logOf(30);
    const lying: BackupTarget = {
      ...log.target,
      async *read(id, file) {
        for await (const chunk of log.target.read(id, file))
          yield Buffer.from(Buffer.from(chunk).toString("utf8").replace('"n":3', '"n":4'));
      },
    };
    await expect(log.step(before(20), lying)).rejects.toMatchObject({ code: "audit_archive_damaged" });
    const changed: DocumentStore = {
      ...log.store,
      async list(coll, ...rest) {
        const page = await log.store.list(coll, ...rest);
        if (coll !== "audit") return page;
        return {
          ...page,
          items: page.items.map((item) => ({ ...item, doc: JSON.parse(JSON.stringify(item.doc).replace('"n":3', '"n":4')) })),
        };
      },
    };
    await expect(log.step(before(20), log.target, changed)).rejects.toThrow(/damaged|not/);
    expect(await live(log)).toHaveLength(30);
    expect(await log.store.get(auditArchives.name, wholeLog)).toBeUndefined();
  });

  it("is nothing that a checkpoint can be passed for: who deletes events and says that they were archived is found out", async () => {
    const log = await logOf(30);
    const checkpoint = (await log.store.get("audit_checkpoints", "acme"))?.doc as JsonObject;
    await log.append(10);
    await log.open().seal();
    await log.store.commit({ commitId: commitId(), puts: [{ coll: auditArchives.name, id: "acme", doc: checkpoint }] });
    await log.store.compact({ audit: 20 });
    expect(await log.open().verify("acme")).toMatchObject({ flaw: "checkpoint_invalid" });
    await log.store.commit({ commitId: commitId(), dels: [{ coll: auditArchives.name, id: "acme" }] });
    expect(await log.open().verify("acme")).toMatchObject({ flaw: "event_missing" });
  });

  it("is verified with what stays of it: a changed event, tile or word of the archive is found, and no tile of archived events is dropped", async () => {
    const log = await logOf(40);
    await log.step(before(30));
    const tile = (await log.store.get("audit_tiles", "0/0/acme"))?.doc as { hashes: string };
    const put = (coll: string, id: string, doc: JsonObject) =>
      log.store.commit({ commitId: commitId(), puts: [{ coll, id, doc }] });
    const flipped = Buffer.from(tile.hashes, "base64");
    flipped[40] = (flipped[40] as number) ^ 1;
    await put("audit_tiles", "0/0/acme", { hashes: flipped.toString("base64") });
    expect(await log.open().verify("acme")).toMatchObject({ flaw: "hash_differs" });
    const unproven = await log.open().prove("acme", (second) => ({ kind: "consistency", first: 1, second }));
    expect(unproven).toHaveProperty("flaw");
    await put("audit_tiles", "0/0/acme", tile as unknown as JsonObject);
    await put("audit_trees", "acme", { size: 0 });
    expect(await log.open().verify("acme")).toBeUndefined();
    const proven = await log.open().prove("acme", (second) => ({ kind: "consistency", first: 1, second }));
    expect(proven).toHaveProperty("proof");
    const kept = (await log.store.get(auditArchives.name, "acme"))?.doc as JsonObject;
    await put(auditArchives.name, "acme", { ...kept, size: 1 });
    expect(await log.open().verify("acme")).toMatchObject({ flaw: "checkpoint_invalid" });
  });

  it("does not take what waits for somebody, and takes few events only when they are old", async () => {
    const log = await logOf(30);
    expect(await log.step({ ...before(20), alsoFew: minute(0) })).toBeUndefined();
    await log.step({ ...before(20), alsoFew: minute(1), upTo: 12 });
    expect((await archivedEvents(log.target)).size).toBe(12);
  });
});

describe("hashes of archived events that are damaged", () => {
  it("are made anew from the archive, of each log and of the whole, and by nothing that was changed or is another instance's", async () => {
    const log = await logOf(300);
    await log.step(before(280));
    const verdicts = async () =>
      Object.fromEntries(await Promise.all([...STREAMS, wholeLog].map(async (of) => [of, await log.open().verify(of)])));
    expect(Object.values(await verdicts())).toEqual([undefined, undefined, undefined, undefined]);
    const flipped = async (id: string): Promise<void> => {
      const bytes = Buffer.from(String((await log.store.get("audit_tiles", id))?.doc["hashes"]), "base64");
      bytes[33] = (bytes[33] as number) ^ 1;
      const doc = { hashes: bytes.toString("base64") };
      await log.store.commit({ commitId: commitId(), puts: [{ coll: "audit_tiles", id, doc }] });
    };
    const lost = (...ids: string[]) =>
      log.store.commit({ commitId: commitId(), dels: ids.map((id) => ({ coll: "audit_tiles", id })) });
    for (const [damage, logs] of [
      [() => flipped("0/0/acme"), ["acme"]],
      [() => flipped("0/0//all"), [wholeLog]],
      [() => lost("1/0//all", "0/1//all", "0/0/globex"), [wholeLog, "globex"]],
    ] as const) {
      await damage();
      const found = await verdicts();
      for (const of of logs) expect(found[of], of).toMatchObject({ flaw: "hash_differs" });
      const [segment] = await log.target.list();
      const [path] = [join(folder, await directoryOf(log.target, segment ?? ""), segment ?? "", segmentFiles.events)];
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace('"n":7', '"n":8'));
      await expect(log.open().mend(log.target)).rejects.toMatchObject({ code: "audit_archive_damaged" });
      await writeFile(path, text);
      const other = await logOf(300);
      await other.step(before(100));
      await expect(log.open().mend(other.target)).rejects.toMatchObject({ code: "audit_archive_damaged" });
      expect(await verdicts()).toEqual(found);
      expect(new Set(await log.open().mend(log.target))).toEqual(new Set(logs));
      expect(Object.values(await verdicts())).toEqual([undefined, undefined, undefined, undefined]);
      for (const of of STREAMS)
        expect(await log.open().prove(of, (second) => ({ kind: "consistency", first: 1, second }))).toHaveProperty("proof");
      expect(await log.open().mend(log.target)).toEqual([]);
    }
  });
});

describe("a gateway whose audit log is archived", () => {
  const DAY = 86_400_000;
  const directory = join(folder, "served");
  let rig: Rig;
  let acme: Caller;
  let before: readonly {
    readonly id: string;
    readonly sequence: number;
    readonly data_hash: string;
    readonly prev_hash: string;
  }[];
  const all = async () => (await acme("GET", "/api/v1/audit?limit=1000")).body;

  beforeAll(async () => {
    const archive = directoryBackups(directory);
    rig = await openRig({ archive, settings: { audit: { archive: { to: { directory }, after: "30d" } } } });
    acme = rig.admin("acme");
    await acme("POST", "/api/v1/workspaces", { name: "old" });
    await rig.gateway.archiveAudit(rig.clock.now() + 31 * DAY);
    before = (await all()).events;
    expect(await all()).not.toHaveProperty("archived");
    rig.clock.set(rig.clock.now() + 40 * DAY);
    await rig.gateway.archiveAudit(rig.clock.now());
    acme = rig.admin("acme");
    await acme("POST", "/api/v1/workspaces", { name: "new" });
  });
  afterAll(() => rig.close());

  it("says in every answer that reads events what of them is archived, where the asked period reaches into that", async () => {
    const { events, total, archived } = await all();
    const newest = before[0];
    expect(archived.through).toBe(newest?.sequence);
    // The newest archived event stays beside those that came since.
    expect(total).toBeLessThan(before.length);
    expect(events.at(-1)).toEqual(newest);
    const since = new Date(Date.parse(archived.until) + 1).toISOString();
    expect((await acme("GET", `/api/v1/audit?since=${since}`)).body).not.toHaveProperty("archived");
    const stats = (query: string) => acme("GET", `/api/v1/audit/stats?${query}`);
    expect((await stats(`since=${archived.until}`)).body.archived).toEqual(archived);
    expect((await stats(`since=${since}`)).body).not.toHaveProperty("archived");
    const verdict = (await acme("POST", "/api/v1/audit/verify", {})).body;
    expect(verdict).toMatchObject({ valid: true, flaw: null, archived });
    const file = await acme("POST", "/api/v1/audit/export", {});
    expect(file.headers.get("audit-archived")).toBe(`through=${archived.through}; until=${archived.until}`);
    expect((await acme("POST", "/api/v1/audit/export", { since })).headers.get("audit-archived")).toBeNull();
    const report = await acme("POST", "/api/v1/compliance/reports/summary", { since: new Date(0).toISOString() });
    expect(JSON.parse(report.text).archived).toEqual(archived);
    expect(JSON.parse((await acme("POST", "/api/v1/compliance/reports/summary", { since })).text)).not.toHaveProperty("archived");
    expect((await acme("GET", `/api/v1/audit/${before.at(-1)?.id}`)).status).toBe(404);
    expect((await rig.admin("globex")("GET", "/api/v1/audit")).body.archived.through).not.toBe(0);
  });

  it("keeps the chain of hashes, and proves to whoever kept a checkpoint of before that the log goes on from it", async () => {
    const { events } = await all();
    const first = events.at(-1);
    expect(first.prev_hash).toBe(before[1]?.data_hash);
    const consistency = await acme("GET", "/api/v1/audit/checkpoint/consistency?first=1");
    expect(consistency.status, consistency.text).toBe(200);
    const { body } = await acme("GET", "/api/v1/audit/checkpoint");
    const verdict = await verifyArchiveFiles(directoryBackups(directory), { forms, verifierKey: body.verifier_key });
    expect(verdict.logs["acme"]?.size).toBe(before[0]?.sequence);
  });
});

async function directoryOf(target: BackupTarget, id: string): Promise<string> {
  const { readdir } = await import("node:fs/promises");
  for (const name of await readdir(folder)) {
    if ((await readdir(join(folder, name))).includes(id) && (await target.list()).includes(id)) return name;
  }
  throw new Error("no such segment");
}
