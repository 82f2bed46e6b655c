import { openMemoryStore } from "@seneschal/adapters/memory";
import type { JsonObject } from "@seneschal/kernel";
import type { Commit, DocumentStore } from "@seneschal/kernel/ports";
import { serve } from "@seneschal/server-express";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { governanceSchema } from "../../src/governance/index.ts";
import { ofOneMoment } from "../../src/governance/of-one-moment.ts";
import { type Rig, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

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

  it("a key that is revoked before a request changes anything changes nothing, by any route", async () => {
    const inner = openMemoryStore(governanceSchema);
    let before: (() => Promise<void>) | undefined;
    let since: Commit[] | undefined;
    const store: DocumentStore = {
      ...inner,
      async commit(commit) {
        // The pseudonym of somebody who is to be recorded is made before: it says nothing of anybody.
        if (commit.puts?.every(({ coll }) => coll === "audit_persons") === true && commit.puts.length > 0)
          return inner.commit(commit);
        const run = before;
        before = undefined;
        await run?.();
        const result = await inner.commit(commit);
        if (result.ok) since?.push(commit);
        return result;
      },
    };
    rig = await startRig(serve, { store });
    const { call } = rig;
    const made = await call("admin", "POST", "/api/v1/api-keys", { name: "k", scopes: ["admin"] });
    const key = { key: made.body.api_key as string };
    const request = {
      operation_type: "EXPORT",
      source_resources: ["crm.customers"],
      destination_resource: "s3://warehouse",
      user_context: { user_id: "ada", role: "analyst", department: "sales" },
    };
    const asked = await call("admin", "POST", "/api/v1/approvals", { request, reason: "r", duration_seconds: 60 });
    const other = await call("admin", "POST", "/api/v1/api-keys", { name: "o", scopes: ["classify"] });
    const event = runEvent({ inputs: [{ namespace: "n", name: "a" }], outputs: [{ namespace: "n", name: "b" }] });
    const requests: readonly (readonly [route: string, method: string, path: string, body?: unknown])[] = [
      ["requestApproval", "POST", "/api/v1/approvals", { request, reason: "again", duration_seconds: 60 }],
      ["decideApproval", "POST", `/api/v1/approvals/${asked.body.id}/decision`, { decision: "approve", user_id: "bob" }],
      ["revokeApproval", "DELETE", `/api/v1/approvals/${asked.body.id}`],
      ["classify", "POST", "/api/v1/classify", { content: "x" }],
      ["evaluate", "POST", "/api/v1/evaluate", request],
      ["ingestLineage", "POST", "/api/v1/lineage", event],
      ["ingestLineageBatch", "POST", "/api/v1/lineage/batch", [event]],
      ["blockEdge", "PUT", "/api/v1/lineage-edges", { source: "a", target: "b", blocked: true }],
      ["putResource", "PUT", "/api/v1/resources/crm.customers", { tier: "INTERNAL" }],
      ["deleteResource", "DELETE", "/api/v1/resources/crm.customers"],
      ["createKey", "POST", "/api/v1/api-keys", { name: "n", scopes: ["admin"] }],
      ["rotateKey", "POST", `/api/v1/api-keys/${other.body.id}/rotate`],
      ["revokeKey", "DELETE", `/api/v1/api-keys/${other.body.id}`],
      ["redact", "POST", "/api/v1/redact", { content: "a@b.example" }],
      ["erasePerson", "DELETE", "/api/v1/audit/persons/ada"],
    ];
    const doc = async () => (await inner.get("api_keys", made.body.id))?.doc as JsonObject;
    let nth = 0;
    const put = async (changed: JsonObject) => {
      nth += 1;
      const done = await inner.commit({
        commitId: `behind ${nth}`,
        puts: [{ coll: "api_keys", id: made.body.id, doc: changed }],
      });
      expect(done.ok).toBe(true);
    };
    expect((await call(key, "GET", "/api/v1/api-keys")).status).toBe(200);
    const reached: string[] = [];
    for (const [route, method, path, body] of requests) {
      const live = await doc();
      let fired = false;
      before = () => {
        fired = true;
        since = [];
        return put({ ...live, revoked_at: "2026-01-01T00:00:00.000Z" });
      };
      const answer = await call(key, method, path, body);
      before = undefined;
      if (fired) {
        reached.push(route);
        expect([route, since, answer.status]).toEqual([route, [], 401]);
        await put(live);
      }
      since = [];
      const control = await call(key, method, path, body);
      expect([route, fired || since.length === 0, control.status < 500]).toEqual([route, true, true]);
      since = undefined;
    }
    expect(reached.length, reached.join(" ")).toBeGreaterThan(9);
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
