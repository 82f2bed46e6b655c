import { setImmediate } from "node:timers/promises";
import { AuditTally } from "@seneschal/core/keys";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { auditFigures } from "../../src/gateway/oversight/audit-query.ts";
import { reportSeals } from "../../src/gateway/oversight/collections.ts";
import { complianceHandlers } from "../../src/gateway/oversight/compliance/handlers.ts";
import { openTestStore } from "./backend.ts";
import { openRig, type Rig } from "./rig.ts";

const EVENTS = 2000;
const text = "x".repeat(1000);
const principal = { id: "aud", type: "user", org: "acme", roles: ["auditor"], scopes: [], method: "jwt" };

describe("a report is read while it is written", () => {
  let rig: Rig;
  let store: DocumentStore;
  /** Events that the store has handed out. */
  let fetched = 0;
  beforeAll(async () => {
    store = await openTestStore();
    const counting: DocumentStore = {
      ...store,
      async list(coll, ...rest) {
        const page = await store.list(coll, ...rest);
        if (coll === "audit") fetched += page.items.length;
        return page;
      },
    };
    rig = await openRig({ store: counting, organizations: ["acme"] });
    await happened(EVENTS);
  });
  afterAll(async () => {
    await rig.close();
    await store.close();
  });
  beforeEach(() => {
    fetched = 0;
  });

  async function happened(count: number): Promise<void> {
    const { newId } = rig.gateway.services;
    for (let from = 0; from < count; from += 500) {
      const audit = Array.from({ length: Math.min(500, count - from) }, (_, i) => ({
        stream: "acme",
        event: {
          id: newId(rig.clock.now()),
          org_id: "acme",
          timestamp: new Date(rig.clock.now()).toISOString(),
          workspace: "",
          event_type: "decrypt",
          actor: `p${i % 7}`,
          actor_type: "user",
          purpose: text,
          result: "success",
          metadata: { about: "pat" },
          request_id: "",
        },
      }));
      await store.commit({ commitId: newId(rig.clock.now()), audit });
    }
  }

  async function pieces() {
    const input = { principal, body: { subject_id: "pat" }, now: rig.clock.now(), requestId: "r" };
    const { body } = await complianceHandlers.subjectAccessReport(rig.gateway.services, input as never);
    return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]() as AsyncGenerator<Uint8Array>;
  }
  const eventsIn = (written: string): number => written.split('"event_type":"decrypt"').length - 1;

  it("never holds more than a page of events and a piece of text, however many there are", async () => {
    const report = await pieces();
    let written = "";
    let held = 0;
    for await (const piece of report) {
      written += Buffer.from(piece).toString();
      held = Math.max(held, fetched - eventsIn(written));
      const before = fetched;
      await setImmediate();
      // Nobody asks for more: nothing more is read.
      expect(fetched).toBe(before);
      expect(piece.length).toBeLessThan(70 * 1024);
    }
    expect(eventsIn(written)).toBeGreaterThanOrEqual(EVENTS);
    expect(held).toBeLessThan(EVENTS / 2);
    expect(JSON.parse(written).data.total_events).toBe(JSON.parse(written).data.events.length);
  });

  it("says what the log said at its log_size, whatever is appended while it is read", async () => {
    const before = await store.count("audit", "stream", ["acme"]);
    const report = await pieces();
    let written = Buffer.from((await report.next()).value as Uint8Array).toString();
    await happened(600);
    for await (const piece of report) written += Buffer.from(piece).toString();
    const { log_size, data } = JSON.parse(written);
    expect(log_size).toBe(before);
    const { items } = await store.list("audit", "stream", ["acme"], { to: [log_size], limit: 10_000 });
    const named = items.filter(({ doc }) => JSON.stringify(doc["event"]).includes('"pat"'));
    expect(data.total_events).toBe(named.length);
    expect(data.events.length).toBe(named.length);
  });

  it("has no seal when its reader left, and was audited all the same", async () => {
    const seals = () => store.count(reportSeals.name, "by_org", ["acme"]);
    const asked = () => store.count("audit", "by_type", ["acme", "audit.export"]);
    const before = [await seals(), await asked()];
    const report = await pieces();
    await report.next();
    await report.return(undefined);
    expect([await seals(), await asked()]).toEqual([before[0], Number(before[1]) + 1]);
  });

  it("counts actors without remembering them, as many as there are", async () => {
    const period = { since: "2000-01-01T00:00:00.000Z", until: "2100-01-01T00:00:00.000Z" };
    for (const size of [3, 1000, Number.MAX_SAFE_INTEGER]) {
      const counted = await auditFigures(store, "acme", period, size, new AuditTally(2));
      expect(counted).toEqual(await auditFigures(store, "acme", period, size));
      expect(counted.unique_actors).toBeGreaterThan(0);
    }
  });
});
