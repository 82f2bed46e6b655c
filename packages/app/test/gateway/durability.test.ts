import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import { afterEach, describe, expect, it } from "vitest";
import { devIssuer } from "../../src/gateway/index.ts";
import { openLevelRigStore } from "./level-store.ts";
import { openRig, type Rig } from "./rig.ts";
import { makeCrk, signData } from "./sign.ts";

const rounds = Number(process.env["KILL_ROUNDS"] ?? 3);

describe("what was acknowledged", () => {
  const open: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  const directory = (): string => {
    const path = mkdtempSync(join(tmpdir(), "seneschal-gateway-"));
    open.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };

  it("survives a restart: keys, ceremonies in progress, workspaces, ciphertexts, certificates, the audit log", async () => {
    const path = directory();
    const unsealKey = systemRandom(32);
    const issuer = devIssuer();
    const start = async (): Promise<{ rig: Rig; stop: () => Promise<void> }> => {
      const store = await openLevelRigStore(path);
      const clock = settableClock(Date.now());
      const vault = await openEmbeddedVault({
        store,
        crypto: nodeCrypto,
        random: systemRandom,
        clock,
        unseal: { kind: "key", key: unsealKey },
      });
      const rig = await openRig({ store, vault, issuer });
      return {
        rig,
        stop: async () => {
          await rig.close();
          await store.close();
        },
      };
    };

    const first = await start();
    const acme = first.rig.admin("acme");
    const crk = await makeCrk(acme);
    const { body: workspace } = await acme("POST", "/api/v1/workspaces", { name: "w" });
    const sealed = await acme("POST", `/api/v1/workspaces/${workspace.id}/encrypt`, {
      plaintext: "c2VjcmV0",
      context: { a: "b" },
    });
    const { body: ceremony } = await acme("POST", "/api/v1/crk/ceremony/start", {
      operation: "sign",
      threshold: 2,
      data: "AAAA",
    });
    await acme("POST", `/api/v1/crk/ceremony/${ceremony.id}/share`, crk.shares[0]);
    const old = first.rig.dev.organizations["acme"]?.admins.super_admin;
    await first.stop();

    const second = await start();
    open.push(second.stop);
    const same = second.rig.with({ cert: old?.certificate ?? "", key: old?.private_key ?? "" });
    const opened = await same("POST", `/api/v1/workspaces/${workspace.id}/decrypt`, {
      ciphertext: sealed.body.ciphertext,
      context: { a: "b" },
    });
    expect(opened.body, opened.text).toEqual({ plaintext: "c2VjcmV0" });
    await same("POST", `/api/v1/crk/ceremony/${ceremony.id}/share`, crk.shares[1]);
    const witness = second.rig.dev.organizations["acme"]?.admins.auditor.id;
    const done = await same("POST", `/api/v1/crk/ceremony/${ceremony.id}/complete`, { witness });
    expect(done.status, done.text).toBe(200);
    expect(await signData(same, crk, "AAAA")).toHaveLength(88);
    expect((await same("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
  });

  it(`survives kill -9 in the middle of writing (${rounds} rounds): nothing acknowledged is lost, nothing is half done`, async () => {
    const path = directory();
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const child: ChildProcess = spawn(
        process.execPath,
        [
          "--import",
          "tsx",
          "--conditions=@seneschal/source",
          new URL("write-until-killed.ts", import.meta.url).pathname,
          path,
          String(round),
        ],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const exit = new Promise((resolve) => child.once("exit", resolve));
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      let seen = 0;
      for await (const line of lines) {
        acknowledged.push(line);
        seen += 1;
        if (seen === 15 + round * 7) child.kill("SIGKILL");
      }
      await exit;
    }
    const store = await openLevelRigStore(path);
    open.push(() => store.close());
    for (const line of acknowledged) {
      const [id = "", revision = ""] = line.split(" ");
      const workspace = await store.get("workspaces", id);
      expect(workspace?.doc["revision"], line).toBeGreaterThanOrEqual(Number(revision));
      const seat = await store.get("workspace_seats", `${id}/acme`);
      const deks = Object.keys(seat?.doc["deks"] as object);
      expect(deks).toHaveLength(workspace?.doc["dek_version"] as number);
      const created = await store.list("audit", "by_workspace", ["acme", id], { limit: 1000 });
      const rotations = created.items.filter((item) => (item.doc["event"] as { event_type: string }).event_type === "key.rotate");
      expect(rotations).toHaveLength((workspace?.doc["dek_version"] as number) - 1);
    }
    const vault = await openEmbeddedVault({
      store,
      crypto: nodeCrypto,
      random: systemRandom,
      clock: settableClock(Date.now()),
      unseal: { kind: "key", key: new Uint8Array(32).fill(5) },
    });
    const rig = await openRig({ store, vault });
    open.push(() => rig.close());
    expect((await rig.admin("acme")("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
    expect(await rig.gateway.services.audit.verifyAll()).toBeUndefined();
  });
});
