import { openMemoryStore } from "@seneschal/adapters/memory";
import type { DocumentStore } from "@seneschal/core/ports";
import { serve } from "@seneschal/server-express";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { governanceSchema } from "../../src/governance/index.ts";
import { ofOneMoment } from "../../src/governance/of-one-moment.ts";
import { type Rig, startRig } from "./rig.ts";

/** A store in which something happens just before a commit that touches a collection. */
function disturbed(inner: DocumentStore, coll: string) {
  let before: (() => Promise<void>) | undefined;
  const store: DocumentStore = {
    ...inner,
    async commit(commit) {
      const run = before;
      if (run !== undefined && (commit.puts ?? []).some((put) => put.coll === coll)) {
        before = undefined;
        await run();
      }
      return inner.commit(commit);
    },
  };
  const once = (run: () => Promise<void>): void => {
    before = run;
  };
  return { store, once };
}

describe("handlers of data governance judge on reads of one moment", () => {
  let rig: Rig | undefined;
  afterEach(() => rig?.stop());

  it("a decision does not stand on what its decider's key was a moment ago", async () => {
    const { store, once } = disturbed(openMemoryStore(governanceSchema), "approvals");
    rig = await startRig(serve, { store });
    const { call } = rig;
    const key = async (name: string, by: Parameters<Rig["call"]>[0] = "admin", scopes = ["admin"]) =>
      (await call(by, "POST", "/api/v1/api-keys", { name, scopes })).body as { id: string; api_key: string };
    const [asker, decider] = [await key("asker"), await key("decider")];
    const asked = await call({ key: asker.api_key }, "POST", "/api/v1/approvals", {
      request: {
        operation_type: "EXPORT",
        source_resources: ["crm.customers"],
        destination_resource: "s3://warehouse",
        user_context: { user_id: "ada", role: "analyst", department: "sales" },
      },
      reason: "quarterly report",
      duration_seconds: 60,
    });
    expect(asked.status).toBe(201);
    // The key that asked rotates the key that decides: from now on it knows its secret.
    once(async () => {
      const rotated = await call({ key: asker.api_key }, "POST", `/api/v1/api-keys/${decider.id}/rotate`);
      expect(rotated.status).toBe(200);
    });
    const path = `/api/v1/approvals/${asked.body.id}`;
    const given = await call({ key: decider.api_key }, "POST", `${path}/decision`, { decision: "approve", user_id: "bob" });
    expect([given.status, given.body.error.code]).toEqual([403, "FORBIDDEN"]);
    expect((await call({ key: asker.api_key }, "GET", path)).body.status).toBe("pending");
  });

  it("whatever comes in between, what is answered, thrown or written was true together, and is written once", () =>
    fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), fc.integer({ min: 1, max: 5 }), async (scheduler, writing, updates) => {
        const inner = openMemoryStore({
          collections: { halves: { indexes: { all: { key: (doc) => [doc["value"] as number] } } } },
        });
        const put = (value: number) => ({
          commitId: `w${value}`,
          puts: ["left", "right"].map((id) => ({ coll: "halves", id, doc: { value } })),
        });
        await inner.commit(put(0));
        const late = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => scheduler.scheduleFunction(work);
        const store: DocumentStore = {
          ...inner,
          get: late((...args) => inner.get(...args)),
          list: late((...args) => inner.list(...args)),
          commit: late((commit) => inner.commit(commit)),
        };
        let attempt = 0;
        const judged = ofOneMoment(store, async (own) => {
          const left = await own.get("halves", "left");
          const right = await own.get("halves", "right");
          const { items } = await own.list("halves", "all", [], { limit: 10 });
          const values = [left, right, ...items].map((half) => half?.doc["value"] as number);
          if (new Set(values).size !== 1) throw new Error(`torn: ${values}`);
          if (writing) {
            attempt += 1;
            const event = { values };
            const done = await own.commit({ commitId: `h${attempt}`, audit: [{ stream: "s", event }] });
            if (!done.ok) throw new Error("lost");
          }
          return values;
        });
        const writer = async () => {
          for (let value = 1; value <= updates; value += 1) await store.commit(put(value));
        };
        await scheduler.waitFor(Promise.all([judged, writer()]));
        const events = (await inner.auditRead(0, 10)).map(({ event }) => event["values"]);
        expect(events).toEqual(writing ? [await judged] : []);
      }),
    ));
});
