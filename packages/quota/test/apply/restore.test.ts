import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { auditHash } from "../../src/apply/work.ts";
import type { Command } from "../../src/command.ts";
import { tenantUsage } from "../../src/soft/ledger.ts";
import { decodeState, encodeState, stateHash } from "../../src/state/encoding.ts";
import { versionOf } from "../../src/state/node.ts";
import type { QuotaState } from "../../src/state/state.ts";
import { Scenario } from "../scenario.ts";

const HOUR = 3_600_000;

/** The commands that bring a backup back, in parts of 200 characters. */
function restoring(backup: QuotaState): Omit<Extract<Command, { kind: "state.restore" }>, "id" | "by">[] {
  const text = Buffer.from(encodeState(backup)).toString("utf8");
  const hash = createHash("sha256").update(text).digest("hex");
  const parts = Math.ceil(text.length / 200);
  return Array.from({ length: parts }, (_, part) => ({
    kind: "state.restore" as const,
    backup: hash,
    part,
    parts,
    text: text.slice(part * 200, (part + 1) * 200),
  }));
}

test("a restore brings settings, queue and hours back; time, audit, events and finished ids never go back", () => {
  const s = new Scenario().tenant("physics", { maxNodes: 2 }).nodes(2).submit("a").submit("b").submit("w");
  s.assign("a", "n0000").assign("b", "n0001");
  s.at += HOUR;
  s.move("a", "completed");
  const backup = s.state;
  s.at += HOUR;
  s.move("b", "completed").ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 9 } });
  s.submit("late");
  const present = s.state;
  for (const command of restoring(backup)) s.ok(command);

  expect(s.state.tenants.get("physics")?.maxNodes).toBe(2);
  expect(s.state.allocations.has("late")).toBe(false);
  expect(s.allocation("w").state).toBe("pending");
  // what ran at the time of the backup ended with it, hours and all
  expect(s.allocation("b")).toMatchObject({ state: "failed", statusReason: "restored from a backup", assigned: [] });
  expect(s.owner("n0001")).toBeNull();
  expect(tenantUsage(s.state, "physics", 1, s.at).nodeHours).toBe(2);
  expect(s.state.at).toBe(s.at);
  expect(s.state.nextAudit).toBeGreaterThan(present.nextAudit);
  expect(s.state.receipts.young.size).toBeGreaterThan(present.receipts.young.size);
  const [last] = [...s.state.audit.reversed()].map(([, entry]) => entry);
  expect(last).toMatchObject({ action: "state.restore", resourceId: "state" });
  let head = "";
  for (const { hash, ...entry } of s.state.audit.values()) head = auditHash(head, entry);
  expect(head).toBe(s.state.auditHead);
  // no version returns with another content
  expect(s.state.tenants.get("physics")?.version).toBeGreaterThan(present.tenants.get("physics")?.version ?? 0);
  for (const [id, node] of s.state.nodes.entries())
    expect(versionOf(s.state, node)).toBeGreaterThan(versionOf(present, present.nodes.get(id)!));
  expect(stateHash(decodeState(encodeState(s.state)))).toBe(stateHash(s.state));
});

test("it is refused while work holds nodes or nodes are claimed, out of order, damaged, or from the future; nothing changes", () => {
  const s = new Scenario().tenant("physics").nodes(2);
  const parts = restoring(s.state);
  s.submit("a").assign("a", "n0000");
  expect(s.refused(parts[0]!)).toMatchObject({ code: "ownership_conflict", details: { allocations: 1, claimed: 0 } });
  s.move("a", "completed");
  expect(s.refused(parts[1]!).code).toBe("stale_state");
  s.ok(parts[0]!);
  expect(stateHash(decodeState(encodeState(s.state))), "half a restore is part of a snapshot").toBe(stateHash(s.state));
  expect(s.refused({ ...parts[1]!, backup: "0".repeat(64) }).code).toBe("stale_state");
  const damaged = [...parts.slice(1, -1), { ...parts.at(-1)!, text: "{}" }];
  for (const part of damaged.slice(0, -1)) s.ok(part);
  expect(s.refused(damaged.at(-1)!).code).toBe("invalid_argument");
  const early = new Scenario().tenant("physics");
  early.at = s.at + HOUR;
  early.submit("x");
  const future = restoring(early.state);
  for (const part of future.slice(0, -1)) s.ok(part);
  expect(s.refused(future.at(-1)!).code).toBe("invalid_argument");
  s.ok({ kind: "system.update", sensitivePoolSize: 1 });
  s.ok({ kind: "node.claim", node: "n0000", tenant: "physics" });
  expect(s.refused(parts[0]!)).toMatchObject({ code: "ownership_conflict", details: { claimed: 1 } });
});

test("a log without a chain goes on with the backup's chain and events when the command says so, and no other log does", () => {
  const lost = new Scenario().tenant("physics", { maxNodes: 2 }).nodes(1);
  lost.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 9 } });
  const backup = lost.state;
  const history = restoring(backup).map((command) => ({ ...command, history: true }));
  const empty = new Scenario();
  empty.at = lost.at;
  for (const command of history) empty.ok(command);
  const chain = [...empty.state.audit.values()];
  expect(chain.slice(0, -1)).toEqual([...backup.audit.values()]);
  expect(chain.at(-1)).toMatchObject({ action: "state.restore", seq: backup.nextAudit });
  expect([...empty.state.events.values()].slice(0, -1)).toEqual([...backup.events.values()]);
  let head = "";
  for (const { hash, ...entry } of chain) head = auditHash(head, entry);
  expect(head).toBe(empty.state.auditHead);

  const silent = new Scenario();
  silent.at = lost.at;
  for (const command of restoring(backup)) silent.ok(command);
  expect([...silent.state.audit.values()]).toMatchObject([{ action: "state.restore", seq: 1 }]);

  const other = new Scenario().tenant("biology");
  other.at = lost.at;
  for (const command of history.slice(0, -1)) other.ok(command);
  expect(other.refused(history.at(-1)!).code).toBe("stale_state");
  expect(other.state.tenants.has("biology")).toBe(true);
});
