import { openMemoryStore } from "@seneschal/adapters/memory";
import type { AuditEntry, DocumentStore, Page } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";

/** Somebody with write access to the database, who changes what the log's readers get. */
interface Intruder {
  edit: (entry: AuditEntry) => AuditEntry | undefined;
  swap: boolean;
}

/** A store under an intruder's hands: the audit entries pass through `edit`; one that is gone is gone for every reader. */
function tampered(store: DocumentStore, intruder: Intruder): DocumentStore {
  const pass = (page: Page): Page => {
    const items = page.items.flatMap((item) => {
      const { seq, stream, stream_seq, event } = item.doc as never as AuditEntry & { stream_seq: number };
      const entry = intruder.edit({ seq, stream, streamSeq: stream_seq, event });
      return entry === undefined ? [] : [{ ...item, doc: { seq, stream, stream_seq: entry.streamSeq, event: entry.event } }];
    });
    if (intruder.swap && items.length > 3) [items[1], items[2]] = [items[2] as never, items[1] as never];
    return { ...page, items };
  };
  return {
    ...store,
    list: async (coll, ...rest) => {
      const page = await store.list(coll, ...rest);
      return coll === "audit" ? pass(page) : page;
    },
  };
}

/** A store in which somebody records an event whenever the log was sealed; tells how often that was, and stops after 20. */
function busy(store: DocumentStore): DocumentStore & { seals: number } {
  const event = { id: "e", workspace: "", timestamp: "2026-01-01T00:00:00.000Z", event_type: "encrypt", actor: "somebody" };
  const self = {
    ...store,
    seals: 0,
    async commit(commit: Parameters<DocumentStore["commit"]>[0]) {
      const result = await store.commit(commit);
      if (commit.puts?.some(({ coll }) => coll === "audit_checkpoints") === true && ++self.seals < 20) {
        await store.commit({ commitId: `busy ${self.seals}`, audit: [{ stream: "acme", event }] });
      }
      return result;
    },
  };
  return self;
}

it("a seal ends with what was committed when it began, however busy the log is", async () => {
  const store = busy(openMemoryStore(gatewaySchema));
  const rig = await openRig({ store });
  await rig.admin("acme")("POST", "/api/v1/workspaces", { name: "w" });
  store.seals = 0;
  await rig.gateway.services.audit.seal();
  expect(store.seals).toBe(1);
  await rig.close();
});

it("times never go back in the order of the log, whatever a clock does: since and until cut it where its numbers do", async () => {
  const rig = await openRig();
  const admin = rig.admin("acme");
  const began = rig.clock.now();
  for (const [n, behind] of [0, 20_000, 5_000, 30_000, 0].entries()) {
    rig.clock.set(began + n - behind);
    expect((await admin("POST", "/api/v1/workspaces", { name: `w${n}` })).status).toBe(201);
  }
  const { items } = await rig.store.list("audit", "stream", ["acme"], { limit: 100 });
  const times = items.map(({ doc }) => (doc["event"] as { timestamp: string }).timestamp);
  expect(times).toEqual([...times].sort());
  const numbers = items.map(({ doc }) => doc["stream_seq"] as number);
  for (const since of new Set(times)) {
    const { body } = await admin("GET", `/api/v1/audit?since=${since}&limit=100`);
    const found = body.events.map(({ sequence }: { sequence: number }) => sequence).reverse();
    expect(found.slice(0, numbers.length - times.indexOf(since))).toEqual(numbers.slice(times.indexOf(since)));
  }
  await rig.close();
});

it("one seal covers everything, however many events came, and the log verifies", async () => {
  const rig = await openRig();
  const { audit } = rig.gateway.services;
  const sealed = async (): Promise<number> => (await audit.checkpoint("acme"))?.size ?? 0;
  const event = (at: number) => ({
    id: `e${at}`,
    workspace: "",
    timestamp: "2026-01-01T00:00:00.000Z",
    event_type: "t",
    actor: "a",
  });
  for (const more of [63, 64, 65, 1023, 1024, 1025]) {
    const before = await sealed();
    const events = Array.from({ length: more }, (_, at) => ({ stream: "acme", event: event(at) }));
    await rig.store.commit({ commitId: `more ${more}`, audit: events });
    await audit.seal();
    expect(await sealed()).toBe(before + more);
  }
  expect(await audit.verify("acme")).toBeUndefined();
  expect(await audit.verifyAll()).toBeUndefined();
  await rig.close();
});

describe("the audit log", () => {
  let rig: Rig;
  let acme: Caller;
  const intruder: Intruder = { edit: (entry) => entry, swap: false };

  beforeAll(async () => {
    rig = await openRig({ store: tampered(openMemoryStore(gatewaySchema), intruder) });
    acme = rig.admin("acme");
    for (let i = 0; i < 12; i++)
      await acme("POST", "/api/v1/workspaces", { name: `w${i}`, purpose: i === 3 ? '=HYPERLINK("x"),"y"' : "p" });
  });
  afterAll(() => rig.close());

  const valid = async (): Promise<boolean> => (await acme("POST", "/api/v1/audit/verify", {})).body.valid;

  it("is a gapless chain: sequences from 1, each event naming the hash of the one before", async () => {
    const { body } = await acme("GET", "/api/v1/audit?limit=1000");
    const events = [...body.events].sort((a, b) => a.sequence - b.sequence);
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, i) => i + 1));
    expect(events[0].prev_hash).toBe("");
    for (const [i, event] of events.entries()) if (i > 0) expect(event.prev_hash).toBe(events[i - 1].data_hash);
    expect(new Set(events.map((event) => event.data_hash)).size).toBe(events.length);
    expect([body.count, body.total]).toEqual([events.length, events.length]);
    const one = await acme("GET", `/api/v1/audit/${events[5].id}`);
    expect(one.body).toEqual(events[5]);
  });

  it("verify finds an edit of any field, a removal, a swap, and a cut at the head or the tail", async () => {
    expect(await valid()).toBe(true);
    const edits: Record<string, (entry: AuditEntry) => AuditEntry | undefined> = {
      actor: (entry) => ({ ...entry, event: { ...entry.event, actor: "somebody else" } }),
      timestamp: (entry) => ({ ...entry, event: { ...entry.event, timestamp: "2020-01-01T00:00:00.000Z" } }),
      metadata: (entry) => ({ ...entry, event: { ...entry.event, metadata: { forged: true } } }),
      request_id: (entry) => ({ ...entry, event: { ...entry.event, request_id: "forged" } }),
      sequence: (entry) => ({ ...entry, streamSeq: entry.streamSeq + 1 }),
      removal: () => undefined,
    };
    for (const [what, change] of Object.entries(edits)) {
      for (const at of [1, 7]) {
        intruder.edit = (entry) => (entry.stream === "acme" && entry.streamSeq === at ? change(entry) : entry);
        expect([what, at, await valid()]).toEqual([what, at, false]);
      }
    }
    intruder.edit = (entry) => (entry.stream === "acme" && entry.streamSeq > 10 ? undefined : entry);
    expect(await valid(), "tail cut off").toBe(false);
    intruder.edit = (entry) => (entry.stream === "acme" ? undefined : entry);
    expect(await valid(), "everything removed").toBe(false);
    expect(await rig.gateway.services.audit.verifyAll(), "an organisation removed").toBeDefined();
    intruder.edit = (entry) => entry;
    intruder.swap = true;
    expect(await valid(), "two events swapped").toBe(false);
    intruder.swap = false;
    expect(await valid()).toBe(true);
    expect(await rig.gateway.services.audit.verifyAll()).toBeUndefined();
  });

  it("checkpoints cannot be forged or dropped to hide it", async () => {
    const { store } = rig;
    const kept = await store.get("audit_checkpoints", "acme");
    const put = (doc: object | undefined, commitId: string) =>
      store.commit({
        commitId,
        ...(doc === undefined
          ? { dels: [{ coll: "audit_checkpoints", id: "acme" }] }
          : { puts: [{ coll: "audit_checkpoints", id: "acme", doc: doc as never }] }),
      });
    await put({ ...kept?.doc, note: String(kept?.doc["note"]).replace(/\n(\d)/, "\n9$1") }, "forge");
    expect(await valid()).toBe(false);
    await put(undefined, "drop");
    expect(await valid()).toBe(false);
    await put(kept?.doc, "restore");
    expect(await valid()).toBe(true);
  });

  it("filters combine, pages cover everything once, and bad ranges are refused", async () => {
    const all = (await acme("GET", "/api/v1/audit?event_type=workspace.create&limit=1000")).body;
    expect(all.total).toBe(12);
    const pages = await Promise.all(
      [0, 5, 10].map((offset) => acme("GET", `/api/v1/audit?event_type=workspace.create&limit=5&offset=${offset}`)),
    );
    expect(pages.flatMap((page) => page.body.events)).toEqual(all.events);
    const [newest] = all.events;
    const both = await acme(
      "GET",
      `/api/v1/audit?event_type=workspace.create&workspace=${newest.workspace}&actor=${newest.actor}`,
    );
    expect([both.body.total, both.body.events]).toEqual([1, [newest]]);
    expect((await acme("GET", "/api/v1/audit?actor=nobody")).body).toEqual({ events: [], count: 0, total: 0 });
    for (const query of [
      "limit=0",
      "limit=1001",
      "limit=x",
      "since=yesterday",
      "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
      "color=red",
    ]) {
      const answer = await acme("GET", `/api/v1/audit?${query}`);
      expect([query, answer.status, answer.body.error.code]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
  });

  it("exports stream JSON and CSV that no spreadsheet runs", async () => {
    const json = await acme("POST", "/api/v1/audit/export", { format: "json", event_type: "workspace.create" });
    expect(json.body).toHaveLength(12);
    expect(json.headers.get("content-disposition")).toContain("audit-export.json");
    const csv = await acme("POST", "/api/v1/audit/export", { format: "csv", event_type: "workspace.create" });
    const lines = csv.text.split("\r\n");
    expect(lines[0]).toBe("id,timestamp,org_id,workspace,event_type,actor,result,purpose,data_hash");
    expect(lines).toHaveLength(14);
    expect(csv.text).toContain(`"'=HYPERLINK(""x""),""y"""`);
    const empty = await acme("POST", "/api/v1/audit/export", { format: "csv", actor: "nobody" } as object);
    expect(empty.text.trim()).toBe(lines[0]);
  });

  it("stats and activity count what is there, for the own organisation only", async () => {
    const stats = (await acme("GET", "/api/v1/audit/stats")).body;
    expect(stats.events_by_type["workspace.create"]).toBe(12);
    expect(stats.events_by_org).toEqual({ acme: stats.total_events });
    expect(stats.success_count + stats.error_count + stats.denied_count).toBe(stats.total_events);
    const user = rig.bearer({ sub: "someone", org: "acme" });
    expect((await user("GET", "/api/v1/activity")).body).toEqual({ events: [], count: 0, total: 0, actor: "someone" });
    const auditor = await rig.admin("acme", "auditor")("GET", "/api/v1/activity?limit=3");
    expect(auditor.body.count).toBe(3);
    expect((await rig.admin("globex", "auditor")("GET", "/api/v1/audit?event_type=workspace.create")).body.total).toBe(0);
  });

  describe("proofs", () => {
    const binary = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
    const leafOf = ({ data_hash }: { data_hash: string }): Uint8Array => new Uint8Array(Buffer.from(data_hash, "hex"));
    const events = async () => (await acme("GET", "/api/v1/audit?limit=1000")).body.events as { id: string; data_hash: string }[];

    it("of every event, at the signed size and at smaller ones that have it, hold under the root that was signed", async () => {
      const { parseCheckpoint, verifyInclusion, verifyNote } = await import("@seneschal/crypto/merkle");
      const newestFirst = await events();
      for (const [at, event] of newestFirst.reverse().entries()) {
        const { status, body } = await acme("GET", `/api/v1/audit/${event.id}/proof`);
        expect([status, body.id, body.org_id, body.index, body.data_hash]).toEqual([200, event.id, "acme", at, event.data_hash]);
        const note = verifyNote(body.note, [{ name: "seneschal-audit", publicKey: binary(body.public_key) }]);
        const { size, root } = parseCheckpoint(note.text);
        const proof = body.proof.map(binary);
        expect(verifyInclusion({ index: at, size, leaf: leafOf(event), proof, root }), `event ${at + 1}`).toBe(true);
        expect([body.size, binary(body.root)]).toEqual([size, root]);
        for (const size of [at + 1, Math.min(at + 2, body.size)]) {
          const { body: earlier } = await acme("GET", `/api/v1/audit/${event.id}/proof?size=${size}`);
          const held = { index: at, size, leaf: leafOf(event), proof: earlier.proof.map(binary), root: binary(earlier.root) };
          expect(verifyInclusion(held), `event ${at + 1} of ${size}`).toBe(true);
        }
      }
    });

    it("of consistency hold between every earlier size and the signed one, and end in its root", async () => {
      const { CompactRange, verifyConsistency } = await import("@seneschal/crypto/merkle");
      const leaves = (await events()).reverse().map(leafOf);
      const grown = new CompactRange();
      for (const leaf of leaves) {
        grown.appendHash(leaf);
        const { status, body } = await acme("GET", `/api/v1/audit/checkpoint/consistency?first=${grown.size}`);
        expect([status, body.first, binary(body.first_root)]).toEqual([200, grown.size, grown.root()]);
        const roots = { oldRoot: binary(body.first_root), newRoot: binary(body.second_root) };
        const sizes = { oldSize: body.first, newSize: body.second };
        expect(verifyConsistency({ ...sizes, ...roots, proof: body.proof.map(binary) }), `from ${grown.size}`).toBe(true);
        expect(body.note.split("\n")[2]).toBe(body.second_root);
      }
      const { body } = await acme("GET", "/api/v1/audit/checkpoint/consistency?first=3&second=7");
      const roots = { oldRoot: binary(body.first_root), newRoot: binary(body.second_root) };
      expect(verifyConsistency({ oldSize: 3, newSize: 7, ...roots, proof: body.proof.map(binary) })).toBe(true);
    });

    it("are refused by name for a size that is not signed or has not the event, and for another organisation's event", async () => {
      const [newest] = await events();
      const refused = async (path: string) => {
        const { status, body } = await acme("GET", `/api/v1/audit/${path}`);
        return [path, status, body.error.code, body.error.details.field];
      };
      for (const [path, field] of [
        [`${newest?.id}/proof?size=1`, "size"],
        [`${newest?.id}/proof?size=1000000`, "size"],
        ["checkpoint/consistency?first=3&second=1000000", "second"],
        ["checkpoint/consistency?first=3&second=2", "first"],
        ["checkpoint/consistency", "first"],
        ["checkpoint/consistency?first=0", "first"],
      ] as const)
        expect(await refused(path)).toEqual([path, 400, "VALIDATION_ERROR", field]);
      const foreign = await rig.admin("globex", "auditor")("GET", `/api/v1/audit/${newest?.id}/proof`);
      expect([foreign.status, foreign.body.error.code]).toEqual([404, "NOT_FOUND"]);
    });

    it("are not made of a log that is not whole: 409 says what is wrong, also where the event itself is untouched", async () => {
      const [newest] = await events();
      intruder.edit = (entry) =>
        entry.stream === "acme" && entry.streamSeq === 2 ? { ...entry, event: { ...entry.event, actor: "another" } } : entry;
      for (const path of [`${newest?.id}/proof`, "checkpoint/consistency?first=1"]) {
        const { status, body } = await acme("GET", `/api/v1/audit/${path}`);
        expect([status, body.error.code, body.error.details]).toEqual([
          409,
          "STATE_CONFLICT",
          { flaw: "root_differs", sequence: null },
        ]);
      }
      intruder.edit = (entry) => entry;
      expect((await acme("GET", `/api/v1/audit/${newest?.id}/proof`)).status).toBe(200);
    });
  });

  it("the checkpoint is a signed note that a witness can check without us", async () => {
    const { verifyNote, parseCheckpoint } = await import("@seneschal/crypto/merkle");
    const { body } = await acme("GET", "/api/v1/audit/checkpoint");
    const note = verifyNote(body.note, [
      { name: "seneschal-audit", publicKey: new Uint8Array(Buffer.from(body.public_key, "base64")) },
    ]);
    expect(parseCheckpoint(note.text).size).toBe(body.size);
  });
});
