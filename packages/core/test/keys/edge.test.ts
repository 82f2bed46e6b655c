import fc from "fast-check";
import { expect, test } from "vitest";
import { vaultAnswers } from "../../src/arbitraries/index.ts";
import { countPush, type EdgeSync, judgeEdge, neverSynced, noteProbe, registerEdge } from "../../src/keys/index.ts";

const now = Date.UTC(2026, 0, 2);
const given = {
  id: "e1",
  org_id: "acme",
  name: "north",
  vault_address: "https://vault.example",
  vault_ca_cert: null,
  sealed_token: "sealed",
  classification: "CONFIDENTIAL" as const,
  region: "",
  tags: {},
};

test("whatever answers, healthy is a vault that is initialized and not sealed; what is no vault, or does not answer, says why", () => {
  fc.assert(
    fc.property(fc.option(vaultAnswers, { nil: undefined }), (said) => {
      const found = judgeEdge(said, 7, now);
      expect(found.healthy).toBe(said?.health?.["sealed"] === false && said.health["initialized"] === true);
      expect(found.healthy).toBe(found.status === "healthy");
      expect(found.healthy).toBe(found.error_message === "");
      expect(found.status === "disconnected").toBe(said === undefined);
      expect(found.vault_sealed).toBe(said?.health?.["sealed"] === true);
      expect(["", "standby", "active"]).toContain(found.ha_mode);
      expect(found.ha_enabled).toBe(found.ha_mode !== "");
      expect(Number.isInteger(found.cluster_nodes) && typeof found.version === "string").toBe(true);
      const edge = registerEdge(given, found, now);
      expect(edge.last_heartbeat === null).toBe(found.status === "disconnected");
      expect(edge.status).toBe(found.healthy ? "connected" : found.status);
      const later = judgeEdge(undefined, 7, now + 1000);
      // Silence moves no heartbeat.
      expect(noteProbe(edge, later)).toMatchObject({ last_heartbeat: edge.last_heartbeat, status: "disconnected" });
    }),
  );
});

test("what was written counts, also of a push that failed, and the time is that of the last one that did not", () => {
  const pushes = fc.array(
    fc.record({
      kind: fc.constantFrom("policies" as const, "keys" as const),
      written: fc.nat(50),
      failure: fc.constantFrom(undefined, "the edge node does not answer"),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(pushes, (all) => {
      const sync = all.reduce<EdgeSync>((before, pushed, i) => countPush(before, pushed, now + i), neverSynced);
      const sum = (kind: string) => all.filter((one) => one.kind === kind).reduce((total, { written }) => total + written, 0);
      expect([sync.policies_synced, sync.keys_synced]).toEqual([sum("policies"), sum("keys")]);
      expect(sync.error_count).toBe(all.filter(({ failure }) => failure !== undefined).length);
      const last = all.findLastIndex(({ failure }) => failure === undefined);
      expect(sync.last_synced_at).toBe(last < 0 ? null : new Date(now + last).toISOString());
    }),
  );
});
