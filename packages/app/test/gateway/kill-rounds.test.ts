import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { expect, it } from "vitest";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { openLevelRigStore } from "./level-store.ts";
import type { Acknowledged } from "./mixed-load.ts";
import { openRig } from "./rig.ts";

const rounds = Number(process.env["KILL_ROUNDS"] ?? 3);

function start(path: string, round: number): ChildProcess {
  const program = new URL("mixed-load.ts", import.meta.url).pathname;
  const options = [...sourceOptions, program, path, String(round)];
  return spawn(process.execPath, options, { stdio: ["pipe", "pipe", "inherit"] });
}

/** Lets a gateway work until it has acknowledged so many changes, and kills it. */
async function killAfter(child: ChildProcess, count: number): Promise<readonly Acknowledged[]> {
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const seen: Acknowledged[] = [];
  child.stdin?.write("go\n");
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    seen.push(JSON.parse(line) as Acknowledged);
    if (seen.length === count) child.kill("SIGKILL");
  }
  await exit;
  expect(child.signalCode).toBe("SIGKILL");
  return seen;
}

const docOf = async (store: DocumentStore, coll: string, id: string): Promise<JsonObject | undefined> =>
  (await store.get(coll, id))?.doc;

async function all(store: DocumentStore, coll: string, index: string, org: string): Promise<readonly JsonObject[]> {
  return (await store.list(coll, index, [org], { limit: 10_000 })).items.map(({ doc }) => doc);
}

/** Nothing that was acknowledged is lost. */
async function expectKept(store: DocumentStore, line: Acknowledged): Promise<void> {
  const what = JSON.stringify(line);
  switch (line.kind) {
    case "opened":
      return expect(line.flaw).toBeNull();
    case "workspace":
      return expect((await docOf(store, "workspaces", line.id))?.["dek_version"], what).toBeGreaterThanOrEqual(line.version);
    case "member":
      return expect(await docOf(store, "group_members", `${line.group}/${line.identity}`), what).toBeDefined();
    case "emergency": {
      const approved = (await docOf(store, "emergency_access", line.id))?.["approved_by"] as string[];
      return expect(approved.length, what).toBeGreaterThanOrEqual(line.approvals);
    }
    case "message":
      return expect((await store.count("messages", "sent", [])) > 0, what).toBe(true);
    case "admin": {
      const status = (await docOf(store, "admins", line.id))?.["enrollment_status"];
      return expect(line.status === "disabled" ? ["disabled"] : ["pending", "disabled"], what).toContain(status);
    }
    case "ceremony": {
      const ceremony = await docOf(store, "ceremonies", line.id);
      const { submitted_indexes = [], status } = (ceremony ?? {}) as { submitted_indexes?: number[]; status?: string };
      expect(submitted_indexes.length, what).toBeGreaterThanOrEqual(line.shares);
      return expect(line.status === "completed" ? ["completed"] : ["pending", "completed"], what).toContain(status);
    }
    case "restored":
      return expect((await docOf(store, "backups", line.backup))?.["restored_at"], what).not.toBeNull();
    default:
  }
}

/** Nothing is half done, acknowledged or not. */
async function expectWhole(store: DocumentStore, round: number, seen: readonly Acknowledged[]): Promise<void> {
  const [org, safe] = [`load-${round}`, `safe-${round}`];
  for (const seat of await all(store, "workspace_seats", "by_org", org)) {
    const id = String(seat["workspace_id"]);
    const version = (await docOf(store, "workspaces", id))?.["dek_version"] as number;
    expect(Object.keys(seat["deks"] as object)).toHaveLength(version);
    const { items } = await store.list("audit", "by_workspace", [org, id], { limit: 1000 });
    const rotations = items.filter(({ doc }) => (doc["event"] as { event_type: string }).event_type === "key.rotate");
    expect(rotations).toHaveLength(version - 1);
  }
  for (const access of await all(store, "emergency_access", "by_org", org)) {
    const approved = access["approved_by"] as string[];
    expect(access["status"]).toBe(approved.length < 2 ? "pending" : "approved");
    expect(access["approvers"]).toHaveLength(approved.length);
    expect(access["token_expiry"] === null).toBe(approved.length < 2);
  }
  const copies = await all(store, "messages", "held", org);
  const ids = (direction: string) => copies.filter((copy) => copy["direction"] === direction).map(({ id }) => id);
  expect(ids("received").sort()).toEqual(ids("sent").sort());
  for (const line of seen) if (line.kind === "message") expect(ids("sent")).toContain(line.id);
  for (const admin of await all(store, "admins", "by_org", org)) {
    const tokens = await store.count("enrollment_tokens", "by_admin", [String(admin["id"])]);
    expect(tokens).toBe(admin["enrollment_status"] === "pending" ? 1 : 0);
  }
  for (const ceremony of await all(store, "ceremonies", "by_org", safe)) {
    const held = await store.count("ceremony_shares", "by_ceremony", [String(ceremony["id"])]);
    expect(held).toBe(ceremony["status"] === "pending" ? (ceremony["submitted_indexes"] as number[]).length : 0);
  }
  for (const line of seen) {
    if (line.kind !== "prepared") continue;
    const restored = (await docOf(store, "backups", line.backup))?.["restored_at"] !== null;
    for (const group of line.groups) {
      expect((await docOf(store, "groups", group))?.["description"]).toBe(restored ? "before" : "after");
    }
  }
}

it(
  `kill -9 under mixed load (${rounds} rounds): nothing acknowledged is lost, nothing is half done, the audit log verifies`,
  async () => {
    const path = mkdtempSync(join(tmpdir(), "seneschal-kill-"));
    const acknowledged: Acknowledged[] = [];
    let first: readonly Acknowledged[] = [];
    let next = start(path, 0);
    for (let round = 0; round < rounds; round++) {
      const child = next;
      if (round + 1 < rounds) next = start(path, round + 1);
      const seen = await killAfter(child, 20 + ((round * 37) % 101));
      const store = await openLevelRigStore(join(path, "store"));
      for (const line of seen) await expectKept(store, line);
      await expectWhole(store, round, seen);
      await store.close();
      acknowledged.push(...seen);
      if (round === 0) first = seen;
    }
    const store = await openLevelRigStore(join(path, "store"));
    for (const line of acknowledged) await expectKept(store, line);
    const unseal = { kind: "key", key: new Uint8Array(32).fill(5) } as const;
    const clock = settableClock(Date.now());
    const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock, unseal });
    const rig = await openRig({ store, vault, organizations: ["load-0"] });
    expect(await rig.gateway.services.audit.verifyAll()).toBeUndefined();
    const root = rig.admin("load-0");
    expect((await root("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
    for (const { id, ciphertext } of first.filter((line) => line.kind === "ciphertext")) {
      expect((await root("POST", `/api/v1/workspaces/${id}/decrypt`, { ciphertext })).body).toEqual({ plaintext: "AAAA" });
    }
    await rig.close();
    await store.close();
    rmSync(path, { recursive: true });
  },
  Math.max(120_000, rounds * 60_000),
);
