import { openMemoryStore } from "@seneschal/adapters/memory";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type CommitFault, chaosStore } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { governanceSchema } from "../../src/governance/index.ts";
import { openRig } from "../gateway/rig.ts";
import { servers, startRig } from "../governance/rig.ts";
import { runEvent } from "../governance/run-event.ts";

interface Answer {
  readonly status: number;
}

interface Subject {
  /** One keyed request that makes one thing. */
  send(key: string): Promise<Answer>;
  /** How many of what the request with this key makes there are. */
  made(key: string): Promise<number>;
  close(): Promise<void>;
}

type Open = (store: DocumentStore) => Promise<Subject>;

const gateway: Open = async (store) => {
  const rig = await openRig({ store, organizations: ["acme"] });
  const acme = rig.admin("acme");
  return {
    send: (key) => acme("POST", "/api/v1/workspaces", { name: key }, { "idempotency-key": key }),
    made: async (key) =>
      (await acme("GET", "/api/v1/workspaces")).body.workspaces.filter((w: { name: string }) => w.name === key).length,
    close: () => rig.close(),
  };
};

const governance: Open = async (store) => {
  const rig = await startRig(servers[0]![1], { store });
  const stored = async (key: string): Promise<number> => {
    const ids = (await store.changes(0, 1000)).filter((c) => c.coll === "lineage_events").map((c) => c.id);
    const found = await store.getMany("lineage_events", [...new Set(ids)]);
    return found.filter((f) => JSON.stringify(f?.doc).includes(`"${key}"`)).length;
  };
  return {
    send: (key) => rig.call("writer", "POST", "/api/v1/lineage", runEvent({ job: key }), { "idempotency-key": key }),
    made: stored,
    close: () => rig.stop(),
  };
};

describe.each<readonly [string, Open, () => DocumentStore]>([
  ["gateway", gateway, () => openMemoryStore(gatewaySchema)],
  ["governance", governance, () => openMemoryStore(governanceSchema)],
])("an answer to COMMIT that is lost, in the %s", (_, open, memory) => {
  test.each<CommitFault>(["reply_dropped", "request_dropped", "delayed"])(
    "%s, at any commit of a keyed request: it is answered 503 or with the truth, and no repeat does it twice",
    async (fault) => {
      let plan: CommitFault[] = [];
      const subject = await open(chaosStore(memory(), () => plan.shift() ?? "none"));
      let failed = 0;
      for (let at = 0; at < 5; at++) {
        const key = `request-${at}`;
        plan = [...Array.from({ length: at }, () => "none" as const), fault, "unreachable", "unreachable"];
        const first = await subject.send(key);
        const met = plan.length === 0;
        plan = [];
        expect([200, 201, 202, 503]).toContain(first.status);
        if (met && first.status === 503) failed += 1;
        const made = await subject.made(key);
        expect(made).toBeLessThanOrEqual(1);
        if (first.status !== 503) expect(made).toBe(1);
        const again = await subject.send(key);
        expect([200, 201, 202, 409]).toContain(again.status);
        const after = await subject.made(key);
        expect(after).toBeLessThanOrEqual(1);
        if (again.status !== 409) expect(after).toBe(1);
      }
      expect(failed).toBeGreaterThan(0);
      await subject.close();
    },
  );
});
