import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import { afterEach, describe, expect, it } from "vitest";
import { devIssuer } from "../../src/gateway/index.ts";
import { openLevelRigStore } from "./level-store.ts";
import { openRig, type Rig } from "./rig.ts";
import { makeCrk, signData } from "./sign.ts";

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
    const other = second.rig.admin("acme", "operations_admin");
    expect((await other("POST", `/api/v1/crk/ceremony/${ceremony.id}/share`, crk.shares[1])).status).toBe(204);
    const witness = second.rig.dev.organizations["acme"]?.admins.auditor.id;
    const done = await same("POST", `/api/v1/crk/ceremony/${ceremony.id}/complete`, { witness });
    expect(done.status, done.text).toBe(200);
    expect(await signData(same, crk, "AAAA")).toHaveLength(88);
    expect((await same("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
  });
});
